"""What the statistics of a model are good for agrees with DuckDB: updates, earlier states, merging and relevance."""

from __future__ import annotations

from typing import Any

import pytest
from conformance.places import Place, assert_same_rows
from conformance.test_agreement import COLUMNS, mail

import nbsql

Both = tuple[Place, Place]
OPTIONS: dict[str, Any] = {"target": "label", "id": "id", "exclude": ["day"], "families": {"links": "poisson"}}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.fixture
def models(both: Both) -> list[nbsql.Model]:
    for place in both:
        place.table("inbox", COLUMNS, mail(200, 1))
        place.table("later", COLUMNS, mail(90, 2))
    return [nbsql.fit(place.con, "inbox", name="m", **OPTIONS) for place in both]


def assert_alike(models: list[nbsql.Model]) -> None:
    assert_same_rows(*(sorted(model.predict_proba("later").fetchall()) for model in models))
    assert_same_rows(*([(row[1], *row[2:5], row[5]) for row in _ledger(model)] for model in models))


def _ledger(model: nbsql.Model) -> list[tuple[Any, ...]]:
    return [(*row[:4], row[5], row[0]) for row in model.batches]


def test_changes_agree(models: list[nbsql.Model]) -> None:
    for model in models:
        model.update("later", batch="later")
        model.update("SELECT * FROM later WHERE id < 20")
    assert_alike(models)
    assert_alike([model.as_of("later") for model in models])
    for model in models:
        model.forget("SELECT * FROM inbox WHERE id BETWEEN 10 AND 30")
        model.forget(batch="3")
    assert_alike(models)
    for model in models:
        model.rollback("later")
        model.compact()
    assert_alike(models)
    whole = [nbsql.fit(model._engine, "SELECT * FROM inbox UNION ALL SELECT * FROM later", **OPTIONS) for model in models]
    assert_same_rows(*(sorted(model.predict_proba("later").fetchall()) for model in (models[0], whole[0])))
    lines = []
    for model in models:
        with pytest.raises(nbsql.InputError) as caught:
            model.forget("SELECT * FROM later UNION ALL SELECT * FROM later")
        lines.append(str(caught.value))
    assert lines[0] == lines[1]


def test_what_does_not_vary_once_rows_are_forgotten_says_nothing(both: Both) -> None:
    for place in both:
        rows = [(i, 0.1, float(i % 5), ("no", "yes", "maybe")[i % 3]) for i in range(24)]
        rows += [(24 + i, 0.1 + i / 3, float(i % 4), ("no", "yes")[i % 2]) for i in range(14)]
        columns = {"id": "INTEGER", "x": "DOUBLE PRECISION", "y": "DOUBLE PRECISION", "play": "VARCHAR"}
        place.table("days", columns, rows)
    found = []
    for place in both:
        model = nbsql.fit(place.con, "days", target="play", exclude="id", name="m")
        model.forget("SELECT * FROM days WHERE id >= 24")
        assert {row[2] for row in model.explain("days").fetchall() if row[4]} == {None, "y"}
        found.append(sorted(model.joint_log_likelihood("SELECT * FROM days WHERE id < 24").fetchall()))
    assert_same_rows(*found)


def test_merged_models_agree(models: list[nbsql.Model]) -> None:
    for model in models:
        nbsql.fit(model._engine, "later", name="other", **OPTIONS)
    merged = [nbsql.merge(model._engine, ["m", "other"], name="m", replace=True) for model in models]
    assert_alike(merged)
    assert_alike([nbsql.load(model._engine, "m") for model in models])


@pytest.mark.parametrize("by", ["mutual_information", "chi_square"])
def test_relevance_and_the_best_features_agree(models: list[nbsql.Model], by: Any) -> None:
    def ranked(rows: Any) -> list[tuple[Any, ...]]:
        return sorted(rows, key=lambda row: tuple(map(repr, row[:2])))

    assert_same_rows(*(ranked(model.relevance()) for model in models))
    assert_same_rows(*(ranked(model.relevance(values=True)) for model in models))
    among = ["Sender", "replied", "flag", "length"]
    best = nbsql.Best(2, by=by, among=among)
    chosen = [nbsql.fit(model._engine, "inbox", target="label", features=best) for model in models]
    assert list(chosen[0].families) == list(chosen[1].families)
    assert_same_rows(*(sorted(model.predict_proba("later").fetchall()) for model in chosen))


@pytest.mark.parametrize("both", ["postgres"], indirect=True)  # Spark has no functions of a row that read a table
def test_a_model_in_sql_alone(models: list[nbsql.Model]) -> None:
    model = models[0]
    for _ in range(2):
        for verb in ("predict", "predict_proba", "joint_log_likelihood", "log_evidence"):
            expected = getattr(model, verb)("later")
            columns = len(COLUMNS)
            sql = f"SELECT said.* FROM later, m.{verb}(to_jsonb(later)) AS said ORDER BY later.id"
            found = nbsql.query.Query(model._engine, sql)
            assert found.columns == expected.columns[columns:]
            assert_same_rows(found.fetchall(), [row[columns:] for row in sorted(expected)])
        row = nbsql.query.Query(model._engine, """SELECT prediction FROM m.predict('{"length": null, "unknown": 1}')""")
        assert row.fetchall() == [(model.classes[0],)]
        model.update("SELECT 1 AS id, CAST('new' AS VARCHAR) AS label, 'x' AS \"Sender\", TRUE AS replied, 1.5 AS length, "
                     "1 AS links, 1 AS flag, 0.5 AS share, 1.0 AS weight")  # another class: another function  # fmt: skip
    model.drop()
    assert nbsql.models(model._engine) == []
