"""The solver of Newton's steps, apart from any database."""

import pytest

from nbsql.learning.newton import with_rise


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
