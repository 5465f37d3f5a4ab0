"""Categories that are numbers: the same number is the same category, whichever type the column has."""

import pandas as pd
import pytest

import nbsql

TYPES = ("DECIMAL(9, 2)", "DOUBLE", "FLOAT", "INTEGER", "HUGEINT")
ONE = ("1", "1.0", "1.00", "1::DOUBLE", "1::FLOAT", "1::DECIMAL(18, 6)", "1::UTINYINT")
FITS = {
    "categorical": {"families": {"g": "categorical"}},
    "joint": {"method": "joint"},
    "backoff": {"method": nbsql.JointBayes(backoff="naive")},
    "missing is a category": {"families": {"g": nbsql.Categorical(nulls="category", unseen="smooth")}},
    "many classes": {"families": {"g": "categorical"}, "target": "many"},
}
# Each type, and each fit; their products by `pytest -m nightly`, when the texts of categories have changed.
CASES = [
    pytest.param(kind, fit, marks=[] if fit == "categorical" or kind == TYPES[0] else [pytest.mark.nightly])
    for kind in TYPES
    for fit in FITS
]


@pytest.fixture(params=TYPES)
def rows(request, con):
    columns = f"(i % 3)::{request.param} AS g, ['u', 'v', 'w'][1 + i % 3] AS y, i % 150 AS many"
    con.execute(f"CREATE TABLE rows AS SELECT {columns} FROM range(450) AS r(i)")
    return con


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:'many' has 150 classes in 450 rows:nbsql.NbsqlWarning")
@pytest.mark.parametrize(("rows", "fit"), CASES, indirect=["rows"])
def test_a_number_is_found_by_its_value(rows, fit):
    options = {"target": "y", **FITS[fit]}
    other = "many" if options["target"] == "y" else "y"
    model = nbsql.fit(rows, "rows", name="m", exclude=[other], **options)
    _, label, *expected = model.predict_proba("SELECT g FROM rows WHERE g = 1 LIMIT 1").fetchall()[0]
    for one in ONE:
        rows.execute(f"CREATE OR REPLACE TABLE asked AS SELECT {one} AS g")
        asks = [
            lambda: model.predict_proba("asked").fetchall(),
            lambda: rows.execute("FROM m.predict_proba('asked')").fetchall(),
            lambda: rows.execute(model.sql("predict_proba", "asked", inline=True)).fetchall(),
        ]
        for ask in asks:
            _, found, *probabilities = ask()[0]
            assert found == label, one
            assert probabilities == pytest.approx(expected, rel=1e-12), one


@pytest.mark.few
def test_rows_of_another_type_are_learnt_and_forgotten(rows):
    model = nbsql.fit(rows, "rows", target="y", exclude=["many"], families={"g": "categorical"})
    before = sorted(model.statistics.fetchall(), key=repr)
    model.update("SELECT g::BIGINT AS g, y FROM rows", batch="whole")
    model.update("SELECT g::DECIMAL(12, 4) AS g, y FROM rows", batch="decimal")
    assert {row[3] for row in model.statistics} == {row[3] for row in before}
    model.forget("SELECT g::DOUBLE AS g, y FROM rows")
    model.forget("SELECT g::INTEGER AS g, y FROM rows")
    found = {row[1:4]: row[4] for row in model.likelihoods}
    assert found == {row[1:4]: row[4] for row in nbsql.fit(
        rows, "rows", target="y", exclude=["many"], families={"g": "categorical"}
    ).likelihoods}  # fmt: skip


def test_a_frame_with_a_gap_and_a_table_of_whole_numbers(con):
    frame = pd.DataFrame({"g": [0, 1, 2] * 20 + [None], "y": ["u", "v", "w"] * 20 + ["u"]})
    assert frame["g"].dtype == "float64"
    model = nbsql.fit(con, frame, target="y", families={"g": "categorical"})
    con.execute("CREATE TABLE asked AS SELECT i AS g, ['u', 'v', 'w'][1 + i] AS y FROM range(3) AS r(i)")
    assert model.evaluate("asked").accuracy == 1


def test_a_number_that_is_none_of_the_categories_is_unseen(rows):
    model = nbsql.fit(rows, "rows", target="y", exclude=["many"], families={"g": "categorical"})
    priors = [prior for _, _, prior, _ in model.priors]
    for unseen in ("7", "7.0", "1e30", "1.5", "0.5::DOUBLE", "1.25::FLOAT", "1.0000000000000000000001", "0.999::DECIMAL(4, 3)"):
        found = model.predict_proba(f"SELECT {unseen} AS g").fetchall()[0][-3:]
        assert found == pytest.approx(priors, rel=1e-12), unseen
    assert model.predict_one({"g": 0.5})["probability"] == pytest.approx(max(priors), rel=1e-12)


@pytest.mark.parametrize("fit", ["categorical", "joint"])
def test_a_float_is_found_as_the_double_that_was_made_of_it(con, fit):
    con.execute("CREATE TABLE rows AS SELECT (i % 3 / 10)::FLOAT AS g, ['u', 'v', 'w'][1 + i % 3] AS y FROM range(60) AS r(i)")
    model = nbsql.fit(con, "rows", target="y", **FITS[fit])
    expected = [row[-3:] for row in sorted(model.predict_proba("SELECT DISTINCT g FROM rows").fetchall())]
    as_doubles = "SELECT DISTINCT g::DOUBLE AS g FROM rows"
    for asked in (
        as_doubles,
        "SELECT i / 10 AS g FROM range(3) AS r(i)",
        [{"g": g} for (g,) in con.execute(as_doubles).fetchall()],
    ):
        assert [row[-3:] for row in sorted(model.predict_proba(asked).fetchall())] == expected
