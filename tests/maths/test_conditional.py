"""Categories that depend on another, and trees of them: by hand, and against the estimates and the tree in plain Python."""

from collections import Counter
from itertools import combinations
from math import inf, log
from random import Random

import pytest
from support.inserted import insert
from support.matrices import scores

import nbsql

pytestmark = pytest.mark.usefixtures("form")


# Of the yes: a, a, b with parents u, u, v; of the no: a, b, b with parents u, v, v; and a row of each without a parent.
BY_HAND = """CREATE TABLE t AS FROM (VALUES
  ('u', 'a', 'yes'), ('u', 'a', 'yes'), ('v', 'b', 'yes'), ('u', 'a', 'no'), ('v', 'b', 'no'), ('v', 'b', 'no'),
  (NULL, 'a', 'yes'), (NULL, 'b', 'no')) AS t(p, x, y)"""


D = {"d": "categorical"}  # whole numbers


def rows(seed, count=400):
    """Rows of a chain a - b - c and of d, with gaps, and weights."""
    random, found = Random(seed), []  # noqa: S311
    for _ in range(count):
        y = random.choice("kkm")
        a = random.choice("uvw" if y == "k" else "uw")
        b = a if random.random() < 0.7 else random.choice("uvw")
        c = b + y if random.random() < 0.5 else random.choice(["uk", "vk", "wm", None])
        row = {"y": y, "a": a, "b": b, "c": c, "d": random.choice([1, 2, None]), "w": random.choice([0.5, 1.0, 2.0])}
        found.append(row | {name: None for name in "ab" if random.random() < 0.05})
    return found


def table(con, name, values):
    con.execute(f"CREATE TABLE {name} (i INTEGER, y VARCHAR, a VARCHAR, b VARCHAR, c VARCHAR, d INTEGER, w DOUBLE)")
    insert(con, name, [[i, *row.values()] for i, row in enumerate(values)])


class Reference:
    """The model of a tree by the formulas, in plain Python."""

    def __init__(self, learnt, parents, alpha=1, shrinkage=None, *, weight=False):
        self.parents, self.alpha, self.shrinkage = parents, alpha, shrinkage
        self.n = Counter()
        for row in learnt:
            w, y = row["w"] if weight else 1.0, row["y"]
            self.n[y] += w
            for x, p in parents.items():
                if row[x] is None:
                    continue
                self.n[x, y, row[x]] += w
                self.n[x, y] += w
                if p is not None and row[p] is not None:
                    self.n[x, y, row[x], row[p]] += w
                    self.n["total", x, y, row[p]] += w
        self.values = {x: {row[x] for row in learnt} - {None} for x in parents}
        self.labels = sorted({row["y"] for row in learnt})

    def likelihood(self, y, x, v, u):
        k, a = len(self.values[x]), self.alpha
        alone = (self.n[x, y, v] + a) / (self.n[x, y] + a * k)
        if u is None or not any(self.n["total", x, label, u] for label in self.labels):
            return alone
        n, total = self.n[x, y, v, u], self.n["total", x, y, u]
        if self.shrinkage is not None:
            return (n + self.shrinkage * alone) / (total + self.shrinkage) if total + self.shrinkage else alone
        return (n + a) / (total + a * k) if total + a * k else 1 / k

    def joint(self, row):
        found = {}
        total = sum(self.n[y] for y in self.labels)
        for y in self.labels:
            terms = [self.n[y] / total]
            terms += [
                self.likelihood(y, x, row[x], None if p is None else row[p])
                for x, p in self.parents.items()
                if row[x] in self.values[x]
            ]
            found[y] = -inf if 0 in terms else sum(map(log, terms))
        return found


def tree(learnt, names):
    """The edges of the maximum spanning tree (Prim's, where the model takes Kruskal's)."""

    def information(one, other):
        cells = Counter((row["y"], row[one], row[other]) for row in learnt if None not in (row[one], row[other]))
        sums = Counter()
        for (y, u, v), n in cells.items():
            sums.update({("y", y): n, ("u", y, u): n, ("v", y, v): n})
        return sum(n * log(n * sums["y", y] / (sums["u", y, u] * sums["v", y, v])) for (y, u, v), n in cells.items())

    gain = {frozenset(pair): information(*pair) for pair in combinations(names, 2)}
    inside, edges = {names[0]}, set()
    while len(inside) < len(names):
        edge = max((pair for pair in gain if len(pair & inside) == 1), key=gain.__getitem__)
        inside |= edge
        edges.add(edge)
    return edges


