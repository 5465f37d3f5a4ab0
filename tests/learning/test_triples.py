"""`nbsql.Weighted(triples=N)`: triples of columns that tell what no two of them tell."""

from __future__ import annotations

from itertools import combinations

import duckdb
import numpy as np
import pandas as pd
import pytest
from support.nearly import near

import nbsql
from nbsql.learning.interactions import gains_of_triples

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

# The class is whether an odd number of three things is so, in nine rows of ten; d says nothing, and is missing in some.
ROWS = """CREATE OR REPLACE TABLE t AS SELECT
  i AS id, a, b, CASE WHEN c THEN 'u' ELSE 'v' END AS c,
  CASE WHEN hash(10 * i + 4) % 7 > 0 THEN 'd' || hash(10 * i + 5) % 3 END AS d,
  CASE WHEN ((a > 20) <> (b <> c)) = (hash(10 * i + 9) % 10 > 0) THEN 'yes' ELSE 'no' END AS y
FROM (
  SELECT i, (hash(10 * i + 1) % 42)::INT AS a, hash(10 * i + 2) % 2 = 0 AS b, hash(10 * i + 3) % 2 = 0 AS c
  FROM range(900) AS r(i)
)"""
OPTIONS = {"target": "y", "features": ["a", "b", "c", "d"]}
TRIPLES = nbsql.Weighted(views=False, triples=5, penalty=2)
NAME = "b & c & a"


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as con:
        con.execute(ROWS)
        yield con


@pytest.fixture(scope="module")
def model(con):
    return nbsql.fit(con, "t", method=TRIPLES, name="tripled", **OPTIONS)


def gain_by_hand(cells, y, weights, classes):
    """The gain of three columns and its standard error, row by row: each is left out of the counts (Kirkwood, 1935)."""
    indicators = np.eye(classes)[y]
    known = np.array([None not in row for row in cells])
    cells, y, indicators, weights = cells[known], y[known], indicators[known], weights[known]
    own = float(weights.mean())
    counts = weights[:, None] * indicators
    prior = (counts.sum(axis=0) + 1) / (counts.sum() + classes)

    def shrunk(axes, toward):
        found = np.zeros_like(toward)
        for i, row in enumerate(cells):
            same = (cells[:, axes] == row[axes]).all(axis=1)
            n = counts[same].sum(axis=0) - own * indicators[i]
            found[i] = (n + 5 * toward[i]) / (n.sum() + 5)
        return found

    of_one = [shrunk([axis], np.tile(prior, (len(cells), 1))) for axis in range(3)]
    product = prior * np.ones_like(of_one[0])
    for one, other in combinations(range(3), 2):
        both = of_one[one] * of_one[other] / prior
        product = product * shrunk([one, other], both / both.sum(axis=1, keepdims=True))
    product = product / (of_one[0] * of_one[1] * of_one[2])
    product /= product.sum(axis=1, keepdims=True)
    rows = np.arange(len(y))
    gains = np.log(shrunk([0, 1, 2], product)[rows, y] / product[rows, y])
    total = (weights * gains).sum()
    return total / own, float(np.sqrt((weights * gains**2).sum() - total**2 / weights.sum())) / own


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("classes", [2, 3])
def test_gains_are_those_of_numpy(con, model, classes):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 3, (200, 4)).astype(object)
    y = (values[:, :3].sum(axis=1) + (rng.random(200) < 0.2)).astype(int) % classes
    values[rng.random(values.shape) < 0.05] = None
    frame = pd.DataFrame({f"value_{j + 1}": pd.array(values[:, j], dtype="Int64") for j in range(4)} | {"class": y, "n": 2.0})
    con.register("drawn", frame)
    engine = model.state.engine
    con.execute("CREATE OR REPLACE TABLE coded AS FROM drawn")
    ident = engine.renderer.dialect.ident
    triples = [*combinations(range(1, 5), 3)]
    ranked = engine.create(
        "rank the values", ident("ranked"), engine.renderer.fragment("ranked_values", ident("coded"), [1, 2, 3, 4])
    )
    found = engine.query_macro("gains_of_triples", ranked, [1, 2, 3, 4], triples, classes, 2.0)
    for place, gain, error in found:
        cells = values[:, [number - 1 for number in triples[place - 1]]]
        expected = gain_by_hand(cells, y, np.full(200, 2.0), classes)
        assert (gain / 2, error / 2) == near(expected)
    best = gains_of_triples(engine, ident("coded"), ident("again"), [1, 2, 3, 4], classes)
    assert best[:1] == [(2, 3, 1)]
    con.execute("DROP TABLE ranked; DROP TABLE again")


