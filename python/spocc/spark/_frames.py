"""Data frames of Spark whose session and columns are checked before any job runs."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession, types

from spocc._native import SpoccError, printable

_NUMBERS = (types.IntegralType, types.FloatType, types.DoubleType)
_LABELS = (
    (types.StringType, types.BooleanType, types.NullType, *_NUMBERS),
    "texts, whole numbers or booleans",
)
_ROLES = {"weight": (_NUMBERS, "numbers"), "count": ((types.IntegralType,), "whole numbers")}

# The first version of Spark on which this is tested.
_OLDEST = 4


class Frame:
    """A data frame of a running session of Spark, classic or Connect."""

    def __init__(self, df: DataFrame, what: str = "df") -> None:
        if not isinstance(df, DataFrame):
            found = f"{type(df).__module__}.{type(df).__name__}"
            raise TypeError(f"{what}: expected a data frame of Spark, found {found}")
        if _is_stopped(df.sparkSession):
            raise RuntimeError(f"{what}: expected a data frame of a running session, found a stopped one")
        version = df.sparkSession.version
        major = version.partition(".")[0]
        if major.isdecimal() and int(major) < _OLDEST:
            raise RuntimeError(f"{what}: expected Spark {_OLDEST}.0 or later, found {printable(version)}")
        self.df, self.what = df, what
        # Read once: on Connect each look at the schema is a copy of all of it.
        self.fields = df.schema.fields
        self.names = [field.name for field in self.fields]

    def index(self, role: str, name: str) -> int:
        """The position of a column, which must occur exactly once and have a type that fits its role."""
        found = [index for index, column in enumerate(self.names) if column == name]
        shown = printable(name)
        if not found:
            columns = printable(", ".join(self.names[:12]))
            raise SpoccError(f"{role}: expected some of the columns {columns}, found `{shown}`")
        if len(found) > 1:
            raise SpoccError(f"{role}: expected one column `{shown}`, found {len(found)}")
        kinds, expected = _ROLES.get(role, _LABELS)
        kind = self.fields[found[0]].dataType
        if not isinstance(kind, kinds):
            raise TypeError(f"{role}, column `{shown}`: expected {expected}, found {kind.simpleString()}")
        return found[0]

    def numbered(self) -> DataFrame:
        """All columns, named by number: Spark mishandles dots, duplicates and case in column names."""
        return self.df.toDF(*map(str, range(len(self.names))))

    def selected(self, indices: Iterable[int]) -> DataFrame:
        """The columns at these positions in this order, named by number."""
        # A collation may treat different texts as equal; labels are compared exactly.
        cells = [
            f"cast(`{index}` as string) as `{place}`"
            if isinstance(self.fields[index].dataType, types.StringType)
            else f"`{index}` as `{place}`"
            for place, index in enumerate(indices)
        ]
        return self.numbered().selectExpr(*cells)

    def schema(self) -> types.StructType:
        """The types of all columns, named by number."""
        fields = enumerate(self.fields)
        return types.StructType(
            [types.StructField(str(k), field.dataType, field.nullable, field.metadata) for k, field in fields]
        )


def _is_stopped(session: SparkSession) -> bool:
    # Classic sessions have no property for it, and those of Connect have no context.
    return session.is_stopped if hasattr(session, "is_stopped") else session.sparkContext._jsc is None
