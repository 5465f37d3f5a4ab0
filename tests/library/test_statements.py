"""How many statements a small fit, an update, a prediction and one row send to DuckDB: most of what a small table costs."""

import sys
from pathlib import Path

import pytest

import nbsql

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import statements

MOST = {
    "mixed": (26, 33, 5, 6, 2),
    "10 numbers, 10 categories": (30, 33, 5, 6, 2),
    "20 numbers": (26, 27, 5, 6, 2),
    "20 numbers in 50 classes": (26, 30, 5, 6, 2),
    "20 categories": (27, 31, 5, 6, 2),
    "texts of 20 words": (25, 29, 5, 6, 2),
    "20 numbers by lda": (27, 28, 5, 6, 2),
}


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.look
@pytest.mark.parametrize("case", statements.CASES)
def test_small_acts_send_few_statements(case):
    found = statements.acts(case)
    assert tuple(map(len, found.values())) == MOST[case]
    asked = [sum(bool(statements.CATALOGUE.search(each)) for each in sent) for sent in found.values()]
    assert asked == [
        4,
        3,
        1,
        2,
        0,
    ]  # one of them names the attached lakes, and one the files that are written to; one row asks when the model changed, too
    assert found["fit"][-1] == "COMMIT"


def test_a_batch_is_compared_only_with_those_of_as_many_rows_in_each_class(con):
    query = "SELECT i % 7 AS x, CASE WHEN i < {} THEN 'a' ELSE 'b' END AS y FROM range(100) AS r(i)"
    model = nbsql.fit(con, query.format(10), target="y")
    for count in (20, 30):
        model.update(query.format(count))
    with statements.sent() as found, pytest.warns(nbsql.NbsqlWarning, match="has the counts of batch '3' in each class"):
        model.update(query.format(30))
    assert sum("size_of_total" in each.text for each in found) == 1


@pytest.mark.nightly
@pytest.mark.forms("rows")
@pytest.mark.parametrize("rows", [20, 5_010])  # few rows are counted with one row for each number
def test_more_numbers_than_one_scan_holds_are_counted_alike(con, rows):
    """The last ones are scanned apart, one of them carefully, as its squares lose digits."""
    names = [f"x{number}" for number in range(602)]
    columns = [f"(i + {number}) % {3 + number % 5} / 4.0 AS {name}" for number, name in enumerate(names[:-1])]
    columns[1] = "CASE WHEN i <> 3 THEN i % 7 END AS x1"
    columns += ["1e9 + i AS x601", "1 + i % 3 AS w"]
    con.execute(f"CREATE TABLE wide AS SELECT i % 2 AS y, {', '.join(columns)} FROM range({rows}) AS r(i)")
    watched = []
    with nbsql.watch(watched.append):
        model = nbsql.fit(con, "wide", target="y", weight="w", infer="types")
    assert watched.count("scan further columns") == 1
    moments = {row[1:3]: row[4:7] for row in model.statistics}
    for name in ("x0", "x1", "x499", "x500", "x600", "x601"):
        for label in (0, 1):
            query = f"SELECT {name}, w FROM wide WHERE y = {label} AND {name} IS NOT NULL"
            values = con.execute(query).fetchall()
            n = sum(weight for _, weight in values)
            mean = sum(value * weight for value, weight in values) / n
            expected = (n, mean, sum(weight * (value - mean) ** 2 for value, weight in values))
            assert moments[label, name] == pytest.approx(expected, rel=1e-12), name
    asked = "SELECT *, random() AS chance FROM wide"
    with nbsql.watch(watched.append):
        nbsql.fit(con, asked, target="y")  # a query may have other rows each time, so that it is read once
    assert watched.count("scan further columns") == 1
    nbsql.cross_validate(con, "wide", target="y", folds=2)
