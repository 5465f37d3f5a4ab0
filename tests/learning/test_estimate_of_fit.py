"""One estimate for a whole model: the mean or the mode of the posterior distributions, or maximum likelihood."""

from functools import partial

import pytest
from support.algebra import alike

import nbsql

near = partial(pytest.approx, rel=1e-13, abs=1e-15)

ROWS = """FROM (VALUES ('a', 'u', TRUE, ['s', 't'], 'one two', 1, 4, 3, 2.0), ('a', 'v', TRUE, ['s'], 'one', 2, 0, 1, 5.0),
    ('a', 'u', FALSE, ['s'], 'one', 2, 0, 2, 6.5), ('b', 'u', FALSE, ['t', 't'], 'two three', 0, 3, 0, 1.0),
    ('b', 'v', TRUE, [], '', 3, 3, 4, 3.5)) AS t(y, c, f, bag, words, m1, m2, calls, x)"""


def families(kind, **options):
    """Every family with a prior, and numbers without one."""
    numbers = {} if kind == "mle" else {"prior": nbsql.NormalInverseGamma(a=3, b=2)}
    counts = (0, 0) if kind == "mle" else (2, 1.5)
    return {
        "c": nbsql.Categorical(**options),
        "f": nbsql.Bernoulli(**options),
        "bag": nbsql.Tokens(**options),
        "words": nbsql.Text(**options),
        "m": nbsql.Multinomial(["m1", "m2"], **options),
        "calls": nbsql.Poisson(*counts, **options),
        "x": nbsql.Gaussian(**numbers, **options),
    }


@pytest.mark.parametrize(("estimate", "alpha"), [("mean", 1.5), ("mode", 1.5), ("map", 1.5), ("mle", None)])
def test_the_estimate_of_a_fit_is_that_of_every_family(con, estimate, alpha):
    one = nbsql.fit(con, ROWS, target="y", alpha=alpha, estimate=estimate, families=families(estimate))
    each = nbsql.fit(con, ROWS, target="y", alpha=alpha, families=families(estimate, estimate=estimate))
    assert one.families == each.families
    assert {family.estimate for family in one.families.values()} == {"mode" if estimate == "map" else estimate}
    alike(one.likelihoods.fetchall(), each.likelihoods.fetchall())
    alike(one.joint_log_likelihood(ROWS).fetchall(), each.joint_log_likelihood(ROWS).fetchall())


@pytest.mark.slow
def test_the_three_estimates_of_a_category_by_hand(con):
    def found(**options):
        model = nbsql.fit(con, ROWS, target="y", features=["c"], **options)
        return {row[2]: row[3] for row in model.likelihoods if row[0] == "a"}

    assert found(alpha=3, estimate="mean") == near({"u": (2 + 3) / (3 + 6), "v": (1 + 3) / (3 + 6)})
    assert found(alpha=3) == found(alpha=3, estimate="mean")
    assert found(alpha=3, estimate="mode") == near({"u": (2 + 3 - 1) / (3 + 6 - 2), "v": (1 + 3 - 1) / (3 + 6 - 2)})
    assert found(estimate="mode") == found(estimate="mle") == near({"u": 2 / 3, "v": 1 / 3})
    own = {"c": nbsql.Categorical(alpha=3, estimate="mean")}
    assert found(estimate="mle", families=own) == found(alpha=3)


@pytest.mark.slow
def test_the_estimate_is_of_the_smoothed_prior_too(con):
    def priors(**options):
        options = {"prior": "smoothed", **options}
        model = nbsql.fit(con, ROWS, target="y", features=["c"], name="m", replace=True, **options)
        alike(nbsql.load(con, "m").priors.fetchall(), model.priors.fetchall())
        model.update(ROWS)
        return {row[0]: row[2] for row in model.priors}

    assert priors() == near({"a": (6 + 1) / (10 + 2), "b": (4 + 1) / (10 + 2)})
    three = nbsql.Smoothed(3)
    assert priors(prior=three, estimate="mode") == near({"a": (6 + 3 - 1) / (10 + 6 - 2), "b": (4 + 3 - 1) / (10 + 6 - 2)})
    assert priors(estimate="mode") == priors(estimate="mle") == near({"a": 0.6, "b": 0.4})


@pytest.mark.slow
def test_what_has_no_prior_has_its_maximum_likelihood_estimate(con):
    numbers = {"x": nbsql.Gaussian(), "calls": nbsql.Gaussian(variance="sample"), "m1": nbsql.Kernel(), "m2": "poisson"}
    plain = nbsql.fit(con, ROWS, target="y", features=[*numbers], families=numbers)
    mode = nbsql.fit(con, ROWS, target="y", features=[*numbers], families=numbers, estimate="mode")
    alike(mode.likelihoods.fetchall(), plain.likelihoods.fetchall())
    assert [family.estimate for family in mode.families.values()] == ["mle", "mean", "mean", "mle"]
    joint = nbsql.fit(con, ROWS, target="y", features=["c", "f"], method="joint")
    for estimate in ("mode", "mle"):
        again = nbsql.fit(con, ROWS, target="y", features=["c", "f"], method="joint", estimate=estimate)
        alike(again.likelihoods.fetchall(), joint.likelihoods.fetchall())
    lda = nbsql.fit(con, ROWS, target="y", features=["x", "calls"], method="lda", estimate="mle")
    assert lda.families["lda"].estimate == "mle"


@pytest.mark.slow
def test_a_sweep_and_a_cross_validation_take_it(con):
    rows = "SELECT 'k' || i % 3 AS c, i % 4 = 0 AS f, i % 5 > 2 AS y FROM range(60) AS r(i)"
    swept = nbsql.sweep(con, rows, target="y", alpha=[1, 3], estimate="mode", folds=3)
    assert swept.best().families["c"].estimate == "mode"
    for rank, alpha, *_, log_loss in swept.ranking:
        found = nbsql.cross_validate(con, rows, target="y", alpha=alpha, estimate="mode", folds=3)
        assert (rank, found.log_loss) == (rank, pytest.approx(log_loss, rel=1e-12))