def expected(reference, asked):
    return {i: pytest.approx(reference.joint(row), abs=1e-9) for i, row in enumerate(asked)}


def parents_of(model):
    return {name: getattr(family, "parent", None) for name, family in model.families.items()}


def test_a_table_written_out(con, joint):
    con.execute(BY_HAND)
    model = nbsql.fit(con, "t", target="y", features=["x"], families={"x": nbsql.Conditional("p")})
    found = {(row[0], row[2]): row[3] for row in model.likelihoods}
    # With alpha = 1 and K = 2: three of four yes have an a; of those with u two of two, of those with v none of one.
    assert found["yes", '["a"]'] == pytest.approx((3 + 1) / (4 + 2), abs=1e-15)
    assert found["yes", '["a","u"]'] == pytest.approx((2 + 1) / (2 + 2), abs=1e-15)
    assert found["yes", '["a","v"]'] == pytest.approx((0 + 1) / (1 + 2), abs=1e-15)
    assert found["no", '["b","v"]'] == pytest.approx((2 + 1) / (2 + 2), abs=1e-15)
    assert found["no", '["b","u"]'] == pytest.approx((0 + 1) / (1 + 2), abs=1e-15)
    asked = {("u", "a"): (3 / 4, 2 / 3), (None, "a"): (4 / 6, 2 / 6), ("new", "a"): (4 / 6, 2 / 6)}
    for (p, x), (yes, no) in (asked | {("u", None): (1, 1), ("u", "new"): (1, 1)}).items():
        p, x = ("NULL" if value is None else f"'{value}'" for value in (p, x))
        (found_of_row,) = joint(model, f"SELECT {p} AS p, {x} AS x")
        assert found_of_row == pytest.approx({"yes": log(0.5 * yes), "no": log(0.5 * no)}, abs=1e-12)
    shrunk = nbsql.fit(con, "t", target="y", features=["x"], families={"x": nbsql.Conditional("p", shrinkage=2)})
    found = {(row[0], row[2]): row[3] for row in shrunk.likelihoods}
    assert found["yes", '["a","v"]'] == pytest.approx((0 + 2 * 4 / 6) / (1 + 2), abs=1e-15)


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({}, nbsql.TAN()),
        ({"alpha": 0.25, "weight": "w"}, nbsql.TAN()),
        ({"alpha": 0}, nbsql.TAN()),
        ({"alpha": 0.5}, nbsql.TAN(shrinkage=3)),
        ({"alpha": 0}, nbsql.TAN(shrinkage=0)),
    ],
)
def test_scores_are_those_of_the_formulas(con, options, method):
    learnt, asked = rows(1), rows(2, 60)
    asked += [asked[0] | {"a": "new"}, asked[1] | {"b": "new", "c": "new"}, asked[2] | dict.fromkeys("abcd")]
    table(con, "learnt", learnt)
    table(con, "asked", asked)
    wanted = {"exclude": ["i"] if "weight" in options else ["i", "w"], "families": D, **options}
    model = nbsql.fit(con, "learnt", target="y", method=method, **wanted)
    parents = parents_of(model)
    assert sum(parent is not None for parent in parents.values()) == 3
    alpha = options.get("alpha", 1.0)
    reference = Reference(learnt, parents, alpha, method.shrinkage, weight="weight" in options)
    assert scores(model, "asked") == expected(reference, asked)


