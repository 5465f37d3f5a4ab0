"""Words for a missing value, numbers as people write them, and the advice of a fit that meets them."""

import ast
import re
import warnings

import duckdb
import pytest

import nbsql

OPTIONS = {"target": "y", "id": "id"}


@pytest.fixture
def con(con):
    con.execute(
        "CREATE TABLE t AS SELECT i AS id, ['a', 'b'][1 + i * 7 % 2] AS y, "
        "CASE WHEN i % 9 = 0 THEN ' NA ' WHEN i % 11 = 0 THEN '?' ELSE CAST(i % 53 + i * 7 % 2 * 3 AS VARCHAR) END AS age, "
        "CASE WHEN i % 7 = 0 THEN 'NA' ELSE 'c' || i % 3 END AS city, "
        "CASE WHEN i % 5 = 0 THEN '?' ELSE '00' || i % 4 END AS zip "
        "FROM range(300) AS r(i)"
    )
    con.execute(
        "CREATE VIEW hand AS SELECT id, y, TRY_CAST(age AS DOUBLE) AS age, nullif(city, 'NA') AS city, nullif(zip, '?') AS zip "
        "FROM t"
    )
    return con


def fitted(con, source, **options):
    """A model, and the warnings of its fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = nbsql.fit(con, source, **OPTIONS, **options)
    return model, [str(each.message) for each in caught]


def posteriors(query):
    return [x for row in sorted(query.fetchall(), key=lambda row: row[0]) for x in row[-2:]]


def test_a_word_that_is_a_number_in_a_column_of_numbers_is_warned_of(con):
    source = 'SELECT * REPLACE (CASE WHEN id % 9 = 0 THEN -999 ELSE id % 53 END AS age), id % 4 AS "Age group" FROM t'
    _, lines = fitted(con, source, missing=["NA", "?", "-999", "3"])
    derive = '{"age": "nullif(nullif(age, -999), 3)", "Age group": "nullif(nullif(\\"Age group\\", -999), 3)"}'
    assert lines == [
        "missing is of texts, and in the numbers of 'age', 'Age group' -999 or 3 counts as a number; "
        f"if it stands for a missing value, add derive={derive}"
    ]
    cured, lines = fitted(con, source, missing=["NA", "?", "-999", "3"], derive=ast.literal_eval(derive))
    assert lines == []
    assert min(row[5] for row in cured.statistics if row[2] == "age" and row[5] is not None) > 0
    with pytest.raises(
        nbsql.InputError, match=r"not \[-999\]; in a column of numbers, write derive={'x': 'nullif\(x, -999\)'}$"
    ):
        fitted(con, source, missing=[-999])


@pytest.mark.slow
def test_words_are_missing_values_in_every_column_of_texts(con, tmp_path):
    model, lines = fitted(con, "t", missing=["NA", "?"], name="m")
    hand, _ = fitted(con, "hand")
    assert lines == []
    assert {name: family.name for name, family in model.families.items()} == {
        "age": "gaussian",
        "city": "categorical",
        "zip": "categorical",
    }
    expected = posteriors(hand.predict_proba("hand"))
    assert posteriors(model.predict_proba("t")) == pytest.approx(expected)
    assert posteriors(model.predict_proba("hand")) == pytest.approx(expected)
    con.execute(f"COPY t TO '{tmp_path}/t.csv'")
    for source in (con.table("t").to_arrow_table(), con.table("t").df(), f"{tmp_path}/t.csv"):
        assert posteriors(model.predict_proba(source)) == pytest.approx(expected)
    macro = con.execute("SELECT id, probability_a, probability_b FROM m.predict_proba('t') ORDER BY id").fetchall()
    assert [x for row in macro for x in row[1:]] == pytest.approx(expected)
    assert model.predict_one({"age": "NA", "city": "c1", "zip": "?"}) == model.predict_one(
        {"age": None, "city": "c1", "zip": None}
    )
    scored = con.execute(model.sql("predict_proba", "t", dialect="duckdb")).fetchall()
    assert [x for row in sorted(scored) for x in row[-2:]] == pytest.approx(expected)
    model.export(tmp_path / "m.nbsql")
    assert posteriors(nbsql.import_(con, tmp_path / "m.nbsql").predict_proba("t")) == pytest.approx(expected)
    model.update("t")
    line = (
        "the text 'old' in column 'age' is no number, and none of missing=['NA', '?']; fit anew with it among them, "
        "or make it NULL"
    )
    for verb in (model.predict, model.evaluate, model.update, model.forget):
        with pytest.raises(nbsql.DatabaseError) as refused:
            list(verb("SELECT 1 AS id, 'a' AS y, ' old' AS age, 'c1' AS city, '001' AS zip"))
        assert str(refused.value) == line
    with pytest.raises(nbsql.DatabaseError, match=re.escape(line)):
        model.predict_one({"age": "old", "city": "c1", "zip": "?"})
    con.execute("CREATE VIEW old AS SELECT * REPLACE ('old' AS age) FROM t")
    with pytest.raises(duckdb.ConversionException, match=re.escape(line)):
        con.execute("FROM m.predict('old')").fetchall()


def test_what_stays_a_text(con):
    model, _ = fitted(con, "t", missing="NA", families={"age": "categorical"})
    assert model.families["age"].name == "categorical"  # whose family takes texts
    assert (
        fitted(con, "SELECT id, y, replace(age, 'NA', '') AS age FROM t", missing=["NA"])[0].families["age"].name
        == "categorical"
    )
    kinds = fitted(con, "SELECT id, y, CAST(id AS VARCHAR) AS n, city FROM t", missing=["NA"])[0].families
    assert kinds["n"].name == "categorical"  # which has none of the words
    numbers = "SELECT id, CASE WHEN id % 3 = 0 THEN 'NA' ELSE CAST(id % 2 AS VARCHAR) END AS y, city FROM t"
    assert fitted(con, numbers, missing=["NA"])[0].classes == ["0", "1"]
    with pytest.raises(
        nbsql.InputError, match=r"^missing must be a list of the words that stand for a missing value, \['NA', '\?'\], not"
    ):
        fitted(con, "t", missing=[None])


@pytest.mark.parametrize(
    ("column", "value", "learnt"),
    [("city", "TRUE", "text"), ("zip", "1", "text"), ("age", "TRUE", "a number"), ("y", "1", "text")],
)
def test_words_do_not_make_texts_of_other_values(con, column, value, learnt):
    model, _ = fitted(con, "t", missing=["NA", "?"], name="m")
    con.execute(f"CREATE VIEW other AS SELECT * REPLACE ({value} AS {column}) FROM t")
    kind = "BOOLEAN" if value == "TRUE" else "INTEGER"
    refused = f"column '?{column}'? (of other )?is {kind}, and (the )?model ('m' )?has learnt {learnt} there; read it as"
    for verb in (model.evaluate, model.update):
        with pytest.raises(nbsql.InputError, match=refused):
            verb("other")
    with pytest.raises(duckdb.InvalidInputException, match=refused):
        con.execute("FROM m.evaluate('other')").fetchall()
    if column != "y":
        with pytest.raises(duckdb.InvalidInputException, match=refused):
            con.execute("FROM m.predict('other')").fetchall()
        row = {"age": 7, "city": "c1", "zip": "?"} | {column: value == "TRUE" or 1}
        with pytest.raises(
            nbsql.InputError, match=f"'{column}' of the row is the (boolean|int) .*, and a text( or a number)? in"
        ):
            model.predict_one(row)
    con.execute(f"CREATE VIEW empty AS SELECT * REPLACE (nullif({value}, {value}) AS {column}) FROM t")
    assert len(model.predict("empty").fetchall()) == 300


def test_a_macro_reads_numbers_as_the_texts_that_an_expression_needs(con):
    price = {"age": "TRY_CAST(replace(age, '$', '') AS DOUBLE)"}
    model, _ = fitted(con, "SELECT id, y, '$' || age AS age FROM t", derive=price, name="m")
    numbers = "CREATE VIEW numbers AS SELECT id, y, CAST(id AS DECIMAL(6, 2)) AS age FROM t"
    con.execute(numbers)
    macro = con.execute("SELECT id, probability_a, probability_b FROM m.predict_proba('numbers') ORDER BY id").fetchall()
    assert [x for row in macro for x in row[1:]] == pytest.approx(posteriors(model.predict_proba("numbers")))


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    ("sql", "cure", "value"),
    [
        (
            "CASE WHEN id % 9 = 0 THEN 'NA' WHEN id % 7 = 0 THEN '?' ELSE CAST(id % 50 AS VARCHAR) END",
            'missing=["?", "NA"]',
            11.0,
        ),
        (
            "CASE WHEN id % 9 = 0 THEN 'N/A' WHEN id % 7 = 0 THEN '-' ELSE CAST(id % 50 AS VARCHAR) END",
            'missing=["-", "N/A"]',
            11.0,
        ),
        (
            "'$1,' || (200 + id) || '.50'",
            "derive={\"x\": \"CAST(trim(replace(replace(x, '$', ''), ',', '')) AS DOUBLE)\"}",
            1211.5,
        ),
        ("(id % 50) || '%'", "derive={\"x\": \"CAST(trim(replace(x, '%', '')) AS DOUBLE) / 100\"}", 0.11),
        ("(id % 50) || '.5 °C'", "derive={\"x\": \"CAST(trim(replace(replace(x, '°C', ''), ' ', '')) AS DOUBLE)\"}", 11.5),
        (
            "if(id % 2 = 0, '-', '') || (id % 50) || if(id % 2 = 1, '.50-', '.25')",
            "derive={\"x\": \"CAST(trim(replace(x, '-', '')) AS DOUBLE) * CASE WHEN x LIKE '%-%' THEN -1 ELSE 1 END\"}",
            -11.5,
        ),
        ("if(id % 9 = 0, '#DIV/0!', CAST(id % 50 AS VARCHAR))", 'missing=["#DIV/0!"]', 11.0),
        ("(id % 50) || ',5'", "derive={\"x\": \"CAST(trim(replace(x, ',', '.')) AS DOUBLE)\"}", 11.5),
        (
            "'1.' || (200 + id) || ',50'",
            "derive={\"x\": \"CAST(trim(replace(replace(x, '.', ''), ',', '.')) AS DOUBLE)\"}",
            1211.5,
        ),
        ("'1,' || (200 + id)", "derive={\"x\": \"CAST(trim(replace(x, ',', '')) AS DOUBLE)\"}", 1211.0),
        (
            "'1 ' || (200 + id) || ',50 €'",
            "derive={\"x\": \"CAST(trim(replace(replace(replace(x, '€', ''), ' ', ''), ',', '.')) AS DOUBLE)\"}",
            1211.5,
        ),
        (
            "'1' || chr(160) || (200 + id) || ',50'",
            "derive={\"x\": \"CAST(trim(replace(replace(x, chr(160), ''), ',', '.')) AS DOUBLE)\"}",
            1211.5,
        ),
        (
            "CASE WHEN id % 2 = 0 THEN '1,' || (200 + id) ELSE '(' || (id % 50) || ')' END",
            "derive={\"x\": \"CAST(trim(replace(replace(replace(x, '(', '-'), ')', ''), ',', '')) AS DOUBLE)\"}",
            -11.0,
        ),
        (
            "CASE WHEN id % 2 = 0 THEN (id % 40) || '.25' ELSE (id % 50) || ',5' END",
            "derive={\"x\": \"CAST(trim(replace(x, ',', '.')) AS DOUBLE)\"}",
            11.5,
        ),
        (
            "CASE WHEN id % 2 = 0 THEN (id % 40) || '.5M' ELSE (id % 50) || 'k' END",
            "derive={\"x\": \"CAST(trim(replace(replace(x, 'M', ''), 'k', '')) AS DOUBLE) "
            "* CASE WHEN x LIKE '%M%' THEN 1000000 WHEN x LIKE '%k%' THEN 1000 ELSE 1 END\"}",
            11_000.0,
        ),
        (
            "'€ ' || (1 + id % 50) || '.250'",
            "derive={\"x\": \"CAST(trim(replace(replace(replace(x, '€', ''), ' ', ''), '.', '')) AS DOUBLE)\"}",
            12_250.0,
        ),
        ("(id % 50) || ' kg'", "derive={\"x\": \"CAST(trim(replace(replace(x, 'kg', ''), ' ', '')) AS DOUBLE)\"}", 11.0),
        ("(id % 50) || '.5'", 'derive={"x": "CAST(x AS DOUBLE)"}', 11.5),
        ("(id % 2) || ',' || (200 + id)", "derive={\"x\": \"CAST(trim(replace(x, ',', '.')) AS DOUBLE)\"}", 1.211),
        ("',' || (200 + id) || '0'", "derive={\"x\": \"CAST(trim(replace(x, ',', '.')) AS DOUBLE)\"}", 0.211),
        ("'1.234.' || (200 + id)", "derive={\"x\": \"CAST(trim(replace(x, '.', '')) AS DOUBLE)\"}", 1_234_211.0),
        (
            "CASE WHEN id % 9 = 0 THEN 'NA' ELSE if(id % 2 = 0, '', '1.') || (200 + id) END",
            "derive={\"x\": \"CAST(trim(replace(nullif(x, 'NA'), '.', '')) AS DOUBLE)\"}",
            1211.0,
        ),
        ("'1’' || (200 + id)", "derive={\"x\": \"CAST(trim(replace(x, '’', '')) AS DOUBLE)\"}", 1211.0),
        ("(id % 50) || '.5' || chr(160)", 'derive={"x": "CAST(trim(replace(x, chr(160), \'\')) AS DOUBLE)"}', 11.5),
    ],
)
def test_a_fit_says_the_line_that_makes_numbers(con, sql, cure, value):
    source = f"SELECT id, y, {sql} AS x FROM t"
    _, lines = fitted(con, source)
    assert len(lines) == 1
    assert lines[0].startswith("'x' holds numbers")
    assert lines[0].endswith(f", and is taken for a category; read them as such: {cure}")
    name, written = re.fullmatch(r"(\w+)=(.*)", cure).groups()
    cured, lines = fitted(con, source, **{name: ast.literal_eval(written)})
    assert cured.families["x"].name == "gaussian"
    assert lines == []
    assert cured.predict(source).fetchall()[11][2] == value


@pytest.mark.slow
def test_a_search_says_the_line_that_makes_numbers(con):
    with pytest.warns(nbsql.NbsqlWarning, match="'x' holds numbers"):
        nbsql.auto(con, "SELECT id, y, (id % 50) || '%' AS x FROM t", **OPTIONS)


@pytest.mark.slow
def test_a_search_says_how_many_of_all_rows_have_a_word_for_a_missing_value(con):
    """It keeps a sixth of the rows aside, which the user does not."""
    source = "SELECT id, y, CASE WHEN id % 10 = 0 THEN 'NA' ELSE CAST(id % 50 AS VARCHAR) END AS x FROM t"
    total, missing = con.sql(f"SELECT count(*), count(*) FILTER (x = 'NA') FROM ({source})").fetchall()[0]
    with pytest.warns(nbsql.NbsqlWarning, match=f"^'x' holds numbers but for 'NA' in {missing} of {total} rows"):
        nbsql.auto(con, source, **OPTIONS, methods=[])


@pytest.mark.parametrize("sql", [
    "'00' || id % 40", "'c' || id % 40", "CAST(id % 40 AS VARCHAR)", "(id % 9) || '-' || (id % 7)",
    "(id % 40) || CASE WHEN id % 3 = 0 THEN 'A' ELSE 'B' END", "'town ' || id % 40", "(id % 9) || '.' || (id % 7) || '.1'",
    "id % 6 || if(id % 2 = 0, '-', '')",
])  # fmt: skip
def test_a_fit_leaves_names_and_codes_alone(con, sql):
    assert fitted(con, f"SELECT id, y, {sql} AS x FROM t")[1] == []


@pytest.mark.parametrize(
    ("sql", "units"),
    [
        ("CASE WHEN id % 2 = 0 THEN (id % 40) || '%' ELSE CAST(id % 50 AS VARCHAR) END", "some with '%', some without"),
        ("CASE WHEN id % 2 = 0 THEN '$' ELSE '€' END || id % 40", "some with '€', some with '$'"),
    ],
)
def test_a_fit_says_which_units_are_mixed(con, sql, units):
    said = f"""'x' holds numbers, {units}, and is taken for a category; say what they are: derive={{"x": "..."}}"""
    assert fitted(con, f"SELECT id, y, {sql} AS x FROM t")[1] == [said]


def test_rows_without_a_column_of_such_words_are_told_of_a_missing_feature(con: duckdb.DuckDBPyConnection) -> None:
    source = "SELECT id, y, if(id % 10 = 0, 'NA', (id % 50)::VARCHAR) AS x, if(id % 7 = 0, 'NA', 'k' || id % 3) AS c FROM t"
    model = nbsql.fit(con, source, **OPTIONS, name="m", missing=["NA"], replace=True)
    for rows, fact in (
        ("SELECT 'k1' AS c", "no column 'x' in the query, a feature of model 'm'; its columns are 'c'; if it is not known"),
        ([{"z": 1}], "no columns 'x', 'c' in the rows, features of model 'm'; its columns are 'z'; if they are not known"),
    ):
        with pytest.raises(nbsql.InputError) as caught:
            model.predict(rows)
        assert str(caught.value).startswith(fact)
