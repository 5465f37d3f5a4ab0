"""Calibration, held against scipy and scikit-learn on the same scores, and what becomes of it as its model changes."""

import sqlite3
import warnings

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logsumexp
from sklearn.calibration import _SigmoidCalibration
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss
from support.algebra import COLUMNS, connect, examples, fit, unweighted
from support.inserted import insert

import nbsql
from nbsql import InputError, ModelError, NbsqlWarning
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.evaluation.calibration import search_parameters

pytestmark = [  # many of these rows are too few to be calibrated on, and that is said
    pytest.mark.filterwarnings("ignore:the temperature is at its bound"),
    pytest.mark.filterwarnings("ignore:the calibration makes the log loss"),
]

near = pytest.approx
METHODS = ("temperature", "platt", "isotonic")


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(one value only|nothing but NULL|.* has one class only)", NbsqlWarning)
        yield


def table(con, name, load):
    """A table of scikit-learn's with its target as y, five of its columns, a row number and a weight."""
    data, target = load(return_X_y=True)
    columns = {f"x{i}": data[:, i] for i in range(5)}
    frame = pd.DataFrame({"i": np.arange(len(target)), "y": target, **columns, "w": np.arange(len(target)) % 4})
    con.register("frame", frame)
    con.execute(f"CREATE TABLE {name} AS FROM frame")
    con.unregister("frame")


@pytest.fixture(params=["cancer", "wine"])
def model(con, request):
    """A model of every second row, with the table `rest` of the others."""
    table(con, "rows", {"cancer": load_breast_cancer, "wine": load_wine}[request.param])
    con.execute("CREATE TABLE rest AS FROM rows WHERE i % 2 = 1")
    return nbsql.fit(con, "SELECT * EXCLUDE (w) FROM rows WHERE i % 2 = 0", target="y", id="i", name="m")


def scores(model, source):
    """ln p of every class but for a constant a row, the true class, and the weight, by row number."""
    frame = model.joint_log_likelihood(source).df().sort_values("i")
    joint = frame[[f"joint_log_likelihood_{label}" for label in sorted(model.classes)]].to_numpy()
    return joint, frame["y"].to_numpy(), frame["w"].to_numpy(dtype=float)


def odds(joint):
    """The log-odds of each class against the rest."""
    return np.column_stack([joint[:, k] - logsumexp(np.delete(joint, k, axis=1), axis=1) for k in range(joint.shape[1])])


def softmax(joint):
    return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


def calibrated(model, source):
    frame = model.predict_proba(source).df().sort_values("i")
    return frame[[f"probability_{label}" for label in sorted(model.classes)]].to_numpy()


def temperature(joint, y, w):
    """T by scipy."""

    def loss(log_t):
        scaled = joint / np.exp(log_t)
        return float(w @ (logsumexp(scaled, axis=1) - scaled[np.arange(len(y)), y]))

    return float(np.exp(minimize_scalar(loss, bounds=(-3, 6), method="bounded", options={"xatol": 1e-12}).x))


