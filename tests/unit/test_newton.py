"""The solver of Newton's steps, apart from any database."""

import math
from types import SimpleNamespace

import pytest

from nbsql.learning.logistic import WeightSearch
from nbsql.learning.newton import Step, with_rise
from nbsql.spec.method import Logistic


def test_mended_products_make_the_gradient_rise_as_it_did():
    products = [(0, 0, [1.0]), (1, 1, [4.0]), (1, 2, [1.0]), (2, 2, [3.0])]
    change, rise = [0.0, 0.5, -0.25], [0.0, 2.5, -1.0]
    mended = {(i, j): product for i, j, (product,) in with_rise(products, change, rise)}
    full = [[mended.get((min(i, j), max(i, j)), 0.0) for j in range(3)] for i in range(3)]
    assert [sum(h * x for h, x in zip(row, change, strict=True)) for row in full] == pytest.approx(rise, abs=1e-12)
    assert full[1][1] * full[2][2] > full[1][2] ** 2  # positive definite


def test_products_stay_where_the_gradient_fell():
    products = [(0, 0, [1.0]), (1, 1, [4.0])]
    assert with_rise(products, [0.0, 0.5], [0.0, -1.0]) is products


@pytest.mark.parametrize(
    ("derivatives", "start"),
    [
        (lambda x: (math.log(math.cosh(x)), math.tanh(x), 1 / math.cosh(x) ** 2), 50.0),  # hardly any curvature at the start
        (lambda x: (math.exp(-x), -math.exp(-x), math.exp(-x)), 0.0),  # as the offset of a class that has no bounds
    ],
)
def test_a_search_ends_where_rows_are_certain(derivatives, start):
    def step(_, point, products):
        value, slope, curvature = derivatives(point[0])
        change = slope / curvature
        return Step(point, value, 1.0, 1.0, [change], slope * change, abs(change), 0), products

    search = SimpleNamespace(
        _step=step, _check_step=lambda *_, **__: None, options=Logistic(), slow=0.3,
        problem=SimpleNamespace(reuses_products=False), null_objective=math.inf,
    )  # fmt: skip
    (found,) = WeightSearch._run_newton(search, None, [[start]])
    assert derivatives(found)[0] == pytest.approx(0, abs=1e-12)
