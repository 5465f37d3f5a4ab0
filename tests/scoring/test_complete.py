"""Numbers that no row lacks are scored without a guard a term, and rows that do lack one as ever."""

import math
import re

import pytest
from scipy.stats import norm

import nbsql

pytestmark = pytest.mark.filterwarnings("ignore:one value only in 'same'")

COLUMNS = ("a", "b", "c", "gaps")
GAPS = [
    {},
    {"a": None},
    {"b": math.nan},
    {"c": math.inf},
    {"a": None, "c": -math.inf},
    {"a": None, "b": None, "c": None},
    {"gaps": None},
    {"a": None, "b": None, "c": None, "gaps": None},
    {"a": 1e160},
]


@pytest.fixture
def rows(con):
    con.execute("""
        CREATE TABLE rows AS
        SELECT
          CASE i % 3 WHEN 0 THEN 'x' WHEN 1 THEN 'y' ELSE 'z' END AS y,
          sin(i) + i % 3 AS a,
          1e9 + cos(i) * (1 + i % 3) AS b,
          sin(3 * i) - i % 3 AS c,
          CASE WHEN i % 5 > 0 THEN cos(7 * i) * (1 + i % 3) END AS gaps,
          7.0 AS same,
          1 + i % 2 AS weight
        FROM range(300) AS numbers(i)
    """)
    return "rows"


def expected(model, row):
    """ln P(c) + the sum of ln p(x | c) over the numbers that the row has."""
    found = {label: log_prior for label, _, _, log_prior in model.priors}
    for label, feature, _, _, _, mean, variance, *_ in model.likelihoods:
        x = row.get(feature)
        if x is not None and math.isfinite(x) and abs(x) <= 1e150 and variance > 0:
            found[label] += norm(mean, math.sqrt(variance)).logpdf(x)
    return found


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weight": "weight"},
        {"families": {"b": nbsql.Gaussian(shared_variance=True)}},
        {"families": dict.fromkeys("abc", nbsql.Gaussian(shared_variance=True))},
    ],
    ids=["plain", "weights", "shared variance", "shared variances"],
)
def test_rows_with_gaps_are_scored_by_what_they_have(con, rows, options):
    model = nbsql.fit(con, rows, target="y", name="model", exclude=["weight"] if "weight" not in options else [], **options)
    usual = {"a": 0.5, "b": 1e9 + 0.25, "c": -0.5, "gaps": 1.5}
    for gaps in GAPS:
        row = {**usual, **gaps}
        con.execute("CREATE OR REPLACE TABLE one (a DOUBLE, b DOUBLE, c DOUBLE, gaps DOUBLE, same DOUBLE)")
        con.execute("INSERT INTO one VALUES ($a, $b, $c, $gaps, 7)", row)
        (found,) = model.joint_log_likelihood("one").df()[[f"joint_log_likelihood_{label}" for label in "xyz"]].to_numpy()
        assert dict(zip("xyz", found, strict=True)) == pytest.approx(expected(model, row), rel=1e-9, abs=1e-9)
        by_macro = con.execute("SELECT joint_log_likelihood_x FROM model.joint_log_likelihood('one')").fetchone()
        assert by_macro == (pytest.approx(found[0], rel=1e-12),)

    con.execute("CREATE TABLE several AS FROM one WITH NO DATA")
    for gaps in [*GAPS, *GAPS]:  # whole rows and others, which DuckDB has at hand together
        con.execute("INSERT INTO several VALUES ($a, $b, $c, $gaps, 7)", {**usual, **gaps})
    together = model.joint_log_likelihood("several").df()[[f"joint_log_likelihood_{label}" for label in "xyz"]].to_numpy()
    for gaps, found in zip([*GAPS, *GAPS], together, strict=True):
        assert dict(zip("xyz", found, strict=True)) == pytest.approx(expected(model, {**usual, **gaps}), rel=1e-9, abs=1e-9)


def test_squares_that_say_the_same_in_all_classes_are_computed_only_for_a_likelihood(con, rows):
    families = dict.fromkeys("abc", nbsql.Gaussian(shared_variance=True))
    model = nbsql.fit(con, rows, target="y", features=[*"abc"], families=families)
    assert len(re.findall(r"number\.nbsql_squares", model.sql("predict", rows))) == 1  # in the common term
    plans = [con.execute(f"EXPLAIN {model.sql(verb, rows)}").fetchall()[0][1] for verb in ("predict", "log_evidence")]
    assert [("nbsql_squares" in plan) for plan in plans] == [False, True]


def test_only_what_has_a_value_in_every_row_and_varies_is_complete(con, rows):
    model = nbsql.fit(con, rows, target="y", name="model", id="weight")
    query = model.sql("predict", rows)
    assert query.count("coalesce(parameters.peak_") == 2 * 3  # of "gaps" and "same", a class
    assert query.count("parameters.constant_") == 3  # of the others together, a class
    assert nbsql.load(con, "model").sql("predict", rows) == query


