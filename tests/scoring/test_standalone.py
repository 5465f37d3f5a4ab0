"""A standalone scorer in another dialect, run by the engine of that dialect, gives the answers of the model to 1e-9."""

import pytest
from support.elsewhere import SQLite, duckdb_rows, hold_together

import nbsql
import nbsql.queries.standalone.terms

LIKELIHOODS = ("predict_proba", "joint_log_likelihood", "log_evidence")


def agree(con, elsewhere, model, verbs=LIKELIHOODS, table="new"):
    """Hold the answers of the verbs on a table together, by its column `id`."""
    elsewhere.load(con, table)
    known = [row[0] for row in con.execute(f'DESCRIBE "{table}"').fetchall()]
    for verb in verbs:
        expected = duckdb_rows(con, model.sql(verb, table))
        added = [name for name in expected[0] if name not in known]
        hold_together(elsewhere.rows(model.sql(verb, table, dialect=elsewhere.name)), expected, "id", added)


def rows(con, sql, name="new"):
    con.execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT row_number() OVER () AS id, * FROM ({sql})').fetchall()


MIXED = """FROM (VALUES
    ('ham', 'friend', TRUE, 120.5, 1, 2, 0, 3.5, 0.5, 1, 3, 1, DATE '2026-01-31'),
    ('ham', 'friend', FALSE, 80.25, 0, 1, 1, 0.25, 1.5, 0, 2, 0, DATE '2026-01-31'),
    ('spam', 'stranger', FALSE, 240.0, 7, 0, 4, 8.0, 12.0, 1, 9, 1, DATE '2026-02-28'),
    ('spam', NULL, NULL, 310.75, 9, 1, 3, 16.5, 20.25, 0, 7, 1, NULL),
    ('spam', 'shop', TRUE, NULL, NULL, NULL, 2, NULL, NULL, NULL, NULL, NULL, DATE '2026-03-01')
) AS t(label, sender, replied, length, links, plain, html, wait, size, weekday, grade, first, day)"""

FAMILIES = {
    "sender": nbsql.Categorical(levels=["colleague"], nulls="category", unseen="smooth"),
    "links": "poisson",
    "words": nbsql.Multinomial(["plain", "html"]),
    "wait": "lognormal",
    "size": "exponential",
    "grade": "geometric",
    "weekday": "categorical",
    "first": "bernoulli",
    "day": "categorical",
}

HOSTILE = """FROM (VALUES
    ('friend', TRUE, 'nan'::DOUBLE, -1, 2, 0, 0.0, -1.0, 3, -2, 0, DATE '2026-01-31'),
    ('nobody', NULL, 'inf'::DOUBLE, 3, 0, 0, -2.5, 'inf'::DOUBLE, NULL, 2, 1, DATE '1999-01-01'),
    (NULL, FALSE, '-inf'::DOUBLE, 40, NULL, 9, 'nan'::DOUBLE, 'nan'::DOUBLE, 0, 1, 1, NULL),
    ('', FALSE, 1e140, 0, 7, 1, 1e300, 0.0, 0, 0, NULL, NULL),
    ('shop', TRUE, 80.25, 1, 1, 1, 2.5, 3.5, 1, 1, 1, DATE '2026-02-28'),
    ('shop', TRUE, 80.25, 1, 1, 1, 1e300, 3.5, 1, 1, 1, DATE '2026-02-28')
) AS t(sender, replied, length, links, plain, html, wait, size, weekday, grade, first, day)"""


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "joined"),
    [
        ({}, False),
        ({"nulls": "category", "unseen": "smooth"}, False),
        ({"nulls": "category", "unseen": "smooth"}, True),
        ({"alpha": 0}, True),
    ],
)
def test_every_family_and_missing_and_odd_values(con, elsewhere, layout, options, joined):
    layout(case_values=0 if joined else 24)
    rows(con, MIXED, "inbox")
    families = {**FAMILIES}
    if options == {"alpha": 0}:
        families["sender"] = nbsql.Categorical()
    model = nbsql.fit(con, "inbox", target="label", id="id", families=families, **options)
    rows(con, HOSTILE)
    agree(con, elsewhere, model)
    agree(con, elsewhere, model, ["predict"], table="inbox")


