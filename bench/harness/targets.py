"""The internal targets: goal, measured figure, and whether the goal is met."""

from collections.abc import Iterator
from typing import Any

from harness.package import package_targets
from harness.plan import METHODS, ONE_STRENGTH, Shape
from harness.results import Panel, digits, mebibytes, ratio, seconds

# Text, goal, measured figure, and whether the goal is met; nothing where it was not measured.
Target = tuple[str, str, str, bool | None]

MAIN, WIDE, STACKED = Shape(1_000_000, 10, 5), Shape(100_000, 1_000, 10), Shape(100_000, 10, 5)
GIB = 2**30

# The goal of a figure that is shown for comparison only.
NO_TARGET = "no target"


def at_most(text: str, bound: float, measured: float | None, unit: str = "x") -> Target:
    shown = seconds if unit == "s" else lambda value: f"{digits(value)}x"
    if measured is None:
        return text, f"<= {shown(bound)}", "not measured", None
    return text, f"<= {shown(bound)}", shown(measured), measured <= bound


def at_least(text: str, bound: float, measured: float | None) -> Target:
    if measured is None:
        return text, f">= {bound:g}x", "not measured", None
    return text, f">= {bound:g}x", f"{digits(measured)}x", measured >= bound


def targets(results: dict[str, Any], panels: dict[Shape, Panel]) -> Iterator[Target]:
    def panel(shape: Shape, ease: str) -> Panel:
        found = Shape(shape.rows, shape.classifiers, shape.classes, ease)
        return panels.get(found) or Panel(found, [])

    yield from kernels({ease: panel(MAIN, ease) for ease in ["easy", "hard"]})
    for shape in [STACKED, MAIN]:
        rival = ("fit", "logistic-regression")
        text = f"{shape.size()} easy: one-hot stacking, one fit at C = 1 from rows, against scikit-learn's one"
        yield at_least(text, 20, panel(shape, "easy").speedup(("whole", ONE_STRENGTH), rival))
        speedup = panel(shape, "easy").speedup(("whole", "stacking"), rival)
        text = f"{shape.size()} easy: the same tuned, from rows, against scikit-learn's one"
        yield text, NO_TARGET, f"{digits(speedup)}x" if speedup else "not measured", None
    for ease in ["easy", "hard"]:
        for method, task in [("adaspocc", "whole"), ("ladder", "evaluated")]:
            row = panel(WIDE, ease).row(task, method)
            text = f"{WIDE.size()} {ease}: {method}, rows to model, all cores"
            yield within(text + (", with its accuracy" if method == "ladder" else ""), 60, row)
    yield from ladder_targets({(shape, ease): panel(shape, ease) for shape in [STACKED, MAIN] for ease in ["easy", "hard"]})
    yield from special_targets(results.get("specials") or {})
    yield from package_targets(results.get("package") or {})
    yield from call_targets(results.get("calls") or [])
    for shape, measured_panel in panels.items():
        for rival in ["duckdb", "polars"]:
            speedup = measured_panel.speedup(("command", "tally"), ("csv", rival))
            if speedup:
                yield at_least(f"{shape}: `spocc tally` of the CSV against {rival}", 1, speedup)


def within(text: str, limit: float, row: dict[str, Any]) -> Target:
    """A time limit with 2 GiB of memory."""
    goal = f"< {limit:g} s, 2 GiB"
    if "wall" not in row:
        return text, goal, row.get("failed") or "not measured", False if row.get("failed") else None
    measured = f"{seconds(row['wall'])}, {mebibytes(row['peak'])}"
    return text, goal, measured, row["wall"] < limit and row["peak"] < 2 * GIB


def ladder_targets(panels: dict[tuple[Shape, str], Panel]) -> Iterator[Target]:
    """The default method on one core and against its rivals, and what decisions cost beside labels."""
    for shape, ease, limit in [(MAIN, "easy", 0.5), (MAIN, "hard", 2.0), (STACKED, "hard", 0.5)]:
        text = f"{shape.size()} {ease}: ladder, rows to model with its accuracy, one core"
        yield at_most(text, limit, panels[shape, ease].wall("evaluated", "ladder", "one"), "s")
    for (shape, ease), panel in panels.items():
        text = f"{shape.size()} {ease}: ladder, rows to model with its accuracy, one core, against logistic regression"
        yield at_least(text, 1, panel.speedup(("evaluated", "ladder"), ("fit", "logistic-regression"), "one"))
        text = f"{shape.size()} {ease}: stacking, tuned, against one fit, one core"
        tuned, one = panel.wall("fit", "stacking", "one"), panel.wall("fit", ONE_STRENGTH, "one")
        yield at_most(text, 5.0, ratio(tuned, one))
    for ease in ["easy", "hard"]:
        panel = panels[MAIN, ease]
        text = f"{MAIN.size()} {ease}: predict_proba by ladder against predict by naive-bayes"
        yield at_most(text, 10.0, ratio(panel.wall("predict_proba", "ladder"), panel.wall("predict", "naive-bayes")))
        for method in METHODS:
            text = f"{MAIN.size()} {ease}: decide by {method} against its predict"
            yield at_most(text, 4.0, ratio(panel.wall("decide", method), panel.wall("predict", method)))


