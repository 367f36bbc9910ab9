"""The machine, the versions, and how long a build takes."""

import datetime
import json
import os
import platform
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, text=True, capture_output=True).stdout.strip()


def describe(requirements: Path) -> dict[str, Any]:
    """The machine and the versions of all programs."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    changed = output("git", "status", "--porcelain", "--untracked-files=no", "--", "crates", "bench/src", "Cargo.lock")
    return {
        "cpu": cpu[1] if cpu else platform.processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "memory": int(memory[1]) * 1024 if memory else 0,
        "system": f"{platform.system()} {platform.release()}",
        "rustc": output("rustc", "--version"),
        "python": platform.python_version(),
        "packages": re.findall(r"^([\w-]+==[\w.]+)", requirements.read_text(), re.MULTILINE),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "commit": output("git", "rev-parse", "--short=12", "HEAD") + (" and uncommitted changes" if changed else ""),
    }


def build_times(python: Path) -> dict[str, Any]:
    """What a new user waits for, in directories of their own: the command, with the units that took longest, and the
    Python package."""
    with tempfile.TemporaryDirectory() as target:
        environment = os.environ | {"CARGO_TARGET_DIR": target}
        begun = time.monotonic()
        install = ["cargo", "install", "--locked", "--quiet", "--timings", "--root", target, "--path", "crates/spocc-cli"]
        subprocess.run(install, cwd=ROOT, check=True, env=environment)
        wall = time.monotonic() - begun
        page = next(Path(target, "cargo-timings").glob("cargo-timing-*.html")).read_text()
    with tempfile.TemporaryDirectory() as target:
        environment = os.environ | {"CARGO_TARGET_DIR": target}
        begun = time.monotonic()
        wheel = [str(python), "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*wheel, "--wheel-dir", target, ROOT / "python"], check=True, env=environment)
        pip = time.monotonic() - begun
    found = re.search(r"const UNIT_DATA = (\[.*?\]);", page, re.DOTALL)
    units = json.loads(found[1]) if found else []
    longest = sorted(units, key=lambda unit: -unit["duration"])[:10]
    names = [f"{unit['name']} {unit['version']}{unit['target']}".strip() for unit in longest]
    return {
        "wall": wall,
        "pip": pip,
        "units": len(units),
        "sum": sum(unit["duration"] for unit in units),
        "longest": [[name, unit["duration"]] for name, unit in zip(names, longest, strict=True)],
    }
