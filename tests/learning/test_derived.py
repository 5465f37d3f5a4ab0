"""Models from the cells of others: as of a batch, of slices and windows, merged, and carried by a file."""

from math import log
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from hypothesis import given
from support.algebra import cells, connect, few, fit, same, same_cells, unweighted

import nbsql
from nbsql import InputError, ModelError

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

near = pytest.approx


def agree(left, right):
    """Counts are equal to the bit, moments but for rounding, and so are the answers; whatever the batches are."""
    left.compact()
    right.compact()
    if len({row[0] for row in left.statistics}) == 1:
        same_cells(unsliced(left), unsliced(right))
    same(left.predict_proba("rows").fetchall(), right.predict_proba("rows").fetchall())


def unsliced(model):
    return {(None, *key[1:]): cell for key, cell in cells(model).items()}


@pytest.mark.slow
@given(unweighted, unweighted, unweighted)
@few
def test_the_model_as_it_stood_is_the_model_of_the_rows_till_then(a, b, c):
    con = connect(a=a, rows=a + b, b=b, c=c)
    model = fit(con, "a", name="m")
    model.update("b", batch="b")
    model.update("c", batch="c")
    agree(model.as_of("b"), fit(con, "rows"))
    agree(model.as_of("1"), fit(con, "a"))
    assert [row[0] for row in model.batches] == ["1", "b", "c"]


@pytest.mark.slow
@given(unweighted, unweighted)
@few
def test_models_merged_are_the_model_of_all_rows(a, b):
    con = connect(a=a, b=b, rows=a + b)
    con.execute("ATTACH ':memory:' AS elsewhere")
    fit(con, "a", name="first", unseen="smooth")
    fit(con, "b", name="second", unseen="smooth", database="elsewhere")
    merged = nbsql.merge(con, ["first", ("elsewhere", "second")], name="first", replace=True)
    assert [row[:4] for row in merged.batches] == [
        ("first", "merge", "model 'first'", len(a)),
        ("second", "merge", "model 'second'", len(b)),
    ]
    agree(merged, fit(con, "rows", unseen="smooth"))


@pytest.mark.nightly
@given(unweighted, unweighted)
@few
def test_slices_are_the_models_of_their_rows(a, b):
    con = connect(a=a, b=b, rows=a + b)
    data = "SELECT *, 2 AS month FROM a UNION ALL SELECT *, 10 FROM b"
    model = fit(con, data, name="m", exclude=["times", "month"], slice_by="month + 0")
    assert model.slice_names == ["2", "10"]
    agree(model.slices([2]), fit(con, "a"))
    agree(model.window(last=1), fit(con, "b"))
    agree(model.window(), fit(con, "rows"))
    agree(model, fit(con, "rows"))


def test_numbers_of_a_slice_vary_however_far_from_the_other_slices(con):
    con.execute("CREATE TABLE a AS FROM (VALUES (0.05::DOUBLE, 'u'), (0.0, 'u'), (NULL, 'v')) AS t(wind, play)")
    con.execute("CREATE TABLE b AS FROM (VALUES (-79.548::DOUBLE, 'u'), (NULL, 'v')) AS t(wind, play)")
    data = "SELECT *, 2 AS month FROM a UNION ALL SELECT *, 10 FROM b"
    model = nbsql.fit(con, data, target="play", exclude=["month"], slice_by="month")
    same_cells(unsliced(model.slices([2])), unsliced(nbsql.fit(con, "a", target="play")))


@pytest.mark.slow
@given(unweighted)
@few
def test_a_file_carries_a_model(rows):
    con = connect(rows=rows)
    model = fit(con, "rows", unseen="smooth", nulls="category")
    path = Path("test_a_file_carries_a_model.parquet")
    try:
        model.export(path, overwrite=True)
        with duckdb.connect() as other:
            imported = nbsql.import_(other, path, name="there")
            other.register("rows", con.sql("FROM rows").to_arrow_table())
            assert imported.families == model.families
            agree(imported, model)
    finally:
        path.unlink(missing_ok=True)


