"""Models of weights: the inverse of the linear form and of the quadratic one."""

import sqlite3

import pytest

import nbsql
from nbsql import InputError, ModelError

ROWS = """CREATE TABLE t AS SELECT
    ['a', 'b', 'c'][1 + i % 3] AS y, (hash(i) % 100) / 7.0 + i % 3 AS x, 'v' || (hash(i * 3) % 4) AS k, hash(i * 5) % 3 AS n,
    hash(i * 7) % 2 = 0 AS flag, 'w' || (hash(i * 11) % 5) || ' u' || i % 2 AS note
    FROM range(150) AS r(i)"""
FAMILIES = {"note": nbsql.Text(), "n": "poisson"}


@pytest.fixture
def con(con):
    con.execute(ROWS)
    return con


def proba(model, source="t"):
    return model.predict_proba(source).df().filter(like="probability_").to_numpy()


@pytest.mark.few
@pytest.mark.parametrize(("form", "where"), [("quadratic", "TRUE"), ("quadratic", "y <> 'c'"), ("linear", "y <> 'b'")])
def test_the_weights_of_a_model_are_the_model(con, form, where):
    families = FAMILIES | ({"x": nbsql.Gaussian(shared_variance=True)} if form == "linear" else {})
    model = nbsql.fit(con, f"SELECT * FROM t WHERE {where}", target="y", families=families)
    getattr(model, form)().create_table("weights")
    again = nbsql.from_weights(con, "weights", classes=model.classes, target="y", name="again")
    assert abs(proba(model) - proba(again)).max() < 1e-9
    assert abs(proba(model) - proba(nbsql.load(con, "again"))).max() < 1e-9
    back = {tuple(row[:-1]): row[-1] for row in getattr(again, form)().fetchall()}
    for row in con.sql("FROM weights").fetchall():
        assert back[row[:-1]] == pytest.approx(row[-1], abs=1e-9)
    with pytest.raises(ModelError, match="has no counts"):
        again.update("t")


@pytest.mark.slow
@pytest.mark.forms("where")
@pytest.mark.parametrize("where", ["TRUE", "y <> 'c'"])
def test_products_of_columns_are_weights_as_well(con, where):
    con.execute(f"CREATE TABLE u AS SELECT y, x, k, flag, x * (hash(rowid) % 3) + n AS z FROM t WHERE {where}")
    options = [
        {"method": "qda", "features": ["x", "z"]},
        {"method": "lda", "features": ["x", "z"]},
        {"method": "logistic"},
        {"families": {"both": nbsql.MultivariateGaussian(["x", "z"], shared=False)}},
    ]
    for asked in options:
        model = nbsql.fit(con, "u", target="y", **asked)
        again = nbsql.from_weights(con, model.quadratic(), classes=model.classes, target="y", name="again", replace=True)
        assert abs(proba(model, "u") - proba(again, "u")).max() < 1e-9
        third = nbsql.from_weights(con, again.quadratic(), classes=model.classes)
        assert abs(proba(model, "u") - proba(third, "u")).max() < 1e-9
        row = dict(zip(("x", "z", "k", "flag"), con.sql("SELECT x, z, k, flag FROM u LIMIT 1").fetchall()[0], strict=True))
        read = {column for feature in again.state.spec.features for column in feature.columns}
        said = again.predict_one({name: row[name] for name in read})
        first = proba(model, "SELECT * FROM u LIMIT 1")[0].tolist()
        assert list(said["probabilities"].values()) == pytest.approx(first, abs=1e-9)
        if asked.get("method") != "qda":
            continue
        with pytest.raises(ModelError, match=r"has no linear form: '\[\"z\",\"x\"\]' is a product; use quadratic\(\)"):
            again.linear()
        explained = again.explain("SELECT 2.0 AS x, 3.0 AS z").fetchall()
        products = [each for each in explained if each[2] == '["z","x"]']
        assert {each[3] for each in products} == {"[3.0, 2.0]"}
        elsewhere = sqlite3.connect(":memory:")
        elsewhere.execute("CREATE TABLE u (y, x, k, flag, z)")
        elsewhere.executemany("INSERT INTO u VALUES (?, ?, ?, ?, ?)", con.sql("FROM u").fetchall())
        found = [row[-len(model.classes) :] for row in elsewhere.execute(again.sql("predict_proba", "u", dialect="sqlite"))]
        assert abs(proba(model, "SELECT * FROM u") - found).max() < 1e-9


