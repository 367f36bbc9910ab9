"""Sizes, methods and rivals, and which combinations are skipped."""

from dataclasses import dataclass

METHODS = [
    "ladder", "spocc", "adaspocc", "selection", "majority", "weighted-vote", "exp-vote", "naive-bayes", "bayes",
    "stacking", "dawid-skene", "one-coin",
]  # fmt: skip

# Stacking with the single strength 1, the default of scikit-learn; it predicts as `stacking` does and is only fitted.
ONE_STRENGTH = "stacking-c1"

# The methods with probabilities.
PROBABILISTIC = ["ladder", "naive-bayes", "bayes", "stacking", "dawid-skene", "one-coin"]

# The methods measured on the largest panels; the others would take most of the run.
MAIN_METHODS = ["ladder", "spocc", "adaspocc", "majority", "naive-bayes"]
LARGE_CELLS = 20_000_000

# Rivals and their timed tasks.
RIVALS = {
    "numpy-table": ["count", "predict"],
    "numpy-majority": ["predict"],
    "categorical-nb": ["predict", "predict_proba", "fit"],
    "logistic-regression": ["predict", "predict_proba", "fit"],
    "hist-gradient-boosting": ["predict", "predict_proba", "fit"],
    "random-forest": ["predict", "predict_proba", "fit"],
    "voting": ["predict"],
    "crowdkit-majority": ["predict"],
    "crowdkit-dawid-skene": ["predict"],
    "duckdb": ["tally", "csv"],
    "polars": ["tally", "csv"],
}

# Rivals that use more than one core; the others are measured once.
THREADED = {"duckdb", "polars", "logistic-regression", "hist-gradient-boosting", "random-forest"}

# Rivals of the default method: scikit-learn's classifiers on the predictions.
LEARNERS = ["logistic-regression", "hist-gradient-boosting", "random-forest", "categorical-nb"]

# Our (task, name) and the (task, name) of rivals that do the same.
MATCHES = {
    ("count", "marginals"): [("count", "numpy-table")],
    ("count", "tally"): [("tally", "duckdb"), ("tally", "polars")],
    ("whole", "naive-bayes"): [("fit", "categorical-nb")],
    ("whole", ONE_STRENGTH): [("fit", "logistic-regression")],
    ("whole", "stacking"): [("fit", "logistic-regression")],
    ("whole", "ladder"): [("fit", rival) for rival in LEARNERS],
    ("both", "adaspocc"): [("predict", "crowdkit-dawid-skene")],
    ("both", "majority"): [("predict", "crowdkit-majority")],
    ("predict", "spocc"): [("predict", "numpy-table")],
    ("predict", "adaspocc"): [("predict", "numpy-table")],
    ("predict", "naive-bayes"): [("predict", "numpy-table"), ("predict", "categorical-nb")],
    ("predict", "majority"): [("predict", "numpy-majority"), ("predict", "voting")],
    ("predict", "stacking"): [("predict", "logistic-regression")],
    ("predict", "ladder"): [("predict", rival) for rival in LEARNERS],
    ("predict_proba", "ladder"): [("predict_proba", rival) for rival in LEARNERS],
    ("predict_proba", "naive-bayes"): [("predict_proba", "categorical-nb")],
    ("predict_proba", "stacking"): [("predict_proba", "logistic-regression")],
    ("command", "tally"): [("csv", "duckdb"), ("csv", "polars")],
}


@dataclass(frozen=True)
class Shape:
    """Rows, classifiers, classes and easy or hard."""

    rows: int
    classifiers: int
    classes: int
    ease: str = "easy"

    def words(self) -> list[str]:
        return [str(self.rows), str(self.classifiers), str(self.classes), self.ease]

    def __str__(self) -> str:
        return f"{self.size()} {self.ease}"

    def size(self) -> str:
        rows = f"{self.rows:.0e}".replace("e+0", "e")
        return f"({rows if float(rows) == self.rows else self.rows}, {self.classifiers}, {self.classes})"

    def cells(self) -> int:
        return self.rows * self.classifiers

    def is_above(self, other: "Shape") -> bool:
        """Whether every task takes at least as long here as there."""
        sizes = (self.rows >= other.rows, self.classifiers >= other.classifiers, self.classes >= other.classes)
        return all(sizes) and (self.ease == other.ease or self.ease == "hard")


# In order of importance: a run that reaches its time limit skips the last ones.
SIZES = [
    Shape(100_000, 10, 5),
    Shape(1_000_000, 10, 5),
    Shape(100_000, 1_000, 10),
    Shape(10_000_000, 10, 5),
    Shape(100_000, 100, 10),
    Shape(10_000, 100, 100),
]
QUICK = [Shape(100_000, 10, 5), Shape(1_000_000, 10, 5)]
EASES = ["easy", "hard"]


def methods_for(shape: Shape) -> list[str]:
    return MAIN_METHODS if shape.cells() > LARGE_CELLS else METHODS


def fitted_for(shape: Shape) -> list[str]:
    return methods_for(shape) if shape.cells() > LARGE_CELLS else [*methods_for(shape), ONE_STRENGTH]


def hopeless(rival: str, shape: Shape) -> str | None:
    """Why a rival is skipped: estimates from smaller panels that keep the run short."""
    if rival.startswith("crowdkit") and shape.cells() > LARGE_CELLS:
        return "skipped: a long table of 1e8 rows"
    if rival == "crowdkit-dawid-skene" and shape.classifiers * shape.classes**2 > 200_000:
        return "skipped: a large table of errors"
    if rival == "voting" and shape.rows > 2_000_000:
        return "skipped: ten times (1e6, 10, 5)"
    return None