# Slices worked by hand ---------------------------------------------------------------------------------------------------


@pytest.fixture
def visits(con):
    con.execute("""
        CREATE TABLE visits AS FROM (VALUES
            (DATE '2026-01-05', 'a', 'sun', 1.0), (DATE '2026-01-20', 'b', 'rain', 3.0), (DATE '2026-01-21', 'b', 'rain', 5.0),
            (DATE '2026-02-03', 'a', 'rain', 2.0), (DATE '2026-02-04', 'a', 'sun', 2.0), (DATE '2026-02-05', 'b', 'rain', 8.0),
            (DATE '2026-03-01', 'b', 'snow', 9.0), (NULL, 'a', 'sun', 1.0)
        ) AS t(seen, y, sky, wind)
    """)
    return nbsql.fit(con, "visits", target="y", exclude=["seen"], name="visits", slice_by="strftime(seen, '%Y-%m')")


def counts(model):
    return {row[0]: row[1] for row in model.priors}


def test_a_window_takes_the_newest_slices(visits):
    assert visits.slice_names == ["2026-01", "2026-02", "2026-03"]
    assert counts(visits) == {"a": 4, "b": 4}  # and the row without a month
    assert counts(visits.window(last=2)) == {"a": 2, "b": 2}
    assert counts(visits.slices(["2026-01", "2026-03"])) == {"a": 1, "b": 3}
    assert counts(visits.slices("2026-02")) == {"a": 2, "b": 1}
    with pytest.raises(nbsql.InputError, match=r"^no slice '5' in model 'visits'; it has '2026-01', '2026-02', '2026-03'$"):
        visits.slices(5)


def test_decay_weighs_a_slice_by_its_age(visits):
    faded = visits.window(decay=0.5)
    assert counts(faded) == {"a": 1 / 4 + 2 / 2, "b": 2 / 4 + 1 / 2 + 1}
    mean = (3 / 4 + 5 / 4 + 8 / 2 + 9) / 2
    squares = ((3 - mean) ** 2 + (5 - mean) ** 2) / 4 + (8 - mean) ** 2 / 2 + (9 - mean) ** 2
    found = {row[0]: row[5:7] for row in faded.likelihoods if row[1] == "wind"}
    assert found["b"] == near((mean, squares / 2), rel=1e-13)


@pytest.mark.slow
def test_slices_are_kept_when_a_model_changes(con, visits):
    visits.update("SELECT * REPLACE (DATE '2026-04-09' AS seen) FROM visits WHERE y = 'a'", batch="april")
    assert visits.slice_names[-1] == "2026-04"
    assert counts(visits.window(last=1)) == {"a": 4}
    visits.forget("SELECT * FROM visits WHERE seen >= '2026-03-01'")
    assert visits.slice_names == ["2026-01", "2026-02", "2026-04"]
    visits.compact()
    assert visits.slice_names == ["2026-01", "2026-02", "2026-04"]
    with pytest.raises(InputError, match="of class 'b', of which model 'visits' has learnt 0"):
        visits.forget("SELECT * REPLACE (DATE '2026-04-09' AS seen) FROM visits WHERE y = 'b' AND seen < '2026-02-01'")


def test_drift_by_hand(con, visits):
    rows = {row[0]: row[1:] for row in visits.drift("2026-01", "2026-02")}
    sun_a, sun_b, rain_a, rain_b = 1.5 / 4, 1.5 / 4, 2.5 / 4, 2.5 / 4
    assert rows["sky"][:2] == near((0, 0), abs=1e-15)
    kl = 2.5 / 4 * log(2.5 / 1.5) + 1.5 / 4 * log(1.5 / 2.5)
    assert rows[None][:2] == near((2 * (2.5 - 1.5) / 4 * log(2.5 / 1.5), kl), rel=1e-13)
    v_a, v_b = 8 / 3, 8.0
    kl_ab = 0.5 * (log(v_a / v_b) + (v_b + 1) / v_a - 1)
    kl_ba = 0.5 * (log(v_b / v_a) + (v_a + 1) / v_b - 1)
    assert rows["wind"] == (near(kl_ab + kl_ba), near(kl_ab), None, 3.0, 4.0)
    assert (sun_a, rain_a) == (sun_b, rain_b)
    moved = {row[0]: row[1:] for row in visits.drift(["2026-01"], ["2026-03"])}
    assert moved["sky"][2:] == ("snow", near(0.5 / 4.5), near(1.5 / 2.5))
    assert {row[0]: row[1:] for row in visits.drift({"2026-01"}, pd.Series(["2026-03"]))} == moved


