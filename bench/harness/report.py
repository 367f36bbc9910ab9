"""Writes docs/BENCHMARKS.md from the results of a run."""

from typing import Any

from harness.package import package_section, package_summary
from harness.plan import (
    EASES, MATCHES, METHODS, ONE_STRENGTH, PROBABILISTIC, RIVALS, SIZES, Shape, fitted_for, methods_for,
)  # fmt: skip
from harness.results import Panel, digits, mebibytes, seconds
from harness.targets import MAIN, NO_TARGET, targets

# An exponent is called steeper only when it exceeds its bound by more than this: caches blur the slope.
SLACK = 0.15

TITLES = {
    "count": "count", "fit": "fit, from evidence", "whole": "fit, from rows", "evaluated": "fit with its accuracy",
    "both": "fit and predict", "predict": "predict", "predict_proba": "predict_proba", "decide": "decide",
    "explain": "explain one row", "command": "command on the CSV",
}  # fmt: skip

# The rows shown for each task; all methods where there is no entry.
OURS = {
    "count": ["marginals", "tally"], "evaluated": ["ladder"], "both": ["adaspocc", "majority"],
    "command": ["tally", "fit", "predict"],
}  # fmt: skip

# The rivals' tasks that correspond to ours.
THEIRS = {
    "count": ["count", "tally"], "whole": ["fit"], "predict": ["predict"], "predict_proba": ["predict_proba"],
    "command": ["csv"],
}  # fmt: skip

OPENING = """\
Fitting and predicting {rows:,} rows of {classifiers} classifiers and {classes} classes. *Easy* rows have classifiers of
95 % accuracy, so that a few patterns of predictions make up most rows; on *hard* rows (60 %) most patterns occur once.
All cores are used; the data is in memory. The indented rows are the programs that do the same task.
"""

# The opening table: our method, its label, and the rivals that do the same task with their labels.
SHOWN = [
    ("ladder", "ladder, the default", {
        "logistic-regression": "scikit-learn `LogisticRegression`, one-hot",
        "hist-gradient-boosting": "scikit-learn `HistGradientBoostingClassifier`",
        "random-forest": "scikit-learn `RandomForestClassifier`",
    }),
    ("naive-bayes", "naive-bayes", {"categorical-nb": "scikit-learn `CategoricalNB`"}),
    (ONE_STRENGTH, "stacking, one strength", {"logistic-regression": "scikit-learn `LogisticRegression`"}),
    ("majority", "majority", {"numpy-majority": "numpy", "voting": "scikit-learn `VotingClassifier`"}),
    ("spocc", "spocc", {"numpy-table": "numpy, log tables"}),
    ("adaspocc", "adaspocc", {"numpy-table": "numpy, log tables"}),
]

READING = """\
All panels come from one generator with seed 1 (`bench/src/panel.rs`): classes are equally frequent, every classifier has
the same accuracy, 95 % on an *easy* panel and 60 % on a *hard* one, and errors are uniform over the other classes.
Sizes are (rows, classifiers, classes). Our methods are in bold.

- *One core* and *all cores* are wall times, each the shortest of several runs (at least five and 0.3 s, at most two
  seconds). Data is loaded and converted before the clock starts, for all programs; only the command and the CSV readers
  start from a file.
- *CPU* is the processor time of all threads and *peak memory* the peak of the process, data included; both belong to
  the run on all cores.
- *x memcpy* is our time divided by that of copying the label matrix (two bytes per cell) with as many threads.
- *Speed-up* is a rival's time divided by ours, both on all cores; below 1 the rival is faster (in bold).
- Models that predict were fitted to the first 2000 rows, those of stacking to the first 200; *accuracy* is that of their
  predictions on the other rows. Every rival has its default iterations.
- *predict* gives labels, *predict_proba* probabilities, *decide* margins and possibilities, and probabilities where the
  method has them.
- Rivals that cannot use more than one core were measured once. On panels of over 2e7 cells only the main methods were
  measured, and fitted on all cores only.

Rivals by task: **naive-bayes** is compared with scikit-learn's `CategoricalNB`; **stacking-c1**, a single regression of
strength C = 1, with a single `LogisticRegression` of the same strength on ready one-hot columns (**stacking** tries several
strengths and is shown beside the same single one); **ladder** with these two, `HistGradientBoostingClassifier` on
categories and `RandomForestClassifier` of 100 trees on label numbers; **majority** with
numpy, a hard `VotingClassifier` and crowd-kit's `MajorityVote`; **spocc** and **adaspocc** with log tables in numpy, and
adaspocc from rows to decisions with crowd-kit's unsupervised `DawidSkene`; the tally with a group-by over all columns in
DuckDB and polars.
"""


