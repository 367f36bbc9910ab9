"""A query of DuckDB is a table like any other: nothing is fetched into Python first."""

from __future__ import annotations

import duckdb
import numpy as np

import spocc

QUERY = """
    select *
    from (values ('cat', 'cat', 'dog', 'cat'), ('dog', 'dog', 'cat', 'dog'), ('cat', null, 'dog', 'cat'),
                 ('dog', 'dog', 'cat', 'dog'), ('cat', 'dog', 'dog', 'cat')) as panel(ann, bob, eve, truth)
"""
PREDICTIONS = {
    "ann": ["cat", "dog", "cat", "dog", "cat"],
    "bob": ["cat", "dog", None, "dog", "dog"],
    "eve": ["dog", "cat", "dog", "cat", "dog"],
}
TRUTH = ["cat", "dog", "cat", "dog", "cat"]


def test_a_query_is_fitted_and_decided_as_its_rows_are() -> None:
    for method in spocc.METHODS:
        with duckdb.connect() as database:
            panel = database.sql(QUERY)
            model = spocc.fit(panel.project("ann, bob, eve"), panel.project("truth"), method=method)
            decided = model.predict(panel)
        local = spocc.fit(PREDICTIONS, TRUTH, method=method)
        assert model == local
        assert np.array_equal(decided, local.predict(PREDICTIONS))


def test_counts_made_by_a_query_are_evidence() -> None:
    with duckdb.connect() as database:
        grouped = database.sql(f"select ann, bob, eve, truth, count(*) as n from ({QUERY}) group by all")
        columns = grouped.fetchnumpy()
    predictions = {name: columns[name] for name in PREDICTIONS}
    assert spocc.Evidence(predictions, columns["truth"], counts=columns["n"]) == spocc.Evidence(
        PREDICTIONS, TRUTH
    )
