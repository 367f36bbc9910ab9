#!/usr/bin/env python3
"""Measures spocc against its rivals in one run, and writes docs/BENCHMARKS.md with its pictures.

    bench/versus.py                     every size, easy and hard, one core and all cores
    bench/versus.py --quick             two sizes only: a minute or two
    bench/versus.py --sizes 100000x10x5,1000000x10x5
    bench/versus.py --build             also measure cold builds of the command and the package
    bench/versus.py --more --sizes ..   measure these too, and write one report of both runs
    bench/versus.py --package           the Python package only, into the report of the last run
    bench/versus.py --again             write the report again from the last run

Needs Rust, Python 3.11 with venv, git and Linux. The rivals are installed, in the versions of bench/requirements.txt,
into an environment of their own in target/tools/bench; nothing else of yours is touched. Run it on an idle machine.
"""

import argparse
import filecmp
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from harness.machine import ROOT, build_times, describe, output
from harness.measure import Bench, say
from harness.package import package
from harness.plan import EASES, QUICK, SIZES, Shape
from harness.report import report
from harness.run import Limits, run
from harness.specials import memory_growth, specials

REQUIREMENTS = ROOT / "bench" / "requirements.txt"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two sizes, short growth, no special targets")
    parser.add_argument("--sizes", metavar="NxKxL,..", help="only these sizes")
    parser.add_argument("--ease", choices=EASES, help="only easy or only hard panels")
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="seconds a task may take [60]")
    parser.add_argument("--rival-limit", type=float, default=60.0, metavar="S", help="the same, of rivals [60]")
    parser.add_argument("--minutes", type=float, default=60.0, metavar="M", help="begin no panel after so long [60]")
    parser.add_argument("--special-limit", type=float, default=120.0, metavar="S", help="of special targets [120]")
    parser.add_argument("--stream-rows", type=int, default=10**8, metavar="N", help="rows sent through a pipe [1e8]")
    parser.add_argument("--memory", type=float, metavar="GIB", help="most memory a process may hold [80 %% of all]")
    parser.add_argument("--build", action="store_true", help="measure cold builds too")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", metavar="DIR", help="where to write [docs]")
    parser.add_argument("--more", action="store_true", help="add panels to the last run; nothing else is measured")
    parser.add_argument("--package", action="store_true", help="measure the Python package only, beside the last run")
    parser.add_argument("--again", action="store_true", help="measure nothing, write the last run's report")
    return parser.parse_args()


def environment(directory: Path) -> Path:
    """The Python that the rivals run in."""
    installed = directory / "installed.txt"
    if not installed.exists() or not filecmp.cmp(REQUIREMENTS, installed, shallow=False):
        say(f"installing rivals into {directory.relative_to(ROOT)}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", directory], check=True)
        pip: list[str | Path] = [directory / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--requirement", REQUIREMENTS], check=True)
        shutil.copy(REQUIREMENTS, installed)
    return directory / "bin" / "python"


def build() -> Path:
    """Where the release binaries are."""
    say("building spocc and spocc-bench")
    packages = ["--package", "spocc-cli", "--package", "spocc-bench"]
    subprocess.run(["cargo", "build", "--release", "--quiet", *packages], cwd=ROOT, check=True)
    metadata = json.loads(output("cargo", "metadata", "--format-version=1", "--no-deps"))
    return Path(metadata["target_directory"]) / "release"


def sizes(args: argparse.Namespace) -> list[Shape]:
    if not args.sizes:
        return QUICK if args.quick else SIZES
    numbers = [[int(float(number)) for number in size.split("x")] for size in args.sizes.split(",")]
    return [Shape(rows, classifiers, classes) for rows, classifiers, classes in numbers]


def measure(args: argparse.Namespace, scratch: Path, before: dict[str, Any] | None) -> dict[str, Any]:
    python = environment(ROOT / "target" / "tools" / "bench")
    machine = describe(REQUIREMENTS)
    limits = Limits(args.limit, int((args.memory * 2**30) if args.memory else machine["memory"] * 0.8))
    bench = Bench(build(), python, scratch, limits, Limits(args.rival_limit, limits.memory))
    begun = time.monotonic()
    limit = {"limit": args.limit, "rival_limit": args.rival_limit}
    results: dict[str, Any] = before or {"machine": machine, **limit, "panels": [], "minutes": 0.0}
    measured = ["--", "crates", "bench/src", "Cargo.lock"]
    if before and not args.package and output("git", "diff", "--name-only", results["machine"]["commit"].split()[0], *measured):
        sys.exit(f"versus: expected what was measured at commit {results['machine']['commit']}, found changes since")
    if args.package or not (args.quick or before):
        results["package"] = package(bench, args.limit)
        results["package_commit"] = machine["commit"]
        say("single calls")
        calls = [str(python), "-W", "ignore", str(ROOT / "bench" / "calls.py")]
        results["calls"] = run(calls, Limits(120, limits.memory), 1).lines
    if args.package:
        return results
    if args.build:
        say("a cold build")
        results["build"] = build_times(python)
    if not args.quick and not before:
        results["specials"] = specials(bench, args.special_limit, args.stream_rows)
    if not before:
        say("growth")
        speed = "0.5" if args.quick else "3"
        growth = run([str(bench.kernels), "growth", "--limit", speed], Limits(300, limits.memory), 1)
        results["growth"] = growth.lines
        if not args.quick:
            results["memory"] = memory_growth(bench)
    for size in sizes(args):
        for ease in [args.ease] if args.ease else EASES:
            if time.monotonic() - begun > 60 * args.minutes:
                say(f"no time left for {size.size()} {ease}")
                continue
            shape = Shape(size.rows, size.classifiers, size.classes, ease)
            results["panels"].append({"shape": [*vars(shape).values()], "rows": bench.panel(shape)})
    results["minutes"] += (time.monotonic() - begun) / 60
    return results


def main() -> None:
    args = arguments()
    stored = ROOT / "target" / "bench" / "results.json"
    stored.parent.mkdir(parents=True, exist_ok=True)
    if not args.again:
        before = json.loads(stored.read_text()) if (args.more or args.package) and stored.exists() else None
        with tempfile.TemporaryDirectory(dir=stored.parent) as scratch:
            results = measure(args, Path(scratch), before)
        command = shlex.join(["bench/versus.py", *sys.argv[1:]])
        results["command"] = f"{results['command']}`, then `{command}" if before else command
        stored.write_text(json.dumps(results, indent=1))
    results = json.loads(stored.read_text())
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "BENCHMARKS.md").write_text(report(results, results["command"]))
    python = ROOT / "target" / "tools" / "bench" / "bin" / "python"
    subprocess.run([python, ROOT / "bench" / "plot.py", stored, args.out], check=True)
    say(f"wrote {args.out / 'BENCHMARKS.md'} and its pictures")


if __name__ == "__main__":
    main()