def report(results: dict[str, Any], command: str) -> str:
    panels = {Shape(*panel["shape"]): Panel(Shape(*panel["shape"]), panel["rows"]) for panel in results["panels"]}
    parts = ["# Benchmarks\n", opening(results, panels), "## Machine and versions\n", machine_table(results, command)]
    parts += ["## How to read the tables\n", READING, "## Sizes\n"]
    left_out = [str(shape) for shape in planned() if shape not in panels]
    if left_out:
        parts.append(f"Not measured in this run: {', '.join(left_out)}.\n")
    parts += [panel_table(panel) for panel in panels.values()]
    if results.get("package"):
        measured = f"Measured at commit {results['package_commit']}.\n"
        parts += ["## The Python package\n", package_section(results["package"]), measured]
    if results.get("calls"):
        parts += ["### Single calls\n", calls_table(results["calls"])]
    if results.get("growth"):
        parts += ["## Growth with the size of the data\n", growth_table(results["growth"], bool(results.get("memory")))]
    if results.get("build"):
        parts += ["## Build\n", build_table(results["build"])]
    parts += ["## Internal targets\n", target_table(results, panels)]
    return "\n".join(parts)


def planned() -> list[Shape]:
    """All panels of a whole run."""
    return [Shape(size.rows, size.classifiers, size.classes, ease) for size in SIZES for ease in EASES]


def opening(results: dict[str, Any], panels: dict[Shape, Panel]) -> str:
    """Fit and predict times at one size, ours above those of the programs that do the same task."""
    easy, hard = (panels.get(Shape(MAIN.rows, MAIN.classifiers, MAIN.classes, ease)) for ease in EASES)
    text = "Time of spocc against other programs, made by one run of `bench/versus.py` "
    text += "(see [bench/README.md](../bench/README.md)).\n\n## What a user gets\n\n"
    if not easy or not hard:
        return text + f"Not measured in this run: {MAIN.size()}.\n"
    text += OPENING.format(rows=MAIN.rows, classifiers=MAIN.classifiers, classes=MAIN.classes) + "\n"
    text += "![time to fit and to predict, ours and other programs](benchmarks.svg)\n\n"
    rows = []
    for method, label, rivals in SHOWN:
        decides = "stacking" if method == ONE_STRENGTH else method
        times = [panel.wall(task, name) for task, name in [("whole", method), ("predict", decides)] for panel in (easy, hard)]
        rows.append([f"**{label}**", *map(seconds, times)])
        for rival, name in rivals.items():
            found = [panel.row(task, rival) for task in ["fit", "predict"] for panel in (easy, hard)]
            shown = [seconds(row.get("wall")) or limit_of(row) for row in found]
            rows.append([f"&emsp;{name}", *shown])
    header = ["", "fit, easy", "fit, hard", "predict, easy", "predict, hard"]
    return text + table(header, rows) + package_summary(results.get("package") or {})


def limit_of(row: dict[str, Any]) -> str:
    """The time that a task exceeded, if it did."""
    failed = str(row.get("failed", "")).removeprefix("not tried: ")
    return " ".join(failed.split()[:3]) if failed.startswith("> ") else ""


