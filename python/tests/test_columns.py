"""A whole table may be passed: names say which of its columns are no classifiers."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

import spocc

from panels import make_panel

N_ROWS = 60
NAMES = [f"x{k}" for k in range(5)]
PREDICTIONS, TRUTH = make_panel(N_ROWS)
TABLE: dict[str, Any] = {
    "item": [f"i{row}" for row in range(N_ROWS)],
    "day": [datetime.date(2024, 1, 1 + row % 30) for row in range(N_ROWS)],
    "x0": PREDICTIONS[:, 0],
    "gold": TRUTH,
    "x1": PREDICTIONS[:, 1],
    "w": np.arange(1, N_ROWS + 1) / 4,
    "x2": PREDICTIONS[:, 2],
    "x3": PREDICTIONS[:, 3],
    "n": np.arange(N_ROWS),
    "note": ["checked", None] * (N_ROWS // 2),
    "x4": PREDICTIONS[:, 4],
}
PANEL = {name: TABLE[name] for name in NAMES}
EXPECTED = spocc.Evidence(PANEL, TRUTH)
REST: dict[str, Any] = {"id": "item", "ignore": ["day", "w", "n", "note"]}

TABLES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "pandas with an index": lambda table: pd.DataFrame(table).set_axis(range(9, 9 + N_ROWS)),
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "arrow batch": pa.RecordBatch.from_pydict,
    # It can be read only once.
    "arrow reader": lambda table: pa.table(table).to_reader(max_chunksize=7),
}
every_table = pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)


@every_table
def test_named_columns_are_what_they_hold(make: Callable[[dict[str, Any]], Any]) -> None:
    assert spocc.Evidence(make(TABLE), "gold", **REST) == EXPECTED
    assert spocc.Evidence(make(TABLE), "gold", names=NAMES[::-1]) == spocc.Evidence(
        PANEL, TRUTH, names=NAMES[::-1]
    )
    weighted = spocc.Evidence(make(TABLE), "gold", weights="w", id=["item", "day"], ignore=("note", "n"))
    assert weighted == spocc.Evidence(PANEL, TRUTH, weights=TABLE["w"])
    counted = spocc.Evidence(make(TABLE), "gold", counts="n", ignore=["item", "day", "w", "note"])
    assert counted == spocc.Evidence(PANEL, TRUTH, counts=TABLE["n"])
    # Of the truth, only the values may be given.
    plain = {name: column for name, column in TABLE.items() if name != "gold"}
    assert spocc.Evidence(make(plain), TRUTH, **REST) == EXPECTED


@every_table
def test_everything_that_takes_rows_takes_names(make: Callable[[dict[str, Any]], Any]) -> None:
    model = spocc.fit(PANEL, TRUTH)
    assert spocc.fit(make(TABLE), "gold", **REST) == model
    assert spocc.audit(make(TABLE), "gold", **REST) == EXPECTED.audit()
    few: dict[str, Any] = {"methods": ["majority"], "curve": False}
    assert spocc.compare(make(TABLE), "gold", **REST, **few) == spocc.compare(PANEL, TRUTH, **few)
    others, gold = make_panel(N_ROWS, seed=1)
    new = TABLE | dict(zip(NAMES, others.T, strict=True)) | {"gold": gold}
    apart = spocc.compare(EXPECTED, test=spocc.Evidence(others, gold), **few)
    assert spocc.compare(make(TABLE), "gold", test=(make(new), "gold"), **REST, **few) == apart
    four = spocc.fit(PANEL, TRUTH, names=NAMES[:4])
    assert four.append(make(TABLE), "gold", **REST) == four.append(EXPECTED)
    assert four.append(make(TABLE), "gold", names=NAMES) == four.append(EXPECTED)


@every_table
def test_a_model_ignores_the_columns_that_are_not_its_classifiers(
    make: Callable[[dict[str, Any]], Any],
) -> None:
    model = spocc.fit(make(TABLE), "gold", calibrate="cross", **REST)
    np.testing.assert_array_equal(model.predict(make(TABLE)), model.predict(PREDICTIONS))
    sets = model.predict_set(PREDICTIONS, 0.8, ids=TABLE["item"])
    np.testing.assert_array_equal(model.predict_set(make(TABLE), 0.8, id="item"), sets)
    backwards = make({name: column[::-1] for name, column in TABLE.items()})
    np.testing.assert_array_equal(model.predict_set(backwards, 0.8, id="item"), sets[::-1])


def test_open_answers_may_have_other_columns_beside_them() -> None:
    answers = {"ann": [12.5, 70, 3, 8] * 9, "bob": [12.5, 71, 3, 9] * 9}
    gold = [12.5, 70, 3, 8] * 9
    model = spocc.fit(answers, gold, open=True, calibrate="cross")
    frame = pd.DataFrame({"item": range(36), **answers, "gold": gold})
    assert spocc.fit(frame, "gold", id="item", open=True, calibrate="cross") == model
    sets = model.predict_set(frame, 0.8, id="item")
    assert model.predict_set(frame[::-1], 0.8, id="item") == sets[::-1]
    smaller = spocc.fit(frame, "gold", names=["ann"], open=True)
    assert smaller.append(frame, "gold", id="item") == spocc.fit(answers, gold, open=True)


@settings(max_examples=25, deadline=None)
@drawn(
    rows=st.permutations(range(N_ROWS)),
    columns=st.permutations(list(TABLE)),
    truths=st.permutations(range(N_ROWS)),
)
def test_no_order_of_rows_and_columns_changes_the_model(
    rows: list[int], columns: list[str], truths: list[int]
) -> None:
    frame = pd.DataFrame(TABLE).set_index("item", drop=False)
    model = spocc.fit(frame, "gold", weights="w", names=NAMES)
    shuffled = frame[columns].iloc[rows]
    assert spocc.fit(shuffled, "gold", weights="w", names=NAMES).to_bytes() == model.to_bytes()
    weights, truth = frame["w"].iloc[truths], frame["gold"].iloc[truths[::-1]]
    apart = shuffled.drop(columns=["w", "gold"])
    again = spocc.fit(apart, truth, weights=weights, id="item", ignore=["day", "n", "note"])
    assert sorted(again.classifiers) == NAMES
    again = spocc.fit(apart, truth, weights=weights, names=NAMES)
    assert again.to_bytes() == model.to_bytes()
    joined = frame.join(again.decide(shuffled).to_frame())
    np.testing.assert_array_equal(joined["decision"], again.predict(frame))


def test_columns_may_have_names_that_are_no_texts() -> None:
    frame = pd.DataFrame(PREDICTIONS).assign(gold=TRUTH, item=TABLE["item"])
    names = [str(k) for k in range(5)]
    assert spocc.Evidence(frame, "gold", id="item").classifiers == names
    assert spocc.Evidence(frame, "4", names=[0, 1]).classes.tolist() == [0, 1, 2]
    assert spocc.Evidence(frame, "gold", id="item", ignore=frame.columns[1:4]).classifiers == ["0", "4"]


def repeats(rows: str) -> str:
    rest = "all of them count, and a held-out accuracy is too high if they are duplicates"
    return f"{rows} the id of another row; {rest}"


@every_table
def test_rows_with_the_same_id_are_warned_of(make: Callable[[dict[str, Any]], Any]) -> None:
    table = TABLE | {"item": ["i1", "i1", None, None, *TABLE["item"][4:]]}
    model = spocc.fit(PANEL, TRUTH, names=NAMES[:4])
    few: dict[str, Any] = {"methods": ["majority"], "curve": False}
    calls: list[Callable[[Any], Any]] = [
        lambda rows: spocc.Evidence(rows, "gold", **REST),
        lambda rows: spocc.fit(rows, "gold", **REST),
        lambda rows: spocc.audit(rows, "gold", **REST),
        lambda rows: spocc.compare(rows, "gold", **REST, **few),
        lambda rows: model.append(rows, "gold", **REST),
    ]
    for call in calls:
        with pytest.warns(spocc.RowWarning) as caught:
            call(make(table))
        assert [str(warning.message) for warning in caught] == [repeats("1 row repeats")]
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calls[0](make(TABLE))
        spocc.Evidence(make(TABLE), "gold", id=["item", "day"], ignore=["w", "n", "note"])
    # Dates are no labels, but may be ids.
    with pytest.warns(spocc.RowWarning, match="30 rows repeat the id"):
        spocc.Evidence(make(TABLE), "gold", id="day", ignore=["item", "w", "n", "note"])


def test_only_rows_that_are_counted_repeat_an_id() -> None:
    frame = pd.DataFrame(TABLE).astype({"gold": "Int64"})
    frame["item"] = "same"
    frame.loc[10:, "gold"] = None
    for unlabelled, rows in ((False, "9 rows repeat"), (True, "59 rows repeat")):
        with pytest.warns(spocc.RowWarning) as caught:
            spocc.fit(frame, "gold", unlabelled=unlabelled, **REST)
        assert str(caught[0].message) == repeats(rows)
    with pytest.warns(spocc.RowWarning, match="^59 rows repeat"):
        spocc.fit(frame.drop(columns="gold"), **REST)
    with pytest.warns(spocc.RowWarning, match="^9 rows repeat"):
        spocc.fit(frame, "gold", "spocc", **REST)


def test_columns_that_are_no_classifiers_are_warned_of_wherever_they_are_counted() -> None:
    plain = {name: column for name, column in TABLE.items() if name not in ("day", "w", "n", "note")}
    model = spocc.fit(PANEL, TRUTH)
    few: dict[str, Any] = {"methods": ["majority"], "curve": False}
    calls: list[Callable[[], Any]] = [
        lambda: spocc.fit(plain, "gold", "majority"),
        lambda: spocc.audit(plain, "gold"),
        lambda: spocc.compare(plain, "gold", **few),
        lambda: spocc.audit(spocc.Evidence(plain, "gold")),
        lambda: model.append(plain, "gold"),
    ]
    for call in calls:
        with pytest.warns(spocc.ColumnWarning) as caught:
            call()
        assert [str(warning.message) for warning in caught] == [
            "column `item` has a different label in nearly every row (60 labels in 60 rows): "
            'if it names the rows, leave it out of the predictions, such as by id="item"'
        ]
        assert caught[0].filename == __file__
    assert issubclass(spocc.ColumnWarning, UserWarning)
    assert issubclass(spocc.RowWarning, UserWarning)


KNOWN = "item, day, x0, gold, x1, w, x2, x3, n, note, x4"
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"truth": "truth"}, f"truth: expected one of the columns {KNOWN}, found `truth`"),
    ({"id": "row"}, f"id: expected one of the columns {KNOWN}, found `row`"),
    ({"id": ["item", "row"]}, f"id: expected one of the columns {KNOWN}, found `row`"),
    ({"ignore": ["notes"]}, f"ignore: expected one of the columns {KNOWN}, found `notes`"),
    ({"weights": "v"}, f"weights: expected one of the columns {KNOWN}, found `v`"),
    ({"counts": "m"}, f"counts: expected one of the columns {KNOWN}, found `m`"),
    ({"id": "gold"}, "column `gold`: expected one use of it, found two (truth and id)"),
    ({"id": ["item", "item"]}, "column `item`: expected one use of it, found two (id and id)"),
    ({"weights": "w", "counts": "w"}, "column `w`: expected one use of it, found two (counts and weights)"),
    ({"names": ["x0", "gold"]}, "column `gold`: expected one use of it, found two (names and truth)"),
    (
        {"names": ["x0"], "ignore": "x0"},
        f"predictions: expected at least one column of a classifier, found only {KNOWN}",
    ),
]


@every_table
@pytest.mark.parametrize(("given", "line"), REFUSED, ids=[line for _, line in REFUSED])
def test_a_wrong_name_is_refused_in_one_clear_line(
    given: dict[str, Any], line: str, make: Callable[[dict[str, Any]], Any]
) -> None:
    with pytest.raises(spocc.SpoccError) as refused:
        spocc.Evidence(make(TABLE), **({"truth": "gold"} | given))
    assert str(refused.value) == line


def test_a_name_of_two_columns_is_refused() -> None:
    frame = pd.DataFrame([["a", "b", "c"]], columns=["x", "gold", "gold"])
    for role in ("truth", "id", "ignore"):
        named: dict[str, Any] = {role: "gold"}
        with pytest.raises(spocc.SpoccError, match=f"^{role}: expected one column `gold`, found 2$"):
            spocc.Evidence(frame, **named)


def test_a_table_without_names_has_no_column_of_a_name() -> None:
    for table in (PREDICTIONS, PREDICTIONS.tolist()):
        found = type(table).__name__
        for role in ("truth", "id", "ignore", "weights", "counts"):
            with pytest.raises(TypeError) as refused:
                spocc.Evidence(table, **({"truth": TRUTH} | {role: "gold"}))  # type: ignore[arg-type]
            assert (
                str(refused.value)
                == f"{role}: expected predictions with a column `gold`, found {found} without names"
            )


def test_values_are_no_names_of_columns() -> None:
    frame = pd.DataFrame(TABLE)
    for role in ("id", "ignore"):
        for wrong in (7, frame["item"], pl.Series(["item"]), b"item", {"item": 1}):
            with pytest.raises(TypeError) as refused:
                spocc.Evidence(frame, "gold", **{role: wrong})  # type: ignore[arg-type]
            found = type(wrong).__name__
            assert str(refused.value) == (
                f"{role}: expected the name of a column, or several names, found {found}"
            )
    model = spocc.fit(PANEL, TRUTH, calibrate="cross")
    line = "ids: expected an id per row, or id=.. for the name of a column, found "
    for asked, found in (
        ({"ids": "item"}, "the text `item`"),
        ({"ids": frame["item"], "id": "item"}, "both"),
    ):
        with pytest.raises(TypeError) as refused:
            model.predict_set(frame, 0.8, **asked)
        assert str(refused.value) == line + found


def test_columns_of_the_wrong_kind_or_length_are_refused() -> None:
    with pytest.raises(TypeError, match=r"^weights: expected numbers, found list"):
        spocc.Evidence(TABLE, "gold", weights="note", names=NAMES)
    with pytest.raises(spocc.SpoccError, match=r"^row 1: expected a weight of 0 or between .*, found NaN"):
        spocc.Evidence(pa.table({"a": [1, 2], "t": [1, 2], "w": [1.0, None]}), "t", weights="w")
    with pytest.raises(TypeError, match=r"^truth: row 0: label datetime\.date"):
        spocc.Evidence(TABLE, "day", names=NAMES)
    with pytest.raises(TypeError, match=r"^truth: expected labels that are texts.*Date32"):
        spocc.Evidence(pl.DataFrame(TABLE), "day", names=NAMES)
    with pytest.raises(spocc.SpoccError, match=r"^truth: expected 60 rows, found 3"):
        spocc.Evidence(PANEL | {"gold": [1, 2, 3]}, "gold")
    with pytest.raises(spocc.SpoccError, match=r"^ids: expected 60 rows, found 3"):
        spocc.Evidence(TABLE | {"item": [1, 2, 3]}, "gold", unlabelled=False, **REST)
    model = spocc.fit(PANEL, TRUTH, calibrate="cross")
    with pytest.raises(TypeError, match=r"^ids: row 0: label datetime\.date"):
        model.predict_set(TABLE, 0.8, id="day")


def test_columns_are_not_named_beside_evidence() -> None:
    append = spocc.fit(PANEL, TRUTH, names=NAMES[:4]).append
    calls: list[Callable[..., Any]] = [spocc.fit, spocc.audit, spocc.compare, append]
    for call in calls:
        for role in ("id", "ignore", "truth"):
            with pytest.raises(spocc.SpoccError, match=f"^{role}: expected none beside evidence"):
                call(EXPECTED, **{role: "item"})


@pytest.mark.parametrize("ids", [["item"], ["item", "part"]])
def test_the_command_reads_the_same_table_alike(
    ids: list[str], command: Callable[..., str], tmp_path: Path
) -> None:
    frame = pd.DataFrame(TABLE)
    if len(ids) > 1:
        frame["item"] = frame["item"].str.slice(0, 2)
        frame["part"] = frame.groupby("item").cumcount()
    frame.to_csv(tmp_path / "gold.csv", index=False)
    table = frame.astype(dict.fromkeys([*NAMES, "gold"], str))
    options = [tmp_path / "gold.csv", "--label", "gold", "--id", ",".join(ids), "--ignore", "day,n,note"]
    command("tally", *options, "--weight", "w", "-o", tmp_path / "tally")
    evidence = spocc.Evidence(table, "gold", id=ids, ignore=["day", "n", "note"], weights="w")
    assert spocc.load(tmp_path / "tally") == evidence
    options[-1] = "day,n,note,w"
    command("fit", *options, "--calibrate", "cross", "--no-evaluate", "-o", tmp_path / "m.spocc")
    model = spocc.fit(table, "gold", id=ids, ignore=["day", "n", "note", "w"], calibrate="cross")
    assert spocc.load(tmp_path / "m.spocc") == model
    options = [tmp_path / "m.spocc", tmp_path / "gold.csv", "--id", ",".join(ids), "--coverage", "0.8"]
    command("predict", *options, "-o", tmp_path / "sets.csv")
    theirs = pd.read_csv(tmp_path / "sets.csv", dtype=str)["set"].fillna("").tolist()
    assert theirs == model.predict_set(frame, 0.8, id=ids, output="series").str.join("|").tolist()
