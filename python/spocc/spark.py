"""Spark: rows are counted where they lie, fitted once on the driver, and decided partition by partition.

Counts add up to the same in whatever pieces, so a fit here has the bytes of the local fit on the same rows.
Needs pyspark and pyarrow (``pip install 'spocc[spark]'``), and spocc on every worker.

Examples
--------
>>> from spocc.spark import fit, predict
>>> rows = [("cat", "cat", "dog"), ("dog", "dog", "cat"), ("cat", "dog", "dog"), ("dog", "dog", "cat")]
>>> df = spark.createDataFrame([(*said, said[0]) for said in rows], ["ann", "bob", "eve", "truth"])
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

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

try:
    import pyarrow  # noqa: F401
    from pyspark.sql import DataFrame, types
    from pyspark.sql import functions as sql
except ImportError as error:
    raise ImportError("spocc.spark: expected pyspark and pyarrow: pip install 'spocc[spark]'") from error

import spocc
from spocc._fit import needs, options
from spocc._native import SpoccError
from spocc._spark_workers import Counter, Decider, Sets
from spocc._tables import strings

__all__ = ["evidence", "fit", "predict", "predict_set"]

# The driver adds up so many pieces one after the other, and holds no more than two of them beside the sum.
_PIECES = 8

_NUMBERS = (types.IntegralType, types.FloatType, types.DoubleType)
_LABELS = (
    (types.StringType, types.BooleanType, types.NullType, *_NUMBERS),
    "texts, whole numbers or booleans",
)
_ROLES = {"weight": (_NUMBERS, "numbers"), "count": ((types.IntegralType,), "whole numbers")}

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
    level: str = "tally",
    unlabelled: bool = False,
    memory: int | None = None,
) -> spocc.Evidence:
    """Counts a frame of Spark: what `spocc.Evidence` would count of the same rows, to the byte.

    For a tally equal rows are first counted by a ``groupBy``, in memory that Spark bounds. Each partition
    becomes evidence of its own; pieces are merged on the workers and, last, on the driver.

    Parameters
    ----------
    df
        A row per item, a column per classifier; nulls are silence.
    label
        The column with the truth, null where it is not known; None if nobody knows any.
    classifiers
        The columns that answer, in this order; by default all but ``label``, ``weight`` and ``count``.
    weight, count
        Columns with a weight per row, and with how often each row occurred where rows were grouped before.
    classes, level, unlabelled, memory
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
        raise SpoccError("df: expected a frame of known rows, found a stream")
    roles = {"label": label, "weight": weight, "count": count}
    given = {role: name for role, name in roles.items() if name is not None}
    names = strings("classifiers", classifiers)
    if names is None:
        names = [name for name in df.columns if name not in given.values()]
    for role, name in [*given.items(), *(("classifiers", name) for name in names)]:
        _check(df, role, name)
    twice = [name for role, name in given.items() if [*names, *given.values()].count(name) > 1]
    if twice:
        raise SpoccError(f"column `{twice[0]}`: expected one use of it, found two")
    counter = Counter(tuple(names), tuple(given), classes, level, unlabelled, memory)
    # Refuses names, classes and level before any job runs, and is the sum of no rows.
    total = counter.nothing()
    rows = _picked(df, [*names, *given.values()])
    if label is not None and not unlabelled:
        rows = rows.where(sql.col(rows.columns[len(names)]).isNotNull())
    if level == "tally" and weight is None and count is None:
        counter = counter.with_counts()
        rows = rows.groupBy(*rows.columns).count()
    schema = "evidence binary, refused string"
    pieces = rows.mapInArrow(counter.count, schema).repartition(_PIECES).mapInArrow(counter.merge, schema)
    for piece in pieces.toLocalIterator(prefetchPartitions=True):
        total = counter.add(total, piece.evidence, piece.refused)
    return total


def fit(
    df: DataFrame,
    label: str | None,
    classifiers: Iterable[str] | None = None,
    method: str = "ladder",
    *,
    weight: str | None = None,
    count: str | None = None,
    classes: object = None,
    missing: str = "auto",
    ties: str = "first",
    class_weight: str | Mapping[Any, float] | None = None,
    calibrate: str | None = None,
    per_class: bool = False,
    seed: int = 0,
    unlabelled: bool | None = None,
    memory: int | None = None,
    **settings: Any,
) -> spocc.Model:
    """Learns from a frame of Spark what `spocc.fit` would learn from the same rows, to the byte.

    Only counts come to the driver: marginals for the methods that need no more, else the tally.

    Parameters
    ----------
    df, label, classifiers, weight, count
        As for `evidence`.
    method, missing, ties, class_weight, calibrate, per_class, seed, unlabelled, memory, **settings
        As for `spocc.fit`.

    Examples
    --------
    >>> from spocc.spark import fit
    >>> df = spark.createDataFrame([(True, True, True), (False, True, False)], ["ann", "bob", "truth"])
    >>> fit(df, "truth", ["ann", "bob"], method="naive-bayes").classes
    array([False,  True])
    """
    level, everyone = needs(method, label, unlabelled, calibrate, settings)
    # Refuses settings before any job runs.
    options(missing, ties, class_weight, calibrate, per_class, seed)
    counted = evidence(
        df,
        label,
        classifiers,
        weight=weight,
        count=count,
        classes=classes,
        level=level,
        unlabelled=everyone,
        memory=memory,
    )
    return spocc.fit(
        counted,
        method=method,
        missing=missing,
        ties=ties,
        class_weight=class_weight,
        calibrate=calibrate,
        per_class=per_class,
        seed=seed,
        memory=memory,
        **settings,
    )


