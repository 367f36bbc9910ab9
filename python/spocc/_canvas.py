"""Axes of a fitting size, with names that can be read: what all pictures of `spocc.plot` stand on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spocc._native import SpoccError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colours of Okabe and Ito, which people tell apart who see colours differently.
BLUE, SKY, ORANGE, VERMILION, PURPLE = "#0072B2", "#56B4E9", "#E69F00", "#D55E00", "#CC79A7"
INK, GREY, PALE = "#333333", "#8C8C8C", "#F2F2F2"

_HIGHEST = 60.0


def pyplot() -> Any:
    """matplotlib, which is asked for only when something is drawn."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("spocc.plot needs matplotlib: pip install 'spocc[plot]'") from None
    return plt


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The given Axes without the frame that nobody needs, or new ones."""
    if ax is None:
        ax = pyplot().subplots(figsize=(width, min(height, _HIGHEST)), layout="constrained")[1]
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def grid(ax: Any, n: int, n_rows: int, n_columns: int) -> NDArray[Any]:
    """Axes for n tables of a size."""
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
    size = (wide * width + 1.0, min(high * (height + 0.3) + 1.0, _HIGHEST))
    figure, cells = pyplot().subplots(high, wide, figsize=size, squeeze=False, layout="constrained")
    figure.supxlabel("said")
    figure.supylabel("true")
    return np.asarray(cells, dtype=object)


def _side(n: int) -> float:
    """Room for a number in each cell while there are few, then for letters beside the outer ones."""
    return 0.5 + 0.45 * max(n, 3) if n <= 6 else min(1.9 + 0.08 * n, 5.0)


def rows(ax: Axes, names: Sequence[str]) -> None:
    """Names of rows, the first on top."""
    ax.set_yticks(range(len(names)), shorten(names), fontsize=size(ax, len(names)))
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def columns(ax: Axes, names: Sequence[str]) -> None:
    """Names of columns, upright as soon as one would not fit."""
    letters = size(ax, len(names), ax.bbox.width)
    room = ax.bbox.width / ax.figure.dpi * 72 / max(len(names), 1)
    shown = shorten(names)
    is_wide = max((len(name) for name in shown), default=0) * letters * 0.62 > room
    ax.set_xticks(range(len(names)), shown, fontsize=letters, rotation=90 if is_wide else 0)
    ax.tick_params(axis="x", length=0)


def note(ax: Axes, y: int, n: int, text: str) -> None:
    """A remark on one of n rows, right of the Axes."""
    place = ("axes fraction", "data")
    ax.annotate(
        text, (1.02, y), xycoords=place, va="center", color=INK, fontsize=size(ax, n), annotation_clip=False
    )


def numbers(ax: Axes, shares: NDArray[np.float64], form: str) -> None:
    """The number of every cell, in a colour that stands out."""
    for (i, j), share in np.ndenumerate(shares):
        if not np.isnan(share):
            colour = "white" if share > 0.55 else INK
            ax.text(j, i, form.format(share), ha="center", va="center", fontsize=7, color=colour)


def size(ax: Axes, n: int, pixels: float | None = None) -> float:
    """A size of letters at which n lines have room, in the height of the Axes or in so many pixels."""
    points = (ax.bbox.height if pixels is None else pixels) / ax.figure.dpi * 72
    return float(np.clip(0.8 * points / max(n, 1), 3, 9))


def short(name: str, most: int = 28) -> str:
    """A long name without its middle."""
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-(most // 2) :]}"


def shorten(names: Sequence[str]) -> list[str]:
    """Long names without their middles, as far as they can still be told apart."""
    for most in (28, 40, 60):
        shown = [short(name, most) for name in names]
        if len(set(shown)) == len(set(names)):
            return shown
    return list(names)
