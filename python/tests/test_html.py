"""HTML of reports: well-formed, escaped, without scripts, and with all that the texts say."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import spocc
from spocc._settings import Level, Method

from panels import Panel, make_panel

HOSTILE = [
    "<script>alert(1)</script>",
    "</td></table><b>",
    '" onmouseover="alert(1)',
    "&amp;",
    "\u202egnp\u202c.<i>",
    "x" * 5000,
]
VOID = {"br", "hr", "img", "link", "meta", "input"}


class Page(HTMLParser):
    """The tags of a page, its table rows and its paragraphs, as a browser shows them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.heads: list[int] = []
        self.lines: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == [], "every tag is closed"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag not in VOID
        self.open.append(tag)
        self.tags.append((tag, dict(attributes)))
        if tag == "tr":
            self.heads += [len(self.rows)] * ("thead" in self.open)
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data
        else:
            self.lines += [" ".join(line.split()) for line in data.splitlines()]

    def column(self, head: str) -> list[str]:
        """The cells below a head, of the first table that has it."""
        at = next(at for at in self.heads if head in self.rows[at])
        end = min((other for other in self.heads if other > at), default=len(self.rows))
        place = self.rows[at].index(head)
        return [row[place].strip() for row in self.rows[at + 1 : end]]


def reports(predictions: Any, truth: Any, **settings: Any) -> list[Any]:
    model = spocc.fit(predictions, truth, **settings)
    compared = spocc.compare(predictions, truth, methods=["ladder", "naive-bayes"], repeats=1)
    decided = [model.decide(predictions), model.explain(predictions, 2)]
    return [model, model.evidence, model.audit(), compared, *decided]


def test_hostile_labels_and_names_are_texts() -> None:
    predictions, truth = make_panel(n_classifiers=6, n_classes=6)
    labels = np.array(HOSTILE, dtype=object)
    shown = reports(dict(zip(HOSTILE, labels[predictions].T, strict=True)), labels[truth], calibrate="cross")
    allowed = {
        "div",
        "style",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "p",
        "pre",
        "span",
        "i",
        "details",
    }
    for report in shown:
        html = report._repr_html_()
        page = Page(html)
        assert {tag for tag, _ in page.tags} <= allowed | {"summary"}
        assert {name for _, attributes in page.tags for name in attributes} <= {"class", "style", "open"}
        assert "\u202e" not in html
        assert "http" not in html
        assert "url(" not in html
    explained = Page(shown[-1]._repr_html_())
    assert "<script>alert(1)</script>" in explained.column("classifier")
    assert "</td></table><b>" in explained.column("classifier")
    assert max(map(len, explained.column("prediction"))) < 100, "long labels are shortened"


def test_nothing_is_black_or_white() -> None:
    for report in reports(*make_panel()):
        style = re.sub(r"var\([^()]*(\([^()]*\))?\)", "", report._repr_html_())
        colours = set(re.findall(r"#[0-9A-Fa-f]{3,6}", style))
        assert colours <= {"#0072B2", "#009E73", "#D55E00", "#CC79A7", "#8C8C8C"}
        assert "black" not in style
        assert "white" not in style.replace("white-space", "")


@pytest.mark.parametrize("method", ["adaspocc", "naive-bayes"])
@pytest.mark.parametrize("level", ["tally", "pairs", "marginals"])
def test_html_has_the_content_of_the_text(panel: Panel, method: Method, level: Level) -> None:
    predictions, truth = panel
    gaps = predictions.astype(float)
    gaps[np.arange(predictions.size).reshape(predictions.shape) % 7 == 3] = np.nan
    model = spocc.fit(gaps, truth, method)
    explained = model.explain(gaps, 2)
    shown: list[Any] = [spocc.Evidence(gaps, truth, level=level).audit(), model.audit(), explained]
    shown.append(spocc.compare(gaps, truth, methods=[method, "majority"], repeats=1))
    for report in shown:
        page = Page(report._repr_html_())
        # A row may have its columns in another order, and the decision is a table of its own.
        found = {tuple(sorted(" ".join(row).replace("●", "").split())) for row in page.rows}
        prose = " ".join(page.lines)
        for line in repr(report).splitlines():
            words = line.split()
            if words[:1] in (["possibility"], ["probability"]):
                assert sorted(words[1:]) == sorted(page.column(words[0]))
                continue
            is_head = words[:1] in (["classifier"], ["method"]) or "infor-" in words
            assert is_head or " ".join(words) in prose or tuple(sorted(words)) in found, line


