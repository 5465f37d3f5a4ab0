"""Numbers between 0 and 1 with a beta density: what is its own (test_moments.py has the rest)."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import duckdb
import pytest

import nbsql
from nbsql.rendering.renderer import Renderer

Connection = duckdb.DuckDBPyConnection
Refused = Callable[[type[Exception], str], AbstractContextManager[None]]


def near(expected: Any) -> Any:
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def test_a_model_of_given_moments(con: Connection, refused: Refused) -> None:
    moments = {"even": {"x": {"mean": 0.3, "variance": 0.02}}, "odd": {"x": {"mean": 0.6, "variance": 0.2}}}
    priors = {"even": 0.25, "odd": 0.75}
    model = nbsql.from_tables(con, priors=priors, likelihoods=moments, families={"x": nbsql.Beta()}, name="m")
    found = model.joint_log_likelihood("SELECT 0.3 AS x").fetchall()[0]
    for label, value in zip(("even", "odd"), found[-2:], strict=True):
        mean, variance = moments[label]["x"].values()
        a, b = mean * (mean * (1 - mean) / variance - 1), (1 - mean) * (mean * (1 - mean) / variance - 1)
        assert value == near(math.log(priors[label]) + (a - 1) * math.log(0.3) + (b - 1) * math.log(0.7) - log_beta(a, b))
    moments["odd"]["x"]["variance"] = 0.24
    with refused(
        nbsql.InputError, "the variance of feature 'x' of class 'odd' is 0.24; with a mean of 0.6 it must be under 0.24"
    ):
        nbsql.from_tables(con, priors=priors, likelihoods=moments, families={"x": nbsql.Beta()}, name="n")
    moments["odd"]["x"]["mean"] = 1.5
    with refused(nbsql.InputError, "the mean of feature 'x' of class 'odd' is 1.5; it must be above 0 and below 1"):
        nbsql.from_tables(con, priors=priors, likelihoods=moments, families={"x": nbsql.Beta()}, name="n")


def test_a_class_that_does_not_vary_has_the_floor_and_a_column_that_does_not_says_nothing(con: Connection) -> None:
    con.execute(
        "CREATE TABLE rows AS FROM (VALUES ('a', 0.2, 0.5), ('a', 0.4, 0.5), ('b', 0.3, 0.5), ('b', 0.3, 0.5)) t(y, x, z)"
    )
    with pytest.warns(nbsql.NbsqlWarning, match="one value only in 'z'"):
        model = nbsql.fit(con, "rows", target="y", families={"x": nbsql.Beta(floor=0.1), "z": "beta"}, name="m")
    found = con.execute("SELECT class, variance FROM m.likelihoods WHERE feature = 'x' ORDER BY class").fetchall()
    assert found == [("a", near(0.01)), ("b", near(0.1 * 0.005))]
    size = 0.3 * 0.7 / (0.1 * 0.005) - 1
    a, b = 0.3 * size, 0.7 * size
    expected = math.log(0.5) + (a - 1) * math.log(0.35) + (b - 1) * math.log(0.65) - log_beta(a, b)
    assert model.joint_log_likelihood("SELECT 0.35 AS x, 0.9 AS z").fetchall()[0][-1] == near(expected)


def test_numbers_outside_are_refused_by_a_fit(con: Connection, refused: Refused) -> None:
    con.execute("CREATE TABLE rows AS FROM (VALUES ('a', 0.2), ('a', 1.0), ('b', 0.0)) t(y, x)")
    message = "2 values of column 'x' are not between 0 and 1; beta numbers must be above 0 and below 1"
    with refused(nbsql.InputError, message):
        nbsql.fit(con, "rows", target="y", families={"x": "beta"}, name="m")


def test_the_logarithm_of_the_beta_function_is_that_of_the_library(con: Connection) -> None:
    render = Renderer("duckdb")
    sql = render.statement("log_beta", render.dialect.word("a"), render.dialect.word("b"))
    sizes = [1e-9, 1e-4, 0.5, 1.0, 2.5, 9.99, 10.01, 77.0, 1e3]
    pairs = [(a, b) for a in sizes for b in sizes]
    values = ", ".join(f"({a!r}::DOUBLE, {b!r}::DOUBLE)" for a, b in pairs)
    found = con.execute(f"SELECT a, b, {sql} FROM (VALUES {values}) AS pairs(a, b)").fetchall()
    assert {row[:2]: row[2] for row in found} == {(a, b): pytest.approx(log_beta(a, b), rel=2e-12, abs=2e-12) for a, b in pairs}
