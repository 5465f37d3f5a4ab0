"""Categories that depend on several others: the order, the parents and the scores in plain Python, and what goes with them."""

from collections import Counter
from dataclasses import replace
from math import log
from random import Random

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from support.inserted import insert
from support.matrices import scores
from support.nearly import near

import nbsql

NAMES = "abcd"
PARITY = """SELECT i, 'a' || h % 2 AS a, 'b' || h // 2 % 2 AS b, 'c' || h // 4 % 2 AS c,
      h % 2 + h // 2 % 2 + h // 4 % 2 IN (1, 3) AS y
    FROM (SELECT i, hash(i) AS h FROM range(600) AS r(i))"""


def rows(seed, count=300):
    """Rows in which d follows from the class, a and b together, with gaps and weights."""
    random, found = Random(seed), []  # noqa: S311
    for _ in range(count):
        y, a = random.choice("kkm"), random.choice("uvw")
        b = a if random.random() < 0.5 else random.choice("uvw")
        c = random.choice([b + y, "x", "z"])
        d = str(("uvw".index(a) + "uvw".index(b) + (y == "k") + (random.random() < 0.2)) % 3)
        values = {"a": a, "b": b, "c": c, "d": d}
        gaps = {name: None for name in NAMES if random.random() < 0.06}
        found.append({"y": y, **values, **gaps, "w": random.choice([0.5, 1.0, 2.0])})
    return found


def table(con, name, values):
    con.execute(f"CREATE TABLE {name} (i INTEGER, y VARCHAR, a VARCHAR, b VARCHAR, c VARCHAR, d VARCHAR, w DOUBLE)")
    insert(con, name, [[i, *row.values()] for i, row in enumerate(values)])


class Reference:
    """The model by the formulas: I(X; C), I(X; Y | C), and estimates level by level."""

    def __init__(self, learnt, k, shrinkage, *, weight):
        self.rows = [(row["w"] if weight else 1.0, row) for row in learnt]
        self.shrinkage = shrinkage
        self.values = {x: {row[x] for row in learnt} - {None} for x in NAMES}
        order = sorted(NAMES, key=lambda x: -self.information(x))
        self.parents = {
            x: sorted(order[:place], key=lambda z: -self.information(x, z))[:k] for place, x in enumerate(order)
        }  # fmt: skip

    def count(self, **wanted):
        return sum(w for w, row in self.rows if all(row[x] == value for x, value in wanted.items()))

    def information(self, x, z=None):
        """n I(X; C), or n I(X; Z | C)."""
        cells = Counter()
        for w, row in self.rows:
            if row[x] is not None and (z is None or row[z] is not None):
                cells[(row["y"], row[x], row[z]) if z else (0, row[x], row["y"])] += w
        sums = Counter()
        for (y, u, v), n in cells.items():
            sums.update({(y,): n, (y, u, "x"): n, (y, v, "z"): n})
        return sum(n * log(n * sums[y,] / (sums[y, u, "x"] * sums[y, v, "z"])) for (y, u, v), n in cells.items())

    def likelihood(self, y, x, v, known):
        given, k = dict(known), len(self.values[x])
        of_values = {value: self.count(y=y, **{x: value}, **given) for value in self.values[x]}
        n, total = of_values[v], sum(of_values.values())
        if not known:
            return (n + 1) / (total + k)
        before = self.likelihood(y, x, v, known[:-1])
        if not any(self.count(**{x: value}, **given) for value in self.values[x]):
            return before
        return (n + 1) / (total + k) if self.shrinkage is None else (n + self.shrinkage * before) / (total + self.shrinkage)

    def contribution(self, y, x, row):
        known = []
        for parent in self.parents[x]:
            if row[parent] not in self.values[parent]:
                break
            known.append((parent, row[parent]))
        return log(self.likelihood(y, x, row[x], known)) if row[x] in self.values[x] else 0.0

    def joint(self, row):
        total = sum(w for w, _ in self.rows)
        return {y: log(self.count(y=y) / total) + sum(self.contribution(y, x, row) for x in NAMES) for y in "km"}


