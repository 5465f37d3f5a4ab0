"""`nbsql.Weighted(parents=N)`: columns that depend on others beside those that do not, all with weights."""

import duckdb
import pytest
from sklearn.linear_model import LogisticRegression

import nbsql
from nbsql.errors import InputError
from nbsql.learning import weighted

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

# The class is whether x is large or b is u, but not both, in nine rows of ten; c tells a little by itself.
ROWS = """CREATE OR REPLACE TABLE t AS SELECT x, b, c, CASE WHEN odd = (hash(i + 99) % 10 > 0) THEN 'yes' ELSE 'no' END AS y
FROM (
  SELECT i, (hash(i) % 90)::INT AS x, CASE WHEN hash(i + 7) % 2 = 0 THEN 'u' ELSE 'v' END AS b,
    (hash(i) % 90 > 44) = (hash(i + 7) % 2 = 0) AS odd,
    CASE WHEN hash(i + 11) % 7 > 0 THEN 'c' || hash(i + odd::INT) % 3 END AS c
  FROM range(800) AS r(i)
)"""
PARENTS = nbsql.Weighted(parents=1, penalty=10)


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as con:
        con.execute(ROWS)
        yield con


@pytest.fixture(scope="module")
def model(con):
    return nbsql.fit(con, "t", target="y", method=PARENTS, name="pool")


def contributions(model, feature):
    """What a feature adds to the score of each row and class."""
    rows = model.explain("t").fetchall()
    columns = model.explain("t").columns
    row, label, name, value = (columns.index(each) for each in ("row_id", "class", "feature", "contribution"))
    return {(each[row], each[label]): each[value] for each in rows if each[name] == feature}


@pytest.mark.slow
def test_a_column_has_a_feature_for_each_way_to_cut_numbers_that_says_more(model):
    families = model.families
    further = {name: each for name, each in families.items() if name not in ("x", "x as normal", "b", "c")}
    assert len(further) == len(families) - 4
    for name, family in further.items():
        words = name.split(" ", 1)[1]
        assert words in ("given others", "given others in 10 bins", "given others in 20 bins")
        numbers = [family.edges, *(parent.edges for parent in getattr(family, "all_parents", ()))]
        assert (max(len(edges or ()) for edges in numbers) > 1) == (words != "given others")
        assert family != families[name.split(" ", 1)[0]]
    assert {"x given others in 10 bins", "x given others in 20 bins", "b given others in 20 bins"} < {*further}


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(("words", "bins"), [("given others", "mdl"), ("given others in 20 bins", 20)])
def test_a_further_feature_says_what_it_says_in_the_tree(con, model, words, bins):
    """The contributions of the KDB model of the same bins, times the weight."""
    tree = nbsql.fit(con, "t", target="y", method=nbsql.KDB(1, bins=bins, weighted=False), name="tree", replace=True)
    weights = dict(
        con.execute("SELECT feature, weight FROM pool.weights WHERE class = 'yes' AND feature IS NOT NULL").fetchall()
    )
    for name in [each for each in model.families if each.endswith(words)]:
        column = name.removesuffix(f" {words}")
        of_tree = contributions(tree, column)
        found = contributions(model, name)
        rows = {row for row, _ in found}
        gaps = [found[row, "yes"] - found[row, "no"] for row in sorted(rows)]
        assert gaps == pytest.approx(
            [weights[name] * (of_tree[row, "yes"] - of_tree[row, "no"]) for row in sorted(rows)], abs=1e-9
        )


@pytest.mark.nightly
def test_parents_tell_what_no_sum_of_columns_can(con):
    losses = [nbsql.cross_validate(con, "t", target="y", method=method, folds=2).log_loss for method in ("weighted", PARENTS)]
    assert losses[1] < 0.7 * losses[0]


@pytest.mark.nightly
def test_pairs_are_those_that_columns_by_themselves_leave(con):
    both = nbsql.fit(con, "t", target="y", method=nbsql.Weighted(parents=1, pairs=2, penalty=10), name="both", replace=True)
    pairs = nbsql.fit(con, "t", target="y", method=nbsql.Weighted(pairs=2, penalty=10), name="pairs", replace=True)
    assert [name for name in both.families if "&" in name] in ([], [name for name in pairs.families if "&" in name])


@pytest.mark.slow
def test_the_weights_of_the_other_folds_are_those_of_logistic_regression_however_far_they_are(con, monkeypatch):
    """By as many steps as it takes, where one step would go far."""
    monkeypatch.setattr(weighted, "MOST_CHANGE", 0.0)
    monkeypatch.setattr(weighted, "FOLD_TOLERANCE", 1e-9)
    found = []
    own = weighted.FeatureWeightSearch._points_of_folds

    def keep(self, evidence, point):
        points = own(self, evidence, point)
        found.append((self.newton.penalty, con.execute(f"FROM {evidence.relation}").df(), points))
        return points

    monkeypatch.setattr(weighted.FeatureWeightSearch, "_points_of_folds", keep)
    nbsql.fit(con, "t", target="y", method="weighted", name="w", replace=True)
    penalty, rows, points = found[0]
    terms = [name.removesuffix("_2") for name in rows if name.startswith("e_") and name.endswith("_2")]
    order = sorted(terms, key=lambda name: int(name.removeprefix("e_")))  # their sum is e_0
    x = rows[[f"{name}_2" for name in order]].to_numpy()  # beyond the first class
    for fold, point in points:
        others = (rows["fold"].astype(str) != fold).to_numpy()
        fitted = LogisticRegression(C=1 / (2 * penalty), tol=1e-14, solver="newton-cholesky", max_iter=1000)
        fitted.fit(x[others], rows["y"].to_numpy()[others] == 2)
        assert point[2:] == pytest.approx(fitted.coef_[0], abs=1e-6)


@pytest.mark.parametrize("parents", [-1, 4, 1.5])
def test_parents_must_be_few(parents):
    with pytest.raises(InputError, match="parents must be a whole number"):
        nbsql.Weighted(parents=parents)
