"""The results of a run."""

from typing import Any

from harness.plan import Shape

Row = dict[str, Any]


class Panel:
    """All measurements on one panel."""

    def __init__(self, shape: Shape, rows: list[Row]) -> None:
        self.shape = shape
        self.rows = {(row["task"], row["name"], row["cores"]): row for row in rows}
        for cores in ["all", "one"]:
            for method in ["adaspocc", "majority"]:
                self.add_both(method, cores)

    def add_both(self, method: str, cores: str) -> None:
        """Adds the time of counting, fitting and predicting, for rivals with a single call for all three."""
        parts = [self.rows.get((task, method, cores), {}) for task in ["whole", "predict"]]
        row: Row = {"failed": next((part["failed"] for part in parts if part.get("failed")), None)}
        if all("wall" in part for part in parts):
            row = {key: sum(part[key] for part in parts) for key in ["wall", "cpu"]}
            row["peak"] = max(part["peak"] for part in parts)
        self.rows["both", method, cores] = {"task": "both", "name": method, "cores": cores, **row}

    def row(self, task: str, name: str, cores: str = "all") -> Row:
        """A measurement; for rivals that use one core only, that one."""
        return self.rows.get((task, name, cores)) or self.rows.get((task, name, "one"), {})

    def wall(self, task: str, name: str, cores: str = "all") -> float | None:
        return self.row(task, name, cores).get("wall")

    def times_memcpy(self, task: str, name: str, cores: str = "all") -> float | None:
        return ratio(self.wall(task, name, cores), self.wall("memcpy", "label matrix", cores))

    def speedup(self, ours: tuple[str, str], theirs: tuple[str, str], cores: str = "all") -> float | None:
        """A rival's time divided by ours."""
        return ratio(self.wall(*theirs, cores), self.wall(*ours, cores))


def ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above and below else None


def seconds(value: float | None) -> str:
    """Three significant digits and a unit."""
    if value is None:
        return ""
    for unit, size in [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)]:
        if value >= size:
            return f"{digits(value / size)} {unit}"
    return f"{digits(value / 1e-9)} ns"


def digits(value: float) -> str:
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def mebibytes(value: float | None) -> str:
    return f"{value / 2**20:,.0f} MiB" if value else ""
