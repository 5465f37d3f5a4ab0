"""Numbers cut into bins: the edges against numpy and scikit-learn, and bins as categories."""

from functools import partial
from math import log

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import KBinsDiscretizer

import nbsql

pytestmark = pytest.mark.usefixtures("form")


near = partial(pytest.approx, rel=1e-13, abs=1e-15)

AGES = "FROM (VALUES ('a', 3), ('a', 18), ('a', 17), ('b', 64), ('b', 65), ('b', 70), ('b', NULL)) AS rows(y, x)"


@pytest.mark.parametrize("column", ["x", "x::DOUBLE", "x::DECIMAL(5, 1)"])
def test_given_edges(con, joint, column):
    family = nbsql.Binned(by=[18, 65])
    model = nbsql.fit(con, f"SELECT y, {column} AS x {AGES}", target="y", families={"x": family}, name="kept")
    found = {(row[0], row[2]): row[3] for row in model.likelihoods}
    assert found == near(
        {
            ("a", "(-inf, 18)"): 3 / 6,
            ("a", "[18, 65)"): 2 / 6,
            ("a", "[65, inf)"): 1 / 6,
            ("b", "(-inf, 18)"): 1 / 6,
            ("b", "[18, 65)"): 2 / 6,
            ("b", "[65, inf)"): 3 / 6,
        }
    )
    loaded = nbsql.load(con, "kept")
    assert loaded.families == model.families
    expected = [
        {"a": log(3 / 7) + log(p), "b": log(4 / 7) + log(q)} for p, q in ((1 / 2, 1 / 6), (1 / 3, 1 / 3), (1 / 6, 1 / 2))
    ]
    expected.append({"a": log(3 / 7), "b": log(4 / 7)})
    for one in (model, loaded):
        for value, scores in zip(("-1000", "18", "65", "NULL"), expected, strict=True):
            assert joint(one, f"SELECT {column} AS x FROM (SELECT {value} AS x)") == [near(scores)]
    explained = [row[2:] for row in model.explain("SELECT 18 AS x") if row[2] == "x"]
    assert explained == [("x", "18", near(log(1 / 3)))] * 2


def test_a_missing_number_can_be_a_bin_and_so_are_those_that_are_not_finite(con, joint):
    family = nbsql.Binned(by=[18], nulls="category", alpha=2)
    rows = "SELECT y, x::DOUBLE AS x FROM (VALUES ('a', '3'), ('a', 'nan'), ('b', NULL), ('b', '-inf'), ('b', '20')) AS t(y, x)"
    model = nbsql.fit(con, rows, target="y", families={"x": family})
    assert {row[2]: row[3] for row in model.likelihoods if row[0] == "b"} == near(
        {"(-inf, 18)": 2 / 9, "[18, inf)": 3 / 9, None: 4 / 9}
    )
    expected = {"a": near(log(2 / 5) + log(3 / 8)), "b": near(log(3 / 5) + log(4 / 9))}
    assert joint(model, "SELECT unnest([NULL, 'nan', 'inf'])::DOUBLE AS x") == [expected] * 3


@pytest.mark.parametrize("bins", [2, 7, 40])
def test_quantiles_are_those_of_numpy_and_ties_make_fewer(con, bins):
    con.execute(
        "CREATE TABLE numbers AS SELECT 'c' || i % 2 AS y, (i * i) % 53 - 20 AS x, i % 4 AS w FROM range(200) AS rows(i)"
    )
    x, w = (con.execute("SELECT x, w FROM numbers").fetchnumpy()[name].astype(float) for name in "xw")
    family = nbsql.Binned(bins=bins)
    plain = nbsql.fit(con, "numbers", target="y", features=["x"], families={"x": family})
    weighted = nbsql.fit(con, "numbers", target="y", families={"x": family}, weight="w")
    steps = np.arange(1, bins) / bins
    for model, values in ((plain, x), (weighted, np.repeat(x, w.astype(int)))):
        edges = np.quantile(values, steps, method="inverted_cdf")
        assert model.families["x"].edges == tuple(sorted({edge for edge in edges if edge > values.min()}))
    assert len(plain.families["x"].labels) <= bins
    copies = nbsql.fit(con, "SELECT y, x FROM numbers, range(w)", target="y", families={"x": family})
    assert copies.families == weighted.families
    assert copies.likelihoods.fetchall() == weighted.likelihoods.fetchall()


