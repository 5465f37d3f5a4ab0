"""Beta and gamma densities of numbers: what is their own (test_moments.py has the rest)."""

import math

import pytest
from scipy import special, stats
from support.nearly import near

import nbsql
from nbsql.family import FAMILIES as FAMILIES_BY_NAME
from nbsql.rendering.renderer import Renderer

COUNTS = ("poisson", "geometric")


def log_density(family, x, mean, variance):
    """Ln p(x) of a density with these moments."""
    if family == "gamma":
        return float(stats.gamma.logpdf(x, mean**2 / variance, scale=variance / mean))
    size = mean * (1 - mean) / variance - 1
    return float(stats.beta.logpdf(x, mean * size, (1 - mean) * size))


@pytest.mark.parametrize(
    ("family", "even", "odd", "wrong"),
    [
        ("gamma", (3.0, 2.0), (6.0, 200.0), {"mean of feature 'x' of class 'odd' is 0; it must be above 0": (0.0, 200.0)}),
        (
            "beta", (0.3, 0.02), (0.6, 0.2),
            {
                "variance of feature 'x' of class 'odd' is 0.24; with a mean of 0.6 it must be under 0.24": (0.6, 0.24),
                "mean of feature 'x' of class 'odd' is 1.5; it must be above 0 and below 1": (1.5, 0.24),
            },
        ),
    ],
)  # fmt: skip
def test_a_model_of_given_moments(
    con, refused, family, even, odd,
    wrong,
):  # fmt: skip
    priors = {"even": 0.25, "odd": 0.75}

    def model_of(odd):
        moments = {label: {"x": {"mean": m, "variance": v}} for label, (m, v) in {"even": even, "odd": odd}.items()}
        return nbsql.from_tables(con, priors=priors, likelihoods=moments, families={"x": family})

    found = model_of(odd).joint_log_likelihood("SELECT 0.3 AS x").fetchall()[0][-2:]
    expected = [
        math.log(prior) + log_density(family, 0.3, *each) for prior, each in zip(priors.values(), (even, odd), strict=True)
    ]
    assert [*found] == near(expected)
    for message, moments in wrong.items():
        with refused(nbsql.InputError, f"the {message}"):
            model_of(moments)


@pytest.mark.parametrize(("family", "unit"), [(nbsql.Beta(floor=0.1), 0.1), (nbsql.Gamma(floor=0.1), 1.0)], ids=str)
def test_a_class_that_does_not_vary_has_the_floor_and_a_column_that_does_not_says_nothing(con, family, unit):
    con.execute("CREATE TABLE rows AS SELECT y, $1 * x AS x, $1 * 5 AS z "
                "FROM (VALUES ('a', 2), ('a', 4), ('b', 3), ('b', 3)) t(y, x)", [unit])  # fmt: skip
    with pytest.warns(nbsql.NbsqlWarning, match="one value only in 'z'"):
        model = nbsql.fit(con, "rows", target="y", families={"x": family, "z": family.name}, name="m")
    found = con.execute("SELECT class, variance FROM m.likelihoods WHERE feature = 'x' ORDER BY class").fetchall()
    assert found == [("a", near(unit**2)), ("b", near(0.1 * 0.5 * unit**2))]
    x, z = 3.5 * unit, 9 * unit
    expected = math.log(0.5) + log_density(family.name, x, 3 * unit, 0.05 * unit**2)
    assert model.joint_log_likelihood(f"SELECT {x} AS x, {z} AS z").fetchall()[0][-1] == near(expected)


@pytest.mark.few
@pytest.mark.parametrize("shape", [1e-9, 1e-3, 0.5, 1.0, 9.99, 10.01, 1e3, 1e6, 1e9])
def test_no_digits_are_lost_in_shapes_of_any_size(con, shape):
    given = {"a": {"x": {"mean": 1.0, "variance": 1 / shape}}}
    model = nbsql.from_tables(con, priors={"a": 1}, likelihoods=given, families={"x": nbsql.Gamma()}, name="m")
    points = [1.0, 1 + 1 / math.sqrt(max(shape, 1)), 0.5]
    for x in points:
        found = model.joint_log_likelihood(f"SELECT {x!r}::DOUBLE AS x").fetchall()[0][-1]
        expected = float(stats.gamma.logpdf(x, shape, scale=1 / shape))
        assert found == pytest.approx(expected, rel=1e-9, abs=max(1e-9, 1e-14 * shape))


@pytest.mark.parametrize(
    ("family", "other", "message"),
    [
        ("gamma", -1.0, "are 0 or negative; gamma numbers must be above 0"),
        ("beta", 1.0, "are not between 0 and 1; beta numbers must be above 0 and below 1"),
    ],
)
def test_numbers_outside_are_refused_by_a_fit(con, refused, family, other, message):
    con.execute(f"CREATE TABLE rows AS FROM (VALUES ('a', 0.2), ('a', {other}), ('b', 0.0)) t(y, x)")
    with refused(nbsql.InputError, f"2 values of column 'x' {message}"):
        nbsql.fit(con, "rows", target="y", families={"x": family}, name="m")


@pytest.mark.slow
def test_every_density_of_a_model_is_what_it_is_alone(con):
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


def test_the_logarithm_of_the_beta_function_is_that_of_the_library(con):
    render = Renderer("duckdb")
    sql = render.statement("log_beta", *map(render.dialect.query, ("a", "b", "(a + b)")))
    sizes = [1e-9, 1e-4, 0.5, 1.0, 2.5, 9.99, 10.01, 77.0, 1e3]
    values = ", ".join(f"({a!r}::DOUBLE, {b!r}::DOUBLE)" for a in sizes for b in sizes)
    for a, b, found in con.execute(f"SELECT a, b, {sql} FROM (VALUES {values}) AS pairs(a, b)").fetchall():
        assert found == pytest.approx(special.betaln(a, b), rel=2e-12, abs=2e-12)