def sigmoid(f, y, w):
    """Platt's slope and intercept by scipy, from his definition."""
    hits, misses = w[y].sum(), w[~y].sum()
    target = np.where(y, (hits + 1) / (hits + 2), 1 / (misses + 2))
    centre, scale = f.mean(), f.std()
    x = (f - centre) / scale

    def loss(ab):
        z = ab[0] * x + ab[1]
        error = w * (expit(z) - target)
        return float(w @ (np.logaddexp(0, z) - target * z)), np.array([error @ x, error.sum()])

    a, b = minimize(loss, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    return a / scale, b - a * centre / scale


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.forms("weight")
def test_the_temperature_is_that_of_scipy(model, weight):
    joint, y, w = scores(model, "rest")
    found = model.calibrate("rest", folds=None, weight=weight)
    w = w if weight else np.ones(len(y))
    expected = temperature(joint, y, w)
    assert found.temperature == near(expected, rel=1e-6)
    assert [row[0] for row in found.parameters] == ["temperature"]
    assert calibrated(model, "rest") == near(softmax(joint / expected), abs=1e-6)
    assert found.rows == (w > 0).sum()
    assert found.log_loss == near(log_loss(y, softmax(joint), sample_weight=w), rel=1e-9)
    assert found.calibrated_log_loss == near(log_loss(y, softmax(joint / expected), sample_weight=w), rel=1e-9)
    assert found.calibrated_log_loss < found.log_loss


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.forms("weight")
def test_platts_sigmoid_is_that_of_scikit_learn_and_of_scipy(model, weight):
    joint, y, w = scores(model, "rest")
    f, w = odds(joint), w if weight else np.ones(len(y))
    found = model.calibrate("rest", method="platt", folds=None, weight=weight)
    theirs, ours = np.empty_like(f), np.empty_like(f)
    for k in range(f.shape[1]):
        theirs[:, k] = _SigmoidCalibration().fit(f[:, k], (y == k).astype(int), w).predict(f[:, k])
        slope, intercept = sigmoid(f[:, k], y == k, w)
        ours[:, k] = expit(slope * f[:, k] + intercept)
        ((*_, a, b, _, _),) = [row for row in found.parameters if row[2] == k]
        assert (a, b) == (near(slope, rel=1e-6), near(intercept, rel=1e-5, abs=1e-6))
    assert calibrated(model, "rest") == near(ours / ours.sum(axis=1, keepdims=True), abs=1e-7)
    assert calibrated(model, "rest") == near(theirs / theirs.sum(axis=1, keepdims=True), abs=1e-5)


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.forms("weight")
def test_isotonic_posteriors_are_those_of_scikit_learn(model, weight):
    joint, y, w = scores(model, "rest")
    f, w = odds(joint), w if weight else np.ones(len(y))
    model.calibrate("rest", method="isotonic", folds=None, weight=weight)
    everywhere = odds(scores(model, "rows")[0])  # scores between the knots and beyond them, too
    q = np.empty_like(everywhere)
    for k in range(f.shape[1]):
        q[:, k] = IsotonicRegression(out_of_bounds="clip").fit(f[:, k], y == k, w).predict(everywhere[:, k])
    total = q.sum(axis=1, keepdims=True)
    expected = np.where(total > 0, q / np.where(total > 0, total, 1), 1 / q.shape[1])
    assert calibrated(model, "rows") == near(expected, abs=1e-9)


point = st.tuples(st.integers(-4, 4).map(float), st.booleans(), st.integers(1, 3).map(float), st.integers(1, 2))
points = st.lists(point, min_size=1, max_size=40)


def found(method, rows):
    """What a method finds of scores, hits, weights and numbers of classes."""
    con = duckdb.connect()
    con.execute("CREATE TABLE scores (score DOUBLE, hit BOOLEAN, weight DOUBLE, class_no INTEGER)")
    insert(con, "scores", rows)
    engine = DuckDB(con)
    with engine.temporaries() as temporary:
        last = search_parameters(engine, method, engine.renderer.dialect.ident("scores"), temporary)
        return engine.query_macro(f"{method}_result", last)


@pytest.mark.slow
@given(points)
@examples(40)
def test_pooling_adjacent_violators_is_isotonic_regression(rows):
    knots = sorted(found("isotonic", rows))
    for k in {row[3] for row in rows}:
        score, hit, weight, _ = map(np.array, zip(*[row for row in rows if row[3] == k], strict=True))
        theirs = IsotonicRegression().fit(score, hit, weight)
        ours = [row[1:] for row in knots if row[0] == k]
        assert [p for _, p in ours] == near(theirs.predict([x for x, _ in ours]), abs=1e-12)
        assert np.interp(score, *zip(*ours, strict=True)) == near(theirs.predict(score), abs=1e-12)
        assert [p for _, p in ours] == sorted(p for _, p in ours)


@pytest.mark.slow
@given(points)
@examples(25)
def test_platts_sigmoid_has_the_least_loss(rows):
    for k, slope, intercept in found("platt", rows):
        f, y, w, _ = map(np.array, zip(*[row for row in rows if row[3] == k], strict=True))
        hits, misses = w[y].sum(), w[~y].sum()
        target = np.where(y, (hits + 1) / (hits + 2), 1 / (misses + 2))
        error = w * (expit(slope * f + intercept) - target)
        assert (error.sum(), error @ f) == near((0, 0), abs=1e-8)


@pytest.mark.slow
def test_rows_that_the_model_has_learnt_are_scored_without_themselves(con):
    table(con, "rows", load_breast_cancer)
    model = nbsql.fit(con, "rows", target="y", id="i", exclude=["w"], infer="types")
    columns = "y, x0, x1, x2, x3, x4"
    con.execute(f"CREATE TABLE dealt AS SELECT *, (row_number() OVER (ORDER BY y, hash({columns})) - 1) % 5 AS fold FROM rows")
    parts = []
    for fold in range(5):
        part = nbsql.fit(con, f"FROM dealt WHERE fold <> {fold}", target="y", id="i", exclude=["w", "fold"], infer="types")
        parts.append(scores(part, f"FROM dealt WHERE fold = {fold}"))
    joint, y, _ = (np.concatenate(items) for items in zip(*parts, strict=True))
    before = sorted(con.execute("SELECT table_name FROM duckdb_tables()").fetchall())
    found = model.calibrate("rows", folds=5)
    assert found.temperature == near(temperature(joint, y, np.ones(len(y))), rel=1e-6)
    assert found.log_loss == near(log_loss(y, softmax(joint)), rel=1e-9)
    after = sorted(con.execute("SELECT table_name FROM duckdb_tables()").fetchall())
    assert [name for (name,) in after if (name,) not in before] == [f"{model.state.relations._transient} calibration"]


def test_folds_count_by_the_weight_of_the_fit(con):
    table(con, "rows", load_wine)
    weighed = nbsql.fit(con, "rows", target="y", id="i", weight="w")
    found = weighed.calibrate("rows", folds=3)
    cross = nbsql.cross_validate(con, "rows", target="y", id="i", weight="w", folds=3)
    assert found.rows == cross.rows
    assert found.log_loss == near(cross.log_loss, rel=1e-9)
    with pytest.raises(InputError, match=r"^weight goes with folds=None or test; in folds, rows count by the weight of t"):
        weighed.calibrate("rows", folds=3, weight="i")


@pytest.mark.slow
@given(unweighted, unweighted)
@examples(6)
def test_temperature_keeps_the_ranking_and_never_loses(a, b):
    con = connect(a=a, b=b, rows=a + b)
    model = fit(con, "rows")
    if len(model.classes) == 1:
        return
    found = model.calibrate("b", folds=None)
    assert found.calibrated_log_loss <= found.log_loss + 1e-12
    labels = sorted(model.classes)
    plain, after = (
        np.array([row[-len(labels) :] for row in model.predict_proba("rows", calibrated=wanted)]) for wanted in (False, True)
    )
    assert after.sum(axis=1) == near(np.ones(len(a + b)))
    for one, other in zip(plain, after, strict=True):
        for j in range(len(labels)):
            assert all(other[j] >= other[k] - 1e-12 for k in range(len(labels)) if one[j] > one[k])
    assert "play" in COLUMNS


def agrees(one, other):
    """But for the last digits, in which sums differ from run to run."""
    return [value for _, value in one.summary()] == near([value for _, value in other.summary()], rel=1e-12)


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_form_and_every_way_to_ask_gives_the_same(con, form, method):
    table(con, "rows", load_wine)
    con.execute("CREATE TABLE levels AS SELECT i, y, x0 > 13 AS a, floor(x1) AS b, 'l' || floor(x2 * 3) AS c FROM rows")
    model = nbsql.fit(con, "levels", target="y", id="i", name="m", families={"b": "categorical"})
    joint = model.joint_log_likelihood("levels").df().sort_values("i").filter(like="joint").to_numpy()
    found = model.calibrate("levels", method=method, folds=3, test="levels")
    q = calibrated(model, "levels")
    assert q.sum(axis=1) == near(np.ones(len(q)))
    if found.temperature:
        assert q == near(softmax(joint / found.temperature), abs=1e-12)
    predicted = model.predict("levels").df().sort_values("i")
    best = q.max(axis=1)
    assert predicted["probability"].to_numpy() == near(best, rel=1e-12)
    assert all(q[row, label] == near(best[row]) for row, label in enumerate(predicted["prediction"]))
    in_sql = con.execute("FROM m.predict_proba('levels') ORDER BY i").fetchall()
    assert in_sql == sorted(model.predict_proba("levels").fetchall())
    assert con.execute("FROM m.predict('levels') ORDER BY i").fetchall() == [row[:-3] for row in in_sql]
    first = model.predict("levels", top_k=1).df().sort_values("i")
    assert first["probability"].to_numpy() == near(best, rel=1e-12)
    assert agrees(found.after, model.evaluate("levels"))
    assert found.after.log_loss == near(log_loss(con.execute("SELECT y FROM levels ORDER BY i").df()["y"], q), rel=1e-9)
    assert found.before is not None
    assert agrees(found.before, model.evaluate("levels", calibrated=False))
    frame = con.sql("FROM levels ORDER BY hash(i)").df()
    assert model.predict(frame).df()["i"].tolist() == frame["i"].tolist()


@pytest.mark.parametrize("method", METHODS)
def test_what_the_model_rules_out_stays_out(con, form, method):
    con.execute("""CREATE TABLE t AS SELECT i % 3 AS y, i % 3 > 0 AS a, i % 3 < 2 AS b, CAST(i % 7 AS DOUBLE) AS x
        FROM range(60) AS r(i)""")
    model = nbsql.fit(con, "t", target="y", alpha=0, name="m")
    model.calibrate("SELECT * FROM t", method=method, folds=None)
    new = "SELECT a, b, 1.0 AS x FROM (VALUES (TRUE, TRUE), (FALSE, FALSE), (FALSE, TRUE)) AS r(a, b)"
    found = sorted((row[3:] for row in model.predict_proba(new)), key=str)
    assert found == [(0, 1.0, 1.0, 0.0, 0.0), (1, 1.0, 0.0, 1.0, 0.0), (None,) * 5]


def test_a_temperature_without_an_optimum_ends(con):
    con.execute("CREATE TABLE t AS SELECT i % 2 = 0 AS y, i % 2 * 3.0 + i % 5 / 10 AS x FROM range(40) AS r(i)")
    model = nbsql.fit(con, "t", target="y")
    wrong = model.calibrate("SELECT NOT y AS y, x FROM t", folds=None)
    assert wrong.temperature == near(1000, rel=1e-6)
    assert np.log(2) < wrong.calibrated_log_loss < wrong.log_loss / 10
    right = model.calibrate("t", folds=None)
    assert right.temperature is not None
    assert 0.01 <= right.temperature < 1
    assert right.calibrated_log_loss == near(0, abs=1e-11)


def test_a_row_far_from_its_class_does_not_decide_the_temperature(con, form):
    """The log loss of a row is bounded in an evaluation, and no temperature would help it."""
    con.execute(
        """CREATE TABLE t AS SELECT i, i % 2 AS y, 1.0 AS w, i % 2 + hash(i) % 1000 / 250 - 2 AS x FROM range(400) AS r(i)"""
    )
    con.execute("CREATE TABLE some_far AS FROM t UNION ALL SELECT 400 + i, 1, 1, 1e9 FROM range(3) AS r(i)")
    model = nbsql.fit(con, "FROM t WHERE i % 4 < 2", target="y", id="i", exclude=["w"], families={"x": "gaussian"})
    near_rows = model.calibrate("FROM t WHERE i % 4 > 1", folds=None)
    rows = "FROM some_far WHERE i % 4 > 1 OR i >= 400"
    found = model.calibrate(rows, folds=None)
    joint, y, w = scores(model, rows)
    assert (joint[200:, 1] < joint[200:, 0] - 1e6).all()
    assert found.temperature == near(near_rows.temperature, rel=1e-9)
    assert found.temperature == near(temperature(joint[:200], y[:200], w[:200]), rel=1e-6)
    assert found.calibrated_log_loss < found.log_loss
    with pytest.warns(nbsql.NbsqlWarning, match="at its bound"):
        far = model.calibrate("FROM some_far WHERE i >= 400", folds=None)
    assert far.temperature == near(1000, rel=1e-6)


@pytest.mark.slow
def test_a_calibration_stays_with_the_model(con, tmp_path):
    table(con, "rows", load_wine)
    con.execute(f"ATTACH '{tmp_path / 'shop.duckdb'}' AS shop")
    model = nbsql.fit(con, "rows", target="y", id="i", exclude=["w"], name="m", database="shop")
    model.calibrate("rows")
    expected = sorted(model.predict_proba("rows", calibrated=True).fetchall())
    loaded = nbsql.load(con, "m", database="shop")
    assert sorted(loaded.predict_proba("rows", calibrated=True).fetchall()) == expected
    con.execute("USE shop")
    assert sorted(con.execute("FROM m.predict_proba('memory.rows')").fetchall()) == expected
    model.drop()
    assert con.execute("SELECT count(*) FROM duckdb_schemas() WHERE schema_name = 'm'").fetchone() == (0,)


@pytest.mark.slow
def test_another_calibration_takes_its_place(con):
    table(con, "rows", load_wine)
    model = nbsql.fit(con, "rows", target="y", id="i", exclude=["w"], name="m")
    other = nbsql.load(con, "m")
    model.calibrate("rows", folds=3)
    waiting = other.predict_proba("rows", calibrated=True)
    assert waiting.fetchall()
    model.calibrate("rows", method="isotonic", folds=3)
    assert sorted(waiting.fetchall()) == sorted(model.predict_proba("rows", calibrated=True).fetchall())
    assert con.execute("SELECT DISTINCT method FROM m.calibration").fetchall() == [("isotonic",)]
    nbsql.fit(con, "rows", target="y", id="i", exclude=["w"], name="m", replace=True)
    with pytest.raises(ModelError, match="model 'm' is not calibrated; calibrate it first"):
        nbsql.load(con, "m").predict("rows", calibrated=True)


@pytest.mark.few
@pytest.mark.parametrize(
    ("name", "change"),
    [
        (None, lambda m: m.update("one")),
        ("m", lambda m: m.update("one")),
        ("m", lambda m: m.forget("one")),
        ("m", lambda m: m.forget(batch="b")),
        ("m", lambda m: m.rollback("1")),
    ],
)
def test_a_change_of_the_model_drops_its_calibration_and_says_so(con, name, change):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, CAST(i % 7 AS DOUBLE) AS x FROM range(60) AS r(i)")
    con.execute("CREATE TABLE one AS FROM t LIMIT 1")
    model = nbsql.fit(con, "t", target="y", name=name)
    model.update("one", batch="b")
    model.calibrate("FROM t UNION ALL FROM one", folds=2)
    model.compact(through="1")  # the same model
    assert model.predict("t", calibrated=True).fetchall()
    title = "model 'm'" if name else "the model"
    with pytest.warns(NbsqlWarning) as caught:
        change(model)
    assert [str(warning.message) for warning in caught] == [
        f"{title} has changed, and its calibration, which was of the model before, is dropped; calibrate it again"
    ]
    with pytest.raises(ModelError, match=f"{title} is not calibrated; calibrate it first"):
        model.predict("t", calibrated=True)
    assert model.predict("t").fetchall()
    if name:
        nbsql.load(con, name).drop()


@pytest.mark.slow
def test_models_derived_from_a_calibrated_one_have_no_calibration(con, tmp_path):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, CAST(i % 7 AS DOUBLE) AS x FROM range(60) AS r(i)")
    model = nbsql.fit(con, "t", target="y", name="m")
    model.calibrate("t", folds=2)
    for other in (model.as_of("1"), nbsql.merge(con, ["m"])):
        assert sorted(other.predict("t").fetchall()) == sorted(model.predict("t", calibrated=False).fetchall())
        with pytest.raises(ModelError, match="is not calibrated"):
            other.predict("t", calibrated=True)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "name"), [*((method, "n") for method in METHODS), ("platt", None)])