@pytest.mark.few
@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    ("tree", "options"), [({"k": 2, "shrinkage": 5}, {}), ({"k": 3, "shrinkage": 2}, {"weight": "w"}), ({"k": 2}, {"alpha": 1})]
)
def test_parents_and_scores_are_those_of_the_formulas(con, tree, options):
    method = nbsql.KDB(**tree, weighted=False)
    learnt, asked = rows(1), rows(2, 30)
    asked += [asked[0] | {"a": "new"}, asked[1] | {"b": "new", "c": "new"}, asked[2] | dict.fromkeys(NAMES)]
    table(con, "learnt", learnt)
    table(con, "asked", asked)
    given = {"target": "y", "exclude": ["i"] if "weight" in options else ["i", "w"], **options}
    model = nbsql.fit(con, "learnt", method=method, **given)
    shrinkage = None if "alpha" in options else method.shrinkage
    if shrinkage is None:  # smoothed by alpha at each level
        families = {x: replace(each, shrinkage=None) if each.parent else each for x, each in model.families.items()}
        model = nbsql.fit(con, "learnt", families=families, **given)
    assert method.k is not None
    reference = Reference(learnt, method.k, shrinkage, weight="weight" in options)
    assert {x: list(model.families[x].parent_names) for x in NAMES} == reference.parents
    expected = {i: pytest.approx(reference.joint(row), abs=1e-9) for i, row in enumerate(asked)}
    assert scores(model, "asked") == expected


@pytest.mark.slow
def test_what_is_missing_is_a_category_like_others(con):
    learnt, asked = rows(3), rows(4, 30)
    told_learnt, told_asked = (
        [{x: "none" if v is None else v for x, v in row.items()} for row in some] for some in (learnt, asked)
    )
    for name, values in (("learnt", learnt), ("asked", asked), ("told_learnt", told_learnt), ("told_asked", told_asked)):
        table(con, name, values)
    options = {"target": "y", "exclude": ["i", "w"], "method": nbsql.KDB(k=2, weighted=False)}
    model, told = nbsql.fit(con, "learnt", nulls="category", **options), nbsql.fit(con, "told_learnt", **options)
    for i, row in scores(told, "told_asked").items():
        assert scores(model, f"FROM asked WHERE i = {i}")[i] == pytest.approx(row, abs=1e-9)


@pytest.mark.nightly
def test_two_parents_tell_the_parity_of_three_and_folds_find_their_number(con):
    con.execute(f"CREATE TABLE parity AS {PARITY}")
    options = {"target": "y", "exclude": ["i"], "folds": 5}
    one, two, found = (
        nbsql.cross_validate(con, "parity", method=method, **options).log_loss
        for method in (nbsql.KDB(k=1), nbsql.KDB(k=2), "kdb")
    )
    assert one > 0.68 > 0.2 > two == pytest.approx(found, rel=1e-9)
    model = nbsql.fit(con, "parity", target="y", exclude=["i"], method="kdb")
    assert sorted(len(family.parent_names) for family in model.families.values()) == [0, 1, 2]
    assert found == pytest.approx(model.evaluate("parity", folds=5).log_loss, rel=1e-9)  # depth and parents are found anew
    told = nbsql.fit(con, "parity", target="y", exclude=["i"], method=nbsql.KDB(k=2))
    assert scores(told, "parity") == {i: pytest.approx(row, abs=1e-9) for i, row in scores(model, "parity").items()}


@pytest.mark.nightly
def test_some_rows_choose_the_number_of_parents_and_more_folds_the_weights(con, monkeypatch):
    monkeypatch.setattr("nbsql.learning.depth.ROWS_TO_CHOOSE", 150)
    con.execute("""CREATE TABLE t AS
        SELECT i, 'a' || h % 2 AS a, 'b' || h // 2 % 2 AS b, 'c' || h // 4 % 400 AS c, h % 2 = h // 2 % 2 OR h // 7 % 3 = 0 AS y
        FROM (SELECT i, hash(i) AS h FROM range(2000) AS r(i))""")
    chosen, asked = (nbsql.fit(con, "t", target="y", id="i", method=method) for method in ("kdb", nbsql.KDB(k=1)))
    assert sorted(len(family.parent_names) for family in chosen.families.values()) == [0, 1, 1]
    assert scores(chosen, "t") == {i: pytest.approx(row, abs=1e-9) for i, row in scores(asked, "t").items()}


