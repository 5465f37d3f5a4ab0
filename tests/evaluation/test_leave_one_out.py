"""Leave-one-out: the answers of a fit without each row, from one count of all rows."""

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from support.algebra import COLUMNS, FAMILIES, connect, examples, refitted, row
from support.inserted import insert

import nbsql
from nbsql import InputError
from nbsql.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

near = pytest.approx


# Values that one row alone has, missing ones, an outlier, a class of one row, and weights, some of them 0.
DAYS = [
    ("a", True, 0.5, 1, 2, 0, ["a", "b"], "a b c", "no", 1),
    ("a", False, 1.25, 2, 1, 1, ["a"], "a", "no", 2),
    ("b", None, 1.25, 0, None, 3, ["b", "b", "c"], "b b", "no", 1),
    (None, True, 1e6, 5, 0, 2, [], "", "yes", 3),
    ("c", True, 2.5, None, 4, 1, ["d", "a"], "a d d", "yes", 1),
    ("b", False, None, 3, 2, 0, None, None, "yes", 1),
    ("a", False, -3.0, 3, 2, 5, ["a", "c"], "c a", "yes", 0),
    ("d", True, 7.5, 4, 1, 1, ["e"], "e a", "maybe", 2),
]

CASES = {
    "mixed": {"families": FAMILIES},
    "unseen values": {"families": FAMILIES, "unseen": "smooth", "nulls": "category", "prior": "smoothed"},
    "weights": {"families": FAMILIES, "weight": "times", "exclude": [], "prior": "uniform"},
    "rates": {
        "families": {"calls": nbsql.Geometric(a=1, b=2), "w1": "exponential", "w2": nbsql.Poisson(a=2, b=1, estimate="mode")},
        "weight": "times",
        "exclude": [],
    },
    "levels": {
        "families": {
            "sky": nbsql.Categorical(alpha={"a": 2, "fog": 0.5}),
            "warm": nbsql.Bernoulli(2, 3, estimate="mode"),
            "w1": nbsql.Binned(by=[1, 2]),
            "w2": "categorical",
        },
        "unseen": "smooth",
        "alpha": 0.3,
    },
    "rare categories": {
        "families": {
            "sky": nbsql.Categorical(min_count=2),
            "w1": nbsql.Categorical(min_count=2, nulls="category", unseen="smooth"),
            "w2": nbsql.Categorical(min_count=3, unseen="smooth"),
        },
        "weight": "times",
        "exclude": [],
    },
    "normal": {
        "families": {
            "wind": nbsql.Gaussian(variance="sample", floor=1e-6),
            "calls": nbsql.Gaussian(shared_variance=True),
            "w1": nbsql.Gaussian(prior=nbsql.NormalInverseGamma()),
            "w2": nbsql.Gaussian(prior=nbsql.NormalInverseGamma(mean=1, kappa=2, a=3, b=2), estimate="mode"),
        },
        "weight": "times",
        "exclude": [],
    },
    "words": {
        "families": {"note": nbsql.Text(min_count=2, ngrams=2), "bag": nbsql.Tokens(event="complement")},
        "unseen": "smooth",
    },
    "presence": {
        "families": {"note": nbsql.Text(event="bernoulli", min_count=2), "bag": nbsql.Tokens(event="bernoulli")},
        "weight": "times",
        "exclude": [],
    },
    "no smoothing": {"alpha": 0, "families": {"words": nbsql.Multinomial(["w1", "w2"]), "wind": nbsql.Gaussian(floor=0)}},
    "complement": {"features": ["w1", "w2"], "families": {"words": nbsql.Complement(["w1", "w2"])}},
    "joint": {"method": "joint", "features": ["sky", "warm"], "families": {}},
    "semi-naive": {"families": {"both": nbsql.Joint(["sky", "warm"], backoff="naive"), "note": nbsql.Text()}},
    "priors alone": {"features": []},
}