@pytest.mark.parametrize("form", ["wide", "long"], indirect=True)
@pytest.mark.forms("method", "name")
def test_a_calibration_travels_in_the_file_of_its_model(con, tmp_path, method, name, form):
    con.execute(
        "CREATE TABLE t AS SELECT hash(i) % 3 AS y, CAST(hash(i, 1) % 7 AS DOUBLE) + hash(i) % 3 AS x FROM range(60) AS r(i)"
    )
    model = nbsql.fit(con, "t", target="y", name="m")
    model.calibrate("t", folds=2, method=method)
    model.export(tmp_path / "m.parquet")
    with duckdb.connect() as elsewhere:
        elsewhere.execute("CREATE TABLE t AS SELECT range::DOUBLE AS x FROM range(9)")
        con.execute("CREATE TABLE few AS SELECT range::DOUBLE AS x FROM range(9)")
        other = nbsql.import_(elsewhere, tmp_path / "m.parquet", name=name)
        ours, theirs = (m.predict_proba(t).fetchall() for m, t in ((model, "few"), (other, "t")))
        for one, another in zip(ours, theirs, strict=True):
            assert another == near(one, rel=1e-12)
        if name is not None:
            in_sql = elsewhere.execute("FROM n.predict('t')").fetchall()
            assert [row[1] for row in in_sql] == [row[1] for row in ours]
        tables = [m.state.relations["calibration"] for m in (model, other)]
        rows = [c.execute(f"FROM {t} ORDER BY ALL").fetchall() for c, t in zip((con, elsewhere), tables, strict=True)]
        assert rows[0] == rows[1]


