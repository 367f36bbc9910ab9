"""Writes docs/BENCHMARKS.md from what was measured; nothing in it is written by hand."""

from typing import Any

from harness.package import package_section
from harness.plan import MATCHES, METHODS, RIVALS, Shape, fitted_for, methods_for
from harness.results import Panel, digits, mebibytes, seconds
from harness.targets import NO_TARGET, targets

# An exponent may be so much above its bound before it is called steeper: caches and clocks are not powers.
SLACK = 0.15

TITLES = {
    "count": "count", "fit": "fit, from evidence", "whole": "fit, from rows", "decide": "fit and predict",
    "predict": "predict", "command": "command on the CSV",
}  # fmt: skip

# Whom we show; all methods where nothing is said.
OURS = {
    "count": ["marginals", "tally"], "decide": ["adaspocc", "majority"], "command": ["tally", "fit", "predict"],
}  # fmt: skip

# The rivals' tasks, under ours.
THEIRS = {
    "count": ["count", "tally"], "fit": [], "whole": ["fit"], "decide": [], "predict": ["predict"], "command": ["csv"],
}  # fmt: skip

READING = """\
Every panel comes from one generator with seed 1 (`bench/src/panel.rs`): classes are equally frequent, and each
answer is right with the same chance, 95 % on an *easy* panel and 60 % on a *hard* one, and otherwise any other class.
Sizes are (rows, classifiers, classes).

Times are of the shortest of several runs: five and 0.3 s at least, but no more after two seconds. Data is loaded
and converted outside the clock, for us and for the rivals; only the command and the CSV readers start from a file.
CPU is the processor time of all threads, and peak memory the most the process held meanwhile, data included; both are
of the run on all cores. Models that predict were fitted to the first 2000 rows, those of stacking and logistic
regression to the first 200. *memcpy* copies the label matrix as the engine holds it, two bytes a cell, with as many
threads. Rivals that cannot use more than one core were measured once, and count for both. Panels of over 2e7 cells
are left to the main methods, fitted on all cores only.

What we do is compared with whoever does the same: **naive-bayes** with scikit-learn's `CategoricalNB`,
**stacking-c1**, a single regression of strength C = 1, with a single `LogisticRegression` of that same strength on
one-hot columns already made (**stacking**, which tries 101 strengths on five folds and so fits 506 regressions, is
shown beside that same single one, though it is not the same task), **majority** with numpy, a hard `VotingClassifier` and crowd-kit's `MajorityVote`, **spocc** and **adaspocc** with log
tables in numpy, and adaspocc from rows to decisions with crowd-kit's `DawidSkene`, which knows no truth. The tally is
what DuckDB and polars group by every column. *5.00x* means that we are five times faster, **0.50x (slower)** that
the rival wins.
"""


def report(results: dict[str, Any], command: str) -> str:
    panels = {Shape(*panel["shape"]): Panel(Shape(*panel["shape"]), panel["rows"]) for panel in results["panels"]}
    parts = ["# Benchmarks\n", head(results, command), "## Targets\n", target_table(results, panels)]
    parts += ["## How to read the tables\n", READING, "## Sizes\n"]
    parts += [panel_table(panel) for panel in panels.values()]
    if results.get("package"):
        measured = f"Measured at commit {results['package_commit']}.\n"
        parts += ["## The Python package\n", package_section(results["package"]), measured]
    if results.get("growth"):
        parts += ["## How cost grows\n", growth_table(results["growth"])]
    if results.get("build"):
        parts += ["## Build\n", build_table(results["build"])]
    return "\n".join(parts)


def table(header: list[str], rows: list[list[str]], right: int = 1) -> str:
    """A table whose columns from `right` on are flush right."""
    marks = ["---" if at < right else "---:" for at in range(len(header))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, marks, *rows]) + "\n"


def head(results: dict[str, Any], command: str) -> str:
    machine = results["machine"]
    packages = ", ".join(package.replace("==", " ") for package in machine["packages"])
    rows = [
        ["date", machine["date"]],
        ["commit", machine["commit"]],
        ["command", f"`{command}`, {results['minutes']:.0f} minutes"],
        ["machine", f"{machine['cpu']}, {machine['cores']} cores, {machine['memory'] / 2**30:.0f} GiB"],
        ["system", f"{machine['system']}, {machine['rustc']}, Python {machine['python']}"],
        ["rivals", packages],
        ["load", f"{machine['load']:.1f} programs were busy in the minute before; more than 0.5 makes times doubtful"],
        ["limit", f"{results['limit']:g} s a task, of rivals {results['rival_limit']:g} s"],
    ]
    intro = "Made by one run of `bench/versus.py`, never edited by hand; see [bench/README.md](../bench/README.md).\n"
    return intro + "\n" + table(["", ""], rows, right=2)


