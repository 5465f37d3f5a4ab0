"""The statistics of a source, counted by the engine of another dialect, are those of a fit: counts exact, moments to 1e-9."""

import math

import duckdb
import pandas as pd
import pytest
from click.testing import CliRunner
from scoring.test_standalone import FAMILIES, MIXED, WORDS, rows
from support.inserted import insert

import nbsql
from nbsql.cli import main


def counted(con, elsewhere, model, table="new"):
    """Hold the cells that are counted elsewhere and those of a model of the same rows together."""
    elsewhere.load(con, table)
    found = {}
    for row in elsewhere.rows(model.sql("statistics", table, dialect=elsewhere.name)):
        assert list(row) == ["class", "feature", "value", "n", "mean", "m2"]
        label, feature, value, *numbers = row.values()
        assert (label, feature, value) not in found
        found[label, feature, value] = numbers
    expected = {row[1:4]: row[4:7] for row in model.statistics.fetchall()}
    assert found.keys() == expected.keys()
    for cell, (n, mean, m2) in expected.items():
        assert found[cell][0] == (n if float(n).is_integer() else pytest.approx(n, rel=1e-12)), cell
        for ours, theirs in zip((mean, m2), found[cell][1:], strict=True):
            assert theirs is None if ours is None else math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12), cell


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize("weight", [None, "times"])
@pytest.mark.parametrize("nulls", ["skip", "category"])
def test_every_family(con, elsewhere, weight, nulls):
    rows(con, f"SELECT *, (grade + 1) / 4 AS times FROM ({MIXED})", "mixed")
    con.execute("INSERT INTO mixed SELECT * REPLACE (NULL AS label) FROM mixed LIMIT 2")
    con.execute("INSERT INTO mixed SELECT * REPLACE (0 AS times, 'zero' AS label) FROM mixed WHERE label = 'ham'")
    con.execute(
        "CREATE TABLE new AS SELECT * FROM mixed WHERE times IS NOT NULL" if weight else "CREATE TABLE new AS FROM mixed"
    )
    families = {**FAMILIES, "length": nbsql.Binned(by=[100, 250])}
    options = {"exclude": ["times"], "families": families, "weight": weight, "nulls": nulls}
    counted(con, elsewhere, nbsql.fit(con, "new", target="label", id="id", **options))


def test_numbers_far_from_zero_that_do_not_vary_or_are_not_finite(con, elsewhere):
    values = """SELECT i % 2 = 0 AS y, 1e9 + (i * 7 % 11) / 10 AS far, 0.1::DOUBLE AS same, i * 1e-8 AS small,
        CASE i % 5 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN 'inf'::DOUBLE ELSE i END AS odd FROM range(53) AS t(i)"""
    rows(con, values)
    with pytest.warns(nbsql.NbsqlWarning, match="one value only in 'same'"):
        model = nbsql.fit(con, "new", target="y", id="id")
    counted(con, elsewhere, model)


@pytest.mark.filterwarnings("ignore:.* differ only by case or blanks:nbsql.NbsqlWarning")
@pytest.mark.filterwarnings("ignore:.* is a class of .label.:nbsql.NbsqlWarning")
def test_names_and_values_of_any_kind(con, elsewhere):
    con.execute('CREATE TABLE new (id INTEGER, "it\'s ""a""" VARCHAR, label VARCHAR)')
    insert(con, "new", [(i, word, WORDS[i * 5 % 12]) for i, word in enumerate(WORDS * 2)])
    counted(con, elsewhere, nbsql.fit(con, "new", target="label", id="id"))


@pytest.mark.parametrize("kind", ["BOOLEAN", "BIGINT", "DATE"])
def test_categories_and_labels_of_other_types(con, elsewhere, kind):
    values = {"BOOLEAN": "i % 2 = 0", "DATE": "DATE '2026-01-01' + CAST(i % 3 AS INTEGER)"}.get(kind, "i % 3 - 1")
    rows(con, f"SELECT i % 2 AS y, CASE WHEN i % 4 > 0 THEN CAST({values} AS {kind}) END AS x FROM range(17) AS t(i)")
    families = {"x": nbsql.Categorical(nulls="category")}
    counted(con, elsewhere, nbsql.fit(con, "new", target="y", id="id", families=families))


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize(
    ("file", "target", "options"),
    [
        ("mushroom.csv.gz", "class", {}),
        ("titanic_train.csv", "Survived", {"exclude": ["PassengerId"], "nulls": "category"}),
        ("adult.csv.gz", "income", {"exclude": ["split"], "weight": "fnlwgt"}),
    ],
)
def test_real_tables(con, elsewhere, data, file, target, options):
    rows(con, f"FROM '{data / file}' LIMIT 2000")
    counted(con, elsewhere, nbsql.fit(con, "new", target=target, id="id", **options))


