"""`nbsql.Weighted(pairs=N)`: pairs of columns that tell together what neither tells alone."""

import subprocess
import sys
from itertools import combinations_with_replacement

import duckdb
import numpy as np
import pandas as pd
import pytest
from learning.test_feature_weights import rows_with_folds, weights_of
from sklearn.linear_model import LogisticRegression

import nbsql
from nbsql.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

# The class is whether x is large or b is u, but not both, in nine rows of ten; c says nothing, and is missing in some.
ROWS = """CREATE OR REPLACE TABLE t AS SELECT
  i AS id, (hash(i) % 9)::INT AS x, CASE WHEN hash(i + 7) % 2 = 0 THEN 'u' ELSE 'v' END AS b,
  CASE WHEN hash(i + 11) % 7 > 0 THEN 'c' || hash(i + 3) % 3 END AS c,
  CASE WHEN ((hash(i) % 9 > 4) = (hash(i + 7) % 2 = 0)) = (hash(i + 99) % 10 > 0) THEN 'yes' ELSE 'no' END AS y
FROM range(600) AS r(i)"""
COLUMNS = ["x", "b", "c"]
OPTIONS = {"target": "y", "features": COLUMNS, "name": "w", "replace": True}


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as con:
        con.execute(ROWS)
        yield con


@pytest.fixture(scope="module")
def model(con):
    return nbsql.fit(con, "t", method=nbsql.Weighted(views=False, pairs=1, penalty=2), **(OPTIONS | {"name": "paired"}))


def ratios(rows, others, edges, label):
    """ln (n_cuv + 5) / (n_cu P(v | c) + 5) of the bin v of x and the value u of b, by the counts of other rows, in Python."""
    bins, own = np.digitize(others["x"], edges), np.digitize(rows["x"], edges)
    of_class, values = (others["y"] == label).to_numpy(), len(set(bins))
    found = []
    for v, u in zip(own, rows["b"], strict=True):
        has_parent = of_class & (others["b"] == u).to_numpy()
        likelihood = ((of_class & (bins == v)).sum() + 1) / (of_class.sum() + values)
        found.append(np.log(((has_parent & (bins == v)).sum() + 5) / (has_parent.sum() * likelihood + 5)))
    return np.array(found)


@pytest.mark.slow
def test_a_pair_says_what_its_cell_says_beyond_its_parts(con, model):
    """By hand from the rows, times the weight; the parts keep what they say by themselves."""
    assert [*model.families] == ["x", "b", "c", "x & b"]
    pair = model.families["x & b"]
    assert (pair.name, pair.parent, pair.parents, len(pair.edges)) == ("interaction", "b", ("u", "v"), 7)
    rows, weight = con.execute("FROM t").df(), weights_of(model, con)["yes", "x & b"]
    query = "SELECT row_id, class, contribution FROM paired.explain('t') WHERE feature = 'x & b'"
    found = {(row, label): value for row, label, value in con.execute(query).fetchall()}
    gaps = [found[row, "yes"] - found[row, "no"] for row in range(1, len(rows) + 1)]
    expected = weight * (ratios(rows, rows, pair.edges, "yes") - ratios(rows, rows, pair.edges, "no"))
    assert gaps == pytest.approx(expected, abs=1e-9)
    likelihoods = con.execute("SELECT value, likelihood FROM paired.likelihoods WHERE feature = 'x & b' AND class = 'no'")
    of_u = [likelihood for value, likelihood in likelihoods.fetchall() if value.endswith('"u"]')]
    assert sum(of_u) == pytest.approx(1, abs=1e-12)  # they are those of the bin given b, and the score alone is a ratio


