"""Deciding the rows of data frames of Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pyspark.sql import DataFrame, types

import spocc
from spocc._input import strings
from spocc._native import SpoccError, printable
from spocc.spark._frames import Frame
from spocc.spark._workers import Decider, SetSettings

Column = Literal["margin", "answered", "is_tie", "by_prior", "possibility", "probability"]
_COLUMNS: dict[str, types.DataType] = {
    "margin": types.DoubleType(),
    "answered": types.IntegerType(),
    "is_tie": types.BooleanType(),
    "by_prior": types.BooleanType(),
    "possibility": types.ArrayType(types.DoubleType(), containsNull=False),
    "probability": types.ArrayType(types.DoubleType(), containsNull=False),
}


def predict(
    df: DataFrame, model: spocc.Model, *, output: str = "decision", columns: Sequence[Column] = ()
) -> DataFrame:
    """Adds the decision on every row to a Spark data frame, lazily.

    Parameters
    ----------
    df
        A data frame or stream with a column for each classifier of the model, by name; all columns are kept.
    model
        A fitted model, which is sent to the workers without its evidence, within the function that they run.
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
    frame = Frame(df)
    wanted = strings("columns", columns) or []
    unknown = [name for name in wanted if name not in _COLUMNS]
    if unknown:
        found = printable(", ".join(unknown))
        raise SpoccError(f"columns: expected some of {', '.join(_COLUMNS)}, found {found}")
    if "probability" in wanted and not model.has_probabilities:
        raise SpoccError(f"columns: expected a method with probabilities, found {model.method}")
    column_types = [_type_of(model), *(_further_type(model, name) for name in wanted)]
    return _decided(frame, model, [output, *wanted], column_types, tuple(wanted))


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
    frame = Frame(df)
    index = frame.index("id", id)
    # The model, the coverage and the seed are checked before any job runs.
    model.predict_set({name: [] for name in model.classifiers}, coverage, seed=seed)
    column_type = types.ArrayType(_type_of(model), containsNull=model.is_open)
    return _decided(frame, model, [output], [column_type], SetSettings(coverage, seed, index))


def _decided(
    frame: Frame,
    model: spocc.Model,
    names: list[str],
    column_types: list[types.DataType],
    wanted: tuple[str, ...] | SetSettings,
) -> DataFrame:
    """The data frame with the wanted columns of its decisions, of these names and types."""
    taken = {name.casefold() for name in frame.names}
    for name in names:
        if name.casefold() in taken:
            raise SpoccError(
                f"output: expected columns that are not yet in the frame, found `{printable(name)}`"
            )
        taken.add(name.casefold())
    indices = tuple(frame.index("classifiers", name) for name in model.classifiers)
    # Connect has no broadcasts. Classic sessions broadcast functions of more than a megabyte by themselves.
    decider = Decider(model.without_evidence().to_bytes(), indices, wanted)
    schema = frame.schema()
    for column_type in column_types:
        schema = schema.add(str(len(schema)), column_type)
    return frame.numbered().mapInArrow(decider.decide, schema).toDF(*frame.names, *names)


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