@pytest.mark.slow
def test_errors_are_one_line_and_change_nothing(con, refused):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, CAST(i % 7 AS DOUBLE) AS x FROM range(60) AS r(i)")
    model = nbsql.fit(con, "t", target="y", name="m")
    for source, options, message in [
        ("t", {"method": "plat"}, "no method 'plat'; did you mean 'platt'?"),
        ("t", {"method": "sigmoid"}, "no method 'sigmoid'; did you mean 'platt'?"),
        ("t", {"method": 7}, "no method 7; there are 'temperature', 'platt', 'isotonic', 'conformal', 'certain'"),
        ("t", {"folds": 1}, "folds must be a whole number of at least 2, or 'loo', not 1"),
        (
            "FROM t LIMIT 50",
            {},
            "the query counts 50 rows, and model 'm' has learnt 60; folds need all rows that it has learnt, and no others; "
            "calibrate on others with folds=None",
        ),
        (
            "SELECT 1 - y // 3 AS y, x FROM t",
            {},
            "the classes of the query are not those that model 'm' has learnt; calibrate on others with folds=None",
        ),
        ("SELECT x FROM t", {}, "no column 'y' in the query, the target of model 'm'; its columns are 'x'"),
        ("SELECT x FROM t", {"folds": None}, "no column 'y' in the query, the target of the model; its columns are 'x'"),
        (
            "SELECT 9 AS y, x FROM t",
            {"folds": None},
            "no row of the query has a class that model 'm' knows and can explain; nothing to calibrate on",
        ),
        ("t", {"test": "SELECT x FROM t"}, "no column 'y' in the query, the target of the model; its columns are 'x'"),
    ]:
        with refused(InputError, message):
            model.calibrate(source, **options)