@pytest.mark.slow
def test_the_weights_of_pairs_are_those_of_logistic_regression(con, model):
    """On what features and the pair say by the counts of the other folds, with their sum as one more column."""
    frame = rows_with_folds(con, model, "y", "t")
    families = model.families
    frame["bin"] = np.digitize(frame["x"], families["x"].edges)
    terms = np.zeros((len(frame), 4))
    for _, rows in frame.groupby("nbsql_slice"):
        others = frame.drop(rows.index)
        for label, sign in (("yes", 1), ("no", -1)):
            for j, column in enumerate(["bin", "b", "c"]):
                known = others.loc[others["y"] == label, column].dropna()
                counts = rows[column].map(known.value_counts()).fillna(0)
                likelihoods = np.log((counts + 1) / (len(known) + others[column].nunique()))
                terms[rows.index, j] += sign * likelihoods.where(rows[column].notna(), 0)
            terms[rows.index, 3] += sign * ratios(rows, others, families["x & b"].edges, label)
    x = np.column_stack([terms.sum(axis=1), terms])
    fitted = LogisticRegression(C=1 / 4, tol=1e-14, solver="newton-cholesky", max_iter=1000).fit(x, frame["y"] == "yes")
    weights = weights_of(model, con)
    found = [weights["yes", name] for name in families]
    assert found == pytest.approx(fitted.coef_[0][0] + fitted.coef_[0][1:], abs=1e-9)


@pytest.mark.few
@pytest.mark.parametrize("few", [True, False])
def test_gains_are_those_of_numpy(con, model, few):
    rng = np.random.default_rng(3)
    n, classes = 400, 3
    values = rng.integers(0, 4, (n, 3)).astype(object)
    values[rng.random((n, 3)) < 0.1] = None
    fold, weight, residuals = rng.integers(0, 5, n), rng.integers(1, 4, n).astype(float), rng.normal(size=(n, classes))
    named = {f"value_{j + 1}": values[:, j] for j in range(3)} | {
        f"r_{k + 1}": weight * residuals[:, k] for k in range(classes)
    }
    con.register("drawn", pd.DataFrame({"fold": fold, "weight": weight, **named}))
    con.execute("CREATE OR REPLACE TABLE coded AS FROM drawn")
    pairs, engine = [*combinations_with_replacement([1, 2, 3], 2)], model.state.engine
    coded = engine.renderer.dialect.ident("coded")
    found = {(a, b): each for a, b, *each in engine.query_macro("gains_of_pairs", coded, pairs, classes, few)}
    for a, b in pairs:
        cells = [None if None in pair else pair for pair in zip(values[:, a - 1], values[:, b - 1], strict=True)]
        known = np.array([cell is not None for cell in cells])
        gain = variance = 0.0
        for i in np.flatnonzero(known):
            others = np.array([cell == cells[i] for cell in cells]) & (fold != fold[i])
            mean = (weight[others, None] * residuals[others]).sum(axis=0) / (weight[others].sum() + 5)
            gains = 2 * mean * residuals[i] - mean**2
            gain, variance = gain + weight[i] * gains.sum(), variance + 2 * weight[i] * (gains**2).sum()
        assert found[a, b] == pytest.approx([gain, np.sqrt(variance)], rel=1e-9)


@pytest.mark.nightly
def test_a_pair_tells_what_no_sum_of_columns_can(con):
    query = "SELECT x > 4 AS a, b, c, (x > 4) = (b = 'u') AS y FROM t"
    losses = {}
    for pairs in (0, 5):
        found = nbsql.cross_validate(con, query, target="y", method=nbsql.Weighted(views=False, pairs=pairs), folds=2)
        losses[pairs] = found.log_loss
    assert losses[0] > 0.68
    assert losses[5] < 0.01


@pytest.mark.nightly
def test_auto_judges_pairs_by_fits_of_the_other_folds(con):
    methods = ["naive", "weighted", nbsql.Weighted(views=False, pairs=2, penalty=1)]
    found = nbsql.auto(con, "SELECT y, x, b, c FROM t", target="y", methods=methods, leave_out=False, calibrate=False)
    losses = {row[1]: row[2] for row in found.ranking.fetchall()}
    paired = {name: loss for name, loss in losses.items() if "pairs" in name}
    assert paired
    assert max(paired.values()) < 0.5 < 0.6 < losses["weighted"]
    assert any("&" in name for name in found.best().families)