@pytest.mark.slow
@pytest.mark.forms("name")
@pytest.mark.parametrize("name", CASES)
def test_every_row_is_predicted_as_a_fit_without_it_would(name):
    con = connect(days=DAYS)
    con.execute("CREATE TABLE numbered AS SELECT *, row_number() OVER () AS part FROM days")
    options = {"exclude": ["times"], **CASES[name]}
    found = nbsql.cross_validate(con, "days", target="play", folds="loo", **options)
    options["exclude"] = [*options["exclude"], "part"]
    weight = options.pop("weight", None)
    counted = f"(SELECT * FROM numbered{' WHERE times > 0' if weight else ''})"
    accuracy, loss = refitted(con, counted, "part", weight=weight, **options)
    assert found.rows == len([day for day in DAYS if day[-1] or not weight])
    for judged in (found, found.evaluation):
        assert judged.accuracy == near(accuracy, abs=1e-12)
        assert judged.log_loss == near(loss, rel=1e-9)


@pytest.mark.nightly
@given(
    st.lists(row, min_size=2, max_size=6),
    st.sampled_from(["skip", "smooth"]),
    st.sampled_from(["empirical", "uniform", "smoothed"]),
    st.sampled_from(["skip", "category"]),
)
@example(
    rows=[
        (None, None, -100.0, None, None, None, None, None, "maybe", 0),
        (None, None, 58.698, None, None, None, None, None, "maybe", 0),  # what is left of its class does not vary
        (None, None, None, None, 0, 3, [], "a c c", "yes", 0),
    ],
    unseen="skip",
    prior="empirical",
    nulls="skip",
)
@examples(5)
def test_any_table_is_left_out_row_by_row(rows, unseen, prior, nulls):
    con = connect(rows=rows)
    con.execute("CREATE TABLE numbered AS SELECT *, row_number() OVER () AS part FROM rows")
    options = {"families": FAMILIES, "unseen": unseen, "prior": prior, "nulls": nulls}
    found = nbsql.cross_validate(con, "rows", target="play", folds="loo", exclude=["times"], **options)
    _, loss = refitted(con, "(SELECT * EXCLUDE (times) FROM numbered)", "part", **options)
    assert found.rows == len(rows)
    assert found.log_loss == near(loss, rel=1e-9, abs=1e-12)
    assert "times" in COLUMNS


@pytest.mark.slow
def test_it_is_that_of_scikit_learn(con):
    data, target = load_iris(return_X_y=True)
    columns = ", ".join(f"column{i} AS x{i}" for i in range(4))
    table = np.column_stack([data, target])
    con.register("iris", {f"column{i}": table[:, i] for i in range(5)})
    con.execute(f"CREATE TABLE flowers AS SELECT {columns}, column4::INTEGER AS y FROM iris")
    found = nbsql.cross_validate(con, "flowers", target="y", folds="loo")
    theirs = cross_val_predict(GaussianNB(var_smoothing=0), data, target, cv=LeaveOneOut(), method="predict_proba")
    assert found.accuracy == near(float((theirs.argmax(axis=1) == target).mean()), abs=1e-12)
    assert found.log_loss == near(log_loss(target, np.clip(theirs, 2.0**-52, 1 - 2.0**-52)), rel=1e-9)
    assert sum(n for *_, n in found.evaluation.confusion) == 150
    assert repr(found).startswith("150 rows predicted by the models of all other rows\n")


@pytest.mark.slow
def test_an_outlier_takes_no_digits_with_it(con):
    values = [0.1, 0.25, 0.4, 1e9, 0.3, 0.55, 0.2, -1e9, 0.35, 1e12]
    con.execute("CREATE TABLE t (y VARCHAR, x DOUBLE, waited DOUBLE)")
    insert(con, "t", [("ab"[i % 2], x, abs(x)) for i, x in enumerate(values)])
    con.execute("CREATE TABLE numbered AS SELECT *, row_number() OVER () AS part FROM t")
    options = {"families": {"waited": "exponential"}}
    found = nbsql.cross_validate(con, "t", target="y", folds="loo", **options)
    assert found.log_loss == near(refitted(con, "numbered", "part", play="y", **options)[1], rel=1e-9)


