"""Measures spocc and its rivals on one panel after another, each in its own process."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from harness.plan import LARGE_CELLS, PROBABILISTIC, RIVALS, THREADED, Shape, fitted_for, hopeless, methods_for
from harness.run import Limits, repeat, run

Row = dict[str, Any]
RIVALS_PY = Path(__file__).resolve().parent.parent / "rivals.py"
START = time.monotonic()


def say(text: str) -> None:
    print(f"[{time.monotonic() - START:6.1f} s] {text}", file=sys.stderr, flush=True)


class Bench:
    """The programs, the limits, and the tasks that exceeded them."""

    def __init__(self, binaries: Path, python: Path, scratch: Path, limits: Limits, rivals: Limits) -> None:
        self.spocc, self.kernels, self.python = binaries / "spocc", binaries / "spocc-bench", python
        self.scratch, self.limits, self.rival_limits = scratch, limits, rivals
        self.cores = os.cpu_count() or 1
        self.overruns: list[tuple[str, str, Shape]] = []

    def threads(self, cores: str) -> int:
        return self.cores if cores == "all" else 1

    def limits_of(self, name: str) -> Limits:
        return self.rival_limits if name in RIVALS else self.limits

    def skip(self, task: str, name: str, shape: Shape) -> str | None:
        """The reason to skip a task that exceeded its limit on a smaller or easier panel, or on more cores."""
        for what, who, where in self.overruns:
            if (what, who) == (task, name) and shape.is_above(where):
                over = f"> {self.limits_of(name).seconds:g} s"
                return over if shape == where else f"not tried: {over} at {where}"
        return hopeless(name, shape)

    def note(self, rows: list[Row], shape: Shape) -> None:
        """Records the tasks that exceeded their limit."""
        for row in rows:
            if str(row.get("failed", "")).startswith(("over the limit", "> ")):
                if row["failed"] == "over the limit":
                    row["failed"] = f"> {self.limits_of(row['name']).seconds:g} s"
                self.overruns.append((row["task"], row["name"], shape))

    def panel(self, shape: Shape) -> list[Row]:
        """All measurements on one panel."""
        directory = self.scratch / "panel"
        shutil.rmtree(directory, ignore_errors=True)
        subprocess.run(
            [self.kernels, "panel", *shape.words(), "--out", directory], check=True, stdout=subprocess.DEVNULL
        )
        rows: list[Row] = []
        for cores in ["all", "one"]:
            say(f"{shape}: spocc, {cores} core{'s' * (cores == 'all')}")
            rows += self.ours(shape, cores)
            rows += self.commands(shape, directory, cores)
            for rival in RIVALS:
                if cores == "all" and rival not in THREADED:
                    continue
                say(f"{shape}: {rival}")
                rows += self.rival(rival, shape, directory, cores)
        shutil.rmtree(directory)
        return rows

    def ours(self, shape: Shape, cores: str) -> list[Row]:
        """The kernels: counting and predicting, then fitting, unless a method exceeded its limit before."""
        rows: list[Row] = []
        methods = methods_for(shape)
        expected = [("memcpy", "label matrix"), ("count", "marginals"), ("count", "tally")]
        expected += [(task, method) for task in ["predict", "decide", "explain"] for method in methods]
        expected += [("predict_proba", method) for method in methods if method in PROBABILISTIC]
        rows += self.kernel_rows(shape, cores, "count,predict,decide,explain", methods, expected)
        if cores == "one" and shape.cells() > LARGE_CELLS:
            return rows
        skipped = {method: self.skip("fit", method, shape) for method in fitted_for(shape)}
        fitted = [method for method, why in skipped.items() if why is None]
        expected = [(task, method) for method in fitted for task in ["fit", "whole"]]
        expected += [("evaluated", "ladder")] if "ladder" in fitted else []
        rows += [row for row in self.kernel_rows(shape, cores, "fit", fitted, expected) if row["task"] != "memcpy"]
        for method, why in skipped.items():
            if why:
                tasks = ["fit", "whole", "evaluated"] if method == "ladder" else ["fit", "whole"]
                rows += [row_of(task, method, cores, {"failed": why}) for task in tasks]
        return rows

    def kernel_rows(
        self, shape: Shape, cores: str, tasks: str, methods: list[str], expected: list[tuple[str, str]]
    ) -> list[Row]:
        if not methods:
            return []
        command = [str(self.kernels), "kernels", *shape.words(), "--tasks", tasks, "--methods", ",".join(methods)]
        command += ["--limit", f"{self.limits.seconds}"]
        # Generating a panel takes time, and the engine checks for cancellation only now and then.
        ended = run(command, self.limits, self.threads(cores), grace=30)
        rows = [row_of(line["task"], line["name"], cores, line) for line in ended.lines if "name" in line]
        rows += missing(rows, expected, cores, ended.failed)
        self.note(rows, shape)
        return rows

    def commands(self, shape: Shape, directory: Path, cores: str) -> list[Row]:
        """The command on the CSV, start-up included."""
        table, tally = directory / "panel.csv", self.scratch / "tally"
        model, out = self.scratch / "model", self.scratch / "decided.csv"
        commands = {
            "tally": ["tally", table, "--label", "truth", "--output", tally],
            "fit": ["fit", table, "--label", "truth", "--method", "spocc", "--no-evaluate", "--output", model],
            "predict": ["predict", model, table, "--output", out],
        }
        rows = []
        for name, command in commands.items():
            words = [str(self.spocc), *map(str, command)]
            rows.append(row_of("command", name, cores, repeat(words, self.limits, self.threads(cores))))
        return rows

    def rival(self, rival: str, shape: Shape, directory: Path, cores: str) -> list[Row]:
        skipped = {task: self.skip(task, rival, shape) for task in RIVALS[rival]}
        wanted = [task for task, why in skipped.items() if why is None]
        rows = [row_of(task, rival, cores, {"failed": why}) for task, why in skipped.items() if why]
        if wanted:
            command = [str(self.python), "-W", "ignore", str(RIVALS_PY), rival, str(directory), ",".join(wanted)]
            ended = run(command, self.rival_limits, self.threads(cores), grace=15)
            measured = [row_of(line["task"], rival, cores, line) for line in ended.lines]
            measured += missing(measured, [(task, rival) for task in wanted], cores, ended.failed)
            self.note(measured, shape)
            rows += measured
        return rows


def row_of(task: str, name: str, cores: str, measured: Row) -> Row:
    return {**measured, "task": task, "name": name, "cores": cores}


def missing(rows: list[Row], expected: list[tuple[str, str]], cores: str, failed: str | None) -> list[Row]:
    """A row for each missing task: the first has the reason, the others were not reached."""
    done = {(row["task"], row["name"]) for row in rows}
    left = [pair for pair in expected if pair not in done]
    why = failed or "failed: printed nothing"
    return [
        row_of(task, name, cores, {"failed": why if at == 0 else f"not reached: {expected_name(left[0])} {why}"})
        for at, (task, name) in enumerate(left)
    ]


def expected_name(pair: tuple[str, str]) -> str:
    return f"{pair[0]} {pair[1]}"
