"""Weighted features on each engine, whose folds are by a hash of its own."""

import math

import pytest
from engines.test_agreement import COLUMNS, mail

import nbsql

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.mark.parametrize("per", ["class and feature", "either"])
def test_weights_are_those_of_duckdb_where_the_folds_are(both, per):
    """Each row is there five times, so that every fold has one of each, whatever the hash of the engine."""
    columns = {name: COLUMNS[name] for name in ("label", "Sender", "length")}
    places = [[*COLUMNS].index(name) for name in columns]
    rows = [[row[place] for place in places] for row in mail(40, 1) for _ in range(5)]
    options = {"target": "label", "method": nbsql.Weighted(per, 1 if per == "class and feature" else None)}
    found = []
    for place in both:
        place.table("inbox", columns, rows)
        model = nbsql.fit(place.con, "inbox", name="m", **options)
        weights = place.run("SELECT class, feature, weight FROM m.weights")
        assert len(weights) == len(model.classes) * (1 + len(model.families))
        scores = model.joint_log_likelihood("SELECT DISTINCT * FROM inbox").fetchall()
        numbers = {f"{label}, {feature}": weight for label, feature, weight in weights}
        numbers |= {f"{row[:3]} {i}": score for row in scores for i, score in enumerate(row[3:])}
        found.append((model.state.spec.weighted, numbers))
    assert found[0][0] == found[1][0]
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-9)


@pytest.mark.few
@pytest.mark.slow
def test_weights_by_one_of_folds_that_are_alike_are_those_by_all(place, monkeypatch):
    """Each row is there five times, and no penalty shrinks the weights of few rows more."""
    columns = {name: COLUMNS[name] for name in ("label", "Sender", "length")}
    places = [[*COLUMNS].index(name) for name in columns]
    place.table("inbox", columns, [[row[each] for each in places] for row in mail(40, 1) for _ in range(5)])
    found = []
    for limit in (10_000, 1):
        for name in ("ENOUGH_ROWS", "ROWS_A_WEIGHT", "ROWS_A_CLASS"):
            monkeypatch.setattr(f"nbsql.learning.evidence.{name}", limit)
        nbsql.fit(place.con, "inbox", name="m", target="label", method=nbsql.Weighted("feature", 0), replace=True)
        rows = place.run("SELECT class, feature, weight FROM m.weights")
        found.append({f"{label}, {feature}": weight for label, feature, weight in rows})
    assert found[0] == pytest.approx(found[1], abs=1e-6)


@pytest.mark.nightly
@pytest.mark.few
def test_a_search_that_begins_with_a_sample_ends_at_the_same_weights(place, layout):
    place.table("inbox", COLUMNS, mail(200, 1))
    options = {"target": "label", "id": "id", "method": nbsql.Weighted(penalty=1)}
    found = []
    for rows in (50_000, 40):
        layout(sample_rows=rows)
        model = nbsql.fit(place.con, "inbox", features=["length", "links", "Sender"], **options)
        scored = model.joint_log_likelihood("SELECT * FROM inbox WHERE id < 20", columns=["id"])
        found.append({row[0]: row[-1] for row in scored.fetchall()})
    assert found[0] == pytest.approx(found[1], abs=1e-6)


@pytest.mark.slow
def test_columns_that_depend_on_others_are_weighed_on_each_engine(place):
    rows = [(i, i % 9, "uv"[i // 9 % 2], "yes" if (i % 9 > 3) == (i // 9 % 2 == 0) else "no") for i in range(360)]
    place.table("odd", {"id": "INTEGER", "n": "INTEGER", "b": "VARCHAR", "y": "VARCHAR"}, rows)
    model = nbsql.fit(place.con, "odd", target="y", id="id", name="m", method=nbsql.Weighted(parents=1, penalty=1))
    assert {"b", "n given others in 10 bins", "b given others in 20 bins"} & {*model.families}
    assert model.evaluate("odd").log_loss < 0.1


@pytest.mark.slow
def test_a_matrix_beside_its_numbers_is_scored_on_each_engine(both):
    """Each row is there five times, so that every fold has one of each, whatever the hash of the engine."""
    told = [(i % 7 + i % 3, ((i % 7) if i % 2 else -(i % 7)) + i % 5, "no" if i % 2 else "yes") for i in range(60)]
    found = []
    for place in both:
        place.table("two", {"a": "INTEGER", "b": "INTEGER", "y": "VARCHAR"}, [row for row in told for _ in range(5)])
        families = {"ab": nbsql.MultivariateGaussian(["a", "b"], shared=False, shrinkage=0.1)}
        model = nbsql.fit(place.con, "two", target="y", name="m", method=nbsql.Weighted(penalty=1), families=families)
        weights = {f"{label}, {feature}": w for label, feature, w in place.run("SELECT class, feature, weight FROM m.weights")}
        assert weights["yes, ab"] > 0
        found.append([*dict(sorted(weights.items())).values(), model.evaluate("two").log_loss])
    assert found[0] == pytest.approx(found[1], abs=1e-9)


@pytest.mark.slow
def test_a_triple_is_found_and_scored_on_each_engine(place):
    rows = [(i, [1, 2, 3, None][i % 4], "uv"[i // 4 % 2], i // 8 % 2 == 0, "pqr"[i // 16 % 3]) for i in range(384)]
    told = [(*row, "yes" if ((row[1] or 0) > 1) == ((row[2] == "u") == row[3]) else "no") for row in rows]
    types = {"id": "INTEGER", "n": "INTEGER", "b": "VARCHAR", "c": "BOOLEAN", "d": "VARCHAR", "y": "VARCHAR"}
    place.table("three", types, told)
    model = nbsql.fit(place.con, "three", target="y", id="id", name="m", method=nbsql.Weighted(triples=3, penalty=1))
    assert [name for name in model.families if "&" in name] == ["b & c & n"]
    assert model.evaluate("SELECT * FROM three WHERE n IS NOT NULL").log_loss < 0.1


@pytest.mark.few
@pytest.mark.slow
def test_a_pair_is_found_and_scored_on_each_engine(place):
    rows = [(i, [1, 2, 3, None][i % 4], "uvw"[i // 4 % 3], i // 12 % 2 == 0) for i in range(300)]
    told = [(i, n, b, c, "yes" if ((n or 0) > 1) == (b == "u") else "no") for i, n, b, c in rows]
    place.table("pairs", {"id": "INTEGER", "n": "INTEGER", "b": "VARCHAR", "c": "BOOLEAN", "y": "VARCHAR"}, told)
    model = nbsql.fit(place.con, "pairs", target="y", id="id", name="m", method=nbsql.Weighted(pairs=3))
    assert [name for name in model.families if "&" in name] == ["n & b"]
    assert model.evaluate("SELECT * FROM pairs WHERE n IS NOT NULL").log_loss < 0.05
    scored = {row[0]: row[-1] for row in model.predict("pairs").fetchall()}
    parts = dict.fromkeys(scored, 0.0)
    for _, row, label, *_, contribution in model.explain("pairs").fetchall():
        parts[row] += contribution if label == "yes" else -contribution
    assert [max(p, 1 - p) for p in (1 / (1 + math.exp(-gap)) for gap in parts.values())] == pytest.approx([*scored.values()])
    if place.engine == "spark":  # where no row is scored by itself
        return
    one = model.predict_one({"n": 1, "b": "u", "c": True})
    row = next((i for i, n, b, c, _ in told if (n, b, c) == (1, "u", True)))
    assert one["probability"] == pytest.approx(scored[row], rel=1e-9)