def call_targets(calls: list[dict[str, Any]]) -> Iterator[Target]:
    """Single calls through the package."""
    found = {(call["task"], call["name"]): call["wall"] for call in calls}
    for kind in ["int64", "object", "str", "category", "Int64"]:
        text = f"one row of ten columns from a pandas frame, {kind}: predict by ladder"
        yield at_most(text, 1e-4, found.get(("predict", f"pandas, {kind}")), "s")
    text = "Dawid-Skene on a crowd of 2275 items and 762 workers, against crowd-kit"
    yield at_least(text, 1, ratio(found.get(("crowd", "crowd-kit")), found.get(("crowd", "spocc"))))


def kernels(main: dict[str, Panel]) -> Iterator[Target]:
    """Targets at a million rows of ten classifiers, on all cores."""
    for ease, bound in [("easy", 10.0), ("hard", 30.0)]:
        for method in ["spocc", "adaspocc"]:
            text = f"{MAIN.size()} {ease}: predict by {method} against memcpy"
            yield at_most(text, bound, main[ease].times_memcpy("predict", method))
            text = f"{MAIN.size()} {ease}: predict by {method} against numpy's table"
            yield at_least(text, 50, main[ease].speedup(("predict", method), ("predict", "numpy-table")))
    for ease, bound in [("easy", 10.0), ("hard", 40.0)]:
        text = f"{MAIN.size()} {ease}: marginals against memcpy"
        yield at_most(text, 5.0, main[ease].times_memcpy("count", "marginals"))
        yield at_most(f"{MAIN.size()} {ease}: tally against memcpy", bound, main[ease].times_memcpy("count", "tally"))
    for ease, bound in [("easy", 3.0), ("hard", 6.0)]:
        against = ratio(main[ease].wall("predict", "ladder"), main[ease].wall("predict", "naive-bayes"))
        yield at_most(f"{MAIN.size()} {ease}: predict by ladder against naive-bayes", bound, against)
    whole = ratio(main["easy"].wall("whole", "adaspocc"), main["easy"].wall("count", "tally"))
    yield at_most(f"{MAIN.size()} easy: adaSPOCC, rows to model, against its tally", 3.0, whole)


def special_targets(specials: dict[str, Any]) -> Iterator[Target]:
    for ease in ["easy", "hard"]:
        fit = find(specials.get(f"small {ease}", []), "fit")
        yield at_most(f"(1e4, 8, 10) {ease}: adaSPOCC fit, one core", 0.05, fit.get("wall"), "s")
    lines = specials.get("wide", [])
    fit = find(lines, "fit")
    finished = "wall" in fit if lines else None
    failed = fit.get("failed") or next((line["failed"] for line in lines if "failed" in line), "not measured")
    shown = f"{seconds(fit['wall'])}, {mebibytes(fit['peak'])}" if finished else failed
    yield "(1e4, 10000, 10) easy: adaSPOCC fit finishes", "finishes", shown, finished
    for name in ["majority", "weighted-vote", "naive-bayes", "spocc"]:
        row = find(specials.get("crowd", []), name, "name")
        text = f"crowd of 1e6 items, 1e5 workers, 5e6 answers: {name}, rows to decisions"
        yield at_most(text, 10.0, row.get("wall"), "s")
    text = "crowd of 4460 items, 766 workers, 22 300 answers: ladder, rows to decisions, one core"
    yield at_most(text, 2.0, find(specials.get("small crowd", []), "ladder", "name").get("wall"), "s")
    text = "crowd of 1e6 items, 1e5 workers, 5e6 answers: ladder, rows to decisions"
    yield within(text, 30, find(specials.get("crowd", []), "ladder", "name"))
    stream = specials.get("stream", {})
    for name in ["tally", "predict"]:
        row = stream.get(name)
        text = f"{name} of {stream.get('rows', 1e8):g} rows of 10 through a pipe".replace("e+0", "e")
        if not row:
            yield text, "<= 512 MiB", "not measured", None
            continue
        shown = f"{row['failed'] or seconds(row['wall'])}, {mebibytes(row['peak'])}"
        # The target is about 1e8 rows.
        met = not row["failed"] and row["peak"] <= 512 * 2**20
        yield text, "<= 512 MiB", shown, met if stream["rows"] >= 10**8 else None


def find(lines: list[dict[str, Any]], wanted: str, key: str = "task") -> dict[str, Any]:
    return next((line for line in lines if line.get(key) == wanted), {})