def test_contributions_are_bars_with_the_largest_first(panel: Panel) -> None:
    model = spocc.fit(*panel, method="naive-bayes")
    split = next(row for row, cells in enumerate(panel[0]) if cells[3] != cells[4])
    explained = model.explain(panel[0], split)
    page = Page(explained._repr_html_())
    shown = [float(cell.split()[0]) for cell in page.column("contribution")]
    expected = sorted((entry.contribution or 0.0 for entry in explained.contributions), key=abs, reverse=True)
    assert shown == [float(f"{value:+.2f}") for value in expected]
    bars = [a["style"] or "" for tag, a in page.tags if tag == "i" and "#D55E00" in (a["style"] or "")]
    assert len(bars) == sum(value < 0 for value in expected) > 0
    assert "any one of these would change the decision" in page.lines or "no other" in " ".join(page.lines)


def test_an_audit_counts_its_verdicts(panel: Panel) -> None:
    page = Page(spocc.Evidence(*panel).audit()._repr_html_())
    assert "3 useful" in " ".join(page.lines)
    assert page.column("verdict")[1:3] == ["● copy of x0", "● adversary"]


def test_decisions_show_the_first_rows() -> None:
    model = spocc.fit([["a", "b"], ["b", "b"], ["b", "a"]], ["a", "b", "b"], "majority")
    decisions = model.decide([["a", "b"], ["b", "b"], [None, None]] * 4)
    page = Page(decisions._repr_html_())
    assert page.rows[0] == ["row", "decision", "margin", "answered", "is_tie", "by_prior"]
    assert [cell.strip() for cell in page.rows[2]] == ["1", "b", "1.000", "2", "False", "False"]
    assert len(page.rows) == 11
    assert [repr(decisions), "and 2 more rows"] == [line for line in page.lines if line]
    assert Page(model.decide(np.empty((0, 2), dtype=object))._repr_html_()).rows == []


def test_labels_are_not_shown_as_measurements() -> None:
    predictions = np.array([[1.0, 2.0], [2.0, 2.0]] * 5)
    explained = spocc.fit(predictions, [1.0, 2.0] * 5, "spocc").explain(predictions)
    assert Page(explained._repr_html_()).column("prediction") == ["1.0", "2.0"]


def test_a_large_panel_is_compact() -> None:
    predictions, truth = make_panel(n_rows=200, n_classifiers=150)
    model = spocc.fit(predictions, truth, "naive-bayes")
    large: list[Any] = [model, model.audit(), model.explain(predictions)]
    for report in large:
        page = Page(report._repr_html_())
        long = [attributes for _, attributes in page.tags if attributes.get("class") == "scroll"]
        folded = [tag for tag, _ in page.tags if tag == "details"]
        assert len(long) + len(folded) >= 1
    audit = Page(model.audit()._repr_html_())
    assert len(audit.column("classifier")) == 150


def test_a_comparison_that_refuses_a_method_says_why() -> None:
    rows = [["a", "b"], ["b", "b"], ["b", "a"]] * 20
    comparison = spocc.compare(rows, ["a", "b", "a"] * 20, methods=["majority", "stacking"], memory=4000)
    html = comparison._repr_html_()
    for method, reason in comparison.refused.items():
        assert f"{method}" in html
        assert reason.split(":")[0] in html
    assert len(Page(html).column("method")) == len(comparison.methods)