def test_a_number_that_is_constant_in_a_slice_has_no_drift(con):
    data = "SELECT i % 5 + 0.1 AS part, i % 3 AS y, i % 7 AS x FROM range(700) AS t(i)"
    model = nbsql.fit(con, data, target="y", slice_by="part")
    rows = {row[0]: row[1:] for row in model.drift("0.1", "4.1")}
    assert rows["part"][:2] == (None, None)
    assert 0 <= rows["x"][0] < 0.01


def test_drift_of_batches_and_of_counts(con):
    con.execute("CREATE TABLE calls AS FROM (VALUES ('a', 2), ('a', 4), ('b', 3)) AS t(y, n)")
    model = nbsql.fit(con, "calls", target="y", families={"n": "poisson"})
    model.update("SELECT y, 2 * n AS n FROM calls", batch="twice")
    rows = {row[0]: row[1:] for row in model.drift("1", "twice")}
    assert rows["n"] == (near(6 * log(2) - 3 + (3 * log(1 / 2) + 3)), near(6 * log(2) - 3), None, 3.0, 6.0)
    assert rows[None][:2] == near((0, 0), abs=1e-15)


# What is refused ---------------------------------------------------------------------------------------------------------


def test_what_is_not_there_is_refused(visits):
    for act, message in [
        (lambda m: m.as_of("9"), "no batch '9' in model 'visits'; it has '1'"),
        (lambda m: m.slices(["2026-02", "2026-033"]), "no slice '2026-033' in model 'visits'; did you mean '2026-03'?"),
        (lambda m: m.slices([]), "name at least one slice; model 'visits' has '2026-01', '2026-02', '2026-03'"),
        (lambda m: m.window(last=0), "last must be a whole number of at least 1, not 0"),
        (lambda m: m.window(decay=1.5), "decay must be more than 0 and at most 1, not 1.5"),
        (lambda m: m.drift("x", "2026-01"), "no slice 'x' in model 'visits'; it has '2026-01', '2026-02', '2026-03'"),
    ]:
        with pytest.raises(InputError) as refused:
            act(visits)
        assert str(refused.value) == message


def test_slices_need_an_expression(con):
    con.execute("CREATE TABLE t AS SELECT 'a' AS y, 1 AS x")
    model = nbsql.fit(con, "t", target="y", name="m")
    with pytest.raises(ModelError, match="model 'm' has no slices; fit it with slice_by="):
        model.window(last=1)
    for wrong in ("x) FROM t; DROP TABLE t; --", "x), (y", "nowhere", "", 7):
        with pytest.raises(InputError, match="slice_by must be one SQL expression over the columns of t"):
            nbsql.fit(con, "t", target="y", slice_by=wrong)
    assert con.execute("FROM t").fetchall() == [("a", 1)]