@pytest.mark.parametrize("bins", [3, 12])
def test_bins_of_equal_width_are_those_of_scikit_learn(con, data, joint, bins):
    frame = con.sql(f"SELECT * FROM read_csv('{data}/iris.csv')").df()
    names = [name for name in frame if name != "species"]
    cut = KBinsDiscretizer(n_bins=bins, encode="ordinal", strategy="uniform").fit(frame[names])
    codes = cut.transform(frame[names]).astype(int)
    oracle = CategoricalNB(min_categories=bins).fit(codes, frame["species"])
    families = {}
    found = nbsql.fit(con, frame, target="species", families=dict.fromkeys(names, nbsql.Binned(bins=bins, by="width"))).families
    for name, edges in zip(names, cut.bin_edges_, strict=True):
        assert found[name].edges == pytest.approx(tuple(edges[1:-1]), rel=1e-12)
        families[name] = nbsql.Binned(by=edges[1:-1].tolist())  # the last bit of an edge decides where a value on it falls
    model = nbsql.fit(con, frame, target="species", families=families)
    ours = np.array([list(row.values()) for row in joint(model, frame)])
    np.testing.assert_allclose(ours, oracle.predict_joint_log_proba(codes), rtol=1e-12)


def test_a_column_without_numbers_and_one_without_spread(con):
    rows = "FROM (VALUES ('a', NULL::INTEGER, 7), ('b', NULL, 7)) AS rows(y, x, z)"
    with pytest.warns(nbsql.NbsqlWarning):
        model = nbsql.fit(con, rows, target="y", families={"x": "binned", "z": "binned"})
    assert model.families["z"].edges == ()
    assert model.predict_proba("SELECT 1 AS x, 9 AS z").fetchall()[0][-2:] == (0.5, 0.5)


@pytest.mark.parametrize("weight", [None, "w"])
def test_numbers_are_cut_together_as_each_alone(con, weight):
    columns = ", ".join(f"sin(i * {n + 1}) * {n + 1} AS x{n}" for n in range(4))
    source = f"SELECT i % 2 AS y, {columns}, 1 + i % 3 AS w FROM range(60) AS r(i)"
    families = {f"x{n}": nbsql.Binned(bins=4) if n < 2 else nbsql.Kernel(cells=32) for n in range(4)}

    def found(*names):
        chosen = {name: families[name] for name in names}
        return dict(nbsql.fit(con, source, target="y", families=chosen, features=[*names], weight=weight).families)

    together = found(*families)
    for name in families:
        alone = found(name)[name]
        if isinstance(alone, nbsql.Kernel):
            assert (together[name].low, together[name].width) == near((alone.low, alone.width))
        else:
            assert together[name].edges == near(alone.edges)
            assert len(alone.edges) == 3


def test_edges_stay_when_more_is_learnt(con):
    model = nbsql.fit(con, AGES, target="y", families={"x": nbsql.Binned(bins=2)}, name="kept")
    assert model.families["x"].edges == (18,)
    model.update("SELECT 'a' AS y, 1000 AS x")
    assert nbsql.load(con, "kept").families["x"].edges == (18,)
    assert {row[2]: row[3] for row in model.likelihoods if row[0] == "a"} == near({"(-inf, 18)": 3 / 6, "[18, inf)": 3 / 6})


def test_whole_numbers_as_categories_are_the_same_when_they_come_as_doubles(con):
    model = nbsql.fit(con, AGES, target="y", families={"x": "categorical"}, name="kept")
    values = {row[2] for row in model.likelihoods}
    model.update(f"SELECT y, x::DOUBLE AS x {AGES}")
    assert {row[2] for row in model.likelihoods} == values


def test_bins_are_cross_validated_with_the_edges_of_all_rows(con):
    rows = "SELECT 'c' || i % 2 AS y, (i * i) % 53 + 5 * (i % 2) AS x, i % 3 AS k FROM range(90) AS r(i)"
    con.execute(f"CREATE TABLE numbers AS {rows}")
    family = nbsql.Binned(bins=4)
    edges = nbsql.fit(con, "numbers", target="y", features=["x"], families={"x": family}).families["x"].edges
    found = nbsql.cross_validate(con, "numbers", target="y", families={"x": family}, fold="k")
    given = nbsql.cross_validate(con, "numbers", target="y", families={"x": nbsql.Binned(by=edges)}, fold="k")
    assert found.accuracy == given.accuracy
    assert found.log_loss == pytest.approx(given.log_loss, rel=1e-12)


def test_a_norm_that_depends_on_all_texts_has_no_folds(con):
    rows = "SELECT 'c' || i % 2 AS y, 'w' || i % 7 AS x FROM range(20) AS r(i)"
    with pytest.raises(nbsql.InputError, match="'x' is estimated from all rows at once, so that no fold can be left out"):
        nbsql.cross_validate(con, rows, target="y", families={"x": nbsql.Text(tfidf=True, norm="l2")})