def test_a_triple_says_what_its_cell_says_beyond_two_of_its_columns(con, model):
    """By hand from the rows, times the weight."""
    assert [*model.families] == ["a", "b", "c", "d", NAME]
    triple = model.families[NAME]
    assert (triple.name, triple.parent_names) == ("interaction", ["c", "a"])
    assert len(triple.further[0].edges) == 9
    rows = con.execute("FROM t").df()
    bins = np.digitize(rows["a"], triple.further[0].edges)
    weight = dict(con.execute("SELECT feature, weight FROM tripled.weights WHERE class = 'yes'").fetchall())[NAME]
    query = f"SELECT row_id, class, contribution FROM tripled.explain('t') WHERE feature = '{NAME}'"
    found = {(row, label): value for row, label, value in con.execute(query).fetchall()}

    def ratio(i, label):
        of_class = (rows["y"] == label).to_numpy()
        v, u, w = ((rows["b"] == rows["b"][i]).to_numpy(), (rows["c"] == rows["c"][i]).to_numpy(), bins == bins[i])
        plain = ((of_class & v).sum() + 1) / (of_class.sum() + 2)
        given_u = ((of_class & v & u).sum() + 5 * plain) / ((of_class & u).sum() + 5)
        return float(np.log(((of_class & v & u & w).sum() + 5) / ((of_class & u & w).sum() * given_u + 5)))

    for i in range(0, 900, 90):
        expected = weight * (ratio(i, "yes") - ratio(i, "no"))
        assert found[i + 1, "yes"] - found[i + 1, "no"] == near(expected)


@pytest.mark.nightly
def test_triples_tell_what_no_pairs_can(con):
    pairs, both = (
        nbsql.cross_validate(
            con, "t", method=nbsql.Weighted(views=False, pairs=5, triples=triples), folds=2, **OPTIONS
        ).log_loss
        for triples in (0, 5)
    )
    assert pairs > 0.68
    assert both < 0.45


def test_columns_that_tell_nothing_together_are_no_triple(con):
    columns = ", ".join(
        f"hash(10 * id + {place}) % {place} AS {name}" for place, name in ((3, "p"), (4, "q"), (7, "r"), (99, "s"))
    )
    query = f"SELECT y, {columns} FROM t"
    assert [*nbsql.fit(con, query, target="y", method=TRIPLES).families] == ["p", "q", "r", "s"]


@pytest.mark.nightly
def test_auto_finds_them(con):
    pool = nbsql.Weighted(penalty=10, triples=40, parents=2)
    found = nbsql.auto(con, "SELECT * EXCLUDE (id) FROM t", target="y", methods=["naive", "weighted", pool])
    assert found.method == pool
    assert found.held_out.log_loss < 0.5
    assert NAME in found.best().families


@pytest.mark.slow
def test_of_many_rows_some_are_enough(con, monkeypatch):
    monkeypatch.setattr("nbsql.learning.interactions.ROWS_OF_THREE", 300)
    assert NAME in nbsql.fit(con, "t", method=TRIPLES, **OPTIONS).families


def test_of_many_columns_those_are_tried_that_say_most(con, monkeypatch):
    monkeypatch.setattr("nbsql.learning.interactions.MOST_COLUMNS_OF_THREE", 2)
    assert len(nbsql.fit(con, "t", method=TRIPLES, **OPTIONS).families) == 4


def test_what_triples_are_not_for(con, model):
    with pytest.raises(nbsql.InputError, match=r"^triples must be a whole number from 0 to 100, not 101$"):
        nbsql.Weighted(triples=101)
    why = r"^triples come with method=nbsql.Weighted\(triples=40\), beside the columns they are of; leave them out of families$"
    with pytest.raises(nbsql.InputError, match=why):
        nbsql.fit(con, "t", families=model.families, **OPTIONS)
    once = "SELECT a, b, c, CASE WHEN id = 3 THEN 'once' ELSE y END AS y FROM t"
    with pytest.warns(nbsql.NbsqlWarning, match="^no triples of columns were tried, because 'once' of 'y' has one row"):
        nbsql.fit(con, once, target="y", method=TRIPLES)
