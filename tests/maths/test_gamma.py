"""Numbers above 0 with a gamma density: what is its own (test_moments.py has the rest)."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import duckdb
import pytest
from scipy import stats

import nbsql
from nbsql.family import FAMILIES as FAMILIES_BY_NAME

Connection = duckdb.DuckDBPyConnection
Refused = Callable[[type[Exception], str], AbstractContextManager[None]]
COUNTS = ("poisson", "geometric")


def near(expected: Any) -> Any:
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_model_of_given_moments(con: Connection, refused: Refused) -> None:
    moments = {"even": {"x": {"mean": 3.0, "variance": 2.0}}, "odd": {"x": {"mean": 6.0, "variance": 200.0}}}
    priors = {"even": 0.25, "odd": 0.75}
    model = nbsql.from_tables(con, priors=priors, likelihoods=moments, families={"x": nbsql.Gamma()}, name="m")
    found = model.joint_log_likelihood("SELECT 0.3 AS x").fetchall()[0]
    for label, value in zip(("even", "odd"), found[-2:], strict=True):
        mean, variance = moments[label]["x"].values()
        expected = stats.gamma.logpdf(0.3, mean**2 / variance, scale=variance / mean)
        assert value == near(math.log(priors[label]) + float(expected))
    moments["odd"]["x"]["mean"] = 0.0
    with refused(nbsql.InputError, "the mean of feature 'x' of class 'odd' is 0; it must be above 0"):
        nbsql.from_tables(con, priors=priors, likelihoods=moments, families={"x": nbsql.Gamma()}, name="n")


def test_a_class_that_does_not_vary_has_the_floor_and_a_column_that_does_not_says_nothing(con: Connection) -> None:
    con.execute("CREATE TABLE rows AS FROM (VALUES ('a', 2, 5), ('a', 4, 5), ('b', 3, 5), ('b', 3, 5)) t(y, x, z)")
    with pytest.warns(nbsql.NbsqlWarning, match="one value only in 'z'"):
        model = nbsql.fit(con, "rows", target="y", families={"x": nbsql.Gamma(floor=0.1), "z": "gamma"}, name="m")
    found = con.execute("SELECT class, variance FROM m.likelihoods WHERE feature = 'x' ORDER BY class").fetchall()
    assert found == [("a", near(1)), ("b", near(0.1 * 0.5))]
    expected = math.log(0.5) + float(stats.gamma.logpdf(3.5, 9 / 0.05, scale=0.05 / 3))
    assert model.joint_log_likelihood("SELECT 3.5 AS x, 9 AS z").fetchall()[0][-1] == near(expected)


@pytest.mark.parametrize("shape", [1e-9, 1e-3, 0.5, 1.0, 9.99, 10.01, 1e3, 1e6, 1e9])
def test_no_digits_are_lost_in_shapes_of_any_size(con: Connection, shape: float) -> None:
    given = {"a": {"x": {"mean": 1.0, "variance": 1 / shape}}}
    model = nbsql.from_tables(con, priors={"a": 1}, likelihoods=given, families={"x": nbsql.Gamma()}, name="m")
    points = [1.0, 1 + 1 / math.sqrt(max(shape, 1)), 0.5]
    for x in points:
        found = model.joint_log_likelihood(f"SELECT {x!r}::DOUBLE AS x").fetchall()[0][-1]
        expected = float(stats.gamma.logpdf(x, shape, scale=1 / shape))
        assert found == pytest.approx(expected, rel=1e-9, abs=max(1e-9, 1e-14 * shape))


def test_numbers_outside_are_refused_by_a_fit(con: Connection, refused: Refused) -> None:
    con.execute("CREATE TABLE rows AS FROM (VALUES ('a', 0.2), ('a', -1.0), ('b', 0.0)) t(y, x)")
    message = "2 values of column 'x' are 0 or negative; gamma numbers must be above 0"
    with refused(nbsql.InputError, message):
        nbsql.fit(con, "rows", target="y", families={"x": "gamma"}, name="m")


def test_every_density_of_a_model_is_what_it_is_alone(con: Connection) -> None:
    """Parameters of one name, of families beside each other, are not taken for each other's."""
    families = {name: family() for name, family in FAMILIES_BY_NAME.items() if family.kind == "density"}
    columns = ", ".join(f'(i * 37 % 100 + 1 + 30 * (i % 2)) / 200 AS "{name}"' for name in families if name not in COUNTS)
    counts = ", ".join(f'(i * 37 % 100 + 30 * (i % 2)) // 10 AS "{name}"' for name in families if name in COUNTS)
    con.execute(f"CREATE TABLE every AS SELECT i % 2 AS y, {columns}, {counts} FROM range(150) AS r(i)")
    together = nbsql.fit(con, "every", target="y", families=families).explain("SELECT * FROM every LIMIT 1").fetchall()
    found = {(row[1], row[2]): row[-1] for row in together if row[2] is not None}
    for name, family in families.items():
        alone = nbsql.fit(con, "every", target="y", features=[name], families={name: family})
        for row in alone.explain("SELECT * FROM every LIMIT 1").fetchall():
            assert row[2] is None or found[row[1], row[2]] == near(row[-1])
