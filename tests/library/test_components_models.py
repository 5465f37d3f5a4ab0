"""Models of several components a class over time, elsewhere, in other hands, and refused."""

import subprocess
import sys

import pandas as pd
import pytest
from support.algebra import alike, cells, same, same_cells

import nbsql
from nbsql import InputError, ModelError, NbsqlWarning

near = pytest.approx
OPTIONS = {"target": "y", "id": "i", "families": {"note": nbsql.Text()}}


@pytest.fixture
def lumps(con):
    """Two lumps a class, crosswise, beside a category and a text."""
    con.execute("""CREATE TABLE lumps AS SELECT
        i, CASE WHEN hash(i) % 5 < 2 THEN 'a' ELSE 'b' END AS y,
        8 * (hash(i, 1) % 2)::INT + (hash(i, 2) % 100) / 50.0::DOUBLE AS x1,
        8 * ((hash(i, 1) + (hash(i) % 5 < 2)::INT) % 2)::INT + (hash(i, 3) % 100) / 50.0::DOUBLE AS x2,
        'v' || (hash(i, 4) % 2 + hash(i, 1) % 2) AS sky,
        CASE WHEN hash(i, 1) % 2 = 0 THEN 'come here' ELSE 'go there' END AS note FROM range(200) AS r(i)""")
    return con


@pytest.mark.slow
def test_rows_that_come_later_go_to_the_nearest_centre(lumps):
    model = nbsql.fit(lumps, "FROM lumps WHERE i < 150", name="m", method=nbsql.Mixture(2), **OPTIONS)
    before = cells(model)
    model.update("FROM lumps WHERE i >= 150", batch="later")
    # The centres stay where they were; the lumps are far apart, so that a fit of all rows splits them alike.
    whole = nbsql.fit(lumps, "lumps", method=nbsql.Mixture(2), **OPTIONS)

    def parts(model):
        # By size: which of a class is the first was settled by the rows that were there first.
        return sorted((row[0], *row[2:11]) for row in model.components if row[4] == "x1")

    same(parts(model), parts(whole))
    same(model.predict_proba("lumps").fetchall(), whole.predict_proba("lumps").fetchall())
    first = nbsql.fit(lumps, "FROM lumps WHERE i < 150", method=nbsql.Mixture(2), **OPTIONS)
    same([(*row[:2], *row[11:]) for row in model.components], [(*row[:2], *row[11:]) for row in first.components])
    same(nbsql.load(lumps, "m").predict("lumps").fetchall(), model.predict("lumps").fetchall())
    same(lumps.execute("FROM m.predict('lumps')").fetchall(), model.predict("lumps").fetchall())
    # Forgetting is exact, and so are going back, folding and cutting the ledger.
    older = model.as_of("1")
    assert cells(older) == before
    model.forget("FROM lumps WHERE i >= 150")
    model.compact()
    same_cells(cells(model), before)
    with pytest.raises(
        InputError, match=r"^cannot forget the query: it has 2000 of class 'b', of which model 'm' has learnt \d+$"
    ):
        model.forget("SELECT 1 AS i, 'b' AS y, 500.0 AS x1, -500.0 AS x2, 'v0' AS sky, 'go' AS note FROM range(2000)")


@pytest.mark.slow
def test_a_component_that_is_forgotten_and_a_class_that_is_new(lumps, form):
    model = nbsql.fit(lumps, "lumps", name="m", method=nbsql.Mixture(2), **OPTIONS)
    sizes = {row[:2]: row[2] for row in model.components}
    model.forget("FROM lumps WHERE y = 'a' AND x1 < 5")
    left = {row[:2]: row[2] for row in model.components}
    assert {key for key in sizes if key not in left} in ({("a", 1)}, {("a", 2)})
    rest = nbsql.fit(lumps, "FROM lumps WHERE y = 'b' OR x1 > 5", method=nbsql.Mixture({"b": 2}), **OPTIONS)
    same(model.joint_log_likelihood("lumps").fetchall(), rest.joint_log_likelihood("lumps").fetchall())
    model.update("SELECT 900 AS i, 'c' AS y, 50.0 AS x1, 50.0 + i AS x2, 'v0' AS sky, 'new' AS note FROM range(4) AS r(i)")
    assert {row[:3] for row in model.components if row[0] == "c"} == {("c", 1, 4.0)}
    assert model.predict("SELECT 50.0 AS x1, 51.0 AS x2, 'v0' AS sky, 'new' AS note").fetchall()[0][-2] == "c"
    same(lumps.execute("FROM m.predict('lumps')").fetchall(), model.predict("lumps").fetchall())
    model.rollback("1")
    assert {row[:2]: row[2] for row in model.components} == sizes
    sums = {}
    for row_id, _, label, *_, contribution in model.explain("FROM lumps LIMIT 9"):
        sums[row_id, label] = sums.get((row_id, label), 0.0) + contribution
    scores = model.joint_log_likelihood("FROM lumps LIMIT 9").fetchall()
    assert [sums[number, "a"] for number in range(1, 10)] == near([row[-2] for row in scores], rel=1e-9)