def table(header: list[str], rows: list[list[str]], right: int = 1) -> str:
    """A table whose columns from `right` on are right-aligned."""
    marks = ["---" if at < right else "---:" for at in range(len(header))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, marks, *rows]) + "\n"


def machine_table(results: dict[str, Any], command: str) -> str:
    machine = results["machine"]
    packages = ", ".join(package.replace("==", " ") for package in machine["packages"])
    load = f"{machine['load']:.1f} in the minute before; above 0.5 times are less reliable"
    rows = [
        ["date", machine["date"]],
        ["commit", machine["commit"]],
        ["command", f"`{command}`, {results['minutes']:.0f} minutes"],
        ["machine", f"{machine['cpu']}, {machine['cores']} cores, {machine['memory'] / 2**30:.0f} GiB"],
        ["system", f"{machine['system']}, {machine['rustc']}, Python {machine['python']}"],
        ["other programs", packages],
        ["load average", load],
        ["time limit", f"{results['limit']:g} s per task, {results['rival_limit']:g} s for rivals"],
    ]
    return table(["", ""], rows, right=2)


def target_table(results: dict[str, Any], panels: dict[Shape, Panel]) -> str:
    verdicts = {True: "met", False: "**not met**", None: "-"}
    rows = [[text, asked, found, verdicts[met]] for text, asked, found, met in targets(results, panels)]
    met = sum(row[3] == "met" for row in rows)
    missed = sum(row[3] == verdicts[False] for row in rows)
    untargeted = sum(row[1] == NO_TARGET for row in rows)
    total = "Goals of the project, evaluated on the figures of this run. `docs/performance.md` says why some are not met.\n"
    total += f"{met} met, {missed} not met, {len(rows) - met - missed - untargeted} not measured.\n"
    return total + "\n" + table(["target", "goal", "measured", ""], rows)


def panel_table(panel: Panel) -> str:
    copy = panel.row("memcpy", "label matrix"), panel.row("memcpy", "label matrix", "one")
    text = f"### {panel.shape}\n\nmemcpy of the label matrix: {seconds(copy[1].get('wall'))} on one core, "
    text += f"{seconds(copy[0].get('wall'))} on all.\n"
    header = ["task", "name", "one core", "all cores", "CPU", "peak memory", "accuracy", "x memcpy", "speed-up"]
    rows: list[list[str]] = []
    for task, title in TITLES.items():
        methods = fitted_for(panel.shape) if task in ["fit", "whole"] else methods_for(panel.shape)
        if task == "predict_proba":
            methods = [method for method in methods if method in PROBABILISTIC]
        for name in OURS.get(task, methods):
            copies = panel.times_memcpy(task, name)
            ratios = [digits(copies) if copies else "", versus(panel, task, name)]
            rows.append([title, f"**{name}**", *cells(panel, task, name), *ratios])
        pairs = [(theirs, rival) for rival in RIVALS for theirs in THEIRS.get(task, []) if theirs in RIVALS[rival]]
        for theirs, rival in pairs:
            note = panel.row(theirs, rival).get("note", "")
            rows.append([title, rival, *cells(panel, theirs, rival), "", note])
    return text + "\n" + table(header, rows, right=2)


def cells(panel: Panel, task: str, name: str) -> list[str]:
    """One core, all cores, CPU, peak memory and accuracy, or the reason why they are missing."""
    one, many = panel.rows.get((task, name, "one"), {}), panel.rows.get((task, name, "all"), {})
    shown = [one.get("failed") or seconds(one.get("wall")), many.get("failed") or seconds(many.get("wall"))]
    best = many if "wall" in many else one
    accuracy = f"{100 * best['accuracy']:.2f} %" if "accuracy" in best else ""
    return [*shown, seconds(best.get("cpu")), mebibytes(best.get("peak")), accuracy]