def test_what_is_missing_may_be_a_category_and_what_is_new_smoothed(con):
    learnt, asked = rows(3), rows(4, 60)
    asked += [asked[0] | {"b": "new"}, asked[1] | {"c": "new"}, asked[2] | dict.fromkeys("abcd")]
    families = {"a": "categorical", "b": nbsql.Conditional("a"), "c": nbsql.Conditional("b")}
    table(con, "learnt", learnt)
    table(con, "asked", asked)
    model = nbsql.fit(con, "learnt", target="y", features=["a", "b", "c"], families=families, nulls="category")
    told, parents = ([{**row, **{x: row[x] or "missing" for x in "abc"}} for row in some] for some in (learnt, asked)), {
        "a": None, "b": "a", "c": "b"
    }  # fmt: skip
    told_learnt, told_asked = told
    assert scores(model, "asked") == expected(Reference(told_learnt, parents), told_asked)
    smooth = nbsql.fit(con, "learnt", target="y", features=["b"], families={"b": nbsql.Conditional("a")}, unseen="smooth")
    reference = Reference(learnt, {"b": "a"})
    found = {
        y: score - log(reference.n[y] / 400) for y, score in scores(smooth, "SELECT 1 AS i, 'u' AS a, 'new' AS b")[1].items()
    }
    assert found == pytest.approx({y: log(1 / (reference.n["b", y] + 3)) for y in "km"}, abs=1e-12)