@pytest.mark.slow
def test_models_that_cannot_be_calibrated(con, refused):
    con.execute("CREATE TABLE t AS SELECT ['a', 'b'][i % 2 + 1] AS y, 'n' || i % 3 || ' w' AS note FROM range(12) AS r(i)")
    one = nbsql.fit(con, "FROM t WHERE y = 'a'", target="y", name="one", families={"note": nbsql.Text()})
    with refused(InputError, "model 'one' has one class only; there is nothing to calibrate"):
        one.calibrate("t")
    stuck = nbsql.fit(con, "t", target="y", name="stuck", families={"note": nbsql.Text(tfidf=True, norm="l2")})
    assert stuck.calibrate("t", folds=None).rows == 12
    with refused(ModelError, "model 'one' is not calibrated; calibrate it first"):
        one.evaluate("t", calibrated=True)


def test_a_calibration_of_no_use_comes_with_a_warning(con):
    con.execute("CREATE TABLE t AS SELECT i % 2 = 0 AS y, i % 2 * 3.0 + i % 5 / 10 AS x FROM range(40) AS r(i)")
    model = nbsql.fit(con, "t", target="y")
    with pytest.warns(nbsql.NbsqlWarning, match=r"^the temperature is at its bound, 1000: the posteriors of the 40 "):
        model.calibrate("SELECT NOT y AS y, x FROM t", folds=None)
    with pytest.warns(nbsql.NbsqlWarning, match=r"^the calibration makes the log loss of the 40 rows of t worse, "):
        model.calibrate("SELECT i % 3 = 0 AS y, x FROM (SELECT *, row_number() OVER () AS i FROM t)", folds=None, test="t")


