"""Whatever holds the same labels gives the same evidence."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import spocc
from spocc._settings import Level

from panels import Panel, make_panel

NAMES = [f"x{k}" for k in range(5)]
WORDS = np.array(["ant", "bee", "größte Möwe"])


def columns(cells: Any) -> dict[str, Any]:
    return {name: cells[:, k] for k, name in enumerate(NAMES)}


KINDS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", "<i8"]
INTEGERS: dict[str, Callable[[Any], Any]] = {
    **{kind: partial(np.asarray, dtype=kind) for kind in KINDS},
    "fortran": np.asfortranarray,
    "reversed twice": lambda cells: np.ascontiguousarray(cells[::-1, ::-1])[::-1, ::-1],
    "every other": lambda cells: np.repeat(np.repeat(cells, 2, 0), 2, 1)[::2, ::2],
    "read-only": lambda cells: np.frombuffer(cells.tobytes(), dtype=cells.dtype).reshape(cells.shape),
    "objects": lambda cells: cells.astype(object),
    "numpy scalars": lambda cells: [list(row) for row in cells],
    "lists": lambda cells: cells.tolist(),
    "tuples": lambda cells: tuple(map(tuple, cells.tolist())),
    "dict of lists": lambda cells: {name: column.tolist() for name, column in columns(cells).items()},
    "dict of arrays": columns,
    "pandas": lambda cells: pd.DataFrame(columns(cells)),
    "pandas of one block": lambda cells: pd.DataFrame(cells, columns=NAMES),
    "pandas Int8": lambda cells: pd.DataFrame(columns(cells)).astype("Int8"),
    "pandas of Arrow": lambda cells: pd.DataFrame(columns(cells)).astype("int32[pyarrow]"),
    "pandas categories": lambda cells: pd.DataFrame(columns(cells)).astype("category"),
    "pandas sparse": lambda cells: pd.DataFrame(columns(cells)).astype(pd.SparseDtype("int64", 0)),
    "polars": lambda cells: pl.DataFrame(columns(cells)),
    "polars UInt8": lambda cells: pl.DataFrame(columns(cells)).cast(pl.UInt8),
    "polars in chunks": lambda cells: pl.concat(
        [pl.DataFrame(columns(cells[:100])), pl.DataFrame(columns(cells[100:]))], rechunk=False
    ),
    "arrow": lambda cells: pa.table(columns(cells)),
    "arrow batch": lambda cells: pa.RecordBatch.from_pydict(columns(cells)),
    "arrow reader": lambda cells: pa.table(columns(cells)).to_reader(max_chunksize=7),
}


@pytest.mark.parametrize("make", INTEGERS.values(), ids=INTEGERS)
def test_integers_are_the_same_however_they_are_held(make: Callable[[Any], Any], panel: Panel) -> None:
    predictions, truth = panel
    expected = spocc.Evidence(predictions, truth)
    assert spocc.Evidence(make(predictions), truth) == expected
    assert expected.classes.dtype == np.int64


TEXTS: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda cells: cells,
    "fortran": np.asfortranarray,
    "wider": lambda cells: cells.astype("U40"),
    "other byte order": lambda cells: cells.astype(cells.dtype.newbyteorder()),
    "objects": lambda cells: cells.astype(object),
    "numpy strings": lambda cells: cells.astype(np.dtypes.StringDType()),
    "lists": lambda cells: cells.tolist(),
    "pandas": lambda cells: pd.DataFrame(columns(cells)),
    "pandas string": lambda cells: pd.DataFrame(columns(cells)).astype("string"),
    "pandas of Arrow": lambda cells: pd.DataFrame(columns(cells)).astype("string[pyarrow]"),
    "pandas categories": lambda cells: pd.DataFrame(columns(cells)).astype("category"),
    "polars": lambda cells: pl.DataFrame({name: c.tolist() for name, c in columns(cells).items()}),
    "polars Categorical": lambda cells: pl.DataFrame(
        {name: c.tolist() for name, c in columns(cells).items()}
    ).cast(pl.Categorical),
    "polars Enum": lambda cells: pl.DataFrame({name: c.tolist() for name, c in columns(cells).items()}).cast(
        pl.Enum([*reversed(WORDS.tolist()), "never predictions"])
    ),
    "arrow": lambda cells: pa.table(columns(cells.astype(object))),
    "arrow large": lambda cells: pa.table(columns(cells.astype(object))).cast(
        pa.schema([(name, pa.large_string()) for name in NAMES])
    ),
    "arrow view": lambda cells: pa.table(columns(cells.astype(object))).cast(
        pa.schema([(name, pa.string_view()) for name in NAMES])
    ),
    "arrow dictionary": lambda cells: pa.table(
        {name: pa.array(c).dictionary_encode() for name, c in columns(cells.astype(object)).items()}
    ),
    "arrow small dictionary": lambda cells: pa.table(
        {
            name: pa.array(c).dictionary_encode().cast(pa.dictionary(pa.uint8(), pa.string()))
            for name, c in columns(cells.astype(object)).items()
        }
    ),
}


@pytest.mark.parametrize("make", TEXTS.values(), ids=TEXTS)
def test_texts_are_the_same_however_they_are_held(make: Callable[[Any], Any], panel: Panel) -> None:
    predictions, truth = WORDS[panel[0]], WORDS[panel[1]]
    expected = spocc.Evidence(predictions, truth)
    assert spocc.Evidence(make(predictions), truth) == expected
    assert expected.classes.tolist() == WORDS.tolist()


TRUTHS: dict[str, Callable[[Any], Any]] = {
    "list": lambda truth: truth.tolist(),
    "tuple": lambda truth: tuple(truth.tolist()),
    "strided": lambda truth: np.repeat(truth, 3)[::3],
    "pandas": pd.Series,
    "pandas Int64": lambda truth: pd.Series(truth, dtype="Int64"),
    "pandas categories": lambda truth: pd.Series(truth, dtype="category"),
    "pandas Categorical": pd.Categorical,
    "pandas index": pd.Index,
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow in chunks": lambda truth: pa.chunked_array([truth[:10], truth[10:]]),
}


@pytest.mark.parametrize("make", TRUTHS.values(), ids=TRUTHS)
def test_the_truth_may_be_held_in_any_way(make: Callable[[Any], Any], panel: Panel) -> None:
    predictions, truth = panel
    assert spocc.Evidence(predictions, make(truth)) == spocc.Evidence(predictions, truth)


GAPS: dict[str, Callable[[Any], Any]] = {
    "floats": lambda cells: np.where(cells < 0, np.nan, cells.astype(float)),
    "float32": lambda cells: np.where(cells < 0, np.nan, cells).astype(np.float32),
    "float16": lambda cells: np.where(cells < 0, np.nan, cells).astype(np.float16),
    "None": lambda cells: np.where(cells < 0, None, cells.astype(object)),
    "NaN among objects": lambda cells: np.where(cells < 0, float("nan"), cells.astype(object)),
    "NA": lambda cells: np.where(cells < 0, pd.NA, cells.astype(object)),
    "NaT": lambda cells: np.where(cells < 0, pd.NaT, cells.astype(object)),
    "masked": lambda cells: np.ma.masked_less(cells, 0),
    "pandas": lambda cells: pd.DataFrame(columns(cells)).where(lambda frame: frame >= 0),
    "pandas Int64": lambda cells: pd.DataFrame(columns(cells)).astype("Int64").mask(lambda frame: frame < 0),
    "pandas categories": lambda cells: (
        pd.DataFrame(columns(cells)).where(lambda frame: frame >= 0).astype("category")
    ),
    "polars": lambda cells: pl.DataFrame(columns(cells)).with_columns(
        pl.when(pl.all() >= 0).then(pl.all()).name.keep()
    ),
    "arrow": lambda cells: pa.table({name: pa.array(c, mask=c < 0) for name, c in columns(cells).items()}),
}


@pytest.mark.parametrize("make", GAPS.values(), ids=GAPS)
def test_all_missing_values_are_missing_predictions(make: Callable[[Any], Any]) -> None:
    predictions, truth = make_panel()
    predictions[np.random.default_rng(1).random(predictions.shape) < 0.2] = -1
    expected = spocc.Evidence(predictions, truth).select(NAMES)
    counted = spocc.Evidence(make(predictions), truth)
    known = [label for label in expected.labels if label >= 0]
    for name in NAMES:
        np.testing.assert_array_equal(counted.confusion(name), expected.confusion(name)[1:, 1:])
    assert counted.classes.tolist() == known


@pytest.mark.parametrize(
    "truths", [np.array([True, False]), pd.array([True, False]), pl.Series([True, False]), [True, False]]
)
def test_booleans_stay_booleans(truths: Any) -> None:
    evidence = spocc.Evidence(np.array([[True, False], [False, False]]), truths)
    assert evidence.classes.dtype == np.bool_
    assert evidence.classes.tolist() == [False, True]


def test_a_column_of_the_null_type_is_missing() -> None:
    table = pa.table({"a": ["x", "y"], "b": pa.nulls(2)})
    assert spocc.Evidence(table, ["x", "y"]).confusion("b").sum() == 0


def test_other_columns_of_a_frame_may_share_a_name(panel: Panel) -> None:
    predictions, truth = panel
    frame = pd.DataFrame(predictions, columns=["a", "b", "note", "note", "note"])
    expected = spocc.Evidence(predictions[:, :2], truth, names=["a", "b"])
    assert spocc.Evidence(frame, truth, names=["a", "b"]) == expected


def test_names_select_the_columns_of_a_frame_and_name_those_of_an_array(panel: Panel) -> None:
    predictions, truth = panel
    frame = pd.DataFrame(predictions, columns=["e", "d", "c", "b", "a"]).assign(id=np.arange(len(truth)))
    picked = spocc.Evidence(frame, truth, names=["a", "c"])
    assert picked == spocc.Evidence(predictions[:, [4, 2]], truth, names=["a", "c"])
    assert picked.classifiers == ["a", "c"]


def test_nothing_of_an_array_is_changed_or_kept(panel: Panel) -> None:
    predictions, truth = panel
    before = predictions.copy(), truth.copy()
    evidence = spocc.Evidence(predictions, truth)
    np.testing.assert_array_equal(predictions, before[0])
    np.testing.assert_array_equal(truth, before[1])
    predictions[:] = 0
    assert evidence == spocc.Evidence(*before)


def test_booleans_that_are_none_are_refused_and_not_read_past_the_end() -> None:
    strange = np.array([[0, 1], [1, 77]], dtype=np.uint8).view(np.bool_)
    with pytest.raises(spocc.SpoccError, match="category: expected a code below 2, found 77"):
        spocc.Evidence(strange, [True, False])


@pytest.mark.parametrize("strange", [3, 9, 200, 300, 70_000, -1])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_high_number_in_a_late_row_is_counted(strange: int, order: str) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 4000)
    predictions = np.where(rng.random((4000, 5)) < 0.8, truth[:, None], rng.integers(0, 3, (4000, 5)))
    known = spocc.fit(predictions, truth, method="naive-bayes")
    predictions[3500:3700, 2] = strange
    predictions = np.asfortranarray(predictions) if order == "F" else predictions
    objects = predictions.astype(object)
    levels: tuple[Level, ...] = ("marginals", "tally")
    for level in levels:
        assert spocc.Evidence(predictions, truth, level=level) == spocc.Evidence(objects, truth, level=level)
    model = spocc.fit(predictions, truth, method="spocc")
    assert model == spocc.fit(objects, truth, method="spocc")
    assert np.array_equal(model.predict(predictions), model.predict(objects))
    assert np.array_equal(known.predict(predictions), known.predict(objects))
    with pytest.raises(spocc.SpoccError, match="row 3500: expected `x2` to predict a label of the model"):
        known.predict(predictions, strict=True)


@pytest.mark.parametrize("write", [str, float, lambda label: label == 1], ids=["text", "float", "boolean"])
def test_a_truth_of_another_type_than_the_predictions_keeps_its_type(write: Callable[[Any], Any]) -> None:
    predictions = np.array([[0, 1], [1, 1], [0, 0], [1, 0]] * 10)
    truth = [write(label) for label in [0, 1, 6, 1] * 10]
    expected = spocc.Evidence(predictions.astype(object), truth)
    found = spocc.Evidence(predictions, truth)
    assert found == expected
    assert [*map(repr, found.classes.tolist())] == [*map(repr, expected.classes.tolist())]


def test_a_polars_column_of_nulls_is_missing() -> None:
    model = spocc.fit([["a", "b"], ["b", "b"]] * 5, ["a", "b"] * 5, "spocc", names=["ann", "bob"])
    missing = pl.DataFrame({"ann": [None, None], "bob": ["b", "b"]})
    assert missing.dtypes[0] == pl.Null
    np.testing.assert_array_equal(model.decide(missing).answered, [1, 1])
    assert spocc.Evidence(missing, pl.Series([None, "b"])).n_rows == 1


def test_sparse_columns_of_pandas_are_read() -> None:
    dense = pd.DataFrame({"ann": [0, 0, 1], "bob": [1, 0, 1]})
    assert spocc.Evidence(dense.astype(pd.SparseDtype(int)), [0, 0, 1]) == spocc.Evidence(dense, [0, 0, 1])


def test_the_truth_of_a_long_table_may_be_a_series() -> None:
    items, who, predictions = [1, 1, 2], ["ann", "bob", "ann"], ["cat", "dog", "dog"]
    known = {2: "dog", 1: "cat"}
    for truth in [pd.Series(known), pd.Series(known, dtype="category"), pd.Series(known, dtype="string")]:
        evidence = spocc.Evidence.from_long(items, who, predictions, truth)
        assert evidence == spocc.Evidence.from_long(items, who, predictions, known)


@pytest.mark.parametrize("level", ["marginals", "pairs", "tally"])
def test_labels_far_apart_take_no_more_memory_than_others(level: Level) -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 300)
    predictions = np.where(rng.random((300, 150)) < 0.8, truth[:, None], 1 - truth[:, None])
    near = spocc.Evidence(predictions, truth, level=level, memory=2_000_000)
    apart = spocc.Evidence(predictions * 200, truth * 200, level=level, memory=2_000_000)
    assert apart.n_rows == near.n_rows
    assert apart == spocc.Evidence((predictions * 200).astype(object), truth * 200, level=level)


NUMBER_KINDS = ["int64", "int8", "Int64", "float64", "Float64", "int64[pyarrow]", "mixed"]
TEXT_KINDS = ["object", "str", "string", "string[pyarrow]", "category"]


@pytest.mark.parametrize("kind", [*NUMBER_KINDS, *TEXT_KINDS, "bool", "boolean"])
def test_a_few_rows_of_a_frame_are_decided_as_among_many(kind: str) -> None:
    random = np.random.default_rng(5)
    cells = random.integers(0, 2, (300, 4))
    truth: Any = np.where(random.random(300) < 0.8, cells[:, 0], 1 - cells[:, 0])
    frame = pd.DataFrame(cells, columns=list("abcd"))
    if kind in TEXT_KINDS:
        frame, truth = frame.replace({0: "no", 1: "yes"}), np.where(truth == 1, "yes", "no")
    elif kind not in NUMBER_KINDS:
        truth = truth == 1
    frame = frame.astype({"a": "int8", "b": "float64", "c": "Int64"} if kind == "mixed" else kind)
    if kind not in ("int64", "int8", "bool", "mixed"):
        frame.iloc[::7, 2] = None
    # The last column is not a classifier, and its name is no text.
    frame[5] = frame["a"]
    model = spocc.fit(frame[list("abcd")], truth)
    whole = model.predict_proba(frame)
    for rows in [[], [0], [1], [7], [0, 7], list(range(256)), list(range(257))]:
        some = frame.iloc[rows]
        np.testing.assert_array_equal(model.predict_proba(some), whole[rows])
        np.testing.assert_array_equal(model.predict(some), model.predict(frame)[rows])