@pytest.mark.slow
def test_a_model_of_weights_travels_in_a_file(con, tmp_path):
    model = nbsql.fit(con, "t", target="y", families=FAMILIES)
    again = nbsql.from_weights(con, con.sql(model.quadratic().sql), name="again")
    again.export(tmp_path / "again.parquet")
    assert abs(proba(model) - proba(nbsql.import_(con, tmp_path / "again.parquet"))).max() < 1e-9


def given(**columns):
    usual = {"class": ["p", "q"], "feature": ["x", "x"], "value": [None, None], "times": ["x", "x"], "weight": [1.0, 2.0]}
    return {**usual, **columns}


def test_wrong_weights_are_refused(con):
    for weights, options, message in [
        ({"class": ["p"], "weight": [1]}, {}, "weights has no column 'feature'"),
        (given(), {"classes": ["p", "r"]}, "weights are of class 'q', which is none of classes"),
        (given(**{"class": ["p", "p"]}), {}, "weights tell two classes or more apart; name all labels in classes"),
        (given(times=["x y", "x y"]), {}, "weights have times 'x y', of two columns; name one as 'value', or 'feature'"),
        (given(times=["x*y", "x*y"]), {}, "weights of 'x' have times 'x*y', which is none of '1', 'x', 'x^2', 'x y', 'is'"),
        (given(feature=[None, None]), {}, "weights of the bias have times 'x'; the bias has '1' and no feature"),
        (given(weight=[1.0, None]), {}, "a weight of 'x' is not a finite number; correct it, or leave it out"),
        (given(**{"class": ["p", "p"]}), {"classes": ["p", "q"]}, "a weight of 'x' is given 2 times; give it once"),
        (given(), {"families": {"z": "text"}}, "families names 'z', which has no weights"),
        (given(), {"families": {"x": "text"}}, "family text of 'x' is not scored by times 'x'; leave it out of families"),
        (given(times=["x", "is"]), {}, "weights of 'x' have times 'is', 'x', which no one family has; name two features"),
    ]:
        with pytest.raises(InputError) as raised:
            nbsql.from_weights(con, weights, name="m", **options)
        assert message in str(raised.value)
        assert nbsql.models(con) == []


# What else the exchange needs of counts. -------------------------------------------------------------------------------


def test_smoothing_is_a_share_of_the_largest_variance(con):
    families = {"x": nbsql.Gaussian(smoothing=0.1), "n": nbsql.Gaussian(smoothing=0.5)}
    model = nbsql.fit(con, "t", target="y", features=["x", "n"], families=families)
    ((largest,),) = con.sql("SELECT greatest(var_pop(x), var_pop(n)) FROM t").fetchall()
    wanted = con.sql("SELECT y, var_pop(x), var_pop(n) FROM t GROUP BY y ORDER BY y").fetchall()
    found = {(name, feature): variance for name, feature, *_, variance, _ in model.likelihoods.fetchall()}
    for name, x, n in wanted:
        assert found[name, "x"] == pytest.approx(x + 0.1 * largest, rel=1e-12)
        assert found[name, "n"] == pytest.approx(n + 0.5 * largest, rel=1e-12)
    with pytest.raises(InputError, match="folds='loo' takes a row out"):
        nbsql.cross_validate(con, "t", target="y", features=["x"], families={"x": families["x"]}, folds="loo")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shared_variance": True}, "smoothing and shared_variance are two ways to steady one variance"),
        ({"prior": nbsql.NormalInverseGamma()}, "smoothing and a prior are two ways to steady one variance"),
    ],
)
def test_smoothing_stands_alone(options, message):
    with pytest.raises(InputError, match=message):
        nbsql.Gaussian(smoothing=1e-9, **options)
    with pytest.raises(InputError, match="smoothing compares variances of numbers, and 'lognormal' has those of logarithms"):
        nbsql.LogNormal(smoothing=1e-9)


@pytest.mark.parametrize("event", ["multinomial", "bernoulli", "complement"])
def test_a_declared_vocabulary_is_all_the_words_there_are(con, event):
    text = nbsql.Text(event=event, vocabulary=["w0", "w1", "u0", "never"])
    model = nbsql.fit(con, "SELECT y, note FROM t", target="y", families={"note": text})
    words = {row[2] for row in model.likelihoods.fetchall()}
    assert words == {"w0", "w1", "u0", "never"}
    with_others = proba(model, "SELECT 'w0 w4 else' AS note")
    assert abs(with_others - proba(model, "SELECT 'w0' AS note")).max() < 1e-15
    model.update("SELECT 'a' AS y, 'else w1' AS note")
    assert {row[2] for row in model.likelihoods.fetchall()} == words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocabulary": []}, "vocabulary is empty; name a word, or leave it out"),
        ({"vocabulary": ["a"], "best": 2}, "a declared vocabulary is all the words there are; leave out best"),
        (
            {"vocabulary": ["a"], "unseen": "smooth"},
            "a declared vocabulary is all the words there are; leave out unseen='smooth'",
        ),
        ({"vocabulary": ["a"], "tfidf": True}, "a declared vocabulary has words never met"),
        ({"vocabulary": ["a"], "min_count": 2}, "a declared vocabulary has words never met"),
    ],
)
def test_what_a_vocabulary_does_not_go_with(options, message):
    with pytest.raises(InputError, match=message):
        nbsql.Text(**options)


