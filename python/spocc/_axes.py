"""Axes of a suitable size with readable names, shared by all plots of `spocc.plot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spocc._native import SpoccError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The palette of Okabe and Ito, which is distinguishable with colour vision deficiencies.
BLUE, SKY, ORANGE, VERMILION, PURPLE = "#0072B2", "#56B4E9", "#E69F00", "#D55E00", "#CC79A7"
INK, GREY, PALE = "#333333", "#8C8C8C", "#F2F2F2"

# Inches.
_MAX_HEIGHT = 60.0


def pyplot() -> Any:
    """The module matplotlib.pyplot, imported at the first plot."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("spocc.plot needs matplotlib: pip install 'spocc[plot]'") from None
    return plt


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The given Axes or new ones, without the top and right spines."""
    if ax is None:
        ax = pyplot().subplots(figsize=(width, min(height, _MAX_HEIGHT)), layout="constrained")[1]
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def grid(ax: Any, n: int, n_rows: int, n_columns: int) -> NDArray[Any]:
    """Axes for n tables of the same size."""
    if n == 0:
        raise SpoccError("classifiers: expected at least one, found none")
    if ax is not None:
        given = np.array(ax, dtype=object) if np.ndim(ax) else np.array([ax], dtype=object)
        if given.size < n:
            raise SpoccError(f"ax: expected Axes for {n} classifiers, found {given.size}")
        return given
    wide = min(n, 4 if n <= 16 else 8)
    high = -(-n // wide)
    width, height = _side(n_columns), _side(n_rows)
    size = (wide * width + 1.0, min(high * (height + 0.3) + 1.0, _MAX_HEIGHT))
    figure, cells = pyplot().subplots(high, wide, figsize=size, squeeze=False, layout="constrained")
    figure.supxlabel("predicted")
    figure.supylabel("true")
    return np.asarray(cells, dtype=object)


def _side(n: int) -> float:
    """Inches for a side of n cells: with room for numbers if there are few, else for tick labels alone."""
    return 0.5 + 0.45 * max(n, 3) if n <= 6 else min(1.9 + 0.08 * n, 5.0)


def rows(ax: Axes, names: Sequence[str]) -> None:
    """Names of rows, the first on top."""
    ax.set_yticks(range(len(names)), shorten(names), fontsize=size(ax, len(names)))
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def columns(ax: Axes, names: Sequence[str]) -> None:
    """Names of columns, rotated if one of them would not fit."""
    letters = size(ax, len(names), ax.bbox.width)
    room = ax.bbox.width / ax.figure.dpi * 72 / max(len(names), 1)
    shown = shorten(names)
    is_wide = max((len(name) for name in shown), default=0) * letters * 0.62 > room
    ax.set_xticks(range(len(names)), shown, fontsize=letters, rotation=90 if is_wide else 0)
    ax.tick_params(axis="x", length=0)


def note(ax: Axes, y: int, n: int, text: str) -> None:
    """A text beside one of n rows, right of the Axes."""
    place = ("axes fraction", "data")
    ax.annotate(
        text, (1.02, y), xycoords=place, va="center", color=INK, fontsize=size(ax, n), annotation_clip=False
    )


def numbers(ax: Axes, shares: NDArray[np.float64], form: str) -> None:
    """The number of every cell, in a contrasting colour."""
    for (i, j), share in np.ndenumerate(shares):
        if not np.isnan(share):
            colour = "white" if share > 0.55 else INK
            ax.text(j, i, form.format(share), ha="center", va="center", fontsize=7, color=colour)


def size(ax: Axes, n: int, pixels: float | None = None) -> float:
    """The font size at which n lines fit into the height of the Axes or into a number of pixels."""
    points = (ax.bbox.height if pixels is None else pixels) / ax.figure.dpi * 72
    return float(np.clip(0.8 * points / max(n, 1), 3, 9))


def short(name: str, most: int = 28) -> str:
    """A long name with its middle replaced by an ellipsis."""
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-(most // 2) :]}"


def shorten(names: Sequence[str]) -> list[str]:
    """Long names shortened in the middle, as far as they stay distinct."""
    for most in (28, 40, 60):
        shown = [short(name, most) for name in names]
        if len(set(shown)) == len(set(names)):
            return shown
    return list(names)