@pytest.mark.parametrize(
    ("options", "kind", "line"),
    [
        (
            {"families": {"x": nbsql.Text()}},
            nbsql.NotSupportedError,
            "'x' is text, which is not counted in the dialect 'trino'; leave it out of the model, or fit it on DuckDB",
        ),
        (
            {"features": ["z"], "families": {"z": nbsql.Categorical()}},
            nbsql.NotSupportedError,
            "'z' is a category of the type DOUBLE, which every engine writes in its own way; make it a text, or leave it out "
            "of the model",
        ),
        (
            {"slice_by": "x", "features": ["z"]},
            nbsql.ModelError,
            "the model is cut into slices by an expression of its own engine; count the rows of each by a SELECT",
        ),
        (
            {"method": "logistic"},
            nbsql.ModelError,
            "the model is a logistic regression, whose weights cannot be computed from counts; "
            "fit it with method='naive', or where the rows are",
        ),
    ],
)
def test_refusals(con, refused, options, kind, line):
    source = "SELECT unnest(['u', 'v', 'w']) AS x, unnest(['a', 'b', 'a']) AS y, unnest([1.5::DOUBLE, 2.5, 3.5]) AS z"
    model = nbsql.fit(con, source, target="y", **options)
    with refused(kind, line):
        model.sql("statistics", "new", dialect="trino")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_model_of_what_was_counted_elsewhere_is_that_of_the_rows(con, elsewhere):
    rows(con, f"SELECT * REPLACE (label = 'ham' AS label) FROM ({MIXED})")
    part = nbsql.fit(con, "SELECT * FROM new WHERE id < 4", target="label", id="id", families=FAMILIES)
    elsewhere.load(con, "new")
    cells = pd.DataFrame(elsewhere.rows(part.sql("statistics", "new", dialect=elsewhere.name)))
    nbsql.from_statistics(con, cells, like=part, name="all_rows")
    whole = nbsql.fit(con, "new", target="label", id="id", families=FAMILIES)
    known = nbsql.load(con, "all_rows")
    assert known.classes == whole.classes
    assert con.execute("SELECT operation, rows FROM all_rows.batches").fetchall() == [("import", 5)]
    expected = whole.joint_log_likelihood("new").fetchall()
    for ours, theirs in zip(expected, known.joint_log_likelihood("new").fetchall(), strict=True):
        assert theirs[-2:] == pytest.approx(ours[-2:], rel=1e-9)
    known.update("SELECT * FROM new WHERE id = 1")  # it learns on
    assert con.execute("SELECT count(*) FROM all_rows.batches").fetchone() == (2,)


XS = "SELECT * FROM (VALUES ('a', 'u'), ('a', 'v'), ('b', 'v')) AS t(y, x)"
CELL = "SELECT 'a' AS class, 'x' AS feature, 'u' AS value, 1 AS n, NULL AS mean, NULL AS m2"


