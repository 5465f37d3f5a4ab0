"""The features that tell most: chosen from the counts, against scikit-learn and against fits of them by name."""

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest, chi2, f_classif
from sklearn.metrics import mutual_info_score
from support.algebra import same

import nbsql
from nbsql import Best, InputError

near = pytest.approx

FAMILIES = {"calls": "poisson", "wait": "exponential", "tries": "geometric", "note": nbsql.Text(tfidf=True)}


@pytest.fixture
def table(con):
    """Two classes, and columns of every kind; `rare` tells all of the class where it is there, which is seldom."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    frame = pandas.DataFrame({
        "y": y,
        "sky": np.array(["u", "v", "w"])[(y + (rng.random(400) < 0.3)) % 3],
        "flag": (y == 1) ^ (rng.random(400) < 0.2),
        "noise": np.array(["l", "m", "r"])[rng.integers(0, 3, 400)],
        "rare": [f"is {label}" if i % 25 == 0 else None for i, label in enumerate(y)],
        "height": y * 1.5 + rng.normal(size=400),
        "calls": rng.poisson(2 + 2 * y),
        "wait": rng.exponential(1 + 2 * y),
        "tries": rng.geometric(0.2 + 0.4 * y) - 1,
        "note": np.array(["some words here", "other words there"])[y ^ (rng.random(400) < 0.3)],
    })  # fmt: skip
    con.register("frame", frame)
    con.execute("CREATE TABLE t AS FROM frame")
    yield frame
    con.unregister("frame")


def test_numbers_have_a_mutual_information_too(con, table):
    model = nbsql.fit(con, "t", target="y", families=FAMILIES)
    rows = {row[0]: row[1:5] for row in model.relevance()}
    y, n = table["y"].to_numpy(), len(table)
    f = f_classif(table[["height"]], y)[0][0]
    ratio = f / (f + n - 2)  # the correlation ratio, of two classes
    assert rows["height"] == (near(-0.5 * np.log(1 - ratio), rel=1e-9), None, near(n * ratio, rel=1e-9), near(f, rel=1e-9))

    def gain(name, entropy):
        x = table[name]
        return float(entropy(x.mean()) - sum(entropy(x[y == k].mean()) * (y == k).mean() for k in (0, 1)))

    entropies = {"calls": lambda m: -m * np.log(m), "wait": np.log, "tries": lambda m: (1 + m) * np.log(1 + m) - m * np.log(m)}
    for name, entropy in entropies.items():
        assert rows[name] == (near(gain(name, entropy), rel=1e-9), None, None, None)
    # The likelihood-ratio test of equal rates, by the densities themselves.
    calls = table["calls"].to_numpy()
    rate = np.where(y == 1, calls[y == 1].mean(), calls[y == 0].mean())
    assert rows["calls"][0] == near((calls * np.log(rate / calls.mean()) - rate + calls.mean()).mean(), rel=1e-9)
    tokens = pandas.DataFrame([(k, word) for k, note in zip(y, table["note"], strict=True) for word in note.split()])
    assert rows["note"][0] == near(mutual_info_score(tokens[0], tokens[1]), rel=1e-9)


@pytest.mark.slow
def test_the_best_are_the_most_telling_of_an_average_row(con, table):
    every = nbsql.fit(con, "t", target="y", families=FAMILIES)
    relevance = {row[0]: row[-1] for row in every.relevance()}  # above chance
    present = {**dict.fromkeys(relevance, 1.0), "rare": 16 / 400, "note": 3.0}
    order = sorted(relevance, key=lambda name: -relevance[name] * present[name])
    for count in (1, 3, 6, 9, 20):
        model = nbsql.fit(con, "t", target="y", families=FAMILIES, features=Best(count))
        assert set(model.families) == set(order[:count])
        assert list(model.families) == [name for name in table.columns if name in order[:count]]  # in the source's order
    assert max(relevance, key=lambda name: relevance[name]) == "rare"
    assert order.index("rare") > 4


@pytest.mark.slow
def test_the_model_is_that_of_the_best_by_name(con, table):
    model = nbsql.fit(con, "t", target="y", families=FAMILIES, features=Best(4), name="best")
    names = list(model.families)
    families = {name: family for name, family in FAMILIES.items() if name in names}
    by_name = nbsql.fit(con, "t", target="y", families=families, features=names, name="by_name")
    assert sorted(model.statistics.fetchall(), key=str) == sorted(by_name.statistics.fetchall(), key=str)
    narrow = f"SELECT y, {', '.join(names)} FROM t"  # what the others were, the model does not ask
    for verb in ("predict_proba", "joint_log_likelihood", "explain"):
        same(getattr(model, verb)(narrow).fetchall(), getattr(by_name, verb)(narrow).fetchall())
    assert con.execute(f"WITH narrow AS ({narrow}) FROM best.predict('narrow')").fetchall() == model.predict(narrow).fetchall()
    model.update(narrow)
    assert nbsql.load(con, "best").priors.fetchall()[0][1] == 2 * by_name.priors.fetchall()[0][1]


@pytest.mark.slow
def test_scikit_learn_chooses_the_same(con):
    data, target = load_breast_cancer(return_X_y=True)
    names = np.array([f"x{i}" for i in range(data.shape[1])])
    con.register("cancer", pandas.DataFrame({"y": target, **dict(zip(names, data.T, strict=True))}))
    for by in ("mutual_information", "f_statistic", "chi_square"):  # of numbers without gaps all three rise with F
        model = nbsql.fit(con, "SELECT * FROM cancer", target="y", features=Best(7, by=by))
        assert list(model.families) == list(names[SelectKBest(f_classif, k=7).fit(data, target).get_support()])
    binary = data > data.mean(axis=0)
    con.register("halves", pandas.DataFrame({"y": target, **dict(zip(names, binary.T, strict=True))}))

    def information(x, y):
        return np.array([mutual_info_score(column, y) for column in x.T])

    def both(x, y):
        return chi2(x, y)[0] + chi2(1 - x, y)[0]  # of both values

    for by, score in (("mutual_information", information), ("chi_square", both)):
        model = nbsql.fit(con, "SELECT * FROM halves", target="y", features=Best(9, by=by))
        found = SelectKBest(score, k=9).fit(binary.astype(int), target).get_support()
        assert list(model.families) == list(names[found])


@pytest.mark.slow
def test_cross_validation_chooses_within_every_fold(con, table):
    con.execute("CREATE TABLE folded AS SELECT *, row_number() OVER () % 4 AS part FROM t")
    options = {"target": "y", "features": Best(2, among=["sky", "flag", "noise", "height", "calls"])}
    found = nbsql.cross_validate(con, "folded", fold="part", **options)
    losses = []
    for part in range(4):
        model = nbsql.fit(con, f"SELECT * FROM folded WHERE part <> {part}", **options)
        losses.append(model.evaluate(f"SELECT * FROM folded WHERE part = {part}").log_loss)
    assert [row[4] for row in found.folds] == near(losses, rel=1e-9)


def test_weights_count_and_ties_go_to_the_first_column(con):
    con.execute("""CREATE TABLE w AS FROM (VALUES
        ('a', 'u', 'u', 'p', 1), ('a', 'u', 'u', 'q', 1), ('b', 'v', 'v', 'p', 1), ('b', 'u', 'u', 'q', 9)
    ) AS t(y, s, same, z, w)""")
    assert list(nbsql.fit(con, "w", target="y", exclude=["w"], features=Best(1)).families) == ["s"]
    assert list(nbsql.fit(con, "w", target="y", weight="w", features=Best(1)).families) == ["z"]
    assert list(nbsql.fit(con, "w", target="y", weight="w", features=Best(1, among=["same", "s"])).families) == ["same"]
    assert nbsql.families(con, "w", target="y", features=Best(1, among=["z"])).keys() == {"z"}


def test_the_statements_of_a_choice_are_not_known_before(con):
    con.execute("CREATE TABLE t AS FROM (VALUES ('a', 'u'), ('b', 'v')) AS t(y, s)")
    with pytest.raises(InputError) as refused:
        nbsql.fit_sql(con, "t", target="y", features=Best(1))
    assert str(refused.value) == "the statements of features=nbsql.Best(...) follow from the counts; fit, or name the features"
