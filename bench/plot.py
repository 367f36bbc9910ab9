"""Draws the measured exponents beside their bounds: `python bench/plot.py RESULTS OUT`."""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

VARIED = ["rows", "classifiers", "classes"]


def furthest(line: dict[str, Any]) -> float:
    return float(max(line["bound"], line["exponent"] or 0.0))


def main() -> None:
    growth = json.loads(Path(sys.argv[1]).read_text())["growth"]
    methods = list(dict.fromkeys(line["method"] for line in growth))
    found = {(line["task"], line["method"], line["vary"]): line for line in growth}
    # Ids and dates would make every run another file.
    matplotlib.rcParams |= {"svg.hashsalt": "spocc", "font.size": 9, "svg.fonttype": "none"}
    figure, grid = pyplot.subplots(2, 3, figsize=(9, 5.4), sharey=True, sharex="col", layout="constrained")
    for row, task in enumerate(["fit", "predict"]):
        for column, vary in enumerate(VARIED):
            axes = grid[row][column]
            lines = [found[task, method, vary] for method in methods]
            places = range(len(methods))
            axes.barh(places, [line["bound"] for line in lines], color="#d8dee6", height=0.7, label="bound")
            shown = [(at, line) for at, line in zip(places, lines, strict=True) if line["exponent"] is not None]
            axes.plot(
                [line["exponent"] for _, line in shown], [at for at, _ in shown], "o", color="#1f5fa8", label="measured"
            )
            for at, line in zip(places, lines, strict=True):
                if line["bound"] == 0:
                    axes.plot([0, 0], [at - 0.35, at + 0.35], color="#9aa7b5", linewidth=2)
            axes.set_title(f"{task}: exponent of {vary}", fontsize=10, loc="left")
            axes.set_yticks(list(places), methods)
            axes.set_xlim(-0.2, 0.3 + max(furthest(line) for line in growth if line["vary"] == vary))
            axes.grid(axis="x", color="#eef1f4")
            axes.set_axisbelow(True)
            for side in ["top", "right"]:
                axes.spines[side].set_visible(False)
    grid[0][0].invert_yaxis()
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    out = Path(sys.argv[2])
    figure.savefig(out, metadata={"Date": None} if out.suffix == ".svg" else None, dpi=110)


if __name__ == "__main__":
    main()