@pytest.mark.slow
def test_weights_are_those_of_logistic_regression_on_what_features_with_parents_say(con):
    """By scikit-learn, on contributions by the counts of the other folds in plain Python; and by two fits of nbsql."""
    table(con, "learnt", rows(6))
    options = {"target": "y", "exclude": ["i", "w"]}
    method = nbsql.KDB(k=2, shrinkage=5)
    model = nbsql.fit(con, "learnt", method=method, name="m", **options)
    parents = {x: list(model.families[x].parent_names) for x in NAMES}
    assert parents == Reference(rows(6), 2, 5, weight=False).parents

    state = model.state
    source = state.engine.source("learnt")
    query = state.engine.renderer.fragment(
        "rows_with_folds", source.relation, ["y", *NAMES], "y", "VARCHAR", 5, None, "class", source.kinds
    )
    told = [{x: None if v != v else v for x, v in row.items()} for row in con.execute(query).df().to_dict("records")]
    differences, classes = [], []
    for fold in {row["nbsql_slice"] for row in told}:
        others = Reference([row | {"w": 1} for row in told if row["nbsql_slice"] != fold], 2, 5, weight=False)
        others.parents = parents
        for row in (row for row in told if row["nbsql_slice"] == fold):
            differences.append([others.contribution("m", x, row) - others.contribution("k", x, row) for x in NAMES])
            classes.append(row["y"])
    x = np.array(differences)
    assert state.spec.weighted.penalty is not None
    c = 1 / (2 * state.spec.weighted.penalty)
    columns = np.column_stack([x.sum(axis=1), x])
    fitted = LogisticRegression(C=c, tol=1e-14, solver="newton-cholesky", max_iter=1000).fit(columns, classes)
    weights = dict(con.execute("SELECT feature, weight FROM m.weights WHERE class = 'k' AND feature IS NOT NULL").fetchall())
    expected = [*(fitted.coef_[0][0] + fitted.coef_[0][1:])]
    assert [weights[name] for name in NAMES] == pytest.approx(expected, abs=1e-7)  # a step gains less than 1e-16 a row there

    found = nbsql.fit(con, "learnt", method=replace(method, weighted=False), **options)
    again = nbsql.fit(con, "learnt", method="weighted", families=found.families, **options)
    assert scores(again, "learnt") == {i: pytest.approx(row, abs=1e-9) for i, row in scores(model, "learnt").items()}


@pytest.mark.slow
@pytest.mark.forms("method")
@pytest.mark.parametrize("method", [nbsql.KDB(k=2), nbsql.KDB(), nbsql.TAN(weighted=True)], ids=str)
def test_each_fold_finds_parents_and_weights_anew(con, method):
    table(con, "learnt", rows(7))
    options = {"target": "y", "features": [*NAMES], "method": method}
    con.execute("ALTER TABLE learnt ADD COLUMN part INTEGER")
    con.execute("UPDATE learnt SET part = i % 2")
    by_fold = [
        nbsql.fit(con, f"FROM learnt WHERE part <> {part}", **options).evaluate(f"FROM learnt WHERE part = {part}").log_loss
        for part in range(2)
    ]
    judged = nbsql.cross_validate(con, "learnt", fold="part", **options)
    assert judged.log_loss == pytest.approx(sum(by_fold) / 2, rel=1e-9)


@pytest.mark.slow
def test_weights_over_parents_that_are_stale_name_the_method(con):
    table(con, "learnt", rows(8))
    options = {"target": "y", "exclude": ["i", "w"], "method": nbsql.KDB(k=1)}
    model = nbsql.fit(con, "FROM learnt WHERE i < 200", name="m", **options)
    with pytest.warns(nbsql.NbsqlWarning, match=r"method=nbsql\.KDB\(k=1\)"):
        model.update("FROM learnt WHERE i >= 200")


def test_a_category_has_as_many_parents_as_there_are(con):
    con.execute(f"CREATE TABLE parity AS {PARITY}")
    model = nbsql.fit(con, "parity", target="y", exclude=["i"], method=nbsql.KDB(k=9))
    assert sorted(len(family.parent_names) for family in model.families.values()) == [0, 1, 2]


def test_what_several_parents_cannot_be(con, refused):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, 'a' || i % 3 AS a, 'b' || i % 5 AS b FROM range(60) AS r(i)")
    with refused(nbsql.InputError, "column 'a' is twice a parent of 'b'; name it once"):
        nbsql.fit(con, "t", target="y", families={"b": nbsql.Conditional("a", further=["A"])})
    with refused(nbsql.InputError, "a parent is the name of a column, not 3"):
        nbsql.Conditional("a", further=[3])
    with refused(
        nbsql.InputError,
        "a search over settings does not choose the number of parents, too; name it: method=nbsql.KDB(weighted=False, k=2)",
    ):
        nbsql.sweep(con, "t", target="y", method=nbsql.KDB(weighted=False), alpha=[1, 2])