@pytest.mark.slow
def test_only_what_models_the_same_is_merged(con):
    con.execute("CREATE TABLE t AS FROM (VALUES ('a', 1, 'u'), ('b', 2, 'v')) AS t(y, x, z)")
    nbsql.fit(con, "t", target="y", name="m")
    alike = "fit one with the families of the other, families=model.families"
    for options, reason in [
        ({"target": "z"}, "one predicts 'y' (VARCHAR), the other 'z' (VARCHAR)"),
        ({"exclude": ["z"]}, f"only one of them has the feature 'z'; {alike}"),
        ({"families": {"x": "poisson"}}, "feature 'x' is gaussian in one and poisson in the other"),
        ({"families": {"z": nbsql.Categorical(alpha=2)}}, "feature 'z' is categorical with alpha=1.0 in one and cat"),
        ({"prior": "uniform"}, "one has the prior 'empirical', the other 'uniform', or with other numbers"),
        ({"slice_by": "x"}, "one has slice_by None, the other 'x'"),
    ]:
        nbsql.fit(con, "t", **{"target": "y", "name": "other", "replace": True, **options})
        with pytest.raises(ModelError) as refused:
            nbsql.merge(con, ["m", "other"], name="both")
        assert str(refused.value).startswith(f"model 'm' and model 'other' cannot be merged: {reason}")
        assert "families" not in options or str(refused.value).endswith(f" in the other; {alike}")
    weights = "weights that were learnt from its own rows; fit one model to all rows"
    nbsql.fit(con, "t", target="y", name="other", replace=True, method="weighted", families={"x": "poisson"})
    with pytest.raises(ModelError, match=f"^model 'other' has {weights}$"):  # even with other families
        nbsql.merge(con, ["m", "other"])
    assert nbsql.models(con) == ["m", "other"]
    with pytest.raises(ModelError, match="no model 'q' in 'memory'"):
        nbsql.merge(con, ["m", "q"])
    model = nbsql.load(con, "m")
    for twice in (["m", "m"], ["m", "M"], [model, model], [("memory", "m"), "m"]):
        with pytest.raises(InputError, match=r"^merge would count the rows of model 'm' twice; name each model once$"):
            nbsql.merge(con, twice)
    transient = nbsql.merge(con, ["m"])
    with pytest.raises(InputError, match=r"^merge would count the rows of the model twice; name each model once$"):
        nbsql.merge(con, [transient, "m", transient])
    with pytest.raises(InputError, match=r"merge takes a list of models, such as \['january', 'february'\], not 'm'"):
        nbsql.merge(con, "m")


def test_files_that_are_no_models_are_refused(con, tmp_path):
    con.execute("CREATE TABLE t AS FROM (VALUES (DATE '2026-01-01', 1), (DATE '2026-01-02', 2)) AS t(y, x)")
    model = nbsql.fit(con, "t", target="y")
    path = tmp_path / "it's a model.parquet"
    model.export(path)
    assert nbsql.import_(con, path).predict("t").fetchall() == model.predict("t").fetchall()
    with pytest.raises(InputError, match="is there already; choose another path, or overwrite=True"):
        model.export(path)
    with pytest.raises(InputError, match=r"no file '.*nowhere'"):
        nbsql.import_(con, tmp_path / "nowhere")
    con.execute(f"COPY t TO '{tmp_path}/rows.parquet'")
    with pytest.raises(InputError, match="is no file that a model was exported to"):  # engines/test_model_files.py has others
        nbsql.import_(con, tmp_path / "rows.parquet")


@pytest.mark.slow
def test_of_values_that_drifted_equally_far_the_last_is_said(con):
    con.execute("""CREATE TABLE moved AS SELECT
        i // 80 AS part, i % 2 AS y, CASE WHEN (i % 80 < 20) = (i < 80) THEN 'yes' ELSE 'no' END AS x
    FROM range(160) AS t(i)""")
    model = nbsql.fit(con, "moved", target="y", features=["x"], slice_by="part")
    assert {model.drift("0", "1").fetchall()[0][3] for _ in range(20)} == {"yes"}


def test_missing_values_that_drifted_most_are_named_with_their_own_shares(con):
    con.execute("""CREATE TABLE gaps AS SELECT
        part, i % 2 AS y, CASE WHEN i % 10 < part THEN NULL WHEN i % 10 < 6 + part // 3 THEN 'x' ELSE 'z' END AS v
    FROM range(100) AS t(i), (VALUES (1), (6)) AS parts(part)""")
    model = nbsql.fit(con, "gaps", target="y", features=["v"], nulls="category", slice_by="part")
    ((_, _, _, value, a, b),) = (row for row in model.drift("1", "6").fetchall() if row[0] == "v")
    assert (value, a, b) == (None, pytest.approx(10.5 / 101.5), pytest.approx(60.5 / 101.5))