def versus(panel: Panel, task: str, name: str) -> str:
    """The speed-up over each rival, all cores against all cores."""
    speedups = []
    for theirs in MATCHES.get((task, name), []):
        faster = panel.speedup((task, name), theirs)
        if faster:
            text = f"{digits(faster)}x {theirs[1]}"
            speedups.append(text if faster >= 1 else f"**{text}**")
        elif panel.wall(task, name) and panel.row(*theirs).get("failed", "").startswith("> "):
            limit = float(panel.row(*theirs)["failed"].split()[1])
            speedups.append(f"over {digits(limit / (panel.wall(task, name) or 1))}x {theirs[1]}")
        elif panel.wall(*theirs) and panel.row(task, name).get("failed"):
            speedups.append(f"**{theirs[1]} finished, ours did not**")
    return ", ".join(speedups)


def growth_table(growth: list[dict[str, Any]], memory: bool) -> str:
    text = """\
The slope of log time on log size, on hard panels with one core, starting from (1e4, 10, 5), where one of rows (2000 to
200 000), classifiers (8 to 128) and classes (3 to 48) grows; stacking is fitted to a fortieth of the rows. *Labels* are
those of crowds with five labels per item and a worker for every ten items. Each cell is the measured exponent and the
algorithm's bound (`bench/src/growth.rs` gives the reasons). Fixed costs and caches make the measured exponent smaller than
the bound; one that is larger by more than 0.15 is marked. The ladder's exponents are small because above 8192 patterns it
holds one part of the rows out instead of five.

![time of the ladder and other methods against the size, with slopes](growth.svg)

![measured exponents beside their bounds](exponents.svg)
"""
    if memory:
        text += "\n![memory of the ladder, rows to model, against the size, with slopes](memory.svg)\n"
    found = {(line["task"], line["method"], line["vary"]): line for line in growth}
    rows = []
    for task in ["fit", "predict"]:
        for method in METHODS:
            row = [task, method]
            for vary in ["rows", "classifiers", "classes", "labels"]:
                line = found.get((task, method, vary))
                row.append(exponent(line) if line else "")
            rows.append(row)
    return text + "\n" + table(["task", "method", "rows", "classifiers", "classes", "labels"], rows, right=2)


def calls_table(calls: list[dict[str, Any]]) -> str:
    text = """\
The decision on one row of ten predictions of one type through the package, its array or frame made outside the clock
(`bench/calls.py`); columns of pandas' own types cost what pandas needs to unwrap them.
"""
    kinds = list(dict.fromkeys(call["name"] for call in calls if call["task"] != "crowd"))
    tasks = list(dict.fromkeys(call["task"] for call in calls if call["task"] != "crowd"))
    found = {(call["task"], call["name"]): call["wall"] for call in calls}
    rows = [[kind, *(seconds(found.get((task, kind))) for task in tasks)] for kind in kinds]
    crowd = [[name, seconds(found.get(("crowd", name)))] for name in ["spocc", "crowd-kit"]]
    text += "\n" + table(["type", *tasks], rows)
    text += "\nDawid-Skene without truth on a crowd of 2 275 items, 762 workers and five labels per item, from a pandas frame to a\n"
    text += "model; ours stops when no class probability changes by 1e-6, crowd-kit's after 100 steps or a change of 1e-5.\n"
    return text + "\n" + table(["program", "time"], crowd)


def exponent(line: dict[str, Any]) -> str:
    if line["exponent"] is None:
        return f"too slow, bound {line['bound']:g}"
    steeper = line["exponent"] > line["bound"] + SLACK
    text = f"{line['exponent']:.2f} of {line['bound']:g}"
    return f"**{text}, steeper**" if steeper else text


def build_table(build: dict[str, Any]) -> str:
    text = f"From nothing compiled, `cargo install --path crates/spocc-cli` took {seconds(build['wall'])}: {build['units']} units, "
    text += f"{seconds(build['sum'])} of work in all, and `pip wheel ./python` took {seconds(build['pip'])}. The longest units\n"
    text += "of the command:\n"
    rows = [[name, seconds(duration)] for name, duration in build["longest"]]
    return text + "\n" + table(["unit", "time"], rows)