@pytest.mark.nightly
def test_many_categories_are_scored_in_blocks(con):
    columns = ", ".join(f"'v' || hash(i, {j}) % 3 AS c{j}" for j in range(23))
    con.execute(f"CREATE TABLE t AS SELECT i % 2 AS y, {columns}, hash(i, 99) % 5 + 0.5 AS x FROM range(6) AS r(i)")
    con.execute("CREATE TABLE numbered AS SELECT *, row_number() OVER () AS part FROM t")
    found = nbsql.cross_validate(con, "t", target="y", folds="loo")
    accuracy, loss = refitted(con, "numbered", "part", play="y")
    assert (found.accuracy, found.log_loss) == (near(accuracy), near(loss, rel=1e-9))


@pytest.mark.parametrize("rows", [10, 500])
def test_it_takes_the_same_statements_for_any_number_of_rows(con, rows):
    con.execute(f"CREATE TABLE t AS SELECT i % 2 AS y, i % 7 AS x, 'v' || i % 3 AS v FROM range({rows}) AS r(i)")
    names = []
    with nbsql.watch(names.append):
        found = nbsql.cross_validate(con, "t", target="y", folds="loo")
    counted = ["scan", "statistics", "count v"]  # the cells of x are counted with the classes, in the statistics
    assert names == [*counted, "cells of setting", "lookups", "ends", "left out", "scores", "classes"]
    assert found.folds.fetchall() == [("loo", rows, rows, near(found.accuracy), near(found.log_loss))]


def test_slices_add_up_to_the_whole(con):
    con.execute(
        "CREATE TABLE t AS SELECT i % 3 AS y, sin(i) + i % 3 AS x, 'v' || i % 4 AS c, i % 5 AS week FROM range(60) AS r(i)"
    )
    options = {"target": "y", "exclude": ["week"], "folds": "loo"}
    sliced, whole = (nbsql.cross_validate(con, "t", **options, slice_by=by) for by in ("week", None))
    assert (sliced.rows, sliced.accuracy) == (60, whole.accuracy)
    assert sliced.log_loss == near(whole.log_loss, abs=1e-12)


@pytest.mark.slow
def test_a_sweep_judges_every_setting_so(con):
    con = connect(days=DAYS)
    options = {"target": "play", "folds": "loo", "weight": "times"}
    tried = [{}, {"calls": "poisson", "note": nbsql.Text()}]
    found = nbsql.sweep(con, "days", alpha=[0.5, 2], families=tried, prior=["empirical", "uniform"], **options)
    assert found.rows == 7
    for row_, setting in list(zip(found.ranking, found.settings, strict=True))[::3]:
        own = nbsql.cross_validate(con, "days", **options, **setting)
        assert (row_[4], row_[5]) == (near(own.accuracy), near(own.log_loss, rel=1e-9))
    best = found.best()
    fitted = nbsql.fit(con, "days", target="play", weight="times", **found.settings[0])
    for ours, theirs in zip(best.predict_proba("days").fetchall(), fitted.predict_proba("days").fetchall(), strict=True):
        assert ours[-3:] == near(theirs[-3:], rel=1e-9)


def test_a_calibration_is_fitted_on_rows_left_out(con):
    con.execute("CREATE TABLE t AS SELECT 'v' || hash(i) % 3 AS y, hash(i, 1) % 9 + hash(i) % 3 AS x FROM range(80) AS r(i)")
    judged = nbsql.cross_validate(con, "t", target="y", folds="loo")
    model = nbsql.fit(con, "t", target="y")
    found = model.calibrate("t", folds="loo")
    assert (found.rows, found.log_loss) == (80, near(judged.log_loss, rel=1e-9))
    assert found.calibrated_log_loss <= found.log_loss


