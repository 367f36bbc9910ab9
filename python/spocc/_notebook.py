"""What notebooks show of audits, explanations, decisions and comparisons.

The paragraphs are those of the engine's texts; their tables become tables of HTML with the same columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from spocc import _colours, _html
from spocc._html import Cell, Markup
from spocc._names import short, shorten, title

if TYPE_CHECKING:
    from spocc._comparison import Comparison, Difference, MethodResult
    from spocc._reports import Audit, ClassifierAudit, Decisions, Explanation

__all__ = ["audit", "comparison", "decisions", "explanation"]

# Decisions that are shown, and classes of an explanation: as many as in its text.
_MAX_DECISIONS, _MAX_CLASSES = 10, 6


def audit(report: Audit) -> str:
    """An audit: its verdicts, a row per classifier, the figures about all of them and their dependence."""
    head, *rest = _html.paragraphs(repr(report))
    parts = [_html.text(head, "head"), _verdicts(report.classifiers)]
    for part in rest:
        if _is_table(part):
            parts.append(_classifiers(report))
        else:
            parts.append(_html.text(part, "small" if part.startswith("95 %:") else ""))
    return _html.page(*parts)


def _is_table(part: str) -> bool:
    """Whether a part of a text is a table of classifiers, or of the answers of a row."""
    return any(line.startswith(("classifier ", "answer ")) for line in part.splitlines()[:2])


def _verdicts(entries: Sequence[ClassifierAudit]) -> Markup:
    """How many classifiers have each verdict."""
    counts = Counter(entry.verdict for entry in entries).most_common()
    dots = (_html.dot(_colours.of_verdict(verdict), f"{n} {verdict}") for verdict, n in counts)
    return Markup(f"<p>{'&ensp;'.join(dots)}</p>")


def _classifiers(report: Audit) -> Markup:
    entries = report.classifiers
    names = [entry.name for entry in entries]
    shown = dict(zip(names, shorten(names), strict=True))

    def interval(entry: ClassifierAudit) -> Markup:
        low, high = entry.interval
        colour = _colours.of_verdict(entry.verdict)
        return _html.interval(f"{100 * low:.0f}-{100 * high:.0f}", low, entry.accuracy, high, colour)

    def verdict(entry: ClassifierAudit) -> Markup:
        text = entry.verdict if entry.original is None else f"copy of {shown[entry.original]}"
        return _html.dot(_colours.of_verdict(entry.verdict), text)

    columns: dict[str, list[Cell]] = {
        "classifier": [shown[name] for name in names],
        "accuracy": [f"{entry.accuracy:.1%}" for entry in entries],
        "95 %": [interval(entry) for entry in entries],
        "relabelled_accuracy": [f"{entry.relabelled_accuracy:.1%}" for entry in entries],
        "coverage": [f"{entry.coverage:.0%}" for entry in entries],
        "information": [_figure(entry.information, ".2f") for entry in entries],
        "influence": [_figure(entry.influence, ".1%") for entry in entries],
        "verdict": [verdict(entry) for entry in entries],
    }
    if report.as_dict["answerable_share"] is not None:
        # Open answers have no classes that a label could stand for.
        del columns["relabelled_accuracy"]
    filled = ((name, cells) for name, cells in columns.items() if any(cells))
    return _html.table(filled, left=["verdict"])


def _figure(value: float | None, form: str) -> str:
    """A number; nothing if it is not known."""
    return "" if value is None or np.isnan(value) else format(value, form)


def explanation(report: Explanation) -> str:
    """An explanation: the classes, what each classifier contributes, and what would change the decision."""
    head, *rest = _html.paragraphs(repr(report))
    further = [_html.text(part) for part in rest if not _is_table(part)]
    return _html.page(_html.text(head, "head"), _classes(report), _contributions(report), *further)


def _shown(report: Explanation) -> list[int]:
    """The classes that are shown: the most possible ones, the decided one first."""
    decided, degrees = report.as_dict["decision"]["class"], report.possibility
    return sorted(range(len(degrees)), key=lambda i: (i != decided, -degrees[i]))[:_MAX_CLASSES]


def _classes(report: Explanation) -> Markup:
    """The possibility and the probability of each class that is shown."""
    shown = _shown(report)
    word = "answer" if report.as_dict["is_open"] else "class"
    columns: list[tuple[str, Sequence[Cell]]] = [(word, shorten(title(report.classes[i]) for i in shown))]
    colours = [_colours.GREEN, *[_colours.GREY] * len(shown)]
    for name, degrees in (("possibility", report.possibility), ("probability", report.probability)):
        if degrees is not None:
            best = degrees.max() or 1.0
            bars = zip(degrees[shown], colours, strict=False)
            columns.append((name, [_html.bar(share / best, _degree(share), hue) for share, hue in bars]))
    n_omitted = len(report.classes) - len(shown)
    more = f"and {n_omitted} less possible {'class' if n_omitted == 1 else 'classes'}" if n_omitted else ""
    return Markup(_html.table(columns) + _html.text(more, "small"))


def _contributions(report: Explanation) -> Markup:
    """What each classifier contributes, the largest contributions first."""
    entries = sorted(report.contributions, key=lambda entry: -abs(entry.contribution or 0))
    most = max((abs(entry.contribution or 0) for entry in entries), default=0) or 1.0
    predicted = ["-" if entry.prediction is None else entry.prediction for entry in entries]
    values = [entry.contribution for entry in entries]
    word = "answer" if report.as_dict["is_open"] else "prediction"
    columns: list[tuple[str, Sequence[Cell]]] = [
        ("classifier", shorten(entry.classifier for entry in entries)),
        (word, shorten(predicted)),
        ("contribution", ["" if x is None else _html.signed_bar(x / most, f"{x:+.2f}") for x in values]),
    ]
    degrees = [entry.possibility for entry in entries]
    if any(known is not None for known in degrees):
        shown = sorted(_shown(report))
        for i, label in zip(shown, shorten(title(report.classes[i]) for i in shown), strict=True):
            columns.append((label, ["" if known is None else _degree(known[i]) for known in degrees]))
    return _html.table(columns, left=[word])


def _degree(degree: float) -> str:
    """A possibility as the text shows it."""
    if 0 < degree < 0.001:
        return np.format_float_scientific(degree, precision=0, exp_digits=1, trim="-")
    return f"{degree:.3f}"


def decisions(report: Decisions) -> str:
    """Decisions: the first rows."""
    labels, margins = report.label[:_MAX_DECISIONS].tolist(), report.margin[:_MAX_DECISIONS].tolist()
    # Labels of an index may repeat.
    rows = (range(len(report)) if report.index is None else report.index)[: len(labels)]
    columns: list[tuple[str, Sequence[Cell]]] = [
        ("row", [short(row) for row in rows]),
        ("decision", shorten(labels)),
        ("margin", [_html.bar(margin, f"{margin:.3f}") for margin in margins]),
    ]
    for name in ("answered", "is_tie", "by_prior"):
        columns.append((name, [str(value) for value in getattr(report, name)[:_MAX_DECISIONS].tolist()]))
    parts = [_html.text(repr(report), "head")]
    if labels:
        parts.append(_html.table(columns, left=["decision"]))
    if more := len(report) - len(labels):
        parts.append(_html.text(f"and {more} more row{'' if more == 1 else 's'}", "small"))
    return _html.page(*parts)


def comparison(report: Comparison) -> str:
    """A comparison: a row per method, the conclusions, and all methods in the tables of curves."""
    # The text breaks long lines for a terminal.
    head, *rest = (part.replace("\n  ", " ") for part in _html.paragraphs(repr(report)))
    methods = {result.method for result in report.methods}
    parts = [_html.text(head, "head")]
    for part in rest:
        header, *lines = part.splitlines()
        if header.startswith("method "):
            notes = [line for line in lines if line.split(maxsplit=1)[0] not in methods]
            parts += [_table(report, header), _html.text("\n".join(notes), "small")]
        else:
            parts.append(_html.text(part))
    return _html.page(*parts)


def _table(report: Comparison, header: str) -> Markup:
    """The table that has this header in the text."""
    if header.endswith("behind the best"):
        return _results(report.methods)
    return _risks(report.methods) if header.endswith("AURC") else _curve(report)


def _results(results: Sequence[MethodResult]) -> Markup:
    ends = [end for result in results for end in result.interval]
    lowest = min(ends, default=0.0)
    width = (max(ends, default=0.0) - lowest) or 1.0

    def interval(result: MethodResult) -> Markup:
        (low, high), weighted = result.interval, result.weighted_accuracy
        at = result.accuracy if weighted is None else weighted
        start, middle, end = ((share - lowest) / width for share in (low, at, high))
        colour = _colours.of_method(result.method) or _colours.GREY
        return _html.interval(f"{100 * low:.1f}-{100 * high:.1f}", start, middle, end, colour)

    weighted = [result.weighted_accuracy for result in results]
    columns: dict[str, Sequence[Cell]] = {
        "method": [result.method + (" *" if result.is_reference else "") for result in results],
        "accuracy": [_percent(result.accuracy) for result in results],
        "weighted_accuracy": ["" if share is None else _percent(share) for share in weighted],
        "95 %": [interval(result) for result in results],
        "behind the best": [_behind(result.behind) for result in results],
    }
    if not any(columns["weighted_accuracy"]):
        del columns["weighted_accuracy"]
    return _html.table(columns.items())


def _percent(share: float) -> str:
    """A share as in the text of a comparison."""
    return f"{100 * share:.1f} %"


def _behind(difference: Difference | None) -> str:
    """A difference in percentage points, as in the text of a comparison."""
    if difference is None:
        return ""
    by, low, high = (100 * share for share in (difference.by, *difference.interval))
    return f"{'' if difference.is_beyond_noise else '~ '}{by:.1f} ({low:.1f} .. {high:.1f})"


def _risks(results: Sequence[MethodResult]) -> Markup:
    """The accuracy on the rows with the largest margins."""
    known = [(result, result.most_certain) for result in results if result.most_certain is not None]
    columns: list[tuple[str, Sequence[Cell]]] = [("method", [result.method for result, _ in known])]
    for share in known[0][1] if known else ():
        columns.append((f"{100 * share:.0f} %", [_percent(shares[share]) for _, shares in known]))
    return _html.table([*columns, ("AURC", [f"{result.aurc:.4f}" for result, _ in known])])


def _curve(report: Comparison) -> Markup:
    """The accuracy after fitting to fewer rows."""
    curve = report.curve or {"n_rows": [], "methods": []}
    columns: list[tuple[str, Sequence[Cell]]] = [("method", [entry["method"] for entry in curve["methods"]])]
    for at, n_rows in enumerate(curve["n_rows"]):
        shares = [entry["accuracies"][at] for entry in curve["methods"]]
        columns.append((str(n_rows), ["-" if share is None else _percent(share) for share in shares]))
    return _html.table(columns)
