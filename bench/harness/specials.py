"""Measurements for the targets beyond the sizes of the tables: small, wide, sparse and streamed."""

import subprocess
from pathlib import Path
from typing import Any

from harness.measure import Bench, say
from harness.plan import Shape
from harness.run import Limits, run

SMALL = Shape(10_000, 8, 10)
WIDE = Shape(10_000, 10_000, 10)
CROWD = ["1000000", "100000", "5", "4"]
SMALL_CROWD = ["4460", "766", "5", "4"]

# Sizes of panels and crowds whose memory is measured, each in a process of its own.
MEMORY_PANELS = {
    "rows": [Shape(rows, 10, 5, "hard") for rows in [10_000, 30_000, 100_000, 300_000, 1_000_000]],
    "classifiers": [Shape(10_000, classifiers, 5, "hard") for classifiers in [8, 16, 32, 64, 128, 256]],
    "classes": [Shape(10_000, 10, classes, "hard") for classes in [3, 6, 12, 24, 48]],
}
MEMORY_ITEMS = [6_000, 20_000, 60_000, 200_000]


def specials(bench: Bench, seconds: float, stream_rows: int) -> dict[str, Any]:
    """The output lines of each special run, by name."""
    limits = Limits(seconds, bench.limits.memory)
    kernels = str(bench.kernels)

    def lines(command: list[str], cores: str) -> list[dict[str, Any]]:
        ended = run([kernels, *command, "--limit", f"{seconds}"], limits, bench.threads(cores), grace=60)
        return ended.lines + ([{"failed": ended.failed}] if ended.failed else [])

    done: dict[str, Any] = {}
    for ease in ["easy", "hard"]:
        say(f"special: {SMALL.size()} {ease} on one core")
        words = Shape(SMALL.rows, SMALL.classifiers, SMALL.classes, ease).words()
        done[f"small {ease}"] = lines(["kernels", *words, "--tasks", "fit", "--methods", "adaspocc"], "one")
    say("special: crowds")
    done["crowd"] = lines(["crowd", *CROWD], "all")
    done["small crowd"] = lines(["crowd", *SMALL_CROWD, "--methods", "ladder"], "one")
    say(f"special: {WIDE.size()}")
    done["wide"] = lines(["kernels", *WIDE.words(), "--tasks", "fit", "--methods", "adaspocc"], "all")
    done["stream"] = {"rows": stream_rows} | {
        name: stream(bench, limits, stream_rows, name) for name in ["tally", "predict"]
    }
    return done


def memory_growth(bench: Bench) -> list[dict[str, Any]]:
    """The peak memory of counting and fitting a ladder against each size, the table included."""
    limits = Limits(120, bench.limits.memory)

    def peak(command: list[str]) -> int | None:
        ended = run([str(bench.kernels), *command], limits, 1, grace=30)
        whole = ["whole", "count, fit, predict"]
        found = [line["peak"] for line in ended.lines if line.get("task") in whole and "peak" in line]
        return max(found, default=None)

    series = []
    for vary, shapes in MEMORY_PANELS.items():
        say(f"memory: {vary}")
        found = [peak(["kernels", *shape.words(), "--tasks", "fit", "--methods", "ladder"]) for shape in shapes]
        series.append({"vary": vary, "sizes": [getattr(shape, vary) for shape in shapes], "bytes": found})
    say("memory: labels of crowds")
    found = [peak(["crowd", str(items), str(items // 10), "5", "4", "--methods", "ladder"]) for items in MEMORY_ITEMS]
    series.append({"vary": "labels", "sizes": [5 * items for items in MEMORY_ITEMS], "bytes": found})
    return series


def stream(bench: Bench, limits: Limits, rows: int, command: str) -> dict[str, Any]:
    """Runs the command on rows that are generated while it reads them."""
    say(f"special: {command} of {rows:g} rows through a pipe")
    model = str(bench.scratch / "model")
    if command == "predict":
        few = bench.scratch / "few"
        words = Shape(2_000, 10, 5).words()
        subprocess.run([bench.kernels, "panel", *words, "--out", few], check=True, stdout=subprocess.DEVNULL)
        fit: list[str | Path] = [
            bench.spocc,
            "fit",
            few / "panel.csv",
            "--label",
            "truth",
            "--method",
            "spocc",
            "--output",
            model,
        ]
        subprocess.run(fit, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    takes = {"tally": ["tally", "-", "--label", "truth", "--output", "-"], "predict": ["predict", model, "-"]}
    maker = subprocess.Popen(
        [bench.kernels, "panel", *Shape(rows, 10, 5).words(), "--out", "-"], stdout=subprocess.PIPE
    )
    ended = run([str(bench.spocc), *takes[command]], limits, bench.cores, feed=maker, quiet=True)
    if maker.stdout:
        maker.stdout.close()
    maker.kill()
    maker.wait()
    return {"wall": ended.wall, "cpu": ended.cpu, "peak": ended.peak, "failed": ended.failed}
