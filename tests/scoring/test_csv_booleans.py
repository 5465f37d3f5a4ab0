"""A CSV file whose features are booleans: DuckDB 2.0 hands a cast on to the reader, to which "true" is no number."""

import pytest

import nbsql

OPTIONS = {
    "naive": {},
    "long": {"features": ["ripe", "size"], "families": {"ripe": nbsql.Bernoulli(nulls="category")}},
    "lda": {"method": "lda"},
    "logistic": {"method": "logistic"},
    "components": {"method": nbsql.Mixture(2)},
    "segments": {"features": ["ripe"], "segment_by": "size > 20"},
}

VERBS = {
    "evaluate": lambda model, rows: model.evaluate(rows).to_dict(),
    "calibrate": lambda model, rows: model.calibrate(rows, folds=None).temperature,
    "predict": lambda model, rows: [row[-2:] for row in model.predict(rows).fetchall()],
    "explain": lambda model, rows: model.explain(rows).fetchall(),
    "confusion": lambda model, rows: model.evaluate(rows).confusion.fetchall(),
}


@pytest.fixture
def fruit(tmp_path, con):
    """The path of the file, of which the table `fruit` holds the rows."""
    path = str(tmp_path / "fruit.csv")
    con.execute("""CREATE TABLE fruit AS SELECT CASE WHEN i % 2 = 0 THEN 'plum' ELSE 'sloe' END AS kind,
        CASE WHEN i % 7 > 0 THEN i % 3 = 0 END AS ripe, i AS size FROM range(40) AS t(i)""")
    con.execute(f"COPY fruit TO '{path}' (HEADER)")
    assert str(con.sql(f"FROM '{path}'").types[1]) == "BOOLEAN"
    return path


@pytest.mark.slow
@pytest.mark.forms("options")
@pytest.mark.parametrize("options", OPTIONS)
def test_a_file_of_booleans_is_judged_as_the_table_is(con, fruit, options):
    model = nbsql.fit(con, "fruit", target="kind", **OPTIONS[options])
    for verb, ask in VERBS.items():
        if (options, verb) == ("segments", "calibrate"):  # which a model a segment does not take
            continue
        expected, found = (ask(model, rows) for rows in ("fruit", fruit))
        if verb in ("predict", "explain"):
            expected, found = (sorted(map(repr, rows)) for rows in (expected, found))
        assert found == expected, verb


def test_the_macros_read_only_what_is_asked_for(con, fruit):
    nbsql.fit(con, fruit, target="kind", name="fruits")
    columns = ("SELECT prediction FROM fruits.predict", "SELECT log_evidence FROM fruits.log_evidence")
    for query in columns:
        found, expected = (con.execute(f"{query}('{rows}')").fetchall() for rows in (fruit, "fruit"))
        assert sorted(found) == sorted(expected)


def test_leave_one_out_and_folds_of_a_file(con, fruit):
    for folds in (5, "loo"):
        found = nbsql.cross_validate(con, fruit, target="kind", folds=folds)
        assert found.rows == 40


@pytest.mark.slow
def test_mushrooms(con, data):
    path = str(next(data.rglob("mushroom*.csv*")))
    target = con.sql(f"FROM '{path}'").columns[0]
    model = nbsql.fit(con, path, target=target, exclude=["veil_type"])
    assert model.evaluate(path).accuracy > 0.9