@pytest.mark.slow
@pytest.mark.forms("method")
@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_a_calibrated_model_answers_calibrated_unless_asked_otherwise(con, method):
    con.execute("""CREATE TABLE t AS SELECT i, chr(97 + (i % 3)::INT) AS y, hash(i) % 97 / 40.0 + i % 3 AS x,
        hash(i) % 97 / 40.0 + i % 3 + hash(i, 1) % 10 / 90.0 AS again, 'k' || hash(i, 2) % 4 AS k FROM range(240) AS r(i)""")
    model = nbsql.fit(con, "FROM t WHERE i % 2 = 0", target="y", features=["x", "again", "k"], name="m")
    rest = "FROM t WHERE i % 2 = 1 ORDER BY i"
    con.execute(f"CREATE TABLE rest AS {rest}")
    own = model.predict_proba("rest", columns=["i"]).fetchall()
    model.calibrate("rest", method=method, folds=None)
    answers = model.predict_proba("rest", columns=["i"]).fetchall()
    asked = {None: answers, True: answers, False: own}

    def agree(found, expected):
        for row, other in zip(sorted(found), sorted(expected), strict=True):
            assert row[:2] == other[:2]
            assert row[2:] == near(other[2:], rel=1e-9, abs=1e-12)

    sqlite = sqlite3.connect(":memory:")
    sqlite.execute("CREATE TABLE rest (i INTEGER, x REAL, again REAL, k TEXT)")
    sqlite.executemany("INSERT INTO rest VALUES (?, ?, ?, ?)", con.execute("SELECT i, x, again, k FROM rest").fetchall())
    for calibrated, expected in asked.items():
        options = {"calibrated": calibrated, "columns": ["i"]}
        agree(model.predict_proba("rest", **options).fetchall(), expected)
        agree(con.execute(model.sql("predict_proba", "rest", inline=True, **options)).fetchall(), expected)
        agree(con.execute(model.sql("predict_proba", "rest", dialect="duckdb", **options)).fetchall(), expected)
        agree(sqlite.execute(model.sql("predict_proba", "rest", dialect="sqlite", **options)).fetchall(), expected)
        x, again, k = con.execute("SELECT x, again, k FROM rest ORDER BY i").fetchall()[0]
        one = model.predict_one({"x": x, "again": again, "k": k}, calibrated=calibrated)
        assert one["prediction"] == expected[0][1]
        assert [one["probabilities"][label] for label in "abc"] == near(expected[0][3:])
        con.execute(f"PREPARE one AS {model.predict_one_sql(calibrated=calibrated)}")
        best = con.execute(f"EXECUTE one({x!r}, {again!r}, '{k}')").fetchall()[0]
        assert any(value == near(expected[0][2]) for value in best if isinstance(value, float))
        con.execute("DEALLOCATE one")
        judged = model.evaluate("rest", calibrated=calibrated)
        ending = "_uncalibrated" if calibrated is False else ""
        agree(con.execute(f"SELECT i, COLUMNS('pr.*') FROM m.predict_proba{ending}('rest')").fetchall(), expected)
        agree(
            con.execute(f"SELECT i, COLUMNS('pr.*') FROM m.predict{ending}('rest')").fetchall(), [row[:3] for row in expected]
        )
        losses = [con.execute(f"SELECT value FROM m.evaluate{ending}('rest') WHERE metric = 'log_loss'").fetchall()[0][0]]
        monitored = model.monitor("rest", calibrated=calibrated).fetchall()
        losses += [row[4] for row in monitored if row[3] == "log_loss"]
        compared = model.compare(model, "rest", calibrated=calibrated).fetchall()
        losses += [row[2] for row in compared if row[1] == "log_loss"]
        assert losses == near([judged.log_loss] * 3, rel=1e-9)
        how = "not calibrated" if calibrated is False else f"calibrated by {method}"
        assert f"probabilities {how}" in repr(judged)
        assert judged.calibrated_by == (None if calibrated is False else method)
        evidence = [row[4] for row in monitored if row[3] == "log_evidence"]
        assert evidence == near([model.log_likelihood("rest", mean=True)])
    assert model.evaluate("rest").log_loss < model.evaluate("rest", calibrated=False).log_loss
    assert repr(model).endswith(f"calibrated by {method}>")
    with pytest.raises(InputError, match="calibrated is about posteriors, which explain does not return; leave it out"):
        model.sql("explain", "rest", calibrated=True)
    first = model.review("rest", 1, by="evidence", columns=["i"]).fetchall()
    assert first[0][0] == min(model.log_evidence("rest"), key=lambda row: row[-1])[0]
    with pytest.warns(nbsql.NbsqlWarning, match="is dropped; calibrate it again"):
        model.update("SELECT * FROM rest WHERE i = 1")
    in_sql = con.execute("SELECT i, COLUMNS('pr.*') FROM m.predict_proba('rest')").fetchall()
    agree(in_sql, model.predict_proba("rest", columns=["i"]).fetchall())