def test_the_form_of_the_tables_of_the_model_makes_no_difference(con, elsewhere, form):
    rows(con, MIXED, "inbox")
    model = nbsql.fit(con, "inbox", target="label", id="id", families=FAMILIES, unseen="smooth")
    agree(con, elsewhere, model, ["joint_log_likelihood"], table="inbox")


WEIGHTED = [nbsql.Weighted(penalty=1), nbsql.Weighted("class and feature", 1)]


@pytest.mark.few
@pytest.mark.parametrize("method", ["lda", "qda", "logistic", *WEIGHTED], ids=repr)
def test_other_methods(con, elsewhere, method):
    values = """SELECT CASE WHEN i % 3 = 0 THEN 'a' WHEN i % 3 = 1 THEN 'b' ELSE 'c' END AS y, (i * 7 % 11) + i % 3 AS x1,
        (i * 5 % 13) / 4.0 - i % 3 AS x2, CASE WHEN i % 5 = 0 THEN NULL ELSE i % 2 = 0 END AS x3,
        CASE WHEN i % 7 > 0 THEN 'v' || i % 4 END AS x4 FROM range(60) AS t(i)"""
    rows(con, values)
    con.execute("INSERT INTO new VALUES (61, NULL, NULL, 2, NULL, 'other'), (62, NULL, 3, 'nan', TRUE, NULL)")
    options = {"nulls": "category"} if method == "logistic" else {}
    model = nbsql.fit(con, "SELECT * FROM new WHERE y IS NOT NULL", target="y", id="id", method=method, **options)
    agree(con, elsewhere, model, LIKELIHOODS[: 2 if model.state.spec.has_weights else 3])


def test_imputed_numbers(con, elsewhere):
    rows(con, "SELECT i % 2 AS y, i * 3 % 7 AS a, i * 5 % 11 AS b FROM range(30) AS t(i)")
    con.execute("INSERT INTO new VALUES (31, 0, NULL, 2), (32, 1, 3, NULL)")
    families = {"ab": nbsql.MultivariateGaussian(["a", "b"], impute=True, shared=False)}
    agree(con, elsewhere, nbsql.fit(con, "new", target="y", id="id", families=families))


@pytest.mark.parametrize("by", ["quantile", "width", "mdl", [2, 5.5]])
def test_bins(con, elsewhere, by):
    rows(con, "SELECT (i * i % 10) > 4 AS y, CASE WHEN i % 9 > 0 THEN i * 7 % 23 END AS x FROM range(50) AS t(i)")
    family = nbsql.Binned(bins=4, by=by, nulls="category")
    model = nbsql.fit(con, "new", target="y", id="id", families={"x": family})
    con.execute("INSERT INTO new VALUES (51, NULL, -100), (52, NULL, 100)")
    agree(con, elsewhere, model)


def test_cells_of_a_kernel(con, elsewhere):
    rows(con, "SELECT i % 2 = 0 AS y, sin(i) * 3 + i % 2 AS x FROM range(40) AS t(i)")
    model = nbsql.fit(con, "new", target="y", id="id", families={"x": nbsql.Kernel(cells=100)})
    con.execute("INSERT INTO new VALUES (41, NULL, -100), (42, NULL, 100), (43, NULL, NULL), (44, NULL, 'nan')")
    agree(con, elsewhere, model)


WORDS = [
    "it's",
    'a "quoted" word',
    "back\\slash",
    "tab\there",
    "two\nlines",
    "naïve ☃ 日本",
    "`tick`",
    "",
    " blank ",
    "Case",
    "case",
    "%s {x}",
]


@pytest.mark.filterwarnings("ignore:.* differ only by case or blanks:nbsql.NbsqlWarning")
@pytest.mark.filterwarnings("ignore:.* of '.*', in .* rows; if there is no class:nbsql.NbsqlWarning")
@pytest.mark.parametrize("joined", [False, True])
def test_names_labels_and_values_of_any_kind(con, elsewhere, layout, joined):
    layout(case_values=0 if joined else 24)
    name = 'it\'s "a" back\\slash `col` ☃'
    column = '"' + name.replace('"', '""') + '"'
    con.execute(f"CREATE TABLE new (id INTEGER, {column} VARCHAR, label VARCHAR)")
    values = [(i, word, WORDS[(i * 5 + 1) % len(WORDS)]) for i, word in enumerate(WORDS * 2)]
    con.executemany("INSERT INTO new VALUES (?, ?, ?)", values)
    model = nbsql.fit(con, "new", target="label", id="id", alpha=0.1)
    con.execute("INSERT INTO new VALUES (100, 'CASE', NULL), (101, 'blank', NULL), (102, NULL, NULL)")
    agree(con, elsewhere, model, ["predict"])


