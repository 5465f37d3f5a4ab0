"""A warning of rows that are copies of others, by which folds judge a model on what it has learnt."""

import warnings

import pytest

import nbsql

ROWS = "SELECT hash(i) % 2 = 0 AS y, hash(i + 1) % 1000 / 10 AS a, 'k' || hash(i + 3) % 40 AS c FROM range({}) AS r(i)"
VERBS = {
    "cross_validate": nbsql.cross_validate,
    "sweep": nbsql.sweep,
    "evaluate": lambda *args, exclude, **options: nbsql.fit(*args, exclude=exclude, **options).evaluate(args[1], folds=5),
    "auto": lambda *args, **options: nbsql.auto(*args, methods=["naive"], **options),
}


@pytest.fixture
def copied(con):
    con.execute(f"CREATE TABLE t AS SELECT rows.*, i // 10 % 5 AS part FROM ({ROWS.format(200)}) AS rows, range(10) AS r(i)")
    return con


@pytest.mark.few
@pytest.mark.parametrize("verb", VERBS)
def test_copies_are_said_with_the_cure(copied, verb):
    with pytest.warns(
        nbsql.NbsqlWarning, match=r"^only \d+ of [\d,]+ rows of t differ: if these are copies, .* by fold=.part.$"
    ):
        VERBS[verb](copied, "t", target="y", exclude=["part"])


@pytest.mark.parametrize(
    "source",
    [
        ROWS.format(2000),
        "SELECT i % 2 = 0 AS y, hash(i) % 60 AS age FROM range(2000) AS r(i)",  # few values make rows equal
        "SELECT i % 2 = 0 AS y, hash(i) % 9 AS a, hash(i + 1) % 9 AS b, hash(i) % 8 AS c, 1 AS d FROM range(2000) AS r(i)",
    ],
)
def test_rows_that_differ_or_are_equal_by_chance_are_not_copies(con, source):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        nbsql.cross_validate(con, source, target="y", folds=3)
    assert not [each for each in found if "copies" in str(each.message)]


def test_a_column_of_folds_that_copies_share_is_the_cure(copied):
    copied.execute("CREATE OR REPLACE TABLE t AS SELECT *, (hash(a, c) % 5)::INTEGER AS shared FROM t")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="only .* differ")
        nbsql.cross_validate(copied, "t", target="y", fold="shared", exclude=["part"])