@pytest.mark.slow
def test_another_process_and_a_file(lumps, tmp_path):
    path = str(tmp_path / "shop.duckdb")
    lumps.execute(f"ATTACH '{path}' AS other; CREATE TABLE other.lumps AS FROM lumps; DETACH other")
    with nbsql.load(path, nbsql.fit(path, "lumps", name="m", method=nbsql.Mixture(2), **OPTIONS).name or "") as model:
        expected = model.predict_proba("lumps").fetchall()
        model.export(tmp_path / "m.parquet")
    code = f"import nbsql; m = nbsql.load({path!r}, 'm'); m.update('FROM lumps WHERE i = 7'); print(m.components.fetchall())"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = nbsql.import_(lumps, tmp_path / "m.parquet", name="there")
    same(imported.predict_proba("lumps").fetchall(), expected)
    assert "[('a', 1, " in result.stdout  # perhaps after DuckDB's bar of progress
    parts = [nbsql.import_(lumps, tmp_path / "m.parquet") for _ in range(2)]
    merged = nbsql.merge(lumps, parts, name="twice")
    assert {row[:3] for row in merged.components} == {(y, j, 2 * n) for y, j, n, *_ in imported.components}
    other = nbsql.fit(lumps, "lumps", method=nbsql.Mixture(3), **OPTIONS)
    plain = nbsql.fit(lumps, "lumps", **OPTIONS)
    for one in (other, plain):
        with pytest.raises(ModelError) as caught:
            nbsql.merge(lumps, [imported, one])
        reason = "their classes are split into components, and not by the same centres"
        assert str(caught.value) == f"model 'there' and the model cannot be merged: {reason}"
    imported.drop()
    assert nbsql.models(lumps) == ["twice"]


@pytest.mark.slow
def test_judging_sampling_and_calibrating(lumps, form):
    plain = nbsql.fit(lumps, "lumps", **OPTIONS)
    model = nbsql.fit(lumps, "lumps", name="m", method=nbsql.Mixture(2), **OPTIONS)
    evaluation = model.evaluate("lumps", costs={("a", "b"): 3})
    assert (evaluation.accuracy, evaluation.cost) == (1.0, 0.0)
    assert plain.evaluate("lumps").accuracy < 0.75
    assert model.log_likelihood("lumps", labelled=True) == near(
        sum(row[-2] if row[1] == "a" else row[-1] for row in model.joint_log_likelihood("lumps").fetchall()), rel=1e-12
    )
    calibration = model.calibrate("lumps", folds=None)
    assert calibration.rows == 200
    assert len(lumps.execute("FROM m.predict('lumps')").fetchall()) == 200
    drawn = model.sample(4000, seed=3).df()
    assert list(drawn.columns) == ["x1", "x2", "sky", "note", "y"]
    assert len(model.sample(0).fetchall()) == 0
    for label in "ab":
        priors = {row[1]: row[3] for row in model.components if row[0] == label}
        rows = drawn[drawn["y"] == label]
        share = (rows["x1"] > 5).mean()
        high = next(row[1] for row in model.components if row[0] == label and row[4] == "x1" and row[8] > 5)
        assert share == near(priors[high] / sum(priors.values()), abs=0.03)
        assert (rows["x1"] > 5).eq(rows["x2"] > 5).all() == (label == "b")


@pytest.mark.slow
def test_what_is_said_of_whole_classes(lumps):
    plain = nbsql.fit(lumps, "lumps", **OPTIONS)
    model = nbsql.fit(lumps, "FROM lumps WHERE i < 120", method=nbsql.Mixture(2), **OPTIONS)
    model.update("FROM lumps WHERE i >= 120", batch="later")
    for ask in ("priors", "likelihoods"):
        same(getattr(model, ask).fetchall(), getattr(plain, ask).fetchall())
    alike(model.relevance().fetchall(), plain.relevance().fetchall())
    plain = nbsql.fit(lumps, "FROM lumps WHERE i < 120", **OPTIONS)
    plain.update("FROM lumps WHERE i >= 120", batch="later")
    alike(model.drift("1", "later").fetchall(), plain.drift("1", "later").fetchall())


@pytest.mark.nightly
def test_many_numbers(con):
    columns = ", ".join(f"(hash(i, {f}) % 100) / 50.0 + 9 * (i % 2) AS x{f}" for f in range(60))
    con.execute(f"CREATE TABLE broad AS SELECT 'y' || (i // 2 % 2) AS y, {columns} FROM range(40) AS r(i)")
    model = nbsql.fit(con, "broad", target="y", method=nbsql.Mixture(2))
    assert {row[:3] for row in model.components} == {(f"y{y}", j, 10.0) for y in (0, 1) for j in (1, 2)}
    assert len(model.predict("broad").fetchall()) == 40


