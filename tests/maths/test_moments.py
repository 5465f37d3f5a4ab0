"""Densities of numbers (beta, gamma, zero-inflated ones): against calculations by hand and scipy's, in every form."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import fmean, pvariance
from typing import Any

import pytest
from scipy import stats
from support.inserted import insert
from support.nearly import near

import nbsql

Row = tuple[int, str, float | None, float]
Point = tuple[float | None, float | None]


def beta(values, x):
    """ln p(x) of the beta distribution with the mean and the variance of some values."""
    mean, variance = fmean(values), pvariance(values)
    size = mean * (1 - mean) / variance - 1
    a, b = mean * size, (1 - mean) * size
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return (a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - log_beta if 0 < x < 1 else -math.inf


def gamma(values, x):
    """ln p(x) of the gamma distribution with the mean and the variance of some values; 0 is outside, whatever the shape."""
    mean, variance = fmean(values), pvariance(values)
    return float(stats.gamma.logpdf(x, mean**2 / variance, scale=variance / mean)) if x > 0 else -math.inf


def zero_inflated(of):
    """ln P(0), or ln(1 - P(0)) and the log-density of x, by the values of a class that are not 0; alpha is 1."""

    def density(values, x):
        others = [value for value in values if value != 0]
        zero = (len(values) - len(others) + 1) / (len(values) + 2)
        if x == 0:
            return math.log(zero)
        logs = [math.log(value) if of == "lognormal" else value for value in others]
        if of == "gaussian":
            found = stats.norm.logpdf(x, fmean(others), math.sqrt(pvariance(others)))
        elif of == "lognormal":
            found = stats.lognorm.logpdf(x, math.sqrt(pvariance(logs)), scale=math.exp(fmean(logs)))
        elif of == "exponential":
            found = stats.expon.logpdf(x, scale=fmean(others))
        else:
            found = gamma(others, x)
        return math.log1p(-zero) + float(found)

    return density


def some_rows(x, z):
    """Rows of two classes, some of which lack x."""
    chance = random.Random(7)  # noqa: S311
    rows = []
    for i in range(120):
        label = ("even", "odd", "odd")[i % 3]
        value = x(chance, label)
        rows.append((i, label, None if i % 10 == 0 else value, z(chance)))
    return rows


@dataclass(frozen=True)
class Case:
    """A family, rows to learn, points to score, the first of them inside, and a row (y, x, z) to learn and to forget."""

    name: str
    families: dict[str, Any]
    density: Callable[[Sequence[float], float], float]
    rows: list[Row]
    points: list[Point]
    more: str
    of: str = ""  # zero-inflated: the family of what is not 0

    def told(self, values):
        """What the likelihoods say of the values of a class: mean, variance and rate."""
        others = [value for value in values if value != 0] if self.of else values
        others = [math.log(value) for value in others] if self.of == "lognormal" else others
        mean = fmean(others)
        rate = (len(values) - len(others) + 1) / (len(values) + 2) if self.of else None
        return mean, mean**2 if self.of == "exponential" else pvariance(others), rate

    def fit(self, con, source="rows", **options):
        return nbsql.fit(con, source, target="y", name="m", exclude=["i"], families=self.families, replace=True, **options)

    def joint(self, learnt, point, unseen="skip"):
        """The joint log-likelihood of each class, by hand."""
        found = {}
        for label in ("even", "odd"):
            own = [row for row in learnt if row[1] == label]
            found[label] = math.log(len(own) / len(learnt))
            for column, x in enumerate(point, start=2):
                if x is not None:
                    term = self.density([row[column] for row in own if row[column] is not None], x)
                    found[label] += 0 if unseen == "skip" and term == -math.inf else term
        return found

    @property
    def first(self):
        """The first point as a source."""
        return f"SELECT {self.points[0][0]} AS x, {self.points[0][1]} AS z"

    def scores(self, con, sql):
        query = f"SELECT points.x, points.z, joint_log_likelihood_even, joint_log_likelihood_odd FROM ({sql}) AS points"
        found = {row[:2]: row[2:] for row in con.execute(query).fetchall()}
        return [found[point] for point in self.points]


CASES = [
    Case(  # most values of one class are near 0 and 1
        "beta",
        {"x": "beta", "z": nbsql.Beta(floor=0.01)},
        beta,
        some_rows(
            lambda chance, label: min(max(chance.betavariate(*{"even": (2.0, 5.0), "odd": (0.4, 0.7)}[label]), 1e-9), 1 - 1e-9),
            lambda chance: 0.2 + 0.6 * chance.random(),
        ),
        [(0.3, 0.9), (0.001, 0.5), (0.999, None), (None, None), (1.0, 0.5), (-0.5, 0.2), (0.5, 0.0)],
        "'odd' AS y, 0.5 AS x, 0.25 AS z",
    ),
    Case(  # most values of one class are near 0, and the numbers z have a large shape
        "gamma",
        {"x": "gamma", "z": nbsql.Gamma(floor=0.01)},
        gamma,
        some_rows(
            lambda chance, label: chance.gammavariate(*{"even": (2.0, 5.0), "odd": (0.4, 0.7)}[label]),
            lambda chance: 1000 + 100 * chance.random(),
        ),
        [(0.3, 900.0), (1e-6, 1000.5), (40.0, None), (None, None), (0.0, 1000.5), (-0.5, 1100.0), (0.5, 0.0)],
        "'odd' AS y, 0.5 AS x, 1050 AS z",
    ),
    *(
        Case(  # a third, or two thirds, of x are 0, and half of z
            f"zero_inflated {of}",
            {"x": nbsql.ZeroInflated(of=of), "z": nbsql.ZeroInflated(of=of, floor=0.01)},
            zero_inflated(of),
            some_rows(
                lambda chance, label: chance.gammavariate(2.0, 5.0) * (chance.random() < {"even": 0.67, "odd": 0.33}[label]),
                lambda chance: 10 + 100 * chance.random() if chance.random() < 0.5 else 0.0,
            ),
            [
                (0.3, 90.0),
                (0.0, 10.5),
                (40.0, None),
                (None, 0.0),
                (None, None),
                (-0.5, 11.0),
                (0.5, 0.0),
                (0.0, -3.0),
                (0.0, 0.0),
            ],
            "'odd' AS y, 0.0 AS x, 50 AS z",
            of,
        )
        for of in ("lognormal", "gamma", "exponential", "gaussian")
    ),
]


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request):
    return request.param


@pytest.fixture
def rows(con, case):
    con.execute("CREATE TABLE rows(i INTEGER, y VARCHAR, x DOUBLE, z DOUBLE)")
    insert(con, "rows", case.rows)
    con.execute("CREATE TABLE points(x DOUBLE, z DOUBLE)")
    insert(con, "points", case.points)
    return con


@pytest.mark.few
@pytest.mark.parametrize("unseen", ["skip", "smooth"])
@pytest.mark.forms("unseen")
def test_scores_are_those_by_hand_in_every_form(rows, case, layout, unseen):
    options = {} if case.of == "gaussian" else {"unseen": unseen}  # no number is outside of a normal one
    model = case.fit(rows, **options)
    expected = [tuple(case.joint(case.rows, point, unseen).values()) for point in case.points]
    forms = [{}, {"inline": True}, {"dialect": "duckdb"}]
    scored = [case.scores(rows, model.sql("joint_log_likelihood", "points", **form)) for form in forms]
    for point, (even, odd) in zip(case.points, expected, strict=True):
        probabilities = model.predict_one({"x": point[0], "z": point[1]})["probabilities"]
        assert probabilities["even"] == (near(1 / (1 + math.exp(odd - even))) if math.isfinite(even) else None)
    layout(wide_classes=0)
    scored.append(case.scores(rows, case.fit(rows, **options).sql("joint_log_likelihood", "points")))
    for found in scored:
        assert found == [near(pair) for pair in expected]


def test_contributions_are_densities(rows, case):
    found = case.fit(rows).explain(case.first).fetchall()
    point = case.points[0]
    expected = case.joint(case.rows, point)["even"] - case.joint(case.rows, (None, point[1]))["even"]
    assert {(row[1], row[2]): row[-1] for row in found}["even", "x"] == near(expected)


def test_the_likelihoods_are_mean_and_variance(rows, case):
    case.fit(rows)
    found = rows.execute("SELECT class, mean, variance, rate FROM m.likelihoods WHERE feature = 'x' ORDER BY class").fetchall()
    for label, *numbers in found:
        values = [row[2] for row in case.rows if row[1] == label and row[2] is not None]
        assert tuple(numbers) == near(case.told(values))


@pytest.mark.few
def test_rows_left_out_are_scored_by_the_others(rows, case):
    found = nbsql.cross_validate(rows, "rows", folds="loo", exclude=["i"], target="y", families=case.families)
    losses = []
    for left_out in case.rows:
        scores = case.joint([row for row in case.rows if row is not left_out], left_out[2:])
        losses.append(math.log(sum(math.exp(score - scores[left_out[1]]) for score in scores.values())))
    assert found.log_loss == near(fmean(losses))


def test_segments_have_densities_of_their_own(rows, case):
    source = "SELECT *, i % 2 AS shop FROM rows"
    model = nbsql.fit(
        rows,
        source,
        target="y",
        exclude=["i"],
        families=case.families,
        name="m",
        segment_by=nbsql.Segments("shop", shrinkage=0),
    )
    own = [row for row in case.rows if row[0] % 2 == 1]
    found = model.joint_log_likelihood(f"{case.first}, 1 AS shop").fetchall()[0]
    assert found[-2:] == near(tuple(case.joint(own, case.points[0]).values()))


def test_another_engine_counts_the_same_cells(rows, case):
    model = case.fit(rows)
    query = f"FROM ({model.sql('statistics', 'rows', dialect='duckdb')}) AS cells"
    ours, theirs = (
        rows.execute(f"SELECT class, feature, value, n, mean, m2 {cells} ORDER BY class, feature, value").fetchall()
        for cells in ("FROM m.statistics", query)
    )
    assert [row[:3] for row in theirs] == [row[:3] for row in ours]
    assert [row[3:] for row in theirs] == [tuple(None if x is None else near(x) for x in row[3:]) for row in ours]


@pytest.mark.parametrize("case", CASES[:2], ids=lambda case: case.name)
def test_uses_that_it_has_not_are_refused(rows, case, refused):
    model = case.fit(rows)
    with refused(
        nbsql.InputError,
        f"model 'm' cannot be sampled: 'x', 'z' of family {case.name!r} with these options does not say how a row comes about; "
        "fit it without",
    ):
        model.sample(10, seed=1)
    why = "no polynomial of its number; cut it into bins, families={'x': nbsql.Binned()}"
    with refused(nbsql.ModelError, f"model 'm' has no linear form: 'x' is {case.name}, {why}"):
        model.linear()


def test_the_script_of_a_fit_is_as_careful_as_the_fit(con):
    con.execute("""CREATE TABLE odd AS SELECT i % 2 AS y,
        CASE i WHEN 3 THEN 'nan' WHEN 5 THEN '-inf' WHEN 7 THEN '1e200' ELSE sin(i)::VARCHAR END::DOUBLE AS x,
        1e9 + CASE WHEN i < 20 THEN 0 ELSE -1e9 END + i % 5 AS far FROM range(40) AS t(i)""")
    con.execute(nbsql.fit_sql(con, "odd", target="y", name="scripted"))
    models = nbsql.load(con, "scripted"), nbsql.fit(con, "odd", target="y")
    found, wanted = (sorted(model.likelihoods.fetchall(), key=itemgetter(0, 1)) for model in models)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours[:2] == theirs[:2]
        assert ours[5:7] == pytest.approx(theirs[5:7], rel=1e-9)
