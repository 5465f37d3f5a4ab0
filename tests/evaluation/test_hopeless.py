"""A fit by default says when its model is worse than its priors, by rows that it has learnt."""

import re
import warnings

import pytest
from click.testing import CliRunner
from support.nearly import nearly

import nbsql
from nbsql.cli import main

pytestmark = pytest.mark.look
COPIES = ", ".join(f"x + {number} AS x{number}" for number in range(12))


@pytest.fixture
def con(con):
    """Rows of two classes that a number tells apart badly, a table with the number twelve times, and one sorted by class."""
    con.execute(
        "CREATE TABLE once AS SELECT if(hash(i) % 3 = 0, 'a', 'b') AS y, hash(i + 7) % 1000 / 1000 + if(y = 'a', 0.2, 0) AS x "
        "FROM range(1500) AS r(i)"
    )
    con.execute(f"CREATE TABLE copies AS SELECT y, {COPIES} FROM once")
    con.execute("CREATE TABLE sorted AS SELECT once.* FROM once, range(10) ORDER BY y")
    return con


def said(con, source, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = nbsql.fit(con, source, target="y", **options)
    return model, [str(each.message) for each in caught if "even on" in str(each.message)]


@pytest.mark.nightly
def test_a_model_that_counts_evidence_twelve_times_is_said_to_be_worse_than_none(con, tmp_path):
    con.execute(f"COPY copies TO '{tmp_path}/copies.csv'")
    model, lines = said(con, "copies")
    with pytest.warns(nbsql.NbsqlWarning):
        judged = model.evaluate("copies")
    facts = f"the log loss, {judged.log_loss:.4f}, is above that of the priors alone, {judged.log_loss_of_priors:.4f}"
    if judged.accuracy < judged.majority - 2 / 1500**0.5:
        facts += f" and the accuracy, {judged.accuracy:.1%}, is below that of the majority, {judged.majority:.1%}"
    assert lines == [f'even on 1,500 rows that it has learnt, {facts}; fit anew with method="weighted"']
    for source in (con.table("copies").df(), con.table("copies").to_arrow_table(), f"{tmp_path}/copies.csv", "FROM copies"):
        assert said(con, source)[1] == lines
    wide = f"SELECT * FROM '{tmp_path}/copies.csv', range(200)"
    (line,) = said(con, wide)[1]  # of its first rows
    loss, priors = (float(number) for number in re.findall(r"\d+\.\d{4}", line))
    assert [loss, priors] == nearly([judged.log_loss, judged.log_loss_of_priors], rel=0.1)
    weighted, none = said(con, "copies", method="weighted")
    assert none == []
    assert weighted.evaluate("copies").log_loss < judged.log_loss_of_priors  # which is the cure


def test_the_accuracy_is_compared_with_that_of_the_majority(con):
    con.execute(
        "CREATE TABLE rare AS SELECT if(hash(i) % 20 = 0, 'a', 'b') AS y, hash(i + 7) % 100 / 100 AS x FROM range(900) AS r(i)"
    )
    (line,) = said(con, "rare", prior={"a": 0.9, "b": 0.1})[1]
    assert "is below that of the majority, 9" in line


def test_a_log_loss_that_is_written_as_that_of_the_priors_is_not_said_to_be_above_it(con):
    """The feature is independent of the class: the two differ by the last digit."""
    con.execute("CREATE TABLE even AS SELECT if(i % 2 = 0, 'a', 'b') AS y, i // 2 % 2 = 0 AS x FROM range(60) AS r(i)")
    assert said(con, "even")[1] == []


@pytest.mark.slow
def test_models_that_are_better_or_that_the_user_chose_are_not_judged(con):
    families = dict.fromkeys((f"x{number}" for number in range(12)), "gaussian")
    assert said(con, "once")[1] == said(con, "sorted")[1] == []
    for options in ({"families": families}, {"infer": "types"}, {"method": "weighted"}):
        assert said(con, "copies", **options)[1] == []
    assert said(con, "FROM copies LIMIT 49")[1] == []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nbsql.cross_validate(con, "copies", target="y", folds=2)
        nbsql.sweep(con, "copies", target="y", alpha=[0.5, 1])
    assert [line for line in map(str, caught) if "even on" in line] == []


@pytest.mark.slow
def test_the_command_line_says_its_own_option(con, tmp_path):
    con.execute(f"COPY copies TO '{tmp_path}/copies.parquet'")
    options = ("--target", "y", "--name", "m")
    result = CliRunner().invoke(main, ["fit", f"{tmp_path}/d.duckdb", f"{tmp_path}/copies.parquet", *options])
    line = " ".join(result.stderr.split())
    assert line.startswith("warning: even on 1,500 rows that it has learnt, the log loss, ")
    assert line.endswith("; fit anew with --method weighted")


@pytest.mark.slow
def test_a_model_of_a_hundred_copies_is_said_to_be_worse_than_none(con):
    copies = ", ".join(f"x + {number} AS x{number}" for number in range(100))
    model, (line,) = said(con, f"SELECT y, {copies} FROM once")
    with pytest.warns(nbsql.NbsqlWarning):
        judged = model.evaluate(f"SELECT y, {copies} FROM once")
    assert f"the log loss, {judged.log_loss:.4f}, is above that of the priors alone, {judged.log_loss_of_priors:.4f}" in line


def test_a_table_with_a_column_rowid_is_judged_by_its_other_columns(con):
    con.execute("CREATE TABLE named AS SELECT y, x, 'r' || x AS rowid FROM sorted")  # DuckDB's rowid would be a number
    assert said(con, "named", exclude=["rowid"])[1] == []