@pytest.mark.parametrize(
    "labels",
    [
        "TRUE, FALSE, TRUE",
        "3, -1, 3",
        "0.5::DOUBLE, 2.25::DOUBLE, 0.5::DOUBLE",
        "'b'::ENUM('b', 'a'), 'a'::ENUM('b', 'a'), 'b'",
    ],
)
def test_labels_keep_their_kind(con, elsewhere, labels):
    rows(con, f"SELECT unnest([{labels}]) AS y, unnest(['u', 'v', 'v']) AS x")
    agree(con, elsewhere, nbsql.fit(con, "new", target="y", id="id"), ["predict"])


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        ("DATE", ["2026-01-31", "1999-12-01"]),
        ("DECIMAL(18,1)", ["12345678901234567.8", "12345678901234567.9"]),
        ("UHUGEINT", ["340282366920938463463374607431768211455", "1"]),
    ],
)
def test_labels_that_not_every_engine_has_are_texts(con, elsewhere, kind, labels):
    rows(con, f"SELECT CAST(unnest({labels}) AS {kind}) AS y, unnest(['u', 'v']) AS x")
    model = nbsql.fit(con, "new", target="y", id="id")
    con.execute("ALTER TABLE new DROP y")
    elsewhere.load(con, "new")
    found = elsewhere.rows(model.sql("predict", "new", dialect=elsewhere.name))
    assert {row["x"]: row["prediction"] for row in found} == dict(zip("uv", labels, strict=True))


@pytest.mark.parametrize("kind", ["BOOLEAN", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "DATE"])
def test_categories_of_other_types(con, elsewhere, kind):
    values = {"BOOLEAN": "i % 2 = 0", "DATE": "DATE '2026-01-01' + CAST(i % 3 AS INTEGER)"}.get(kind, "(i % 3 - 1) * 1.1")
    rows(con, f"SELECT i % 2 AS y, CASE WHEN i % 4 > 0 THEN CAST({values} AS {kind}) END AS x FROM range(17) AS t(i)")
    families = {"x": nbsql.Categorical(nulls="category", unseen="smooth")}
    agree(con, elsewhere, nbsql.fit(con, "SELECT * FROM new WHERE id > 2", target="y", id="id", families=families))


def test_a_tie_goes_to_the_larger_prior_then_to_the_smaller_label(con, elsewhere):
    rows(con, "FROM (VALUES ('b', 'u'), ('a', 'u'), ('c', 'v'), ('c', 'v')) AS t(y, x)", "learnt")
    model = nbsql.fit(con, "learnt", target="y", id="id", prior="uniform", alpha=0)
    rows(con, "SELECT unnest(['u', 'v', NULL, 'w']) AS x")
    agree(con, elsewhere, model)
    found = elsewhere.rows(model.sql("predict", "new", dialect=elsewhere.name))
    assert [row["prediction"] for row in sorted(found, key=lambda row: row["id"])] == ["a", "c", "a", "a"]


def test_a_row_that_no_class_explains_has_no_prediction(con, elsewhere):
    rows(con, "FROM (VALUES ('a', 'u', 'p'), ('b', 'v', 'q')) AS t(y, x, z)", "learnt")
    model = nbsql.fit(con, "learnt", target="y", id="id", alpha=0)
    rows(con, "FROM (VALUES ('u', 'q'), ('u', 'p')) AS t(x, z)")
    agree(con, elsewhere, model)
    found = sorted(elsewhere.rows(model.sql("predict", "new", dialect=elsewhere.name)), key=lambda row: row["id"])
    assert [(row["prediction"], row["probability"]) for row in found] == [(None, None), ("a", 1.0)]


def test_one_class_and_a_class_without_a_prior(con, elsewhere):
    rows(con, "FROM (VALUES ('a', 'u'), ('a', 'v')) AS t(y, x)")
    with pytest.warns(nbsql.NbsqlWarning, match="one class only"):
        model = nbsql.fit(con, "new", target="y", id="id")
    agree(con, elsewhere, model)
    rows(con, "FROM (VALUES ('a', 'u'), ('b', 'v')) AS t(y, x)")
    agree(con, elsewhere, nbsql.fit(con, "new", target="y", id="id", prior={"a": 0.0, "b": 1.0}))