@pytest.mark.parametrize(
    ("options", "cells", "kind", "line"),
    [
        (
            {},
            "SELECT 1 AS class, 2 AS feature, 3 AS value, 4 AS n, 5 AS mean",
            nbsql.InputError,
            "no column 'm2' in the query; a cell has class, feature, value, n, mean and m2",
        ),
        (
            {},
            f"{CELL} UNION ALL SELECT 'a', 'z', 'u', 1, NULL, NULL",
            nbsql.InputError,
            "the query has cells of 'z', which is no feature of the model",
        ),
        (
            {},
            f"{CELL} UNION ALL SELECT 'a', 'x', 'v', -1, NULL, NULL",
            nbsql.InputError,
            "1 cell of the query holds no count; n and m2 must be at least 0",
        ),
        ({}, CELL, nbsql.InputError, "the query has no cells of the classes themselves, whose feature is NULL"),
        (
            {"segment_by": "x", "features": []},
            CELL,
            nbsql.ModelError,
            "the model has one model per segment, which counting in another engine does not support; fit it without segment_by",
        ),
        (
            {"slice_by": "x"},
            CELL,
            nbsql.ModelError,
            "the model is cut into slices by an expression of its own engine; count the rows of each by a SELECT",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_what_is_no_statistics_is_refused(con, refused, options, cells, kind, line):
    model = nbsql.fit(con, XS, target="y", **options)
    with refused(kind, line):
        nbsql.from_statistics(con, cells, like=model)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_model_of_counts_without_another_is_that_of_the_rows(con):
    rows(con, MIXED)
    families = {**FAMILIES, "length": nbsql.Binned(by=[100, 250])}
    options = {"alpha": 0.5, "prior": {"ham": 0.25, "spam": 0.75}, "unseen": "smooth"}
    whole = nbsql.fit(con, "new", target="label", id="id", families=families, **options)
    cells = f"SELECT class, feature, value, n, mean, m2 FROM {whole.state.relations['statistics']}"
    known = nbsql.from_statistics(con, cells, target="label", id="id", families=families, **options)
    kinds = {name: str(family) for name, family in known.families.items()}
    assert kinds == {name: str(family) for name, family in whole.families.items()}
    ours, theirs = ({row[0]: row[-2:] for row in m.joint_log_likelihood("new").fetchall()} for m in (whole, known))
    assert ours.keys() == theirs.keys()
    for key, scores in ours.items():
        assert theirs[key] == pytest.approx(scores, rel=1e-9)
    for model in (whole, known):
        model.update("SELECT * FROM new WHERE id = 1")
        model.forget("SELECT * FROM new WHERE id = 2")
    for one, other in zip(whole.priors.fetchall(), known.priors.fetchall(), strict=True):
        assert one == other


@pytest.mark.few
@pytest.mark.parametrize(
    ("options", "cells", "line"),
    [
        ({"like": "m", "alpha": 2.0}, CELL, "like=... brings the options of its model; leave out alpha"),
        ({"families": {"z": "text"}}, CELL, "families names 'z', which has no cells in the query"),
        ({"families": {"x": "poisson"}}, CELL, "family 'poisson' of 'x' needs a mean in every cell"),
        (
            {"families": {"x": "gaussian"}},
            CELL.replace("NULL AS mean", "1.5 AS mean"),
            "family 'gaussian' of 'x' needs a mean and m2 in every cell",
        ),
        (
            {"families": {"x": "categorical"}},
            CELL.replace("NULL AS mean", "1.5 AS mean"),
            "family 'categorical' of 'x' counts values, and its cells have means",
        ),
        (
            {},
            CELL.replace("NULL AS mean", "1.5 AS mean"),
            "cells of 'x' have means and no m2; say what they are: families={'x': 'poisson'}",
        ),
        (
            {},
            f"{CELL.replace('1 AS n', '3 AS n')} UNION ALL SELECT 'a', NULL, NULL, 2, NULL, NULL",
            "cells of 'x' count more values than there are rows; say what they are: families={'x': 'text'}",
        ),
        (
            {},
            f"SELECT *, 'wort' AS kind FROM ({CELL})",
            "cells of 'x' are of the kind 'wort'; the kinds are 'boolean', 'category', 'number', 'word'",
        ),
        (
            {"families": {"x": "binned"}},
            CELL,
            "family 'binned' of 'x' is made to fit the rows, which are not here; say what it was there, or fit it to rows",
        ),
        ({"alfa": 1}, CELL, "no option 'alfa'; did you mean 'alpha'?"),
        (
            {"method": "lda"},
            CELL,
            "no option 'method'; the options are 'target', 'families', 'id', 'weight', 'alpha', 'estimate', 'prior', 'nulls', "
            "'unseen'",
        ),
        ({"prior": {"b": 1.0}}, CELL, "prior has no probability for class 'a'; name every class"),
        ({}, CELL, "the query has no cells of the classes themselves, whose feature is NULL"),
    ],
)
def test_what_does_not_say_what_was_counted_is_refused(con, refused, options, cells, line):
    nbsql.fit(con, XS, target="y", name="m")
    with refused(nbsql.InputError, line):
        nbsql.from_statistics(con, cells, **options)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_the_answer_of_the_command_line(tmp_path):
    path, answer = str(tmp_path / "shop.duckdb"), tmp_path / "answer.csv"
    with duckdb.connect(path) as con:
        con.execute(f"CREATE TABLE new AS {XS}")
        nbsql.fit(con, "SELECT * FROM new OFFSET 1", target="y", name="m").close()
    printed = CliRunner().invoke(main, ["sql", path, "statistics", "m", "new", "--dialect", "duckdb"])
    assert printed.exit_code == 0
    with duckdb.connect(path) as con:
        con.sql(printed.output.strip().rstrip(";")).write_csv(str(answer))
    done = CliRunner().invoke(main, ["from-statistics", path, str(answer), "--like", "m", "--name", "more"])
    assert done.exit_code == 0, done.output
    with duckdb.connect(path) as con:
        assert con.execute("SELECT class, n FROM more.priors ORDER BY class").fetchall() == [("a", 2.0), ("b", 1.0)]
        assert nbsql.models(con) == ["m", "more"]
    options = ["--target", "y", "--family", "x=categorical(alpha=2)", "--prior", "a=0.25,b=0.75", "--unseen", "smooth"]
    done = CliRunner().invoke(main, ["from-statistics", path, str(answer), "--name", "alone", *options])
    assert done.exit_code == 0, done.output
    with duckdb.connect(path) as con:
        assert con.execute("SELECT class, prior FROM alone.priors ORDER BY class").fetchall() == [("a", 0.25), ("b", 0.75)]
        assert nbsql.load(con, "alone").families["x"] == nbsql.Categorical(
            alpha=2.0, nulls="skip", unseen="smooth", estimate="mean"
        )
    done = CliRunner().invoke(main, ["from-statistics", path, str(answer), "--name", "two", "--like", "m", "--alpha", "2"])
    assert "error: --like brings the options of its model; leave out --alpha" in done.output


@pytest.mark.parametrize("key", ["w", "words"])
def test_a_multinomial_of_one_column_is_made_of_its_counts(con, key):
    families = {key: nbsql.Multinomial(["w"])}
    model = nbsql.fit(con, "SELECT i % 2 AS y, i % 5 AS w FROM range(50) AS r(i)", target="y", families=families)
    again = nbsql.from_statistics(con, model.counts, families=families)
    rows = "SELECT 3 AS w"
    assert again.joint_log_likelihood(rows).fetchall() == model.joint_log_likelihood(rows).fetchall()
