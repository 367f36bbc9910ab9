"""Spark: partitions are counted on the workers, the model is fitted on the driver, partitions are decided.

Counts of partitions add up exactly, so a model has the same bytes as that of a local fit on the same rows.
Needs pyspark and pyarrow (``pip install 'spocc[spark]'``), and spocc on every worker.

Examples
--------
>>> from spocc.spark import fit, predict
>>> rows = [("cat", "cat", "dog"), ("dog", "dog", "cat"), ("cat", "dog", "dog"), ("dog", "dog", "cat")]
>>> df = spark.createDataFrame([(*row, row[0]) for row in rows], ["ann", "bob", "eve", "truth"])
>>> model = fit(df, "truth", method="adaspocc")
>>> model
Model(adaspocc, 3 classifiers, 2 classes: cat, dog; fitted to 4 rows)
>>> new = spark.createDataFrame([(7, None, "dog", "cat")], "item long, ann string, bob string, eve string")
>>> predict(new, model).show()
+----+----+---+---+--------+
|item| ann|bob|eve|decision|
+----+----+---+---+--------+
|   7|NULL|dog|cat|     dog|
+----+----+---+---+--------+
<BLANKLINE>
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

try:
    import pyarrow  # noqa: F401
    from pyspark.sql import DataFrame, types
    from pyspark.sql import functions as sql
except ImportError as error:
    raise ImportError("spocc.spark: expected pyspark and pyarrow: pip install 'spocc[spark]'") from error

import spocc
from spocc._input import strings
from spocc._native import DEFAULT_METHOD, DEFAULT_MISSING, DEFAULT_TIES, SpoccError, printable
from spocc._settings import (
    Calibrate,
    ClassWeight,
    Exponent,
    Inputs,
    Level,
    Method,
    Missing,
    Normalise,
    Strength,
    Ties,
    Tuning,
    combiner,
    options,
)
from spocc._spark_workers import Counter, Decider, SetSettings

__all__ = ["evidence", "fit", "predict", "predict_set"]

# Number of partial sums that the driver merges one after the other; it holds at most two beside the sum.
_N_PARTIAL_SUMS = 8

_NUMBERS = (types.IntegralType, types.FloatType, types.DoubleType)
_LABELS = (
    (types.StringType, types.BooleanType, types.NullType, *_NUMBERS),
    "texts, whole numbers or booleans",
)
_ROLES = {"weight": (_NUMBERS, "numbers"), "count": ((types.IntegralType,), "whole numbers")}

Column = Literal["margin", "answered", "is_tie", "by_prior", "possibility", "probability"]
_COLUMNS: dict[str, types.DataType] = {
    "margin": types.DoubleType(),
    "answered": types.IntegerType(),
    "is_tie": types.BooleanType(),
    "by_prior": types.BooleanType(),
    "possibility": types.ArrayType(types.DoubleType(), containsNull=False),
    "probability": types.ArrayType(types.DoubleType(), containsNull=False),
}


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
    _check_frame(df)
    if df.isStreaming:
        raise SpoccError("df: expected a data frame that is no stream, found a stream")
    roles = {"label": label, "weight": weight, "count": count}
    given = {role: name for role, name in roles.items() if name is not None}
    names = strings("classifiers", classifiers)
    if names is None:
        names = [name for name in df.columns if name not in given.values()]
    for role, name in [*given.items(), *(("classifiers", name) for name in names)]:
        _check(df, role, name)
    repeated = [name for role, name in given.items() if [*names, *given.values()].count(name) > 1]
    if repeated:
        raise SpoccError(f"column `{printable(repeated[0])}`: expected one use of it, found two")
    counter = Counter(tuple(names), tuple(given), classes, level, unlabelled, open, normalise, memory)
    # The evidence of no rows; names, classes and level are checked before any job runs.
    total = counter.empty()
    rows = _selected(df, [*names, *given.values()])
    if label is not None and not unlabelled:
        rows = rows.where(sql.col(rows.columns[len(names)]).isNotNull())
    if level == "tally" and weight is None and count is None:
        counter = counter.with_counts()
        rows = rows.groupBy(*rows.columns).count()
    schema = "evidence binary, error string"
    partial_sums = (
        rows.mapInArrow(counter.count, schema).repartition(_N_PARTIAL_SUMS).mapInArrow(counter.merge, schema)
    )
    for row in partial_sums.toLocalIterator(prefetchPartitions=True):
        total = counter.add(total, row.evidence, row.error)
    return total


def fit(
    df: DataFrame,
    label: str | None,
    classifiers: Iterable[str] | None = None,
    method: Method = DEFAULT_METHOD,
    *,
    weight: str | None = None,
    count: str | None = None,
    classes: object = None,
    open: bool = False,
    normalise: Normalise = "none",
    tuning: Tuning | None = None,
    inputs: Inputs | None = None,
    exponent: Exponent | None = None,
    strength: Strength | None = None,
    missing: Missing = DEFAULT_MISSING,
    ties: Ties = DEFAULT_TIES,
    class_weight: ClassWeight | None = None,
    calibrate: Calibrate | None = None,
    per_class: bool = False,
    seed: int = 0,
    unlabelled: bool | None = None,
    evaluate: bool = False,
    memory: int | None = None,
) -> spocc.Model:
    """Fits a model to a Spark data frame, equal to that of `spocc.fit` on the same rows.

    Only counts reach the driver: marginals if the method needs no more, else the tally, from which the driver
    also measures the held-out accuracy, if ``evaluate`` is true.

    Parameters
    ----------
    df, label, classifiers, weight, count
        As for `evidence`.
    classes, open, normalise, method, tuning, inputs, exponent, strength, missing, ties, class_weight
        As for `spocc.fit`.
    calibrate, per_class, seed, unlabelled, evaluate, memory
        As for `spocc.fit`.

    Examples
    --------
    >>> from spocc.spark import fit
    >>> df = spark.createDataFrame([(True, True, True), (False, True, False)] * 2, ["ann", "bob", "truth"])
    >>> fit(df, "truth", ["ann", "bob"], method="naive-bayes").classes
    array([False,  True])
    """
    # Settings are checked before any job runs.
    options(missing, ties, class_weight, calibrate, per_class, seed, evaluate)
    chosen = combiner(method, tuning, inputs, exponent, strength)
    needs_tally = calibrate is not None or evaluate or open
    level, uses_unlabelled = chosen.counting(label is not None, unlabelled, needs_tally)
    counted = evidence(
        df,
        label,
        classifiers,
        weight=weight,
        count=count,
        classes=classes,
        level=level,
        unlabelled=uses_unlabelled,
        open=open,
        normalise=normalise,
        memory=memory,
    )
    return spocc.fit(
        counted,
        method=method,
        tuning=tuning,
        inputs=inputs,
        exponent=exponent,
        strength=strength,
        missing=missing,
        ties=ties,
        class_weight=class_weight,
        calibrate=calibrate,
        per_class=per_class,
        seed=seed,
        evaluate=evaluate,
        memory=memory,
    )


def predict(
    df: DataFrame, model: spocc.Model, *, output: str = "decision", columns: Sequence[Column] = ()
) -> DataFrame:
    """Adds the decision on every row to a Spark data frame, lazily.

    Parameters
    ----------
    df
        A data frame or stream with a column for each classifier of the model, by name; all columns are kept.
    model
        A fitted model, which is broadcast to the workers without its evidence.
    output
        Name of the column with the decided label: bigint, boolean, double or string, as in ``model.classes``.
        An open answer is a string, and null if the row has none.
    columns
        Further columns: ``margin``, ``answered``, ``is_tie``, ``by_prior``; ``possibility`` and
        ``probability`` are arrays in the order of ``model.classes``. Of open answers they are arrays of
        structs: an ``answer``, null for any that is not given on the row, and its degree.

    Examples
    --------
    >>> import spocc
    >>> from spocc.spark import predict
    >>> model = spocc.fit({"ann": [0, 1, 0, 1], "bob": [0, 1, 0, 1]}, [0, 1, 0, 1], method="majority")
    >>> df = spark.createDataFrame([("x", 1, None), ("y", 0, 1)], "id string, ann int, bob int")
    >>> predict(df, model, columns=["answered", "is_tie"]).show()
    +---+---+----+--------+--------+------+
    | id|ann| bob|decision|answered|is_tie|
    +---+---+----+--------+--------+------+
    |  x|  1|NULL|       1|       1| false|
    |  y|  0|   1|       0|       2|  true|
    +---+---+----+--------+--------+------+
    <BLANKLINE>
    >>> answers = {"ann": [12.5, 70, 3, 8] * 5, "bob": [12.5, 71, 3, 8] * 5}
    >>> model = spocc.fit(answers, [12.5, 70, 3, 9] * 5, open=True)
    >>> df = spark.createDataFrame([("x", 12.5, 13.0), ("y", None, None)], "id string, ann float, bob float")
    >>> predict(df, model).show()
    +---+----+----+--------+
    | id| ann| bob|decision|
    +---+----+----+--------+
    |  x|12.5|13.0|    12.5|
    |  y|NULL|NULL|    NULL|
    +---+----+----+--------+
    <BLANKLINE>
    """
    wanted = strings("columns", columns) or []
    unknown = [name for name in wanted if name not in _COLUMNS]
    if unknown:
        found = printable(", ".join(unknown))
        raise SpoccError(f"columns: expected some of {', '.join(_COLUMNS)}, found {found}")
    if "probability" in wanted and not model.has_probabilities:
        raise SpoccError(f"columns: expected a method with probabilities, found {model.method}")
    column_types = [_type_of(model), *(_further_type(model, name) for name in wanted)]
    return _decided(df, model, [output, *wanted], column_types, tuple(wanted))


def predict_set(
    df: DataFrame,
    model: spocc.Model,
    coverage: float = 0.95,
    *,
    id: str,
    seed: int = 0,
    output: str = "set",
) -> DataFrame:
    """Adds the conformal prediction set of every row to a Spark data frame, lazily.

    Parameters
    ----------
    df, model
        As for `predict`; the model must be fitted with ``calibrate``.
    coverage, seed
        As for `spocc.Model.predict_set`.
    id
        The column with the ids of the rows, from which ties between conformal scores are broken: the set of a
        row does not depend on the partitions, and equals the local one with these ``ids``.
    output
        Name of the column with the sets: arrays of labels, in the order of ``model.classes``. Sets of open
        answers are arrays of strings, in which null stands for any answer that is not given on the row.

    Examples
    --------
    >>> import spocc
    >>> from spocc.spark import predict_set
    >>> model = spocc.fit({"ann": [0, 1] * 12, "bob": [0, 1] * 12}, [0, 1] * 12, calibrate="cross")
    >>> df = spark.createDataFrame([("x", 1, None), ("y", 0, 0)], "item string, ann int, bob int")
    >>> predict_set(df, model, 0.9, id="item").show()
    +----+---+----+---+
    |item|ann| bob|set|
    +----+---+----+---+
    |   x|  1|NULL|[1]|
    |   y|  0|   0|[0]|
    +----+---+----+---+
    <BLANKLINE>
    """
    _check_frame(df)
    _check(df, "id", id)
    # The model, the coverage and the seed are checked before any job runs.
    model.predict_set({name: [] for name in model.classifiers}, coverage, seed=seed)
    column_type = types.ArrayType(_type_of(model), containsNull=model.is_open)
    return _decided(df, model, [output], [column_type], SetSettings(coverage, seed, df.columns.index(id)))


def _decided(
    df: DataFrame,
    model: spocc.Model,
    names: list[str],
    column_types: list[types.DataType],
    wanted: tuple[str, ...] | SetSettings,
) -> DataFrame:
    """The data frame with the wanted columns of its decisions, of these names and types."""
    _check_frame(df)
    taken = {name.casefold() for name in df.columns}
    for name in names:
        if name.casefold() in taken:
            raise SpoccError(
                f"output: expected columns that are not yet in the frame, found `{printable(name)}`"
            )
        taken.add(name.casefold())
    for name in model.classifiers:
        _check(df, "classifiers", name)
    places = [df.columns.index(name) for name in model.classifiers]
    shared = df.sparkSession.sparkContext.broadcast(model.without_evidence().to_bytes())
    decider = Decider(shared, tuple(places), wanted)
    schema = _numbered(df).schema
    for column_type in column_types:
        schema = schema.add(str(len(schema)), column_type)
    return _numbered(df).mapInArrow(decider.decide, schema).toDF(*df.columns, *names)


def _type_of(model: spocc.Model) -> types.DataType:
    """The type of a column of the model's classes."""
    kinds: dict[str, types.DataType] = {
        "i": types.LongType(),
        "b": types.BooleanType(),
        "f": types.DoubleType(),
    }
    return kinds.get(model.classes.dtype.kind, types.StringType())


