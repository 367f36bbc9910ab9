"""Pictures of a panel and of its decisions, by matplotlib (``pip install 'spocc[plot]'``).

Every function draws into ``ax``, or into a figure of its own of a fitting size, and returns the Axes. Where
an audit is drawn, whatever can be audited is accepted too: evidence, a model, an ensemble.

Examples
--------
>>> import spocc
>>> import spocc.plot
>>> said = [["cat", "cat", "dog"], ["dog", "dog", "cat"], ["cat", "dog", "dog"], ["dog", "dog", "cat"]]
>>> model = spocc.fit(said, ["cat", "dog", "cat", "dog"], "adaspocc", names=["ann", "bob", "eve"])
>>> ax = spocc.plot.audit(model)
>>> [tick.get_text() for tick in ax.get_yticklabels()]
['ann', 'bob', 'eve']
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spocc import _canvas
from spocc._canvas import BLUE, GREY, INK, ORANGE, PALE, PURPLE, SKY, VERMILION
from spocc._evidence import Evidence
from spocc._model import Model
from spocc._native import SpoccError
from spocc._reports import Audit, Explanation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["audit", "confusion", "dendrogram", "dependence", "possibility"]

_VERDICTS = {
    "useful": BLUE,
    "adversary": VERMILION,
    "copy-of": PURPLE,
    "guesser": ORANGE,
    "unproven": SKY,
    "constant": GREY,
    "silent": GREY,
}
_MOST_BARS = 15


class _Audited(Protocol):
    def audit(self) -> Audit: ...


def audit(source: Audit | _Audited, ax: Axes | None = None) -> Axes:
    """The accuracy of each classifier, with its 95 % interval and the verdict on it.

    A ring shows the relabelled accuracy, which is that after each of its predictions is replaced by the class
    that it mostly goes with: far to the right for a classifier that is reliably wrong. The dotted line is the
    share of the most frequent class.
    """
    report = _audit(source)
    entries = report.classifiers
    ax = _canvas.axes(ax, 7.5, 1.6 + 0.3 * len(entries))
    for y, entry in enumerate(entries):
        colour = _VERDICTS.get(entry.verdict, INK)
        verdict = entry.verdict if entry.original is None else f"copy of {_canvas.short(entry.original)}"
        _canvas.note(ax, y, len(entries), verdict)
        if entry.coverage > 0:
            ends = [entry.accuracy, entry.relabelled_accuracy]
            ax.plot(ends, [y, y], ":", color=colour, lw=1)
            ax.plot(entry.interval, [y, y], color=colour, lw=2.5, solid_capstyle="butt", alpha=0.6)
            ax.plot(entry.relabelled_accuracy, y, "o", mfc="white", mec=colour, ms=7)
            ax.plot(entry.accuracy, y, "o", color=colour, ms=4.5)
    if report.n_rows > 0:
        largest = max(entry["n_rows"] for entry in report.as_dict["classes"]) / report.n_rows
        ax.axvline(largest, color=GREY, ls=":", lw=1.2, zorder=0)
    ax.set_xlim(-0.02, 1.02)
    ax.xaxis.set_major_formatter("{x:.0%}")
    ax.set_xlabel("accuracy\nring: relabelled_accuracy; dotted line: share of the most frequent class")
    votes = report.panel["effective_votes"]
    worth = "" if votes is None else f", effective number of votes {votes:.1f}"
    ax.set_title(f"{len(entries)} classifiers{worth}, {report.n_rows:g} labelled rows", loc="left")
    _canvas.rows(ax, [entry.name for entry in entries])
    ax.grid(axis="x", color="#E6E6E6")
    ax.set_axisbelow(True)
    return ax


def dendrogram(source: Audit | _Audited, ax: Axes | None = None) -> Axes:
    """The tree of dependence: copies join at 1, independent classifiers at 0.

    Blue are families of copies.
    """
    report = _audit(source)
    names, merges = _tree(report)
    originals = [{entry.original or entry.name} for entry in report.classifiers]
    ax = _canvas.axes(ax, 7.5, 1.2 + 0.26 * len(names))
    order = _leaves(len(names), merges)
    places = {leaf: (1.0, float(y)) for y, leaf in enumerate(order)}
    for q, merge in enumerate(merges):
        (x0, y0), (x1, y1) = (places[child] for child in merge["children"])
        mean = 1 - merge["height"]
        originals.append(originals[merge["children"][0]] | originals[merge["children"][1]])
        colour, width = (BLUE, 2.2) if len(originals[-1]) == 1 else (GREY, 1.3)
        ax.plot([x0, mean, mean, x1], [y0, y0, y1, y1], color=colour, lw=width, solid_joinstyle="miter")
        places[len(names) + q] = (mean, (y0 + y1) / 2)
    ax.set_xlim(1.02, -0.02)
    ax.set_xlabel("mean dependence across the merge (1: copies, 0: independent or not known)")
    ax.set_title("Dependence between classifiers (blue: families of copies)", loc="left")
    _canvas.rows(ax, [names[leaf] for leaf in order])
    ax.spines["left"].set_visible(False)
    return ax


def dependence(source: Audit | _Audited, ax: Axes | None = None) -> Axes:
    """The dependence of every pair of classifiers, those that join first in the dendrogram side by side."""
    report = _audit(source)
    names, merges = _tree(report)
    order = _leaves(len(names), merges)
    shared = np.asarray(report.dependence)[np.ix_(order, order)]
    np.fill_diagonal(shared, np.nan)
    ordered = [names[leaf] for leaf in order]
    letters = max(map(len, _canvas.shorten(ordered)))
    side = min((0.36 if len(names) <= 16 else 0.24) * len(names) + 0.09 * letters + 1.2, 24)
    ax = _canvas.axes(ax, side + 0.6, side)
    image = ax.imshow(shared, cmap="Blues", vmin=0, vmax=1)
    ax.set_facecolor(PALE)
    if len(names) <= 16:
        _canvas.numbers(ax, shared, "{:.2f}")
    _canvas.rows(ax, ordered)
    _canvas.columns(ax, ordered)
    ax.set_title("Dependence (0: independent, 1: copies, grey: not known)", loc="left")
    ax.figure.colorbar(image, ax=ax, shrink=0.7, pad=0.02)
    return ax


def confusion(
    source: Evidence | Model,
    classifiers: Iterable[str | int] | None = None,
    ax: Axes | Sequence[Axes] | NDArray[Any] | None = None,
) -> NDArray[Any]:
    """What each classifier predicted (columns) when each class was true (rows), as shares of each row.

    Draws every classifier, or those named, each into Axes of its own, and returns an array of them.
    """
    evidence = source.evidence if isinstance(source, Model) else source
    if isinstance(classifiers, str):
        raise SpoccError(f"classifiers: expected a sequence of names, found the text `{classifiers}`")
    if evidence is None:
        raise SpoccError("confusion: expected a model with its evidence, found a slim one")
    if not isinstance(evidence, Evidence):
        raise SpoccError(f"confusion: expected evidence or a model, found {type(evidence).__name__}")
    panel = evidence.classifiers
    chosen = list(panel if classifiers is None else classifiers)
    tables = [evidence.confusion(classifier) for classifier in chosen]
    truths, labels = [[str(label) for label in kind] for kind in (evidence.classes, evidence.labels)]
    cells = _canvas.grid(ax, len(chosen), len(truths), len(labels))
    per_row = cells.shape[-1]
    names = [classifier if isinstance(classifier, str) else panel[classifier] for classifier in chosen]
    for at, (name, table, cell) in enumerate(zip(_canvas.shorten(names), tables, cells.flat, strict=False)):
        _table(cell, name, table)
        _canvas.rows(cell, truths if at % per_row == 0 else [""] * len(truths))
        _canvas.columns(cell, labels if at + per_row >= len(chosen) else [""] * len(labels))
        # Names under a table with nothing below it may use that room instead of pushing the rows apart.
        cell.xaxis.set_in_layout(at + len(chosen) % per_row >= len(chosen) or len(chosen) % per_row == 0)
    for spare in cells.flat[len(chosen) :]:
        spare.set_visible(False)
    return cells


def possibility(
    source: Explanation | Model, answers: object = None, row: int = 0, ax: Axes | None = None
) -> Axes:
    """How possible each class is after all voices: an explanation, or a model and a row (from 0) of answers.

    The best class counts as 1. Marks show what single classifiers leave to each class, where the method has
    possibilities of theirs.
    """
    if isinstance(source, Explanation):
        told = source
    elif answers is None:
        raise SpoccError("answers: expected the rows to explain one of, found none")
    else:
        told = source.explain(answers, row)
    best = told.as_dict["decision"]["class"]
    fused = told.possibility / (told.possibility.max() or 1.0)
    # The decided class leads, also among its equals.
    order = sorted(range(len(fused)), key=lambda i: (i != best, -fused[i]))[:_MOST_BARS]
    opinions = [voice.possibility for voice in told.voices if voice.possibility is not None]
    ax = _canvas.axes(ax, 8, 1.5 + 0.42 * len(order))
    colours = [SKY if i == best else "#BDBDBD" for i in order]
    ax.barh(range(len(order)), fused[order], height=0.66, color=colours)
    for y, i in enumerate(order):
        ax.plot([opinion[i] for opinion in opinions], [y] * len(opinions), "|", color=INK, ms=11, alpha=0.6)
        said = [voice.classifier for voice in told.voices if _means(voice.said, told.classes[i])]
        _canvas.note(ax, y, len(order), _number(fused[i]) + _said_by(said))
    ax.set_xlim(0, 1.01)
    left_out = len(fused) - len(order)
    marks = "; marks: what single classifiers leave to it" if opinions else ""
    more = f"\n{left_out} less possible classes are left out" if left_out else ""
    ax.set_xlabel(f"possibility, the best being 1{marks}{more}")
    ax.set_title(f"Decided: {_canvas.short(str(told.label))}, margin {told.margin:.3f}", loc="left")
    _canvas.rows(ax, [str(told.classes[i]) for i in order])
    return ax


def _audit(source: Audit | _Audited) -> Audit:
    if isinstance(source, Audit):
        return source
    if not hasattr(source, "audit"):
        found = type(source).__name__
        raise SpoccError(f"source: expected an audit, evidence, a model or an ensemble, found {found}")
    return source.audit()


def _tree(report: Audit) -> tuple[list[str], list[dict[str, Any]]]:
    """The classifiers and their merges."""
    tree = report.panel["dendrogram"]
    if tree is None:
        why = report.panel["left_out"] or "it holds marginals, or one classifier"
        raise SpoccError(f"audit: expected evidence that counts pairs of classifiers, found none: {why}")
    return [entry.name for entry in report.classifiers], tree["merges"]


def _leaves(n: int, merges: Sequence[dict[str, Any]]) -> list[int]:
    """Leaves in an order in which no two branches cross."""
    members: list[list[int]] = [[leaf] for leaf in range(n)]
    for merge in merges:
        a, b = merge["children"]
        members.append(members[a] + members[b])
    return members[-1]


def _table(ax: Axes, name: str, table: NDArray[np.float64]) -> None:
    """Shares of what was said, per truth."""
    spoken = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, spoken, out=np.full_like(table, np.nan), where=spoken > 0)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_facecolor(PALE)
    if max(table.shape) <= 6:
        _canvas.numbers(ax, shares, "{:.0%}")
    right = f"{table.trace() / spoken.sum():.0%} right" if spoken.sum() > 0 else ""
    # A letter is about 0.6 of its size wide; a long name has a line of its own.
    lines = [f"{name}  {right}"] if len(name) <= 16 else [name, right]
    size = _canvas.size(ax, round(0.5 * max(map(len, lines))), ax.bbox.width)
    ax.set_title("\n".join(lines), loc="left", fontsize=size)


def _means(said: Any, label: Any) -> bool:
    """Whether an answer names a class, be it as text."""
    return said is not None and (said == label or str(said) == str(label))


def _number(share: float) -> str:
    return f"{share:.3f}" if share >= 0.001 or share == 0 else f"{share:.0e}"


def _said_by(names: Sequence[str]) -> str:
    """Their names, or how many they are where names would take too much room."""
    listed = ", ".join(names)
    return f"  said by {listed if len(listed) <= 24 else len(names)}" if names else ""
