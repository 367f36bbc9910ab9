"""Counting data frames of Spark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.sql import DataFrame

import spocc
from spocc._input import strings
from spocc._native import SpoccError, printable
from spocc._settings import Level, Normalise
from spocc.spark._frames import Frame
from spocc.spark._workers import Counter

# Number of partial sums that the driver merges one after the other; it holds at most two beside the sum.
_N_PARTIAL_SUMS = 8


def evidence(
    df: DataFrame,
    label: str | None,
    classifiers: Iterable[str] | None = None,
    *,
    weight: str | None = None,
    count: str | None = None,
    classes: object = None,
    level: Level = "tally",
    unlabelled: bool = True,
    open: bool = False,
    normalise: Normalise = "none",
    memory: int | None = None,
) -> spocc.Evidence:
    """Counts a Spark data frame into the evidence that `spocc.Evidence` counts of the same rows.

    For a tally, equal rows are first grouped by a ``groupBy``, in memory that Spark bounds. Each partition is
    counted into evidence, which is merged on the workers and finally on the driver.

    Parameters
    ----------
    df
        A row per item and a column per classifier; nulls are missing predictions.
    label
        The column with the truth, null where it is not known; None if no truth is known.
    classifiers
        The columns of the classifiers, in this order; by default all but ``label``, ``weight`` and ``count``.
    weight, count
        Columns with a weight per row, and with how often each row occurs if equal rows are already grouped.
    classes, level, unlabelled, open, normalise, memory
        As for `spocc.Evidence`; ``memory`` bounds the tally on each worker and on the driver (default 4 GiB).

    Examples
    --------
    >>> from spocc.spark import evidence
    >>> df = spark.createDataFrame([(1, 1, 1), (0, 0, 0), (0, None, 1)], "ann int, bob int, truth int")
    >>> evidence(df, "truth")
    Evidence(2 classifiers, 3 rows, 2 classes: 0, 1; tally of 3 patterns)
    >>> evidence(df, "truth", ["bob"], level="marginals").confusion("bob")
    array([[1., 0.],
           [0., 1.]])
    """
    return prepared(
        Frame(df), label, classifiers, weight, count, classes, level, unlabelled, open, normalise, memory
    ).total()


@dataclass(frozen=True)
class PreparedCount:
    """Rows to count that were checked: no job runs before `total` is called."""

    rows: DataFrame
    counter: Counter
    empty: spocc.Evidence

    def total(self) -> spocc.Evidence:
        """The evidence of all rows."""
        schema = "evidence binary, error string"
        parts = self.rows.mapInArrow(self.counter.count, schema)
        sums = parts.repartition(_N_PARTIAL_SUMS).mapInArrow(self.counter.merge, schema)
        total = self.empty
        for row in sums.toLocalIterator(prefetchPartitions=True):
            total = self.counter.add(total, row.evidence, row.error)
        return total


def prepared(
    frame: Frame,
    label: str | None,
    classifiers: Iterable[str] | None,
    weight: str | None,
    count: str | None,
    classes: object,
    level: Level,
    unlabelled: bool,
    open: bool,
    normalise: Normalise,
    memory: int | None,
) -> PreparedCount:
    """Checks what `evidence` is given."""
    if frame.df.isStreaming:
        raise SpoccError(f"{frame.what}: expected a data frame that is no stream, found a stream")
    roles = {"label": label, "weight": weight, "count": count}
    given = {role: name for role, name in roles.items() if name is not None}
    names = strings("classifiers", classifiers)
    if names is None:
        names = [name for name in frame.names if name not in given.values()]
    columns = [*(("classifiers", name) for name in names), *given.items()]
    indices = [frame.index(role, name) for role, name in columns]
    repeated = [name for role, name in given.items() if [*names, *given.values()].count(name) > 1]
    if repeated:
        raise SpoccError(f"column `{printable(repeated[0])}`: expected one use of it, found two")
    counter = Counter(tuple(names), tuple(given), classes, level, unlabelled, open, normalise, memory)
    # Names, classes and level are checked by counting no rows.
    empty = counter.empty()
    rows = frame.selected(indices)
    if label is not None and not unlabelled:
        rows = rows.where(f"`{len(names)}` is not null")
    if level == "tally" and weight is None and count is None:
        counter = counter.with_counts()
        rows = rows.groupBy(*rows.columns).count()
    return PreparedCount(rows, counter, empty)