@pytest.mark.slow
def test_the_best_features_have_pairs(con):
    query = "SELECT y, x > 4 OR hash(id + 2) % 9 = 0 AS large, b = 'u' OR hash(id + 5) % 9 = 0 AS u, c FROM t"
    method = nbsql.Weighted(views=False, pairs=2)
    best = nbsql.fit(con, query, target="y", method=method, features=nbsql.Best(2), name="w", replace=True)
    assert [*best.families] == ["large", "u", "large & u"]
    counted = con.execute("SELECT DISTINCT feature FROM w.statistics WHERE feature IS NOT NULL ORDER BY feature").fetchall()
    assert counted == [("large",), ("large & u",), ("u",)]
    assert best.evaluate(query).log_loss < 0.5


@pytest.mark.slow
def test_columns_that_add_up_have_no_pairs(con):
    query = "SELECT x, c, CASE WHEN hash(id + 5) % 10 < x THEN 'yes' ELSE 'no' END AS y FROM t"
    model = nbsql.fit(con, query, target="y", method=nbsql.Weighted(views=False, pairs=5))
    assert [*model.families] == ["x", "c"]


@pytest.mark.slow
def test_a_pair_has_a_name_of_its_own(con):
    query = """SELECT y, x AS "x'; --", b, c AS "x'; -- & b" FROM t"""
    model = nbsql.fit(con, query, target="y", method=nbsql.Weighted(views=False, pairs=1), name="w", replace=True)
    assert [*model.families] == ["x'; --", "b", "x'; -- & b", "x'; -- & b together"]
    assert nbsql.load(con, "w").evaluate(query).log_loss == pytest.approx(model.evaluate(query).log_loss, rel=1e-12)
    assert model.evaluate(query).log_loss < 0.5


@pytest.mark.slow
def test_a_refit_finds_its_pairs_anew(con, model):
    """With the families of a model, and in each fold of a calibration."""
    again = nbsql.fit(con, "t", families=model.families, method=nbsql.Weighted(views=False, pairs=1), **OPTIONS)
    assert [*again.families] == ["x", "b", "c", "x & b"]
    assert again.calibrate("t", folds=2).temperature == pytest.approx(1, abs=0.5)


def test_a_class_of_one_row_has_no_pairs_and_it_is_said(con):
    query = "SELECT x, b, CASE WHEN id = 3 THEN 'once' ELSE y END AS y FROM t"
    why = "^no pairs of columns were tried, because 'once' of 'y' has one row, which no other fold has; leave it out, or merge"
    with pytest.warns(nbsql.NbsqlWarning, match=why):
        model = nbsql.fit(con, query, target="y", method=nbsql.Weighted(views=False, pairs=1))
    assert [*model.families] == ["x", "b"]


def test_what_pairs_are_not_for(con, model):
    with pytest.raises(InputError, match=r"^pairs must be a whole number from 0 to 100, not -1$"):
        nbsql.Weighted(pairs=-1)
    why = r"^pairs come with method=nbsql.Weighted\(pairs=40\), beside the columns they are of; leave them out of families$"
    with pytest.raises(InputError, match=why):
        nbsql.fit(con, "t", families=model.families, **OPTIONS)


@pytest.mark.nightly
def test_the_command_line_takes_pairs_and_shows_them(tmp_path):
    path = str(tmp_path / "t.duckdb")
    with duckdb.connect(path) as con:
        con.execute(ROWS)
    command = [sys.executable, "-m", "nbsql", "fit", path, "t", "--target", "y", "--name", "w", "--exclude", "id"]
    found = subprocess.run(
        [*command, "--method", "weighted", "--no-views", "--pairs", "5"], capture_output=True, text=True, check=True
    ).stdout
    assert "x & b     interaction   parent=b" in found


@pytest.mark.slow
def test_too_many_weights_are_refused_with_fewer_to_learn(con):
    con.execute("CREATE TABLE many AS SELECT 'y' || i % 130 AS y, 'v' || i % 2 AS a FROM range(260) AS r(i)")
    options = {"target": "y", "families": dict.fromkeys("abcd", "categorical")}
    rows = "SELECT y, a, a || 'b' AS b, a || 'c' AS c, a || 'd' AS d FROM many"
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(con, rows, method=nbsql.Weighted(per="class and feature", penalty=1), **options)
    said = "method='weighted' would learn 525 weights, and takes at most 500; leave features out, or use per='feature'"
    assert str(caught.value) == said
