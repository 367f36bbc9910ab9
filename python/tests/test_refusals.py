"""Bad input: one line that says where, what was expected and what was found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import spocc

TABLE = [["a", "b"], ["b", "b"]]
TRUTH = ["a", "b"]


class StrangeFrame:
    """A data frame of a library without the Arrow interface."""

    columns = ("x1", "x0")

    def __array__(self, *_: Any, **__: Any) -> Any:
        return np.array(TABLE)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: spocc.fit(TABLE, TRUTH, "best"), "method: expected one of ladder, spocc"),  # type: ignore[arg-type]
    (lambda: spocc.fit(TABLE, TRUTH, seed=-1), "seed: expected a whole number from 0 and below .*, found -1"),
    (lambda: spocc.fit(TABLE, TRUTH, memory=-1), "memory: expected a whole number from 0"),
    (lambda: spocc.fit(TABLE, TRUTH).explain(TABLE, -1), "row: expected a whole number from 0 .*, found -1"),
    (
        lambda: spocc.fit(TABLE, TRUTH, missing="ask"),  # type: ignore[arg-type]
        "missing: expected one of ignore, answer, auto, found `ask`",
    ),
    (lambda: spocc.fit(TABLE, TRUTH, ties="last"), "ties: expected one of first, random, found `last`"),  # type: ignore[arg-type]
    (
        lambda: spocc.fit(TABLE, TRUTH, calibrate="yes"),  # type: ignore[arg-type]
        "calibrate: expected one of split, cross, found `yes`",
    ),
    (
        lambda: spocc.fit(TABLE, TRUTH, per_class=True),
        "per_class: expected it together with calibrate, found it alone",
    ),
    (
        lambda: spocc.fit(TABLE, TRUTH, class_weight="heavy"),  # type: ignore[arg-type]
        "class_weight: expected None, `balanced` or weights",
    ),
    (
        lambda: spocc.fit(TABLE, TRUTH, class_weight={"c": 2}),
        "class weights: expected one of a, b, found `c`",
    ),
    (lambda: spocc.fit(TABLE, TRUTH, class_weight={"a": -1}), "weight of class `a`: expected a number from"),
    (lambda: spocc.fit(TABLE, TRUTH, "spocc", strength=1), "strength: expected a method that uses it"),
    (lambda: spocc.fit(TABLE, TRUTH, "spocc", exponent=0.5), "exponent: expected"),
    (lambda: spocc.fit(TABLE, TRUTH, "spocc", exponent="many"), "exponent: expected a number from 1, `inf`"),  # type: ignore[arg-type]
    (lambda: spocc.fit(TABLE, TRUTH, "stacking", strength=0), "strength: expected"),
    (lambda: spocc.fit(TABLE, TRUTH, "stacking", strength="many"), "strength: expected a number above 0 or"),  # type: ignore[arg-type]
    (lambda: spocc.fit(TABLE, TRUTH, "stacking", tuning="leave-one-out"), "stacking: expected"),
    (
        lambda: spocc.fit(TABLE, TRUTH, "spocc", unlabelled=True),
        "unlabelled: expected a method that uses it",
    ),
    (lambda: spocc.fit(spocc.Evidence(TABLE, TRUTH), TRUTH), "truth: expected none beside evidence"),
    (lambda: spocc.fit(TABLE, ["a"]), "truth: expected 2 rows, found 1"),
    (
        lambda: spocc.fit(TABLE, [None, None], "stacking"),
        "truth: expected at least one labelled row, found none",
    ),
    (lambda: spocc.fit(TABLE, np.array([TRUTH]).T), "truth: expected 1 axis, found 2"),
    (
        lambda: spocc.fit(TABLE, TRUTH, names=["x", "x"]),
        "classifiers: expected distinct names, found `x` twice",
    ),
    (lambda: spocc.fit(TABLE, TRUTH).append(TABLE, TRUTH), "append: expected exactly one new classifier"),
    (lambda: spocc.fit(TABLE, TRUTH, names=["x"]), "predictions: expected 1 columns, found 2"),
    (
        lambda: spocc.fit(TABLE, TRUTH, classes=["a"]),
        "row 1: expected a truth among the classes a, found `b`",
    ),
    (lambda: spocc.fit(TABLE, TRUTH, classes=["a", None]), "classes: expected labels, found a missing one"),
    (lambda: spocc.fit(TABLE, TRUTH, weights=[1]), "weights: expected 2 rows, found 1"),
    (lambda: spocc.fit(TABLE, TRUTH, weights=[1, -1]), "row 1: expected a weight of 0 or between"),
    (lambda: spocc.fit(TABLE, TRUTH, weights=[1, float("nan")]), "row 1: expected a weight of 0 or between"),
    (lambda: spocc.fit(TABLE, TRUTH, weights=[[1, 2]]), "weights: expected 1 axis, found 2"),
    (lambda: spocc.Evidence(TABLE, TRUTH, counts=[1, 0.5]), "counts, row 1: expected a whole number from 0"),
    (lambda: spocc.Evidence(TABLE, TRUTH, counts=[-1, 1]), "counts, row 0: expected a whole number from 0"),
    (lambda: spocc.Evidence(TABLE, TRUTH, counts=[1, 2**64]), "counts, row 1: expected a whole number"),
    (lambda: spocc.Evidence(TABLE, TRUTH, counts=[1, None]), "counts, row 1: .*, found nan"),
    (
        lambda: spocc.Evidence(TABLE, TRUTH, weights=np.ma.array([1.0, 2.0], mask=[False, True])),
        "row 1: expected a weight of 0 or between .*, found NaN",
    ),
    (lambda: spocc.Evidence(TABLE, TRUTH, counts=[1, 1e300]), "counts, row 1: .* below 2\\^64, found 1e"),
    (lambda: spocc.Evidence(TABLE, TRUTH, counts=[np.inf, 1]), "counts, row 0: .* below 2\\^64, found inf"),
    (lambda: spocc.Evidence(TABLE, TRUTH, level="deep"), "level: expected one of marginals, pairs, tally"),  # type: ignore[arg-type]
    (lambda: spocc.Evidence([["a"], ["a", "b"]], TRUTH), "row 1: expected 1 predictions, found 2"),
    (lambda: spocc.Evidence(np.zeros((2, 2, 2)), TRUTH), "predictions: expected a table of 2 axes, found 3"),
    (lambda: spocc.Evidence(np.zeros(2), TRUTH), "predictions: expected a table of 2 axes, found 1"),
    (lambda: spocc.Evidence(np.zeros((2, 0)), TRUTH), "classifiers: expected at least one, found none"),
    (lambda: spocc.Evidence([[], []], TRUTH), "classifiers: expected at least one, found none"),
    (lambda: spocc.Evidence({}, []), "classifiers: expected at least one, found none"),
    (lambda: spocc.Evidence(pd.DataFrame(), []), "classifiers: expected at least one, found none"),
    (lambda: spocc.Evidence(pl.DataFrame(), []), "classifiers: expected at least one, found none"),
    (lambda: spocc.Evidence({"a": [1], "b": [1, 2]}, [1]), "`b`: expected 1 rows, found 2"),
    (lambda: spocc.Evidence([[1.0], [0.5]], [1, 0]), "row 1.*label 0.5: expected a whole number, a text"),
    (lambda: spocc.Evidence(np.array([[1.0, 0.5]]), [1]), "row 0, `x1`: label 0.5: expected a whole number"),
    (lambda: spocc.Evidence([[1.0], [float("inf")]], [1, 0]), "label inf: expected a whole number"),
    (lambda: spocc.Evidence([[2**200]], ["a"]), "expected an integer of at most 128 bits"),
    (lambda: spocc.Evidence([["\ud800"]], ["a"]), "expected text that is valid Unicode"),
    (lambda: spocc.Evidence(np.array([["\ud800"]]), ["a"]), "expected text that is valid Unicode"),
    (
        lambda: spocc.Evidence([[str(n)] for n in range(70000)], [0] * 70000),
        "expected at most 65535 distinct",
    ),
    (lambda: spocc.Evidence(TABLE, TRUTH) + spocc.Evidence([["a"]], ["a"]), "expected the same classifiers"),
    (
        lambda: spocc.Evidence(TABLE, TRUTH) + spocc.Evidence(TABLE, TRUTH, level="pairs"),
        "expected a tally on both",
    ),
    (lambda: spocc.Evidence(TABLE, TRUTH).select(["x9"]), "classifier `x9`: expected one of x0, x1"),
    (lambda: spocc.Evidence(TABLE, TRUTH).confusion("x9"), "classifier 'x9': expected one of x0, x1"),
    (lambda: spocc.Evidence(TABLE, TRUTH).confusion(2), "classifier 2: expected one of x0, x1"),
    (
        lambda: spocc.fit(spocc.Evidence(TABLE, TRUTH, level="marginals"), method="adaspocc"),
        "adaspocc: expected evid",
    ),
    (
        lambda: spocc.Evidence.from_long([1, 1], ["a", "a"], ["x", "y"], {1: "x"}),
        "row 0: expected one prediction of `a`",
    ),
    (
        lambda: spocc.Evidence.from_long([1], ["a"], ["x"], pd.Series(["x", "y"], index=[1, 1])),
        "truth: expected one label per item, found two for `1`",
    ),
    (lambda: spocc.Evidence.from_long([1, 2], ["a"], ["x", "y"]), "classifiers: expected 2 rows, found 1"),
    (lambda: spocc.Evidence.from_long([1, None], ["a", "b"], ["x", "y"]), "items, row 1: expected a name"),
    (lambda: spocc.fit(TABLE, TRUTH, "spocc").predict([["a"]]), "predictions: expected 2 columns, found 1"),
    (
        lambda: spocc.fit(TABLE, TRUTH, "spocc").predict({"x0": ["a"]}),
        "classifier `x1`: expected predictions of every classifier .*, found .* x0 .add a column of None",
    ),
    (
        lambda: spocc.fit(TABLE, TRUTH, "spocc").predict(pl.DataFrame({"x1": ["a"]})),
        "classifier `x0`: expected",
    ),
    (
        lambda: spocc.fit(TABLE, TRUTH).predict(pd.DataFrame(TABLE * 2, columns=["x0", "x0"]).assign(x1="a")),
        "classifiers: expected distinct names, found `x0` twice",
    ),
    (
        lambda: spocc.fit(TABLE, TRUTH, "spocc").predict_set(TABLE),
        r'sets: expected a calibrated model.*\(fit it with calibrate="split" or calibrate="cross"\)$',
    ),
    (
        lambda: spocc.fit(TABLE * 9, TRUTH * 9, "spocc", calibrate="cross").predict_set(TABLE, 2),
        "coverage: expected",
    ),
    (
        lambda: spocc.fit(TABLE * 9, TRUTH * 9, "spocc", calibrate="cross").predict_set(TABLE, 0.99),
        "calibration rows",
    ),
    (
        lambda: spocc.fit(TABLE * 9, TRUTH * 9, "spocc", calibrate="cross").predict_set(
            TABLE, 0.5, ids=["a"]
        ),
        "ids: expected 2 rows, found 1",
    ),
    (lambda: spocc.Model.from_bytes(b"not a model"), "model file: expected to begin with the mark of one"),
    (
        lambda: spocc.Model.from_bytes(spocc.Evidence(TABLE, TRUTH).to_bytes()),
        "expected a model, found a tally",
    ),
    (
        lambda: spocc.Evidence.from_bytes(spocc.fit(TABLE, TRUTH).to_bytes()),
        "expected a tally, found a model",
    ),
    (lambda: spocc.Model.from_bytes(spocc.fit(TABLE, TRUTH).to_bytes()[:-1]), "cut short"),
]

REFUSED_TYPES: list[tuple[Callable[[], Any], str]] = [
    (lambda: spocc.fit(TABLE, TRUTH, 3), "method: expected a text, found int"),  # type: ignore[arg-type]
    (lambda: spocc.fit(TABLE, TRUTH, seed=1.5), "seed: expected a whole number, found 1.5"),  # type: ignore[arg-type]
    (
        lambda: spocc.fit(TABLE, TRUTH, wieghts=[1, 2]),  # type: ignore[call-arg]
        "unexpected keyword argument 'wieghts'",
    ),
    (lambda: spocc.fit(TABLE, {0: "a", 1: "b"}), "truth: expected a sequence of labels, found dict"),
    (lambda: spocc.fit(TABLE, set(TRUTH)), "truth: expected a sequence of labels, found set"),
    (lambda: spocc.fit(TABLE, np.array([1j, 2])), "truth: expected labels that are texts, .*, found complex"),
    (lambda: spocc.fit(TABLE, TRUTH, classes="ab"), "classes: expected a sequence of labels, found str"),
    (lambda: spocc.fit(TABLE, TRUTH, names="xy"), "names: expected a sequence of names, found the text `xy`"),
    (lambda: spocc.fit(TABLE, TRUTH, weights=["x", "y"]), "weights: expected numbers, found list"),
    (lambda: spocc.Evidence(TABLE, TRUTH, weights=[1, 1j]), "weights: expected numbers, found complex128"),
    (lambda: spocc.Evidence([{"a", "b"}], ["a"]), "row 0: expected a sequence of predictions, found set"),
    (lambda: spocc.Evidence(["ab", "cd"], TRUTH), "row 0: expected a sequence of predictions, found str"),
    (
        lambda: spocc.Evidence([{"x": "a"}] * 2, TRUTH),
        "row 0: expected a sequence of predictions, found dict",
    ),
    (lambda: spocc.Evidence("table.csv", TRUTH), "predictions: expected a table, found str"),
    (lambda: spocc.Evidence(StrangeFrame(), TRUTH), "predictions: expected a table, found StrangeFrame"),
    (lambda: spocc.Evidence(7, TRUTH), "predictions: expected a table, found int"),
    (
        lambda: spocc.Evidence([[b"a"]], ["a"]),
        r"label b'a': expected a whole number, a text or a boolean, found bytes",
    ),
    (lambda: spocc.Evidence([[["a"]]], ["a"]), r"label \['a'\]: expected a whole number"),
    (lambda: spocc.Evidence(np.array([[1j]]), ["a"]), "expected labels that are texts, .*, found complex128"),
    (lambda: spocc.Evidence(np.array([["2020"]], "M8[Y]"), ["a"]), "expected labels that are texts"),
    (
        lambda: spocc.Evidence(pa.table({"a": [[1]]}), ["a"]),
        "`a`: expected labels that are texts, .*, found List",
    ),
    (
        lambda: spocc.Evidence(pa.table({"a": [pd.Timestamp(0)]}), ["a"]),
        "`a`: expected labels that are texts",
    ),
    (
        lambda: spocc.Evidence(pd.DataFrame({"t": [pd.Timestamp(0)]}), ["a"]),
        "`t`: expected labels that are texts",
    ),
    (
        lambda: spocc.Evidence(pd.DataFrame({"t": pd.period_range("2020", periods=1, freq="Y")}), ["a"]),
        r"`t`: row 0: label Period\('2020', .*: expected a whole number, a text or a boolean, found Period",
    ),
    (
        lambda: spocc.Evidence.from_long([1, 2], ["a", "a"], ["x", "y"], ["x", "y"]),
        "truth: expected labels by item .*, found list",
    ),
]


@pytest.mark.parametrize(("do", "line"), REFUSED, ids=[line for _, line in REFUSED])
def test_it_is_refused_in_one_clear_line(do: Callable[[], Any], line: str) -> None:
    with pytest.raises(spocc.SpoccError, match=line) as refused:
        do()
    assert "\n" not in str(refused.value)
    assert isinstance(refused.value, ValueError)


@pytest.mark.parametrize(("do", "line"), REFUSED_TYPES, ids=[line for _, line in REFUSED_TYPES])
def test_a_wrong_type_is_a_type_error(do: Callable[[], Any], line: str) -> None:
    with pytest.raises(TypeError, match=line) as refused:
        do()
    assert "\n" not in str(refused.value)


def test_a_file_that_does_not_exist_is_a_file_not_found_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        spocc.load(tmp_path / "none.spocc")
    with pytest.raises(FileNotFoundError, match=r"none/m\.spocc'$"):
        spocc.fit(TABLE, TRUTH).save(tmp_path / "none" / "m.spocc")


def test_an_old_file_stays_when_a_new_one_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "m.spocc").mkdir()
    with pytest.raises(OSError, match=r"m\.spocc"):
        spocc.fit(TABLE, TRUTH).save(tmp_path / "m.spocc")
    assert [path.name for path in tmp_path.iterdir()] == ["m.spocc"]


def test_no_byte_of_a_file_can_be_changed_unseen() -> None:
    data = bytearray(spocc.fit(TABLE, TRUTH, "naive-bayes").to_bytes())
    for at in range(len(data)):
        data[at] ^= 0x20
        with pytest.raises(spocc.SpoccError):
            spocc.Model.from_bytes(bytes(data))
        data[at] ^= 0x20


def test_an_exception_of_the_data_itself_is_not_hidden() -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise LookupError("no data today")

    with pytest.raises(LookupError, match="no data today"):
        spocc.Evidence(Broken(), TRUTH)


def test_the_native_module_refuses_what_the_package_never_passes() -> None:
    from spocc import _native

    model = spocc.fit(TABLE, TRUTH, "spocc")._engine
    strange: list[object] = [
        None,
        7,
        [],
        [1],
        [("a", None)],
        (np.zeros((1, 2)), np.zeros(1)),
        (np.zeros((1, 2), np.int8), np.array(["a"], dtype=object)),
        np.zeros((1, 2, 0), np.uint32),
        np.zeros((1, 2), dtype="V3"),
    ]
    for cells in strange[:5] + strange[5:6] + strange[7:]:
        with pytest.raises((ValueError, TypeError)):
            model.predict_ids(cells, False)
    with pytest.raises(_native.SpoccError):
        _native.Combiner("none")


def test_a_type_that_only_polars_has_is_refused() -> None:
    wide = pl.DataFrame({"ann": [1, 2], "bob": [1, 1]}, schema={"ann": pl.Int128, "bob": pl.Int64})
    with pytest.raises(TypeError, match="expected labels in a type of Arrow's"):
        spocc.Evidence(wide, [1, 2])


def test_repeated_column_names_of_arrow_are_refused_if_they_are_used() -> None:
    model = spocc.fit({"a": ["x", "y"], "b": ["x", "y"]}, ["x", "y"], "majority")
    repeated = pa.table([["x", "y"], ["y", "x"], ["x", "y"]], names=["a", "a", "b"])
    with pytest.raises(spocc.SpoccError, match="expected distinct names, found `a` twice"):
        model.predict(repeated)
    others = pa.table([["x", "y"], ["y", "x"], ["x", "y"], ["x", "y"]], names=["c", "c", "b", "a"])
    assert model.predict(others).tolist() == ["x", "y"]


def test_an_object_that_writes_to_its_array_while_it_is_shown_is_refused() -> None:
    cells = np.empty((2, 1), dtype=object)

    class Writer:
        def __repr__(self) -> str:
            cells[:] = "x"
            return "writer"

    cells[0, 0] = Writer()
    with pytest.raises(TypeError, match="label writer: expected a whole number"):
        spocc.Evidence(cells, ["x", "y"])