REFUSED = "folds='loo' takes a row out of the counts as it is scored, which {} does not allow; use folds=10"


def test_what_cannot_be_left_out_is_refused(con, refused):
    con.execute("CREATE TABLE t AS FROM (VALUES ('a', 1.5, 'x', 0), ('b', 2, 'y', 1)) AS t(y, x, s, part)")
    for options, message in [
        ({"families": {"x": nbsql.Kernel()}}, REFUSED.format("'x' (kernel)")),
        ({"families": {"x": nbsql.Binned(by="mdl")}}, REFUSED.format("'x' (binned with by='mdl')")),
        ({"families": {"s": nbsql.Text(tfidf=True)}}, REFUSED.format("'s' (text with tfidf=True)")),
        ({"families": {"s": nbsql.Text(best=2)}}, REFUSED.format("'s' (text with best=2)")),
        ({"families": {"s": nbsql.Text(norm="l2")}}, REFUSED.format("'s' (text with norm='l2')")),
        ({"method": nbsql.LDA(shrinkage=0.1), "exclude": ["s"]}, REFUSED.format("'lda' (multivariate_gaussian)")),
        ({"method": "qda", "exclude": ["s"]}, REFUSED.format("'qda' (multivariate_gaussian)")),
        (
            {"features": ["s"], "families": {"s": nbsql.Text(event="complement", weight_norm=True)}},
            REFUSED.format("'s' (text with weight_norm=True)"),
        ),
        ({"fold": "part"}, "folds='loo' makes a fold of every row, and fold='part' says the folds; leave one of them out"),
        (
            {"features": nbsql.Best(1)},
            "features=nbsql.Best(...) chooses anew in every fold, and folds='loo' has one a row; use folds=10",
        ),
    ]:
        with refused(InputError, message):
            nbsql.cross_validate(con, "t", target="y", folds="loo", **options)


def test_words_take_a_model_for_each_of_some_few_rows(con, refused):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, i % 3 AS n, 'word' || i % 7 AS s FROM range(501) AS r(i)")
    message = (
        "folds='loo' takes a model for each row, with {} among the features, and t has 501 rows, more than 500; use folds=50"
    )
    for families, names in [({"s": nbsql.Text()}, "'s'"), ({"s": nbsql.Text(), "c": nbsql.Complement(["n"])}, "'c', 's'")]:
        with refused(InputError, message.format(names)):
            nbsql.cross_validate(con, "t", target="y", families=families, folds="loo")


def test_one_row_is_too_few(con, refused):
    con.execute("CREATE TABLE t AS FROM (VALUES ('a', 1, 1), ('b', 2, 0)) AS t(y, x, w)")
    with refused(InputError, "leave-one-out needs at least two rows, and t has 1"):
        nbsql.cross_validate(con, "t", target="y", weight="w", folds="loo")


@pytest.mark.slow
def test_on_the_command_line(tmp_path):
    path = str(tmp_path / "shop.duckdb")
    with duckdb.connect(path) as con:
        con.execute("CREATE TABLE t AS SELECT i % 2 AS y, i % 5 AS x FROM range(20) AS r(i)")
        found = nbsql.cross_validate(con, "t", target="y", folds="loo")
    judged = CliRunner().invoke(main, ["cross-validate", path, "t", "--target", "y", "--folds", "loo"])
    assert judged.exit_code == 0, judged.output
    assert judged.stdout.startswith("20 rows of t predicted by the models of all other rows\n")
    assert f"{found.log_loss:.4f}" in judged.stdout
    swept = CliRunner().invoke(main, ["sweep", path, "t", "--target", "y", "--folds", "loo", "--alphas", "1,2", "--csv"])
    assert len(swept.stdout.splitlines()) == 3, swept.output
    wrong = CliRunner().invoke(main, ["cross-validate", path, "t", "--target", "y", "--folds", "1"])
    assert wrong.exit_code == 2
    assert "'1' is neither a number of folds, 2 or more, nor loo" in wrong.stderr
