"""What the statistics of a model are good for agrees with DuckDB: updates, earlier states, merging and relevance."""

from operator import itemgetter

import pytest
from engines.places import assert_same_rows
from engines.test_agreement import COLUMNS, mail

import nbsql
import nbsql.queries.query

OPTIONS = {"target": "label", "id": "id", "exclude": ["day"], "families": {"links": "poisson"}}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.fixture
def models(both):
    for place in both:
        place.table("inbox", COLUMNS, mail(200, 1))
        place.table("later", COLUMNS, mail(90, 2))
    return [nbsql.fit(place.con, "inbox", name="m", **OPTIONS) for place in both]


def assert_alike(models):
    assert_same_rows(*(sorted(model.predict_proba("later").fetchall()) for model in models))
    assert_same_rows(*([(row[1], *row[2:5], row[5]) for row in _ledger(model)] for model in models))


def _ledger(model):
    return [(*row[:4], row[5], row[0]) for row in model.batches]


def test_changes_agree(models):
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
    whole = [nbsql.fit(model.state.engine, "SELECT * FROM inbox UNION ALL SELECT * FROM later", **OPTIONS) for model in models]
    assert_same_rows(*(sorted(model.predict_proba("later").fetchall()) for model in (models[0], whole[0])))
    lines = []
    for model in models:
        with pytest.raises(nbsql.InputError) as caught:
            model.forget("SELECT * FROM later UNION ALL SELECT * FROM later")
        lines.append(str(caught.value))
    assert lines[0] == lines[1]


def test_what_does_not_vary_once_rows_are_forgotten_says_nothing(both):
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
        scores = model.joint_log_likelihood("SELECT * FROM days WHERE id < 24").fetchall()
        found.append(sorted(scores, key=itemgetter(0)))
    assert_same_rows(*found)


def test_merged_models_agree(models):
    for model in models:
        nbsql.fit(model.state.engine, "later", name="other", **OPTIONS)
    merged = [nbsql.merge(model.state.engine, ["m", "other"], name="m", replace=True) for model in models]
    assert_alike(merged)
    assert_alike([nbsql.load(model.state.engine, "m") for model in models])


@pytest.mark.parametrize("by", ["mutual_information", "chi_square"])
def test_relevance_and_the_best_features_agree(models, by):
    def ranked(rows):
        return sorted(rows, key=lambda row: tuple(map(repr, row[:2])))

    assert_same_rows(*(ranked(model.relevance()) for model in models))
    assert_same_rows(*(ranked(model.relevance(values=True)) for model in models))
    among = ["Sender", "replied", "flag", "length"]
    best = nbsql.Best(2, by=by, among=among)
    chosen = [nbsql.fit(model.state.engine, "inbox", target="label", features=best) for model in models]
    assert list(chosen[0].families) == list(chosen[1].families)
    assert_same_rows(*(sorted(model.predict_proba("later").fetchall()) for model in chosen))


@pytest.mark.parametrize("both", ["postgres"], indirect=True)  # Spark has no functions of a row that read a table
def test_a_model_in_sql_alone(models):
    model = models[0]
    for _ in range(2):
        for verb in ("predict", "predict_proba", "joint_log_likelihood", "log_evidence"):
            expected = getattr(model, verb)("later")
            columns = len(COLUMNS)
            sql = f"SELECT said.* FROM public.later, m.{verb}(to_jsonb(later)) AS said ORDER BY later.id"
            found = nbsql.queries.query.Query(model.state.engine, sql)
            assert found.columns == expected.columns[columns:]
            assert_same_rows(found.fetchall(), [row[columns:] for row in sorted(expected)])
        row = nbsql.queries.query.Query(
            model.state.engine, """SELECT prediction FROM m.predict('{"length": null, "unknown": 1}')"""
        )
        assert row.fetchall() == [(model.classes[0],)]
        model.update("SELECT 1 AS id, CAST('new' AS VARCHAR) AS label, 'x' AS \"Sender\", TRUE AS replied, 1.5 AS length, "
                     "1 AS links, 1 AS flag, 0.5 AS share, 1.0 AS weight")  # another class: another function  # fmt: skip
    model.drop()
    assert nbsql.models(model.state.engine) == []


HEAVY = 1e10
WEIGHED = [
    (1, "a", 9.0, 2, 2.5, HEAVY), (2, "a", 1.25, 1, 1.5, 1.0), (3, "a", 2.5, 3, 4.0, 1.0), (4, "a", 4.75, 0, 7.25, 2.0),
    (5, "b", 1.5, 4, 3.0, 1.0), (6, "b", 4.0, 1, 0.5, 2.0), (7, "b", 4.5, 1, 2.0, 3.0),
]  # fmt: skip
WEIGHED_COLUMNS = {
    "id": "INTEGER", "c": "VARCHAR", "x": "DOUBLE PRECISION", "k": "INTEGER", "y": "DOUBLE PRECISION", "w": "DOUBLE PRECISION",
}  # fmt: skip


@pytest.mark.parametrize("way", ["a batch of their own", "by their rows", "in one fit with the others"])
def test_means_and_variances_beside_heavy_rows_that_are_forgotten(both, way):
    """To the last digits, but where a mean was taken of heavy and light rows at once: then to what its digits leave."""
    options = {
        "target": "c", "id": "id", "weight": "w", "families": {"k": "poisson", "y": nbsql.LogNormal(shared_variance=True)},
    }  # fmt: skip
    for place in both:
        place.table("t", WEIGHED_COLUMNS, WEIGHED)
        light, heavy = "SELECT * FROM t WHERE w < 100", "SELECT * FROM t WHERE w > 100"
        model = nbsql.fit(place.con, "SELECT * FROM t" if way.startswith("in one") else light, **options)
        if not way.startswith("in one"):
            model.update(heavy, batch="heavy")
        if way.startswith("a batch"):
            model.forget(batch="heavy")
        else:
            model.forget(heavy)
        expected = nbsql.fit(place.con, light, **options)
        lost = HEAVY / 4 * 9 * 2**-52 if way.startswith("in one") else 0.0
        for one, other in zip(_numbers(model), _numbers(expected), strict=True):
            assert one[:2] == other[:2]
            assert one[2:] == pytest.approx(other[2:], rel=1e-12, abs=20 * lost)
        assert model.priors.fetchall() == expected.priors.fetchall()


def _numbers(model):
    """A row a class and feature: its mean, variance and rate."""
    found = [(row[0], row[1], *(value or 0.0 for value in row[5:])) for row in model.likelihoods.fetchall()]
    return sorted(found, key=lambda row: row[:2])
