"""The Python package against its rivals, conversion included."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from harness.machine import ROOT
from harness.measure import Bench, say
from harness.plan import Shape
from harness.results import digits, seconds
from harness.run import Limits, run

sys.path.append(str(ROOT / "bench"))
from package import NAMES, RIVALS  # noqa: E402

SHAPE = (1_000_000, 10, 5)
KINDS = ["int64", "uint8"]
NARROW = ["CategoricalNB", "VotingClassifier, hard"]
EXPECTED = {"spocc.fit, naive-bayes": 50.0, "spocc.sklearn.NaiveBayesClassifier": 15.0}
Results = dict[str, list[dict[str, Any]]]


def install(python: Path) -> None:
    """Builds the wheel and installs it into the rivals' environment."""
    say("building the wheel")
    wheels = ROOT / "target" / "bench" / "wheels"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", wheels, ROOT / "python"], check=True)
    newest = max(wheels.glob("spocc-*.whl"), key=lambda wheel: wheel.stat().st_mtime)
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--force-reinstall", newest], check=True)


def package(bench: Bench, seconds_each: float) -> Results:
    """The time of each name on an easy and a hard panel, for every kind of integer."""
    install(bench.python)
    done: Results = {}
    for ease in ["easy", "hard"]:
        shape = Shape(*SHAPE, ease)
        directory = bench.scratch / f"package-{ease}"
        words = [bench.kernels, "panel", *shape.words(), "--out", directory]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        for kind in KINDS:
            rows = done[f"{ease}, {kind}"] = []
            # The slow rivals do not depend on the width of the integers and are measured once.
            for name in (name for name in NAMES if kind == KINDS[0] or name not in RIVALS or name in NARROW):
                say(f"package: {name}, {ease}, {kind}")
                command = [str(bench.python), "-W", "ignore", str(ROOT / "bench" / "package.py"), name]
                limits = Limits(seconds_each, bench.limits.memory)
                ended = run([*command, str(directory), kind], limits, 1)
                rows.append({"name": name, "peak": ended.peak, "failed": ended.failed, **(ended.lines or [{}])[0]})
    return done


def ratios(row: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, float]:
    """The processor time of each rival that finished, divided by that of a row."""
    return {
        rival["name"]: rival["cpu"] / row["cpu"]
        for rival in rows
        if rival["name"] in RIVALS and "cpu" in rival and "cpu" in row
    }


def package_targets(results: Results) -> list[tuple[str, str, str, bool | None]]:
    """The targets for the package."""
    found = []
    for ease, rows in results.items():
        for name, asked in EXPECTED.items():
            row = next((row for row in rows if row["name"] == name), {})
            ratio = ratios(row, rows).get("CategoricalNB")
            text = f"(1e6, 10, 5) {ease}: {name}, convert, fit and predict, CPU against CategoricalNB"
            met = ratio >= asked if ratio else None
            found.append((text, f">= {asked:g}x", f"{digits(ratio)}x" if ratio else "not measured", met))
    return found


def package_summary(results: Results) -> str:
    """The default method beside the nearest rival, from arrays to decisions."""
    kinds = [f"{ease}, {KINDS[0]}" for ease in ["easy", "hard"]]
    ours, theirs = "spocc.fit, ladder", "OneHotEncoder + LogisticRegression"
    walls = {row["name"]: row.get("wall") for kind in kinds for row in results.get(kind, [])}
    if not walls.get(ours) or not walls.get(theirs):
        return ""
    times = {
        name: " and ".join(seconds(row.get("wall")) for kind in kinds for row in results[kind] if row["name"] == name)
        for name in [ours, theirs]
    }
    return f"""
The default method, `ladder`, takes {times[ours]} (easy and hard) to fit and predict these rows through the Python package,
on one thread and with the conversion from numpy included; scikit-learn's {theirs} takes {times[theirs]}. See
[The Python package](#the-python-package).
"""


def package_section(results: Results) -> str:
    """A table for each panel."""
    text = """\
From numpy arrays of 64-bit or 8-bit integers to a decision for every row: converting, fitting to all 1e6 rows of 10
classifiers and 5 classes, and predicting all of them, with one thread for every program. *CPU* is the processor time. The
other columns divide the rival's processor time by ours; **bold** where the rival needs less.
"""
    for ease, rows in results.items():
        rivals = [row["name"] for row in rows if row["name"] in RIVALS]
        text += f"\n### (1e6, 10, 5) {ease}\n\n| name | wall | CPU | " + " | ".join(rivals) + " |\n"
        text += "| --- | ---: | ---: |" + " ---: |" * len(rivals) + "\n"
        for row in rows:
            shown = [seconds(row.get("wall")) or row.get("failed") or "failed", seconds(row.get("cpu"))]
            more = ratios(row, rows)
            for rival in rivals:
                cell = f"{digits(more[rival])}x" if rival in more and row["name"] not in RIVALS else ""
                shown.append(f"**{cell}**" if cell and more[rival] < 1 else cell)
            text += "| " + " | ".join([row["name"], *shown]) + " |\n"
    return text
