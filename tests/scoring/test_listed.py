"""Of many categories, those of few values are looked up in lists, without a join a column."""

import pytest

import nbsql

COLUMNS = [f"c{i}" for i in range(45)]


@pytest.fixture
def rows(con):
    """45 columns of three values, some missing; `many` has 100."""
    columns = ", ".join(f"CASE WHEN i % {7 + j} > 0 THEN 'v' || (i * {j + 3} + i % 2) % 3 END AS c{j}" for j in range(45))
    con.execute(f"""
        CREATE TABLE rows AS
        SELECT CASE i % 2 WHEN 0 THEN 'x' ELSE 'y' END AS y, {columns}, 'w' || i % 100 AS many, sin(i) AS number
        FROM range(400) AS numbers(i)
    """)
    return "rows"


def expected(model, row):
    """ln P(c) + the sum of ln P(x | c) over the categories of a row that are known."""
    found = {label: log_prior for label, _, _, log_prior in model.priors}
    for label, feature, value, _, log_likelihood, *_ in model.likelihoods:
        if value is not None and row.get(feature) == value:
            found[label] += log_likelihood
    return found


def scored(con, model, row):
    columns = ", ".join(f"CAST(? AS VARCHAR) AS {name}" for name in row)
    con.execute(f"CREATE OR REPLACE TABLE one AS SELECT {columns}", list(row.values()))
    found = model.joint_log_likelihood("one").df().iloc[0]
    return {label: found[f"joint_log_likelihood_{label}"] for label in "xy"}


@pytest.mark.parametrize("form", ["wide", "long"])
def test_rows_are_scored_by_the_values_that_they_have(con, rows, form, layout):
    if form == "long":
        layout(wide_classes=0)
    model = nbsql.fit(con, rows, target="y", name="model", features=[*COLUMNS, "many"])
    usual = {name: f"v{i % 3}" for i, name in enumerate(COLUMNS)} | {"many": "w3"}
    for row in (usual, {**usual, "c7": None}, {**usual, "c8": "never seen"}, dict.fromkeys(usual), {**usual, "many": None}):
        assert scored(con, model, row) == pytest.approx(expected(model, row), rel=1e-12)


def test_only_many_categories_with_few_values_are_listed(con, rows):
    model = nbsql.fit(con, rows, target="y", name="model")
    query = model.sql("predict", rows)
    assert query.count("list_position(listed.known") == 45
    assert "level_46" in query  # `many` alone is joined
    assert "level_45" not in query
    few = nbsql.fit(con, rows, target="y", name="few", features=[*COLUMNS[:39], "many"])
    assert "list_position" not in few.sql("predict", rows)


def test_values_that_come_later_are_found(con, rows, tmp_path):
    model = nbsql.fit(con, rows, target="y", name="model", features=COLUMNS)
    con.execute("CREATE TABLE batch AS SELECT * REPLACE ('new' AS c0) FROM rows LIMIT 20")
    model.update("batch", batch="later")
    row = {name: f"v{i % 3}" for i, name in enumerate(COLUMNS)} | {"c0": "new"}
    assert scored(con, model, row) == pytest.approx(expected(model, row), rel=1e-12)
    model.export(tmp_path / "model.parquet")
    again = nbsql.import_(con, tmp_path / "model.parquet", name="again")
    assert "list_position" in again.sql("predict", rows)
    assert scored(con, again, row) == pytest.approx(expected(model, row), rel=1e-12)


def test_a_table_macro_finds_them_too(con, rows):
    model = nbsql.fit(con, rows, target="y", name="model", features=COLUMNS)
    by_macro = con.execute("SELECT prediction, probability FROM model.predict('rows')").fetchall()
    by_query = con.execute(f"SELECT prediction, probability FROM ({model.sql('predict', rows)})").fetchall()
    assert sorted(by_macro) == sorted(by_query)


def test_many_categories_of_many_values_and_classes_are_scored_a_row_a_class(con):
    columns = ", ".join(f"'v' || (i * {j + 3}) % 101 AS c{j}" for j in range(45))
    con.execute(f"CREATE TABLE rows AS SELECT 'y' || i % 12 AS y, {columns} FROM range(300) AS numbers(i)")
    model = nbsql.fit(con, "rows", target="y", name="model")
    assert "UNION ALL" in model.sql("predict", "rows")
    assert con.execute("DESCRIBE model.lookups").fetchall()[-1][1] == "DOUBLE[]"
    row = con.execute("FROM rows LIMIT 1").df().iloc[0].to_dict()
    found = model.joint_log_likelihood("(FROM rows LIMIT 1)").df().iloc[0]
    for label, log_joint in expected(model, row).items():
        assert found[f"joint_log_likelihood_{label}"] == pytest.approx(log_joint, rel=1e-12)