@pytest.mark.slow
@pytest.mark.forms("gaps", "method")
@pytest.mark.parametrize("method", ["tan", "aode"])
@pytest.mark.parametrize("gaps", ["abc", "b", "ac"])
def test_a_search_takes_a_missing_value_for_one_where_it_is_a_category(con, method, gaps):
    """It finds what it finds if the value is written out, whatever the other columns do, and scores alike."""
    learnt = [
        {"y": "km"[i % 2], "a": "u" if i // 2 % 2 else None, "b": "v" if i // 2 % 2 == i % 2 else None, "c": "wx"[i % 3 > 0]}
        for i in range(24)
    ]
    learnt += [{"y": row["y"], **{x: row[x] for x in "abc"}} for row in rows(9, 60)]
    columns = "i INTEGER, y VARCHAR, a VARCHAR, b VARCHAR, c VARCHAR"
    for name in ("gaps", "told"):
        con.execute(f"CREATE TABLE {name} ({columns})")
        values = [[i, row["y"], *(row[x] or (None if name == "gaps" or x not in gaps else "none") for x in "abc")]
                  for i, row in enumerate(learnt)]  # fmt: skip
        insert(con, name, values)
    families = {x: nbsql.Categorical(nulls="category" if x in gaps else "skip") for x in "abc"}
    options = {"target": "y", "exclude": ["i"], "method": method}
    model = nbsql.fit(con, "gaps", families=families, **options)
    told = nbsql.fit(con, "told", **options)
    assert parents_of(model) == parents_of(told)
    for i, row in scores(told, "told").items():
        assert scores(model, f"FROM gaps WHERE i = {i}" if i < 3 else "gaps")[i] == pytest.approx(row, abs=1e-9)
    pairs = nbsql.dependence(con, "gaps", target="y", families=families, exclude=["i"]).fetchall()
    wanted = nbsql.dependence(con, "told", target="y", exclude=["i"]).fetchall()
    assert [pytest.approx(row[2:6], abs=1e-9) for row in sorted(pairs)] == [row[2:6] for row in sorted(wanted)]


def test_a_category_of_declared_values_stays_apart_and_it_is_said(con):
    table(con, "learnt", rows(1, 60))
    families = {"a": nbsql.Categorical(levels=["x"]), "b": nbsql.Categorical(alpha={"u": 2}), **D}
    with pytest.warns(
        nbsql.NbsqlWarning, match="^'a', 'b' have declared values, and so are independent of the others; without"
    ):
        nbsql.fit(con, "learnt", target="y", exclude=["i", "w"], families=families, method="tan")
    families = {"a": nbsql.Categorical(min_count=2), **D}
    with pytest.warns(nbsql.NbsqlWarning, match="^'a' has a min_count, and so is independent of the others; without it"):
        model = nbsql.fit(con, "learnt", target="y", exclude=["i", "w"], families=families, method="tan")
    assert model.families["a"].min_count == 2


@pytest.mark.few
@pytest.mark.parametrize("seed", range(3))
def test_the_tree_is_the_one_that_tells_most(con, seed):
    learnt = rows(10 + seed)
    table(con, "learnt", learnt)
    options = {"target": "y", "exclude": ["i", "w"], "method": "tan", "families": D}
    model = nbsql.fit(con, "learnt", **options)
    edges = {frozenset([child, parent]) for child, parent in parents_of(model).items() if parent is not None}
    assert edges == tree(learnt, "abcd")
    doubled = nbsql.fit(con, "SELECT *, 2 AS v FROM learnt", **{**options, "weight": "v", "exclude": ["i", "w"]})
    assert parents_of(doubled) == parents_of(model)
    nulls = {"families": {"c": nbsql.Categorical(nulls="category"), **D}}
    copies = "SELECT learnt.* REPLACE (y = 'k' AS y) FROM learnt, range(26)"  # classes that are no texts
    few, many = (nbsql.fit(con, each, **options | nulls) for each in ("learnt", copies))
    assert parents_of(many) == parents_of(few)


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_columns_of_one_value_have_no_parents(con):
    con.execute("CREATE TABLE alike AS SELECT i % 2 = 0 AS y, 'u' AS a, 'v' AS b FROM range(40) AS r(i)")
    assert parents_of(nbsql.fit(con, "alike", target="y", method=nbsql.KDB(weighted=False))) == {"a": None, "b": None}


def test_numbers_are_cut_where_the_classes_differ(con, data):
    con.execute(f"CREATE TABLE iris AS FROM read_csv('{data}/iris.csv')")
    model = nbsql.fit(con, "iris", target="species", method=nbsql.TAN())
    columns = list(model.families)
    alone = nbsql.fit(con, "iris", target="species", families=dict.fromkeys(columns, nbsql.Binned(by="mdl")))
    for name, family in model.families.items():
        assert list(family.edges) == list(alone.families[name].edges)
    bins = {name: f"list_position({list(family.edges)}, list_max(list_filter({list(family.edges)}, lambda e: e <= {name})))"
            for name, family in alone.families.items()}  # fmt: skip
    con.execute("CREATE TABLE cut AS SELECT species, " + ", ".join(
        f"coalesce(CAST({text} AS VARCHAR), '0') AS {name}" for name, text in bins.items()) + " FROM iris")  # fmt: skip
    as_texts = nbsql.fit(con, "cut", target="species", method="tan")
    assert parents_of(as_texts) == parents_of(model)
    found, other = (sorted(row[-3:] for row in m.predict_proba(t)) for m, t in ((model, "iris"), (as_texts, "cut")))
    assert found == [pytest.approx(row, abs=1e-9) for row in other]


@pytest.mark.slow
def test_counts_add_up_over_batches_and_parts(con):
    learnt = rows(5)
    table(con, "learnt", learnt)
    con.execute("CREATE VIEW early AS FROM learnt WHERE i < 250; CREATE VIEW late AS FROM learnt WHERE i >= 250")
    options = {"target": "y", "exclude": ["i", "w"]}
    whole = nbsql.fit(con, "learnt", method="tan", families=D, **options)
    families = dict(whole.families)
    model = nbsql.fit(con, "early", families=families, name="kept", **options)
    assert parents_of(model) == parents_of(whole)
    early = scores(model, "learnt")
    assert early == expected(Reference(learnt[:250], parents_of(whole)), learnt)
    model.update("late", batch="late")
    assert scores(model, "learnt") == expected(Reference(learnt, parents_of(whole)), learnt)
    assert scores(nbsql.load(con, "kept"), "learnt") == scores(whole, "learnt")
    parts = [nbsql.fit(con, source, families=families, **options) for source in ("early", "late")]
    assert scores(nbsql.merge(con, parts), "learnt") == scores(whole, "learnt")
    model.forget(batch="late")
    assert scores(model, "learnt") == early
    with pytest.raises(nbsql.InputError, match="cannot forget"):
        model.forget("SELECT * REPLACE ('w' AS a, 'v' AS b) FROM learnt")
    model.update("SELECT 'k' AS y, 'new' AS a, 'u' AS b, 'uk' AS c, 1 AS d")  # counted without a parent
    grown = [*learnt[:250], {"y": "k", "a": "new", "b": "u", "c": "uk", "d": 1}]
    reference = Reference([row | {"a": None} if row["a"] == "new" else row for row in grown], parents_of(whole))
    reference.values["a"].add("new")
    reference.n.update({("a", "k"): 1.0, ("a", "k", "new"): 1.0})
    assert scores(model, "learnt") == expected(reference, learnt)


def test_folds_are_those_of_fits_to_the_others(con):
    learnt = rows(6)
    table(con, "learnt", learnt)
    con.execute("CREATE TABLE dealt AS SELECT *, i % 3 AS part FROM learnt")
    options = {"target": "y", "exclude": ["i", "w"]}
    whole = nbsql.fit(con, "learnt", method="tan", families=D, **options)
    with pytest.warns(nbsql.NbsqlWarning, match="^the parents of 'b', 'c', 'd' were chosen by the classes of all rows"):
        found = nbsql.cross_validate(con, "dealt", fold="part", families=whole.families, **options)
    losses = []
    for part in range(3):
        reference = Reference([row for i, row in enumerate(learnt) if i % 3 != part], parents_of(whole))
        for row in learnt[part::3]:
            joint = reference.joint(row)
            losses.append(log(sum(2.718281828459045**score for score in joint.values())) - joint[row["y"]])
    assert found.log_loss == pytest.approx(sum(losses) / len(losses), abs=1e-9)
    with pytest.raises(nbsql.InputError, match="folds='loo' takes a row out"):
        nbsql.cross_validate(con, "learnt", folds="loo", method="tan", **options)


@pytest.mark.slow
def test_components_of_a_class_have_tables_of_their_own(con):
    learnt = rows(8)
    table(con, "learnt", learnt)
    con.execute("CREATE TABLE wide AS SELECT *, CASE WHEN y = 'k' AND i % 3 = 0 THEN 1000 ELSE 0 END + i % 7 AS x FROM learnt")
    options = {"features": ["b", "x"], "families": {"b": nbsql.Conditional("a")}}
    model = nbsql.fit(con, "wide", target="y", method=nbsql.Mixture({"k": 2}), **options)
    con.execute("CREATE TABLE named AS SELECT * REPLACE (y || (x >= 1000) AS y) FROM wide")
    apart = nbsql.fit(con, "named", target="y", **options)
    for i, row in scores(model, "wide").items():
        of_parts = scores(apart, f"FROM wide WHERE i = {i}")[i] if i < 6 else None
        if of_parts is not None:
            highest = max(of_parts["kfalse"], of_parts["ktrue"])
            together = highest + log(sum(2.718281828459045 ** (of_parts[y] - highest) for y in ("kfalse", "ktrue")))
            assert row == {"k": pytest.approx(together, abs=1e-9), "m": pytest.approx(of_parts["mfalse"], abs=1e-9)}


@pytest.mark.parametrize(
    ("options", "message"),
    [({"families": {"x": nbsql.Conditional("n")}}, "column 'n' has more than 1000 values, and so cannot be a parent")],
)
def test_what_no_fit_takes(con, refused, options, message):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, 'p' || i % 3 AS p, 'x' || i % 3 AS x, i AS n FROM range(1100) AS r(i)")
    with refused(nbsql.InputError, message):
        nbsql.fit(con, "t", target="y", **options)


@pytest.mark.few
@pytest.mark.parametrize("method", [nbsql.TAN, nbsql.AODE])
def test_numbers_are_cut_at_their_quantiles(con, method):
    """As where each is declared so; MDL leaves them in one bin, for alone they say nothing of the class."""
    con.execute("""CREATE TABLE squares AS SELECT x, z, 'w' || x % 3 AS w, (x < 50) = (z < 50) AS y
        FROM (SELECT hash(i) % 100 AS x, hash(i + 901) % 100 AS z FROM range(400) AS r(i))""")
    options = {"target": "y", "name": "m", "replace": True}
    declared = dict.fromkeys(("x", "z"), nbsql.Binned(bins=5))
    expected = nbsql.fit(con, "squares", method=method(), families=declared, **options).predict_proba("squares").fetchall()
    model = nbsql.fit(con, "squares", method=method(bins=5), **options)
    assert [row[-1] for row in model.predict_proba("squares").fetchall()] == pytest.approx(
        [row[-1] for row in expected], rel=1e-9
    )
    with pytest.warns(
        nbsql.NbsqlWarning, match=rf"one bin only in 'x', 'z', .*: method=nbsql.{type(method()).__name__}\(bins=10\)"
    ):
        other = nbsql.fit(con, "squares", method=method(), **options | {"name": "other"})
    assert model.evaluate("squares").log_loss < 0.7 * other.evaluate("squares").log_loss