def _further_type(model: spocc.Model, name: str) -> types.DataType:
    """The type of a further column; degrees of open answers are named by them."""
    if not model.is_open or not isinstance(_COLUMNS[name], types.ArrayType):
        return _COLUMNS[name]
    fields = [types.StructField("answer", types.StringType()), types.StructField(name, types.DoubleType())]
    return types.ArrayType(types.StructType(fields), containsNull=False)


def _check_frame(df: DataFrame) -> None:
    """Refuses objects that are no Spark data frame, and Spark Connect, which has no broadcasts."""
    if not hasattr(df, "_jdf"):
        found = f"{type(df).__module__}.{type(df).__name__}"
        raise TypeError(f"df: expected a data frame of Spark, and not of Spark Connect, found {found}")


def _check(df: DataFrame, role: str, name: str) -> None:
    """Refuses a column that does not occur exactly once, or whose type does not fit its role."""
    found = [field.dataType for field in df.schema.fields if field.name == name]
    shown = printable(name)
    if not found:
        columns = printable(", ".join(df.columns[:12]))
        raise SpoccError(f"{role}: expected some of the columns {columns}, found `{shown}`")
    if len(found) > 1:
        raise SpoccError(f"{role}: expected one column `{shown}`, found {len(found)}")
    kinds, expected = _ROLES.get(role, _LABELS)
    if not isinstance(found[0], kinds):
        raise TypeError(f"{role}, column `{shown}`: expected {expected}, found {found[0].simpleString()}")


def _numbered(df: DataFrame) -> DataFrame:
    """The same columns named by number: Spark mishandles dots, duplicates and case in column names."""
    return df.toDF(*map(str, range(len(df.columns))))


def _selected(df: DataFrame, names: list[str]) -> DataFrame:
    """The columns of these names in this order, named by number."""
    kinds = [field.dataType for field in df.schema.fields]
    places = [df.columns.index(name) for name in names]
    # A collation may treat different texts as equal; labels are compared exactly.
    texts = {k for k in places if isinstance(kinds[k], types.StringType)}
    cells = [sql.col(str(k)).cast("string") if k in texts else sql.col(str(k)) for k in places]
    return _numbered(_numbered(df).select(*cells))
