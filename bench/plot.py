"""Draws the pictures of docs/BENCHMARKS.md: `python bench/plot.py RESULTS DIR`."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot
from matplotlib.ticker import NullFormatter

VARIED = ["rows", "classifiers", "classes", "labels"]
OURS, THEIRS, BOUND = "#1f5fa8", "#b8541f", "#d8dee6"

# The bars of the opening picture: label, our method or rival, tasks to fit and to predict, and whether it is ours.
BARS = [
    ("spocc ladder (default)", "ladder", "whole", "predict", True),
    ("LogisticRegression, one-hot", "logistic-regression", "fit", "predict", False),
    ("HistGradientBoosting", "hist-gradient-boosting", "fit", "predict", False),
    ("RandomForest, 100 trees", "random-forest", "fit", "predict", False),
    ("spocc naive-bayes", "naive-bayes", "whole", "predict", True),
    ("CategoricalNB", "categorical-nb", "fit", "predict", False),
]
MAIN = [1_000_000, 10, 5]

# Methods with a line of their own in the picture of growth.
LINES = {"ladder": OURS, "adaspocc": "#b8541f", "naive-bayes": "#3c8d4e", "dawid-skene": "#7a5aa6"}


def wall(panel: dict[str, Any], task: str, name: str) -> float | None:
    """Seconds on all cores, or on one where only that was measured."""
    rows = {row["cores"]: row for row in panel["rows"] if (row["task"], row["name"]) == (task, name)}
    found = rows.get("all", {}).get("wall") or rows.get("one", {}).get("wall")
    return float(found) if found else None


def shown(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"


def opening(results: dict[str, Any], out: Path) -> None:
    """Bars of the time to fit and to predict, easy and hard, on a logarithmic scale."""
    panels = {panel["shape"][3]: panel for panel in results["panels"] if panel["shape"][:3] == MAIN}
    if len(panels) < 2:
        return
    figure, grid = pyplot.subplots(2, 2, figsize=(9, 4.6), sharex="row", sharey=True, layout="constrained")
    for row, task in enumerate(["fit", "predict"]):
        for axes, ease in zip(grid[row], ["easy", "hard"], strict=True):
            times = [wall(panels[ease], bar[2 if task == "fit" else 3], bar[1]) for bar in BARS]
            for place, (bar, time) in enumerate(zip(BARS, times, strict=True)):
                if time is None:
                    axes.text(1e-3, place, " not finished", va="center", color="#555555", fontsize=8)
                    continue
                axes.barh(place, time, left=0, color=OURS if bar[4] else THEIRS, height=0.7)
                axes.text(time, place, f" {shown(time)}", va="center", fontsize=8)
            axes.set_xscale("log")
            axes.set_xlim(1e-3, 3e3 if task == "fit" else 3e2)
            axes.set_yticks(range(len(BARS)), [bar[0] for bar in BARS])
            axes.set_title(f"{task}, {ease} panel", fontsize=10, loc="left")
            axes.grid(axis="x", color="#eef1f4")
            finish(axes)
    grid[0][0].invert_yaxis()
    figure.supxlabel("seconds, logarithmic scale (1e6 rows, 10 classifiers, 5 classes, all cores)", fontsize=9)
    save(figure, out / "benchmarks.svg")


def slope(sizes: list[float], values: list[float]) -> float:
    xs, ys = [math.log(size) for size in sizes], [math.log(value) for value in values]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def growth(series: list[dict[str, Any]], out: Path) -> None:
    """Time against size with slopes, of fitting and of predicting."""
    figure, grid = pyplot.subplots(2, 4, figsize=(11, 5.2), sharey="row", sharex="col", layout="constrained")
    for row, task in enumerate(["fit", "predict"]):
        for axes, vary in zip(grid[row], VARIED, strict=True):
            lines = [line for line in series if (line["task"], line["vary"]) == (task, vary) and line["method"] in LINES]
            axes.set_title(f"{task}, {vary}", fontsize=10, loc="left")
            if not lines:
                axes.set_axis_off()
                axes.set_title("", loc="left")
                grid[0][VARIED.index(vary)].tick_params(labelbottom=True)
            for line in lines:
                label = line["method"] if line["exponent"] is None else f"{line['method']} {line['exponent']:.2f}"
                axes.plot(line["sizes"], line["seconds"], "o-", color=LINES[line["method"]], markersize=3, label=label)
            log_axes(axes)
            if lines:
                axes.legend(fontsize=7, frameon=False, title="slope", title_fontsize=7, loc="best")
        grid[row][0].set_ylabel("seconds")
    save(figure, out / "growth.svg")


def memory(series: list[dict[str, Any]], out: Path) -> None:
    """Peak memory of the ladder against size."""
    figure, grid = pyplot.subplots(1, 4, figsize=(11, 2.9), sharey=True, layout="constrained")
    for axes, line in zip(grid, series, strict=True):
        points = [(size, value / 2**20) for size, value in zip(line["sizes"], line["bytes"], strict=True) if value]
        sizes, values = [point[0] for point in points], [point[1] for point in points]
        axes.plot(sizes, values, "o-", color=OURS, markersize=3)
        title = f"{line['vary']}: slope {slope(sizes, values):.2f}" if len(points) > 2 else line["vary"]
        axes.set_title(title, fontsize=10, loc="left")
        log_axes(axes)
    grid[0].set_ylabel("MiB, ladder, rows to model")
    save(figure, out / "memory.svg")


def exponents(series: list[dict[str, Any]], out: Path) -> None:
    """The measured exponents beside their bounds."""
    varied = VARIED[:3]
    methods = list(dict.fromkeys(line["method"] for line in series))
    found = {(line["task"], line["method"], line["vary"]): line for line in series}
    figure, grid = pyplot.subplots(2, 3, figsize=(9, 5.4), sharey=True, sharex="col", layout="constrained")
    for row, task in enumerate(["fit", "predict"]):
        for column, vary in enumerate(varied):
            axes = grid[row][column]
            lines = [found[task, method, vary] for method in methods]
            places = range(len(methods))
            axes.barh(places, [line["bound"] for line in lines], color=BOUND, height=0.7, label="bound")
            measured = [(at, line) for at, line in zip(places, lines, strict=True) if line["exponent"] is not None]
            axes.plot([line["exponent"] for _, line in measured], [at for at, _ in measured], "o", color=OURS, label="measured")
            for at, line in zip(places, lines, strict=True):
                if line["bound"] == 0:
                    axes.plot([0, 0], [at - 0.35, at + 0.35], color="#9aa7b5", linewidth=2)
            axes.set_title(f"{task}: exponent of {vary}", fontsize=10, loc="left")
            axes.set_yticks(list(places), methods)
            largest = [max(line["bound"], line["exponent"] or 0.0) for line in series if line["vary"] == vary]
            axes.set_xlim(-0.2, 0.3 + max(largest))
            axes.grid(axis="x", color="#eef1f4")
            finish(axes)
    grid[0][0].invert_yaxis()
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    save(figure, out / "exponents.svg")


def log_axes(axes: Any) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    # Numbers between the powers of ten would overlap.
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(color="#eef1f4")
    finish(axes)


def finish(axes: Any) -> None:
    axes.set_axisbelow(True)
    for side in ["top", "right"]:
        axes.spines[side].set_visible(False)


def save(figure: Any, out: Path) -> None:
    figure.savefig(out, metadata={"Date": None})
    pyplot.close(figure)


def main() -> None:
    results, out = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    # Ids and dates would make every run another file.
    matplotlib.rcParams |= {"svg.hashsalt": "spocc", "font.size": 9, "svg.fonttype": "none"}
    opening(results, out)
    if results.get("growth"):
        growth(results["growth"], out)
        exponents(results["growth"], out)
    if results.get("memory"):
        memory(results["memory"], out)


if __name__ == "__main__":
    main()
