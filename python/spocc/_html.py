"""Reports as HTML for notebooks: escaped, without scripts, readable on light and on dark pages.

Text and lines have the colours of the page around them; only bars and dots have colours of their own. Where a
page allows no style sheet, what remains are plain tables with the same texts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from spocc._colours import BLUE, VERMILION
from spocc._names import short
from spocc._native import printable

__all__ = [
    "Cell",
    "Markup",
    "bar",
    "dot",
    "entries",
    "folded",
    "interval",
    "names",
    "page",
    "paragraphs",
    "signed_bar",
    "table",
    "text",
]

# Rows above which a table scrolls, lines above which a tree is folded, and names shown of a list.
_MAX_ROWS, _MAX_LINES, _MAX_NAMES = 20, 45, 12
# Letters of a cell; a longer one has its middle replaced by an ellipsis.
_MAX_LETTERS = 80

_LINE = "var(--jp-border-color2,rgba(127,127,127,.35))"
_STYLE = f"""
.spocc{{color:var(--jp-content-font-color1,currentColor);overflow-x:auto}}
.spocc table{{border-collapse:collapse;margin:.4em 0;color:inherit;table-layout:auto}}
.spocc th,.spocc td{{border:0;border-bottom:1px solid {_LINE};padding:.15em .7em;
text-align:right;color:inherit;max-width:30em;overflow-wrap:anywhere;white-space:normal;vertical-align:middle;font-variant-numeric:tabular-nums}}
.spocc th{{font-weight:600;overflow-wrap:normal}}
.spocc .left{{text-align:left !important}}
.spocc td.left{{min-width:5em}}
.spocc .scroll{{max-height:30em;overflow:auto}}
.spocc .scroll thead th{{position:sticky;top:0;z-index:1;
background:var(--jp-layout-color0,rgba(127,127,127,.2));
backdrop-filter:blur(9px)}}
.spocc p{{margin:.4em 0;white-space:pre-wrap;overflow-wrap:anywhere;max-width:70em}}
.spocc .head{{font-weight:600}}
.spocc pre{{margin:.3em 0;color:inherit;background:none;line-height:1.25;font-family:monospace !important}}
.spocc summary{{cursor:pointer}}
.spocc .small{{font-size:.9em;opacity:.8}}
.spocc .bar{{white-space:nowrap}}
.spocc .axis{{display:inline-block;position:relative;width:7em;height:.8em;vertical-align:middle;
margin-left:.3em;background:rgba(127,127,127,.12)}}
.spocc .axis i{{position:absolute;top:0;height:100%}}
""".replace("\n", "")


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


Cell = str | Markup
"""What a cell holds: a text, which is escaped, or HTML."""


def page(*parts: Markup) -> str:
    """The HTML of a report."""
    return f'<div class="spocc"><style>{_STYLE}</style>{"".join(parts)}</div>'


def text(lines: str, kind: str = "") -> Markup:
    """A paragraph that keeps its line ends: a ``head``, ``small``, or plain. A long tree is folded."""
    if "─" in lines:
        return _tree(lines)
    style = f' class="{kind}"' if kind else ""
    return Markup(f"<p{style}>{_escaped_lines(lines)}</p>") if lines.strip() else Markup("")


def paragraphs(report: str) -> list[str]:
    """The parts of a text of the engine, between blank lines."""
    return [part.strip("\n") for part in report.split("\n\n") if part.strip()]


def _escaped_lines(lines: str) -> str:
    return "\n".join(escape(printable(line)) for line in lines.splitlines())


def _tree(lines: str) -> Markup:
    drawn = Markup(f"<pre>{_escaped_lines(lines)}</pre>")
    n_lines = lines.count("\n") + 1
    return folded(f"tree of {n_lines} lines", drawn) if n_lines > _MAX_LINES else drawn


def folded(summary: str, content: Markup, is_open: bool = False) -> Markup:
    """A part that opens with a click."""
    state = " open" if is_open else ""
    return Markup(f"<details{state}><summary>{escape(printable(summary))}</summary>{content}</details>")


def table(columns: Iterable[tuple[str, Sequence[Cell]]], left: Iterable[str] = ()) -> Markup:
    """A table of named columns, the first and those of ``left`` aligned to the left; a long one scrolls."""
    heads, cells = zip(*columns, strict=True)
    aligned = {heads[0], *left}
    kinds = [' class="left"' if head in aligned else "" for head in heads]

    def line(tag: str, row: Iterable[Cell]) -> str:
        shown = (f"<{tag}{kind}>{_cell(cell)}</{tag}>" for kind, cell in zip(kinds, row, strict=True))
        return f"<tr>{''.join(shown)}</tr>"

    body = "".join(line("td", row) for row in zip(*cells, strict=True))
    drawn = f"<table><thead>{line('th', heads)}</thead><tbody>{body}</tbody></table>"
    return Markup(f'<div class="scroll">{drawn}</div>' if len(cells[0]) > _MAX_ROWS else drawn)


def entries(values: Mapping[str, Cell]) -> Markup:
    """A table with a name and a value, HTML or a text of the engine, per row."""
    lines = (
        f'<tr><th class="left">{escape(name)}</th><td class="left">{_whole(value)}</td></tr>'
        for name, value in values.items()
    )
    return Markup(f"<table><tbody>{''.join(lines)}</tbody></table>")


def _whole(cell: Cell) -> str:
    return cell if isinstance(cell, Markup) else escape(printable(cell))


def _cell(cell: Cell) -> str:
    return cell if isinstance(cell, Markup) else escape(short(cell, _MAX_LETTERS))


def names(given: Iterable[object]) -> Markup:
    """The number of names and the first of them; the others open with a click."""
    words = [escape(short(name, _MAX_LETTERS)) for name in given]
    listed = f"{len(words)}: {', '.join(words[:_MAX_NAMES])}"
    if len(words) <= _MAX_NAMES:
        return Markup(listed)
    rest = ", ".join(words[_MAX_NAMES:])
    return Markup(f"<details><summary>{listed}, ..</summary>{rest}</details>")


def dot(colour: str, label: str) -> Markup:
    """A text behind a dot."""
    return Markup(f'<span style="color:{colour}">●</span> {escape(short(label, _MAX_LETTERS))}')


def bar(share: float, label: str, colour: str = BLUE) -> Markup:
    """A number with a bar for a share from 0 to 1."""
    return _axis(label, _mark(0, share, colour))


def signed_bar(share: float, label: str) -> Markup:
    """A number with a bar from -1 to 1: to the right of the middle if it is positive, else to the left."""
    middle = _mark(0.5, 0.5, "currentColor", "1px")
    ends = sorted((0.5, 0.5 + 0.5 * share))
    return _axis(label, _mark(ends[0], ends[1], BLUE if share >= 0 else VERMILION) + middle)


def interval(label: str, low: float, at: float, high: float, colour: str = BLUE) -> Markup:
    """A text with a range and a point in it, of shares from 0 to 1."""
    return _axis(label, _mark(low, high, colour, opacity=0.45) + _mark(at, at, "currentColor", "2px"))


def _axis(label: str, marks: str) -> Markup:
    return Markup(f'<span class="bar">{escape(label)} <span class="axis">{marks}</span></span>')


def _mark(start: float, end: float, colour: str, width: str = "", opacity: float = 1) -> str:
    if math.isnan(start) or math.isnan(end):
        return ""
    start, end = (min(max(share, 0.0), 1.0) for share in (start, end))
    wide = width or f"{100 * (end - start):.1f}%"
    faint = f";opacity:{opacity}" if opacity < 1 else ""
    return f'<i style="left:{100 * start:.1f}%;width:{wide};background:{colour}{faint}"></i>'