def test_count_columns_may_be_one(con):
    model = nbsql.fit(con, "SELECT y, n FROM t", target="y", families={"words": nbsql.Multinomial(["n"])})
    priors = {name: prior for name, _, prior, _ in model.priors.fetchall()}
    row = model.predict_proba("SELECT 3 AS n").fetchall()[0]
    assert row[-3:] == pytest.approx([priors[name] for name in "abc"])


def test_counts_are_the_cells_of_all_batches_together(con):
    model = nbsql.fit(con, "SELECT * FROM t LIMIT 60", target="y", families=FAMILIES)
    model.update("SELECT * FROM t OFFSET 60")
    whole = nbsql.fit(con, "t", target="y", families=FAMILIES)
    ours = {row[1:4]: row[4:7] for row in model.counts.fetchall()}
    theirs = {row[1:4]: row[4:7] for row in whole.counts.fetchall()}
    assert ours.keys() == theirs.keys()
    for key, cell in theirs.items():
        assert ours[key] == tuple(None if each is None else pytest.approx(each) for each in cell)


WEIGHTS = {"class": [1, 1], "feature": [None, "wind"], "value": [None, None], "times": ["1", "x"], "weight": [-1, 0.5]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classes": 5}, "classes must be a list of labels, not 5"),
        ({"classes": [0, 1, None]}, "classes must be a list of labels, not [0, 1, None]"),
        ({"families": "auto"}, "families must be a dict such as {'visits': 'poisson'}, not 'auto'"),
        ({"target": 5}, "target must be the name of the column that is predicted, not 5"),
    ],
)
def test_arguments_that_are_none(con, options, message):
    with pytest.raises(InputError) as caught:
        nbsql.from_weights(con, WEIGHTS, **{"classes": [0, 1], **options})
    assert str(caught.value) == message


def test_classes_are_labels_of_the_type_of_those_with_weights(con):
    for classes in ([0, 1, 0], [0.0, 1.0], ["0", "1"]):
        model = nbsql.from_weights(con, WEIGHTS, classes=classes)
        assert model.classes == [0, 1]
        assert model.predict("SELECT 2e0 AS wind").fetchall() == [(2.0, 0, 0.5)]
    with pytest.raises(InputError, match=r"^classes must be labels of 'class', which is BIGINT: "):
        nbsql.from_weights(con, WEIGHTS, classes=["no", 1])


def test_counts_from_elsewhere_have_columns_by_name(con):
    cells = nbsql.fit(con, "SELECT y, k FROM t", target="y").statistics
    assert nbsql.from_statistics(con, cells, id=(name for name in ["key"])).state.spec.id == ("key",)
    with pytest.raises(InputError, match=r"^a column's name must be text, not 5; write '5'$"):
        nbsql.from_statistics(con, cells, weight=5)


def test_values_that_are_words_are_no_values_of_a_number(con):
    con.execute("CREATE TABLE rows AS SELECT i % 2 AS y, i % 5 * 1e0 AS x, i % 3 = 1 AS z FROM range(60) AS r(i)")
    bins = {"x": nbsql.Binned(by=[2, 4])}
    model = nbsql.fit(con, "rows", target="y", families={**bins, "z": "categorical"})
    refused = r"column 'x' of rows is DOUBLE, and the model has learnt text there"
    with pytest.raises(InputError, match=refused):  # its bins are texts without their family
        nbsql.from_weights(con, model.linear(), classes=[0, 1]).predict("rows")
    same = nbsql.from_weights(con, model.linear(), classes=[0, 1], families=bins)
    assert proba(same, "rows") == pytest.approx(proba(model, "rows"), abs=1e-12)
    con.execute(
        "CREATE TABLE numbers AS SELECT i % 2 AS y, [1e0, 'nan'::DOUBLE, 'inf'::DOUBLE][1 + i % 3] AS x FROM range(60) AS r(i)"
    )
    model = nbsql.fit(con, "numbers", target="y", families={"x": "categorical"})
    same = nbsql.from_weights(con, model.linear(), classes=[0, 1])
    assert proba(same, "numbers") == pytest.approx(proba(model, "numbers"), abs=1e-12)