def test_one_alone_is_guarded(con):
    con.execute("CREATE TABLE one AS SELECT i % 2 AS y, i AS x FROM range(10) AS numbers(i)")
    assert "parameters.constant_" not in nbsql.fit(con, "one", target="y", families={"x": "gaussian"}).sql("predict", "one")


def test_a_number_is_told_by_the_others_of_its_list(con, rows):
    model = nbsql.fit(con, rows, target="y", name="model", id="weight")
    told = model.predict(rows, target="b").df()
    filled = model.impute(f"SELECT * REPLACE (CAST(NULL AS DOUBLE) AS b) FROM {rows}").df()
    assert told["prediction"].to_numpy() == pytest.approx(filled["b"].to_numpy(), rel=1e-12)
    assert told["prediction"].nunique() > 3


FAR = {
    "class": "i % 3 * 1e9 + sin(i)",  # classes of which the digits that tell them apart are far behind
    "narrow": "CASE WHEN i % 3 = 2 THEN 1.25 ELSE cos(i) END",  # one value in a class
    "apart": "i % 3 * 1e5 + sin(5 * i)",
    "usual": "sin(2 * i) + i % 3",
    "years": "2000 + i % 7 + i % 3",
}


@pytest.mark.slow
def test_numbers_whose_classes_are_far_apart_keep_their_digits(con):
    columns = ", ".join(f"{value} AS {name}" for name, value in FAR.items())
    con.execute(f"CREATE TABLE far AS SELECT chr(CAST(120 + i % 3 AS INTEGER)) AS y, {columns} FROM range(300) AS numbers(i)")
    model = nbsql.fit(con, "far", target="y", name="model")
    query = model.sql("predict", "far")
    in_lists = re.findall(r'source."(\w+)" AS DOUBLE\), [^\n]+ - parameters.origins', query)
    assert in_lists == ["usual", "years"]
    for gap in (None, *FAR):
        con.execute("CREATE OR REPLACE TABLE rows AS FROM far LIMIT 3")
        if gap is not None:
            con.execute(f"UPDATE rows SET {gap} = NULL")
        rows = con.execute("FROM rows").df().astype(object).where(lambda frame: frame.notna(), None).to_dict("records")
        found = model.joint_log_likelihood("rows").df()[[f"joint_log_likelihood_{label}" for label in "xyz"]].to_numpy()
        for row, joint in zip(rows, found, strict=True):
            assert dict(zip("xyz", joint, strict=True)) == pytest.approx(expected(model, row), rel=1e-9, abs=1e-9)


LATER = {
    "gaps": "SELECT * REPLACE (CAST(NULL AS DOUBLE) AS a) FROM rows",
    "a class far apart": "SELECT * REPLACE (if(y = 'x', 'w', y) AS y, if(y = 'x', 1e9, 0) + a AS a) FROM rows",
}


@pytest.mark.parametrize("later", LATER.values(), ids=LATER)
def test_a_model_stays_right_when_others_come_later(con, rows, later):
    model = nbsql.fit(con, rows, target="y", name="model", id="weight", infer="types")
    con.execute(f"CREATE TABLE later AS {later}")
    model.update("later")
    both = nbsql.fit(con, "FROM rows UNION ALL FROM later", target="y", id="weight", infer="types")
    for source in (rows, "later"):
        ours, theirs = (m.predict_proba(source).df()["probability_x"].to_numpy() for m in (model, both))
        assert ours == pytest.approx(theirs, rel=1e-9)


@pytest.mark.nightly
def test_numbers_in_lists_are_no_reason_for_a_row_a_class(con):
    columns = ", ".join(f"sin(i * {j + 1}) + i % 2 AS x{j}" for j in range(300))
    con.execute(f"CREATE TABLE many AS SELECT i % 2 AS y, {columns} FROM range(1000) AS numbers(i)")
    model = nbsql.fit(con, "many", target="y")
    assert model.sql("predict", "many").count("list_inner_product") == 1 + 2 + 1  # the slopes of the first class are 0
    (row,) = con.execute("SELECT * EXCLUDE (y) FROM many LIMIT 1").df().to_dict("records")
    for gaps in ({}, {"x7": None}):
        con.execute("CREATE OR REPLACE TABLE one AS FROM many LIMIT 1")
        for column in gaps:
            con.execute(f"UPDATE one SET {column} = NULL")
        (found,) = model.joint_log_likelihood("one").df()[["joint_log_likelihood_0", "joint_log_likelihood_1"]].to_numpy()
        known = expected(model, {**row, **gaps})
        assert [*found] == pytest.approx([known[0], known[1]], rel=1e-9)
        assert model.explain("one").df().groupby("class")["contribution"].sum()[0] == pytest.approx(known[0], rel=1e-9)