def test_a_model_of_priors(con, elsewhere):
    rows(con, "FROM (VALUES ('a', 'u'), ('a', 'v'), ('b', 'v')) AS t(y, x)")
    with pytest.warns(nbsql.NbsqlWarning, match="no features"):
        model = nbsql.fit(con, "new", target="y", features=[], id="id")
    agree(con, elsewhere, model)
    with pytest.warns(nbsql.NbsqlWarning, match="no features"):
        model = nbsql.fit(con, "new", target="y", features=[])
    elsewhere.load(con, "new")
    found = elsewhere.rows(model.sql("predict", "new", dialect=elsewhere.name))
    assert [(row["prediction"], round(row["probability"], 12)) for row in found] == [("a", round(2 / 3, 12))] * 3


def test_a_number_that_never_varies_and_one_that_hardly_does(con, elsewhere):
    rows(con, "SELECT i % 2 AS y, 5.0::DOUBLE AS same, NULL::DOUBLE AS none, i * 1e-9 AS narrow FROM range(8) AS t(i)")
    with pytest.warns(nbsql.NbsqlWarning):
        model = nbsql.fit(con, "new", target="y", id="id", exclude=[])
    con.execute("INSERT INTO new VALUES (9, NULL, 1, 1, 1), (10, NULL, 5, NULL, 1e149), (11, NULL, NULL, 2, -1e3)")
    agree(con, elsewhere, model)


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_many_features_and_many_classes(con, elsewhere, layout):
    layout(case_values=2)
    columns = ", ".join(f"'v' || (hash(i * {j + 3}) % {2 + j % 3}) AS c{j}" for j in range(70))
    numbers = ", ".join(f"(hash(i + {j}) % 17)::DOUBLE AS n{j}" for j in range(10))
    rows(con, f"SELECT 'k' || i % 4 AS y, {columns}, {numbers} FROM range(90) AS t(i)")
    agree(con, elsewhere, nbsql.fit(con, "new", target="y", id="id"), ["predict"])


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")  # which asks whether so many numbers are a quantity
def test_more_classes_than_a_function_takes_arguments(con, elsewhere):
    rows(con, "SELECT i % 120 AS y, i % 9 AS x, hash(i) % 5 AS z FROM range(300) AS t(i)")
    agree(con, elsewhere, nbsql.fit(con, "new", target="y", id="id"), ["predict"])


def test_a_category_of_a_thousand_values(con, elsewhere):
    rows(con, "SELECT i % 3 AS y, 'value ' || i * 7 % 1000 AS x FROM range(1500) AS t(i)")
    model = nbsql.fit(con, "new", target="y", id="id", unseen="smooth", nulls="category", families={"x": "categorical"})
    con.execute("INSERT INTO new VALUES (2001, NULL, 'value 1001'), (2002, NULL, NULL)")
    agree(con, elsewhere, model, ["predict"])


def test_a_query_as_source_and_the_columns_that_come_back(con, elsewhere):
    rows(con, "FROM (VALUES ('a', 'u', 1), ('b', 'v', 2)) AS t(y, x, other)")
    model = nbsql.fit(con, "new", target="y", features=["x"], id="id")
    elsewhere.load(con, "new")
    source = "WITH late AS (SELECT * FROM new WHERE other > 1) SELECT * FROM late; -- the last ones"
    found = elsewhere.rows(model.sql("predict", source, dialect=elsewhere.name, columns=["other", "y"]))
    assert [{**row, "probability": round(row["probability"], 12)} for row in found] == [
        {"other": 2, "y": "b", "prediction": "b", "probability": round(2 / 3, 12)}
    ]
    names = ["id", "x"] if elsewhere.name == "sqlite" else ["id", "y", "x", "other"]
    assert list(elsewhere.rows(model.sql("predict", "new", dialect=elsewhere.name))[0]) == [*names, "prediction", "probability"]


