"""What a model scores by places in lists is held against the joins of one row."""

from collections.abc import Sequence

import duckdb
import pytest

import nbsql


def assert_scored_as_one_row(
    con: duckdb.DuckDBPyConnection, model: nbsql.Model, source: str, columns: Sequence[str], *, name: str, step: int
) -> None:
    """Each `step`-th row of a source has the posteriors of `predict_one`; `name` is one that the SQL of lists has."""
    query = model.predict_proba(source).sql
    assert name in query
    posteriors = f"SELECT {', '.join(columns)}, columns('probability_') FROM ({query}) ORDER BY id"
    for row in con.execute(posteriors).fetchall()[::step]:
        answer = model.predict_one(dict(zip(columns, row, strict=False)))
        expected = [answer["probabilities"][label] for label in sorted(model.classes)]
        assert row[len(columns) :] == pytest.approx(expected, rel=1e-12, abs=1e-12)
