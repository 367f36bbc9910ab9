"""Runs one program to its end, or until it exceeds its time limit without output, or its memory limit."""

import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PAGE = os.sysconf("SC_PAGE_SIZE")


def threads_for(n: int) -> dict[str, str]:
    """Environment variables that set the number of threads of all libraries."""
    names = ["RAYON", "OMP", "OPENBLAS", "MKL", "NUMEXPR"]
    return {f"{name}_NUM_THREADS": str(n) for name in names} | {"POLARS_MAX_THREADS": str(n)}


@dataclass
class Limits:
    """Seconds a single task may take, and bytes a process may hold."""

    seconds: float
    memory: int


@dataclass
class Ended:
    """How a program ended."""

    wall: float
    cpu: float
    peak: int
    failed: str | None
    lines: list[dict[str, Any]] = field(default_factory=list)


def resident(pid: int) -> int:
    """Bytes a process holds now."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def run(
    command: list[str],
    limits: Limits,
    n_threads: int,
    grace: float = 0.0,
    feed: subprocess.Popen[bytes] | None = None,
    quiet: bool = False,
) -> Ended:
    """Runs a command that prints lines of JSON; `grace` is for what it does before and between its tasks.

    The clock starts anew with every line. With `quiet`, what is printed is not JSON and not wanted.
    """
    environment = os.environ | threads_for(n_threads)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        begun = last_output = time.monotonic()
        process = subprocess.Popen(
            command,
            stdin=feed.stdout if feed else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if quiet else out,
            stderr=errors,
            env=environment,
        )
        size, failed, pause = 0, None, 0.0005
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            now = time.monotonic()
            if pid:
                break
            if (grown := os.fstat(out.fileno()).st_size) > size:
                size, last_output = grown, now
            if now - last_output > limits.seconds + grace:
                failed = f"> {limits.seconds:g} s"
            elif resident(process.pid) > limits.memory:
                failed = f"> {limits.memory / 2**30:.1f} GiB"
            if failed:
                process.kill()
                _, status, usage = os.wait4(process.pid, 0)
                break
            # Short commands deserve a fine clock, long ones an idle one.
            time.sleep(pause)
            pause = min(pause * 1.05, 0.05)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begun
        if process.returncode and not failed:
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines()
            failed = f"failed: {lines[-1] if lines else process.returncode}"
        out.seek(0)
        lines = [json.loads(line) for line in out if line.endswith(b"\n")] if not quiet else []
        return Ended(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, failed, lines)


def repeat(command: list[str], limits: Limits, n_threads: int) -> dict[str, Any]:
    """A whole command, start and end included, as often as kernels are run: its shortest run."""
    runs: list[Ended] = []
    while not runs or (sum(run.wall for run in runs) < 2 and len(runs) < 5):
        ended = run(command, limits, n_threads, quiet=True)
        if ended.failed:
            return {"failed": ended.failed}
        runs.append(ended)
    runs.sort(key=lambda ended: ended.wall)
    best, peak = runs[0], max(ended.peak for ended in runs)
    return {"wall": best.wall, "median": runs[len(runs) // 2].wall, "cpu": best.cpu, "runs": len(runs), "peak": peak}