def predict(
    df: DataFrame, model: spocc.Model, *, output: str = "decision", columns: Sequence[str] = ()
) -> DataFrame:
    """The same frame with the decision on every row; nothing runs before Spark is asked for the rows.

    Parameters
    ----------
    df
        A frame or stream with a column for each classifier of the model, found by name; all columns are kept.
    model
        A fitted model; without its evidence it is broadcast to the workers.
    output
        Name of the column with the decided label: bigint, boolean, double or string, as labels were written.
    columns
        Further columns: ``margin``, ``answered``, ``is_tie``, ``by_prior``; ``possibility`` and
        ``probability`` are arrays in the order of ``model.classes``.

    Examples
    --------
    >>> import spocc
    >>> from spocc.spark import predict
    >>> model = spocc.fit({"ann": [0, 1], "bob": [0, 1]}, [0, 1], method="majority")
    >>> df = spark.createDataFrame([("x", 1, None), ("y", 0, 1)], "id string, ann int, bob int")
    >>> predict(df, model, columns=["answered", "is_tie"]).show()
    +---+---+----+--------+--------+------+
    | id|ann| bob|decision|answered|is_tie|
    +---+---+----+--------+--------+------+
    |  x|  1|NULL|       1|       1| false|
    |  y|  0|   1|       0|       2|  true|
    +---+---+----+--------+--------+------+
    <BLANKLINE>
    """
    wanted = strings("columns", columns) or []
    strange = [name for name in wanted if name not in _COLUMNS]
    if strange:
        raise SpoccError(f"columns: expected some of {', '.join(_COLUMNS)}, found {', '.join(strange)}")
    if "probability" in wanted and not model.has_probabilities:
        raise SpoccError(f"columns: expected a method that has probabilities, found {model.method}")
    kinds = [_type_of(model), *(_COLUMNS[name] for name in wanted)]
    return _decided(df, model, [output, *wanted], kinds, tuple(wanted))


def predict_set(
    df: DataFrame,
    model: spocc.Model,
    coverage: float = 0.95,
    *,
    id: str,
    seed: int = 0,
    output: str = "set",
) -> DataFrame:
    """The same frame with a set of classes on every row that holds the truth as often as ``coverage`` says.

    Parameters
    ----------
    df, model
        As for `predict`; the model must be fitted with ``calibrate``.
    coverage, seed
        As for `spocc.Model.predict_set`.
    id
        The column that names the rows: with it a row gets the same set whatever the partitions, and the one
        that ``ids`` gives it locally.
    output
        Name of the column with the sets: arrays of labels, in the order of ``model.classes``.

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
    # Refuses models, coverage and seed before any job runs.
    model.predict_set({name: [] for name in model.classifiers}, coverage, seed=seed)
    kind = types.ArrayType(_type_of(model), containsNull=False)
    return _decided(df, model, [output], [kind], Sets(coverage, seed, df.columns.index(id)))


def _decided(
    df: DataFrame,
    model: spocc.Model,
    names: list[str],
    kinds: list[types.DataType],
    wanted: tuple[str, ...] | Sets,
) -> DataFrame:
    """The frame and what is wanted of its decisions, as columns of these names and types."""
    _check_frame(df)
    taken = {name.casefold() for name in df.columns}
    for name in names:
        if name.casefold() in taken:
            raise SpoccError(f"output: expected columns that are not yet in the frame, found `{name}`")
        taken.add(name.casefold())
    for name in model.classifiers:
        _check(df, "classifiers", name)
    places = [df.columns.index(name) for name in model.classifiers]
    shared = df.sparkSession.sparkContext.broadcast(model.slim().to_bytes())
    decider = Decider(shared, tuple(places), wanted)
    schema = _numbered(df).schema
    for kind in kinds:
        schema = schema.add(str(len(schema)), kind)
    return _numbered(df).mapInArrow(decider.decide, schema).toDF(*df.columns, *names)


def _type_of(model: spocc.Model) -> types.DataType:
    """The type of a column of the model's classes."""
    kinds: dict[str, types.DataType] = {
        "i": types.LongType(),
        "b": types.BooleanType(),
        "f": types.DoubleType(),
    }
    return kinds.get(model.classes.dtype.kind, types.StringType())


def _check_frame(df: DataFrame) -> None:
    """Refuses what is no frame of Spark, and frames of Spark Connect, which has no broadcasts."""
    if not hasattr(df, "_jdf"):
        found = f"{type(df).__module__}.{type(df).__name__}"
        raise SpoccError(f"df: expected a frame of Spark, and not of Spark Connect, found {found}")


def _check(df: DataFrame, role: str, name: str) -> None:
    """Refuses a column that is not there once, or whose type its role cannot have."""
    found = [field.dataType for field in df.schema.fields if field.name == name]
    if not found:
        raise SpoccError(f"{role}: expected some of the columns {', '.join(df.columns[:12])}, found `{name}`")
    if len(found) > 1:
        raise SpoccError(f"{role}: expected one column `{name}`, found {len(found)}")
    kinds, expected = _ROLES.get(role, _LABELS)
    if not isinstance(found[0], kinds):
        raise SpoccError(f"{role}, column `{name}`: expected {expected}, found {found[0].simpleString()}")


def _numbered(df: DataFrame) -> DataFrame:
    """The same columns called by their number: Spark stumbles over dots, twins and the case of names."""
    return df.toDF(*map(str, range(len(df.columns))))


def _picked(df: DataFrame, names: list[str]) -> DataFrame:
    """Some columns in this order, called by their number."""
    kinds = [field.dataType for field in df.schema.fields]
    places = [df.columns.index(name) for name in names]
    # A collation may take different texts for equal; labels never do.
    texts = {k for k in places if isinstance(kinds[k], types.StringType)}
    cells = [sql.col(str(k)).cast("string") if k in texts else sql.col(str(k)) for k in places]
    return _numbered(_numbered(df).select(*cells))