def target_table(results: dict[str, Any], panels: dict[Shape, Panel]) -> str:
    verdicts = {True: "met", False: "**not met**", None: "-"}
    rows = [[text, asked, found, verdicts[met]] for text, asked, found, met in targets(results, panels)]
    met = sum(row[3] == "met" for row in rows)
    missed = sum(row[3] == verdicts[False] for row in rows)
    unjudged = sum(row[1] == NO_TARGET for row in rows)
    total = f"{met} met, {missed} not met, {len(rows) - met - missed - unjudged} not measured in this run.\n"
    return total + "\n" + table(["target", "asked", "measured", ""], rows)


def panel_table(panel: Panel) -> str:
    copy = panel.row("memcpy", "label matrix"), panel.row("memcpy", "label matrix", "one")
    text = f"### {panel.shape}\n\nmemcpy of the label matrix: {seconds(copy[1].get('wall'))} on one core, "
    text += f"{seconds(copy[0].get('wall'))} on all.\n"
    header = ["task", "who", "one core", "all cores", "CPU", "peak", "x memcpy", "we are faster by"]
    rows: list[list[str]] = []
    for task, title in TITLES.items():
        methods = fitted_for(panel.shape) if task in ["fit", "whole"] else methods_for(panel.shape)
        for name in OURS.get(task, methods):
            copies = panel.times_memcpy(task, name)
            ratios = [digits(copies) if copies else "", versus(panel, task, name)]
            rows.append([title, f"**{name}**", *cells(panel, task, name), *ratios])
        pairs = [(theirs, rival) for rival in RIVALS for theirs in THEIRS[task] if theirs in RIVALS[rival]]
        for theirs, rival in pairs:
            note = panel.row(theirs, rival).get("note", "")
            rows.append([title, rival, *cells(panel, theirs, rival), "", note])
    return text + "\n" + table(header, rows, right=2)


def cells(panel: Panel, task: str, name: str) -> list[str]:
    """One core, all cores, CPU, peak; or why not."""
    one, many = panel.rows.get((task, name, "one"), {}), panel.rows.get((task, name, "all"), {})
    shown = [one.get("failed") or seconds(one.get("wall")), many.get("failed") or seconds(many.get("wall"))]
    best = many if "wall" in many else one
    return [*shown, seconds(best.get("cpu")), mebibytes(best.get("peak"))]


def versus(panel: Panel, task: str, name: str) -> str:
    """How many times faster than each rival, all cores against all cores; and whether a rival won."""
    said = []
    for theirs in MATCHES.get((task, name), []):
        faster = panel.speedup((task, name), theirs)
        if faster:
            text = f"{digits(faster)}x {theirs[1]}"
            said.append(text if faster >= 1 else f"**{text} (slower)**")
        elif panel.wall(task, name) and panel.row(*theirs).get("failed", "").startswith("> "):
            limit = float(panel.row(*theirs)["failed"].split()[1])
            said.append(f"over {digits(limit / (panel.wall(task, name) or 1))}x {theirs[1]}")
        elif panel.wall(*theirs) and panel.row(task, name).get("failed"):
            said.append(f"**{theirs[1]} finished, we did not**")
    return ", ".join(said)


def growth_table(growth: list[dict[str, Any]]) -> str:
    text = """\
Measured on hard panels with one core: the slope of log time on log size, from (1e4, 10, 5) on, where one of rows
(2000 to 200 000), classifiers (8 to 128) and classes (3 to 48) grows; stacking is fitted to a fortieth of the rows.
Beside it the bound that the algorithm promises (`bench/src/growth.rs` says why). Smaller is better: fixed costs and
sizes that fit a cache make the measured exponent smaller than the bound, and what is steeper by more than 0.15 is
marked.

![measured exponents beside their bounds](growth.svg)
"""
    found = {(line["task"], line["method"], line["vary"]): line for line in growth}
    rows = []
    for task in ["fit", "predict"]:
        for method in METHODS:
            row = [task, method]
            for vary in ["rows", "classifiers", "classes"]:
                line = found.get((task, method, vary))
                row.append(exponent(line) if line else "")
            rows.append(row)
    return text + "\n" + table(["task", "method", "rows", "classifiers", "classes"], rows, right=2)


def exponent(line: dict[str, Any]) -> str:
    if line["exponent"] is None:
        return f"too slow, bound {line['bound']:g}"
    steeper = line["exponent"] > line["bound"] + SLACK
    text = f"{line['exponent']:.2f} of {line['bound']:g}"
    return f"**{text}, steeper**" if steeper else text


def build_table(build: dict[str, Any]) -> str:
    text = f"A cold `cargo build --release -p spocc-cli` took {seconds(build['wall'])}: {build['units']} units, "
    text += f"{seconds(build['sum'])} of work in all. The longest:\n"
    rows = [[name, seconds(duration)] for name, duration in build["longest"]]
    return text + "\n" + table(["unit", "time"], rows)