def test_a_column_that_compares_otherwise(con, layout):
    rows(con, "FROM (VALUES ('a', 'Rome'), ('b', 'ROME')) AS t(y, x)")
    model = nbsql.fit(con, "new", target="y", id="id", alpha=0.1)
    there = SQLite()
    there.connection.execute("CREATE TABLE new (id INTEGER, x TEXT COLLATE NOCASE)")
    there.connection.executemany("INSERT INTO new VALUES (?, ?)", [(1, "Rome"), (2, "ROME")])
    for limit in (0, 24):
        layout(case_values=limit)
        found = there.rows(model.sql("predict", "new", dialect="sqlite"))
        assert {row["id"]: row["prediction"] for row in found} == {1: "a", 2: "b"}
    there.close()


def test_an_empty_text_in_a_column_of_numbers_is_missing_in_sqlite(con):
    rows(con, "SELECT i % 2 AS y, i % 2 * 3.0 + i % 5 AS x, i % 7 AS n FROM range(60) AS t(i)")
    model = nbsql.fit(con, "new", target="y", id="id", families={"n": "poisson"})
    there = SQLite()
    there.connection.execute("CREATE TABLE new (id INTEGER, x REAL, n INTEGER)")
    values = [("", 3), (None, 3), (0.0, 3), ("2.5", ""), (2.5, None), ("NA", "")]  # as .import leaves them
    there.connection.executemany("INSERT INTO new VALUES (?, ?, ?)", [(i, *row) for i, row in enumerate(values)])
    found = {row["id"]: row["probability_1"] for row in there.rows(model.sql("predict_proba", "new", dialect="sqlite"))}
    expected = {row[0]: row[-1] for row in model.predict_proba(
        "FROM (VALUES (1, NULL, 3), (2, 0.0, 3), (4, 2.5, NULL), (5, NULL, NULL)) AS t(id, x, n)")}  # fmt: skip
    assert found == pytest.approx(expected | {0: expected[1], 3: expected[4]}, abs=1e-12)
    there.close()


def test_a_model_of_joins_reads_the_joined_table(con, elsewhere):
    rows(con, "FROM (VALUES ('a', 1), ('a', 2), ('b', 2), ('b', 3)) AS t(y, shop)", "orders")
    con.execute("CREATE TABLE shops AS FROM (VALUES (1, 'north', 2.5), (2, 'south', 0.5)) AS t(shop, place, size)")
    model = nbsql.fit(con, "orders", target="y", id="id", joins=nbsql.Join("shops", on="shop"))
    expected = duckdb_rows(con, model.sql("predict", "orders"))
    con.execute("CREATE TABLE joined AS SELECT orders.*, place, size FROM orders LEFT JOIN shops USING (shop)")
    elsewhere.load(con, "joined")
    found = elsewhere.rows(model.sql("predict", "joined", dialect=elsewhere.name))
    hold_together(found, expected, "id", ["prediction", "probability"])


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_model_of_given_probabilities(con, elsewhere):
    day = {
        "yes": {"wind": {"weak": 0.75, "strong": 0.25}, "heat": {"mean": 20.0, "variance": 4.0}, "calls": {"rate": 2.5}},
        "no": {"wind": {"weak": 0.5}, "heat": {"mean": 10.0, "variance": 9.0}, "calls": {"rate": 0.5}},
    }
    model = nbsql.from_tables(con, priors={"yes": 0.5, "no": 0.5}, likelihoods=day, id="id")
    rows(con, "FROM (VALUES ('weak', 12.5, 1), ('strong', 10.0, 0), ('none', NULL, 4)) AS t(wind, heat, calls)")
    agree(con, elsewhere, model)


@pytest.mark.few
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize(
    ("file", "target", "options"),
    [
        ("iris.csv", "species", {}),
        ("iris.csv", "species", {"method": "qda"}),
        ("mushroom.csv.gz", "class", {"alpha": 0}),
        ("titanic_train.csv", "Survived", {"exclude": ["PassengerId", "Name"], "nulls": "category", "unseen": "smooth"}),
        ("adult.csv.gz", "income", {"exclude": ["split"]}),
        (
            "bike_sharing_hour.csv.gz",
            "season",
            {"exclude": ["instant", "dteday"], "families": {"casual": "poisson", "cnt": "exponential"}},
        ),
    ],
)
def test_real_tables(con, elsewhere, data, file, target, options):
    rows(con, f"FROM '{data / file}' LIMIT 2000")
    agree(con, elsewhere, nbsql.fit(con, "new", target=target, id="id", **options), ["predict_proba"])