@pytest.mark.slow
def test_fewer_components_than_asked_for(lumps):
    lumps.execute(
        """CREATE TABLE same AS
        SELECT ['a', 'b'][1 + i % 2] AS y, (i % 2) * (i % 8 // 4) * 3.0 AS x, 'v' AS z FROM range(40) AS r(i)"""
    )
    with pytest.warns(NbsqlWarning) as warned:
        model = nbsql.fit(lumps, "same", target="y", method=nbsql.Mixture(3))
    why = "its rows differ no more, or no row is nearest to the others"
    assert [str(w.message) for w in warned][:2] == [
        f"class 'a' has one component and not 3: {why}",
        f"class 'b' has 2 components and not 3: {why}",
    ]
    assert {row[:4] for row in model.components} == {("a", 1, 20.0, 0.5), ("b", 1, 10.0, 0.25), ("b", 2, 10.0, 0.25)}
    # Not one class can be split, or has a number.
    with pytest.warns(NbsqlWarning) as warned:
        whole = nbsql.fit(lumps, "SELECT y, NULL::DOUBLE AS x, 'v' || (row_number() OVER () % 3) AS z FROM same",
                          target="y", method=nbsql.Mixture({"b": 2}), name="whole")  # fmt: skip
    assert [str(w.message) for w in warned] == [
        f"class 'b' has one component and not 2: {why}",
        "nothing but NULL in 'x' (NaN and infinities count as such); left out of the score",
    ]
    assert {row[:3] for row in whole.components} == {("a", 1, 20.0), ("b", 1, 20.0)}
    whole.update("SELECT 'b' AS y, 1.5 AS x, 'v1' AS z")
    assert {row[:3] for row in whole.components} == {("a", 1, 20.0), ("b", 1, 21.0)}
    assert len(lumps.execute("FROM whole.predict('same')").fetchall()) == 40


def test_labels_keep_their_type(con):
    con.execute(
        "CREATE TABLE typed AS SELECT DATE '2026-01-01' + (i % 2)::INT AS y, (i % 2) + 4 * (i % 3) AS x FROM range(60) AS r(i)"
    )
    from datetime import date

    model = nbsql.fit(con, "typed", target="y", method=nbsql.Mixture({date(2026, 1, 1): 2}))
    assert {row[:2] for row in model.components} == {(date(2026, 1, 1), 1), (date(2026, 1, 1), 2), (date(2026, 1, 2), 1)}
    assert model.sample(1).fetchall()[0][-1] in (date(2026, 1, 1), date(2026, 1, 2))
    assert type(model.predict("typed").fetchall()[0][-2]) is date


@pytest.mark.nightly
def test_hostile_names(con):
    con.execute("""CREATE TABLE "rows" ("centres" DOUBLE, "nbsql'x""y
z" DOUBLE, label VARCHAR, "members" VARCHAR)""")
    con.execute("""INSERT INTO "rows" SELECT i % 4, i % 4 // 2, 'it''s ' || (i % 2), 'v' || (i % 3) FROM range(40) AS r(i)""")
    model = nbsql.fit(con, "rows", target="label", name="no tes", method=nbsql.Mixture(2))
    assert len(model.predict("rows").fetchall()) == 40
    model.update("rows")
    assert {row[:3] for row in model.components} == {(f"it's {y}", j, 20.0) for y in (0, 1) for j in (1, 2)}
    for name in ("points", "nearest", "candidates", "members", "cells", "shares"):
        con.execute(f'CREATE OR REPLACE TABLE {name} AS FROM "rows"')
        again = nbsql.fit(con, name, target="label", method=nbsql.Mixture(2))
        assert {row[:3] for row in again.components} == {(f"it's {y}", j, 10.0) for y in (0, 1) for j in (1, 2)}
        assert len(again.explain(name).fetchall()) == 40 * 2 * 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": nbsql.Mixture({"z": 2, "a": 2})}, "components names 'z', which is no class of 'y'"),
        (
            {"method": nbsql.Mixture(2), "features": ["sky", "note"]},
            "components need a number among the features, by which rows are near to each other",
        ),
        ({"method": nbsql.Mixture({"a": 100})}, "class 'a' of lumps has 75 rows, fewer than its 100 components; ask for fewer"),
    ],
)
def test_what_cannot_have_components_is_refused(lumps, refused, options, message):
    with refused(InputError, message):
        nbsql.fit(lumps, "lumps", name="m", **{**OPTIONS, **options})


def test_a_model_without_components_says_so(lumps, refused):
    plain = nbsql.fit(lumps, "lumps", name="plain", **OPTIONS)
    with refused(ModelError, "model 'plain' has no components; fit it with method=nbsql.Mixture(2), for example"):
        plain.components  # noqa: B018


def test_rows_without_a_class_are_said_once(lumps):
    frame = pd.DataFrame({"y": ["a", "a", "a", "b", "b", None], "x": [1.0, 1.5, 9.0, 4.0, 5.0, 6.0]})
    with pytest.warns(NbsqlWarning) as warned:
        nbsql.fit(lumps, frame, target="y", method=nbsql.Mixture({"a": 2}))
    assert [str(w.message) for w in warned] == ["1 row of the DataFrame has no 'y' and is left out"]
