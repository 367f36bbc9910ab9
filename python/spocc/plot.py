"""Plots of audits, comparisons and decisions with matplotlib (``pip install 'spocc[plot]'``).

Every function draws into ``ax``, or into a new figure of a suitable size, and returns the Axes. Plots of an
audit accept any object with an audit as well: evidence, a model, an ensemble.

Examples
--------
>>> import spocc
>>> import spocc.plot
>>> predictions = [["cat", "cat", "dog"], ["dog", "dog", "cat"], ["cat", "dog", "dog"], ["dog", "dog", "cat"]]
>>> truth = ["cat", "dog", "cat", "dog"]
>>> model = spocc.fit(predictions, truth, "adaspocc", names=["ann", "bob", "eve"])
>>> ax = spocc.plot.audit(model)
>>> [tick.get_text() for tick in ax.get_yticklabels()]
['ann', 'bob', 'eve']
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spocc import _axes
from spocc._axes import BLUE, GREY, INK, ORANGE, PALE, PURPLE, SKY, VERMILION
from spocc._comparison import Comparison
from spocc._evidence import Evidence
from spocc._model import Model
from spocc._native import SpoccError, printable
from spocc._reports import Audit, Explanation, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["audit", "comparison", "confusion", "dendrogram", "dependence", "possibility"]

_VERDICTS = {
    "useful": BLUE,
    "adversary": VERMILION,
    "copy-of": PURPLE,
    "guesser": ORANGE,
    "unproven": SKY,
    "constant": GREY,
    "no-predictions": GREY,
}
_MAX_BARS = 15


class _Audited(Protocol):
    def audit(self) -> Audit: ...


def audit(source: Audit | _Audited, ax: Axes | None = None) -> Axes:
    """The accuracy of each classifier, with its 95 % interval and its verdict.

    A ring shows the relabelled accuracy, after each predicted label is replaced by the class that it stands
    for: it is high for a classifier that is reliably wrong. The dotted line is the share of the most frequent
    class.
    """
    report = _audit(source)
    entries = report.classifiers
    ax = _axes.axes(ax, 7.5, 1.6 + 0.3 * len(entries))
    for y, entry in enumerate(entries):
        colour = _VERDICTS.get(entry.verdict, INK)
        verdict = entry.verdict if entry.original is None else f"copy of {_axes.short(entry.original)}"
        _axes.note(ax, y, len(entries), verdict)
        if entry.coverage > 0:
            ends = [entry.accuracy, entry.relabelled_accuracy]
            ax.plot(ends, [y, y], ":", color=colour, lw=1)
            ax.plot(entry.interval, [y, y], color=colour, lw=2.5, solid_capstyle="butt", alpha=0.6)
            ax.plot(entry.relabelled_accuracy, y, "o", mfc="white", mec=colour, ms=7)
            ax.plot(entry.accuracy, y, "o", color=colour, ms=4.5)
    # Of open answers, which have no classes, the line is the accuracy that no method can exceed.
    limit: float | None = report.as_dict["answerable_share"]
    legend = "ring: relabelled_accuracy; dotted line: share of the most frequent class"
    if limit is not None:
        legend = "dotted line: share of the rows whose true answer some classifier gives"
    elif report.n_rows > 0:
        limit = max(entry["n_rows"] for entry in report.as_dict["classes"]) / report.n_rows
    if limit is not None:
        ax.axvline(limit, color=GREY, ls=":", lw=1.2, zorder=0)
    ax.set_xlim(-0.02, 1.02)
    ax.xaxis.set_major_formatter("{x:.0%}")
    ax.set_xlabel(f"accuracy\n{legend}")
    votes = report.panel["effective_votes"]
    worth = "" if votes is None else f", effective number of votes {votes:.1f}"
    ax.set_title(f"{len(entries)} classifiers{worth}, {report.n_rows:g} labelled rows", loc="left")
    _axes.rows(ax, [entry.name for entry in entries])
    ax.grid(axis="x", color="#E6E6E6")
    ax.set_axisbelow(True)
    return ax


def comparison(source: Comparison, ax: Axes | None = None) -> Axes:
    """The accuracy of each method on held-out rows, with its 95 % interval, the best on top.

    Dark marks are methods whose difference from the best is within noise, pale ones are significantly worse.
    Beside each is how many percentage points it is behind. The dotted line is the best single classifier.
    """
    results = source.methods
    ax = _axes.axes(ax, 7.5, 1.6 + 0.3 * len(results))
    is_weighted = any(result.weighted_accuracy is not None for result in results)
    for y, result in enumerate(results):
        is_behind = result.behind is not None and result.behind.is_beyond_noise
        colour = GREY if is_behind else BLUE
        share = result.accuracy if result.weighted_accuracy is None else result.weighted_accuracy
        ax.plot(result.interval, [y, y], color=colour, lw=2.5, solid_capstyle="butt", alpha=0.6)
        ax.plot(share, y, "o", color=colour, ms=5)
        behind = (
            "best" if result.behind is None else f"{'' if is_behind else '~ '}{100 * result.behind.by:.1f}"
        )
        _axes.note(ax, y, len(results), behind)
    best = source.best_classifier
    single = ""
    if best is not None:
        ax.axvline(best["accuracy"], color=GREY, ls=":", lw=1.2, zorder=0)
        single = f"; dotted line: best classifier ({_axes.short(best['name'])})"
    ax.xaxis.set_major_formatter("{x:.0%}")
    measure = "weighted_accuracy" if is_weighted else "accuracy"
    ax.set_xlabel(
        f"{measure} on held-out rows, 95 % interval{single}\nright: points behind the best, ~ within noise"
    )
    recommended = source.recommendation.recommended
    advice = "" if recommended is None else f", recommended: {recommended}"
    ax.set_title(f"{len(results)} methods, {source.n_rows} labelled rows{advice}", loc="left")
    _axes.rows(ax, [result.method + (" *" if result.is_reference else "") for result in results])
    ax.grid(axis="x", color="#E6E6E6")
    ax.set_axisbelow(True)
    return ax


def dendrogram(source: Audit | _Audited, ax: Axes | None = None) -> Axes:
    """The dendrogram of dependence: copies merge at 1, independent classifiers at 0.

    Families of copies are blue.
    """
    report = _audit(source)
    names, merges = _tree(report)
    originals = [{entry.original or entry.name} for entry in report.classifiers]
    ax = _axes.axes(ax, 7.5, 1.2 + 0.26 * len(names))
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
    _axes.rows(ax, [names[leaf] for leaf in order])
    ax.spines["left"].set_visible(False)
    return ax


def dependence(source: Audit | _Audited, ax: Axes | None = None) -> Axes:
    """The dependence of every pair of classifiers, in the order of the leaves of the dendrogram."""
    report = _audit(source)
    names, merges = _tree(report)
    order = _leaves(len(names), merges)
    shared = np.asarray(report.dependence)[np.ix_(order, order)]
    np.fill_diagonal(shared, np.nan)
    ordered = [names[leaf] for leaf in order]
    letters = max(map(len, _axes.shorten(ordered)))
    side = min((0.36 if len(names) <= 16 else 0.24) * len(names) + 0.09 * letters + 1.2, 24)
    ax = _axes.axes(ax, side + 0.6, side)
    image = ax.imshow(shared, cmap="Blues", vmin=0, vmax=1)
    ax.set_facecolor(PALE)
    if len(names) <= 16:
        _axes.numbers(ax, shared, "{:.2f}")
    _axes.rows(ax, ordered)
    _axes.columns(ax, ordered)
    ax.set_title("Dependence (0: independent, 1: copies, grey: not known)", loc="left")
    ax.figure.colorbar(image, ax=ax, shrink=0.7, pad=0.02)
    return ax


def confusion(
    source: Evidence | Model,
    classifiers: Iterable[str | int] | None = None,
    ax: Axes | Sequence[Axes] | NDArray[Any] | None = None,
) -> NDArray[Any]:
    """The confusion table of each classifier: predicted labels in columns, true classes in rows, as shares.

    Draws every classifier, or the selected ones, each into Axes of its own, and returns an array of Axes.
    """
    evidence = source.evidence if isinstance(source, Model) else source
    if isinstance(classifiers, str):
        raise TypeError(
            f"classifiers: expected a sequence of names, found the text `{printable(classifiers)}`"
        )
    if evidence is None:
        raise SpoccError("confusion: expected a model that holds its evidence, found one without")
    if not isinstance(evidence, Evidence):
        raise TypeError(f"confusion: expected evidence or a model, found {type(evidence).__name__}")
    panel = evidence.classifiers
    chosen = list(panel if classifiers is None else classifiers)
    tables = [evidence.confusion(classifier) for classifier in chosen]
    truths, labels = [[str(label) for label in kind] for kind in (evidence.classes, evidence.labels)]
    cells = _axes.grid(ax, len(chosen), len(truths), len(labels))
    per_row = cells.shape[-1]
    names = [classifier if isinstance(classifier, str) else panel[classifier] for classifier in chosen]
    for at, (name, table, cell) in enumerate(zip(_axes.shorten(names), tables, cells.flat, strict=False)):
        _table(cell, name, table)
        _axes.rows(cell, truths if at % per_row == 0 else [""] * len(truths))
        _axes.columns(cell, labels if at + per_row >= len(chosen) else [""] * len(labels))
        # Tick labels under the last table of a column may use the empty space below it.
        cell.xaxis.set_in_layout(at + len(chosen) % per_row >= len(chosen) or len(chosen) % per_row == 0)
    for spare in cells.flat[len(chosen) :]:
        spare.set_visible(False)
    return cells


def possibility(
    source: Explanation | Model, predictions: object = None, row: int = 0, ax: Axes | None = None
) -> Axes:
    """The fused possibility of each class, of an explanation or of a row (from 0) decided by a model.

    Possibilities are divided by that of the best class. Marks show the possibilities of single classifiers,
    for methods that have them.
    """
    if isinstance(source, Explanation):
        explained = source
    elif predictions is None:
        raise SpoccError("predictions: expected a table whose row is explained, found none")
    else:
        explained = source.explain(predictions, row)
    best = explained.as_dict["decision"]["class"]
    fused = explained.possibility / (explained.possibility.max() or 1.0)
    # The decided class comes first, also in a tie.
    order = sorted(range(len(fused)), key=lambda i: (i != best, -fused[i]))[:_MAX_BARS]
    entries = explained.contributions
    marks = [entry.possibility for entry in entries if entry.possibility is not None]
    ax = _axes.axes(ax, 8, 1.5 + 0.42 * len(order))
    colours = [SKY if i == best else "#BDBDBD" for i in order]
    ax.barh(range(len(order)), fused[order], height=0.66, color=colours)
    for y, i in enumerate(order):
        ax.plot([mark[i] for mark in marks], [y] * len(marks), "|", color=INK, ms=11, alpha=0.6)
        names = [entry.classifier for entry in entries if _names(entry.prediction, explained.classes[i])]
        _axes.note(ax, y, len(order), _number(fused[i]) + _predicted_by(names))
    ax.set_xlim(0, 1.01)
    n_omitted = len(fused) - len(order)
    legend = "; marks: single classifiers" if marks else ""
    more = f"\n{n_omitted} less possible classes are not shown" if n_omitted else ""
    ax.set_xlabel(f"possibility relative to the best class{legend}{more}")
    ax.set_title(f"Decided: {_axes.short(title(explained.label))}, margin {explained.margin:.3f}", loc="left")
    _axes.rows(ax, [title(explained.classes[i]) for i in order])
    return ax


def _audit(source: Audit | _Audited) -> Audit:
    if isinstance(source, Audit):
        return source
    if not hasattr(source, "audit"):
        found = type(source).__name__
        raise TypeError(f"source: expected an audit, evidence, a model or an ensemble, found {found}")
    return source.audit()


def _tree(report: Audit) -> tuple[list[str], list[dict[str, Any]]]:
    """The classifiers and their merges."""
    tree = report.panel["dendrogram"]
    if tree is None:
        why = report.panel["left_out"] or "it holds marginals, or one classifier"
        raise SpoccError(f"audit: expected evidence that counts pairs of classifiers, found none: {why}")
    return [entry.name for entry in report.classifiers], tree["merges"]


def _leaves(n: int, merges: Sequence[dict[str, Any]]) -> list[int]:
    """The leaves in an order without crossing branches."""
    members: list[list[int]] = [[leaf] for leaf in range(n)]
    for merge in merges:
        a, b = merge["children"]
        members.append(members[a] + members[b])
    return members[-1]


def _table(ax: Axes, name: str, table: NDArray[np.float64]) -> None:
    """A confusion table as shares of each row."""
    totals = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, totals, out=np.full_like(table, np.nan), where=totals > 0)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_facecolor(PALE)
    if max(table.shape) <= 6:
        _axes.numbers(ax, shares, "{:.0%}")
    accuracy = f"accuracy {table.trace() / totals.sum():.0%}" if totals.sum() > 0 else ""
    # A letter is about 0.6 of its size wide; a long name has a line of its own.
    lines = [f"{name}  {accuracy}"] if len(name) <= 12 else [name, accuracy]
    size = _axes.size(ax, round(0.5 * max(map(len, lines))), ax.bbox.width)
    ax.set_title("\n".join(lines), loc="left", fontsize=size)


def _names(predicted: Any, label: Any) -> bool:
    """Whether a predicted label is that of a class, possibly as text."""
    is_label = predicted is not None and label is not None
    return is_label and (predicted == label or str(predicted) == str(label))


def _number(share: float) -> str:
    return f"{share:.3f}" if share >= 0.001 or share == 0 else f"{share:.0e}"


def _predicted_by(names: Sequence[str]) -> str:
    """The names of classifiers, or their number if the names are long."""
    listed = ", ".join(names)
    return f"  predicted by {listed if len(listed) <= 24 else len(names)}" if names else ""