@pytest.mark.slow
def test_what_weights_do_not_go_with_goes_without_them(con, refused):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, 'a' || i % 3 AS a, 'b' || i % 5 AS b FROM range(60) AS r(i)")
    target, bare = nbsql.Target("y", classes=[0, 1, 2]), nbsql.KDB(k=1, weighted=False)
    why = "method='kdb' needs rows of every class, and declared classes may have no rows; leave out classes"
    with refused(nbsql.InputError, f"{why}, or with method=nbsql.KDB(weighted=False, k=1)"):
        nbsql.fit(con, "t", target=target, method=nbsql.KDB(k=1))
    assert nbsql.fit(con, "t", target=target, method=bare, prior="uniform").classes == [0, 1, 2]
    why = "a search over settings counts the rows only once, but method='kdb' learns weights for each setting"
    cure = "cross-validate each setting by itself, or with method=nbsql.KDB(weighted=False, k=1)"
    with refused(nbsql.InputError, f"{why}; {cure}"):
        nbsql.sweep(con, "t", target="y", method=nbsql.KDB(k=1), alpha=[1, 2])
    model = nbsql.fit(con, "t", target="y", method=nbsql.KDB(k=1), name="m")
    why = "model 'm' has weights, by which its scores are no likelihood of the features, ln p(x)"
    with refused(nbsql.ModelError, f"{why}; fit it with method='naive', or with method=nbsql.KDB(weighted=False, k=1)"):
        model.log_evidence("t")
    assert nbsql.fit(con, "t", target=None, exclude=["y"], method=nbsql.KDB(k=1)).state.spec.weighted is None


def test_pairs_of_many_rows_are_counted_by_numbers_of_their_values(con):
    con.execute(
        """CREATE TABLE many AS
        SELECT
          ['it''s', 'no', '"x"'][1 + h % 3] AS y,
          if(h % 7 = 0, NULL, 'a' || (h // 3 % 4)) AS a,
          if(h % 11 = 0, NULL, h // 5 % 2 = 0) AS b,
          'c' || (h // 13 % 3) AS c,
          'd"' || (h // 17 % 300) AS d,
          h % 2 + 0.5 AS weight,
          i % 2 AS part
        FROM (SELECT i, CAST(hash(i) >> 4 AS BIGINT) AS h FROM range(11000) AS r(i))"""
    )
    gap = {"b": nbsql.Categorical(nulls="category")}
    nbsql.fit(
        con, "many", target="y", method="aode", name="m", families=gap, weight="weight", slice_by="part", features=[*"abcd"]
    )
    values = {"a": "a", "b": "CAST(b AS VARCHAR)", "c": "c", "d": "d"}
    keys = {name: f"CAST(to_json(['{name}', {value}]) AS VARCHAR)" for name, value in values.items()}
    pairs = [(keys[one], keys[other]) for one in keys for other in keys if one < other]
    tokens = [f"'[' || {key} || ']'" for key in keys.values()]
    tokens += [f"'[' || {one} || ',' || {other} || ']'" for one, other in pairs]
    by_hand = " UNION ALL ".join(
        f"SELECT CAST(part AS VARCHAR), y, {token}, sum(weight) FROM many"
        f"{' WHERE a IS NOT NULL' if keys['a'] in token else ''} GROUP BY ALL"
        for token in tokens
    )
    counted = "SELECT slice, class, value, n FROM m.statistics WHERE feature = 'pairs'"
    found = {row[:3]: row[3] for row in con.execute(counted).fetchall()}
    assert found == near({row[:3]: row[3] for row in con.execute(by_hand).fetchall()})


@pytest.mark.few
@pytest.mark.parametrize("method", [nbsql.TAN(), nbsql.KDB(2), nbsql.Weighted(parents=2)])
def test_a_number_in_one_bin_depends_on_nothing_where_missing_is_a_value(con, method):
    con.execute("""CREATE TABLE uncut AS SELECT i % 2 AS y, CASE WHEN hash(i) % 3 > 0 THEN hash(i) % 7 END AS x,
        'a' || hash(i + 1) % 3 AS b, 'a' || hash(i + 1) % 3 || hash(i + 2) % 2 AS c FROM range(300) AS r(i)""")
    cut = {"x": nbsql.Binned(by="mdl")}
    families = nbsql.fit(con, "uncut", target="y", method=method, nulls="category", families=cut).families
    assert families["x"].edges == ()
    found = {family.parent for name, family in families.items() if "bins" not in name}
    assert found in ({None, "b"}, {None, "c"})
