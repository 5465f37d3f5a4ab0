"""The estimators keep scikit-learn's rules, and say what nbsql says."""

import pickle
import pickletools
import re
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, StratifiedKFold, check_cv, cross_val_predict
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import nbsql
from nbsql.sklearn import NaiveBayesClassifier, NaiveBayesCV

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

FRAME = pd.DataFrame(
    {
        "sky": ["sun", "sun", "rain", None, "rain", "fog"],
        "degrees": [30.5, np.nan, 12.0, 11.5, 9.0, 14.0],
        "dry": [True, True, False, None, False, True],
        "note": ["nice and hot", "hot", "wet shoes", "wet, wet", None, "cannot see"],
    }
)
LABELS = np.array(["out", "out", "in", "in", "in", "out"])
FAMILIES = {"note": nbsql.Text()}


RULES = parametrize_with_checks([NaiveBayesClassifier(), NaiveBayesCV(alphas=(0.5, 1.0), cv=2)]).mark


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    RULES.args[0],
    # As a list: that of scikit-learn 1.7, the last for Python 3.10, is a generator, of which pytest warns.
    [pytest.param(*rule, marks=[pytest.mark.nightly] * isinstance(rule[0], NaiveBayesCV)) for rule in RULES.args[1]],
    **RULES.kwargs,
)
def test_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


def said(frame, labels, rows, **options):
    """What the model of these rows says, by the library: a posterior a class, sorted."""
    with duckdb.connect() as con:
        model = nbsql.fit(con, frame.assign(y=labels), target="y", **options)
        found = model.predict_proba(rows).df()
        return found[[f"probability_{label}" for label in sorted(model.classes)]].to_numpy()


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("of", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "arrow"])
def test_frames_of_mixed_columns(of):
    new = pd.DataFrame({"sky": ["hail", "sun"], "degrees": [13.0, np.nan], "dry": [None, True], "note": ["hot snow", None]})
    estimator = NaiveBayesClassifier(families=FAMILIES).fit(of(FRAME), LABELS)
    assert estimator.predict_proba(of(new)) == pytest.approx(said(FRAME, LABELS, new, families=FAMILIES), abs=1e-12)
    assert estimator.predict(of(new)).tolist() == ["in", "out"]
    assert list(estimator.feature_names_in_) == list(FRAME.columns)
    assert estimator.score(of(FRAME), LABELS) == 1
    assert {name: str(family) for name, family in estimator.model_.families.items()} == {
        "sky": "categorical", "degrees": "gaussian", "dry": "bernoulli", "note": "text",
    }  # fmt: skip


@pytest.mark.slow
def test_arrays_of_objects_are_as_frames():
    estimator = NaiveBayesClassifier(families={"x3": nbsql.Text()}).fit(FRAME.to_numpy(dtype=object), LABELS)
    frame = FRAME.set_axis(["x0", "x1", "x2", "x3"], axis=1)
    expected = said(frame, LABELS, frame, families={"x3": nbsql.Text()})
    assert estimator.predict_proba(frame.to_numpy(dtype=object)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_rows_that_are_handed_over_are_read():
    expected = NaiveBayesClassifier(families=FAMILIES).fit(FRAME, LABELS).predict_proba(FRAME)
    table = pa.Table.from_pandas(FRAME)
    forms = [
        lambda: pl.from_pandas(FRAME).lazy(),
        lambda: table.to_batches()[0],
        lambda: table.to_reader(),
        lambda: duckdb.from_arrow(table),
    ]
    for form in forms:
        estimator = NaiveBayesClassifier(families=FAMILIES).fit(form(), LABELS)
        assert estimator.feature_names_in_.tolist() == list(FRAME.columns)
        assert estimator.predict_proba(form()) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_columns_go_by_their_places_where_only_one_of_two_has_names():
    array, other_names = FRAME.to_numpy(dtype=object), FRAME.set_axis(list("abcd"), axis=1)
    by_name = NaiveBayesClassifier(families=FAMILIES).fit(FRAME, LABELS)
    by_place = NaiveBayesClassifier(families={"x3": nbsql.Text()}).fit(array, LABELS)
    expected = pytest.approx(by_name.predict_proba(FRAME), abs=1e-12)
    with pytest.warns(UserWarning, match="valid feature names"):
        assert by_name.predict_proba(array) == expected
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert by_place.predict_proba(other_names) == expected
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        by_name.predict(pa.RecordBatch.from_pandas(FRAME[["degrees", "sky", "dry", "note"]]))


@pytest.mark.slow
def test_a_list_of_rows_has_columns_of_several_types():
    rows = [["a", 1.5, True], ["b", None, False], [None, Decimal("2.5"), True], [pd.NaT, np.nan, None]]
    estimator = NaiveBayesClassifier().fit(rows, [0, 0, 1, 1])
    assert [family.name for family in estimator.model_.families.values()] == ["categorical", "gaussian", "bernoulli"]
    assert set(estimator.explain(rows).df()["value"].dropna()) == {"a", "b", "1.5", "2.5", "true", "false"}
    assert NaiveBayesClassifier().fit([["1", "2"], ["3", "4"]], [0, 1]).model_.families["x0"].name == "categorical"
    assert NaiveBayesClassifier().fit([["a", 1.0], ["b", 2.0]], [0, 1]).model_.families["x1"].name == "gaussian"


@pytest.mark.slow
def test_masked_values_of_an_array_are_missing():
    """scikit-learn takes the numbers under a mask."""
    rows, labels = load_iris(return_X_y=True)
    for of_type, missing in (
        (rows, np.where(rows > 5, np.nan, rows)),
        (rows.astype(int), np.where(rows > 5, np.nan, rows.astype(int))),
    ):
        masked = np.ma.masked_array(of_type, rows > 5)
        expected = NaiveBayesClassifier().fit(missing, labels).predict_proba(missing)
        assert NaiveBayesClassifier().fit(masked, labels).predict_proba(masked) == pytest.approx(expected, abs=1e-9)


X_OF_NO_USE = {
    "column 'a' is ambiguous in the DataFrame, which has it twice; rename one": pd.DataFrame(
        [[1.0, 2.0]] * 2, columns=["a", "a"]
    ),
    "Found array with 0 feature(s) (shape=(2, 0)) while a minimum of 1 is required.": pd.DataFrame(index=range(2)),
    "X is an array of timedelta64[D], which has no family; convert it to numbers or texts": np.array(
        [[1], [2]], dtype="timedelta64[D]"
    ),
    "X must be rows, not the text 'inbox'; fit and predict read a table or a SELECT with connection=": "inbox",
}


@pytest.mark.parametrize("message", X_OF_NO_USE)
def test_rows_of_no_use_are_refused_in_one_line(message):
    with pytest.raises((nbsql.InputError, ValueError)) as caught:
        NaiveBayesClassifier().fit(X_OF_NO_USE[message], ["a", "b"])
    assert str(caught.value) == message


def test_arrays_of_numbers_are_those_of_scikit_learn():
    rows, labels = load_iris(return_X_y=True)
    expected = GaussianNB(var_smoothing=0).fit(rows, labels)
    estimator = NaiveBayesClassifier().fit(rows, labels)
    assert estimator.predict_log_proba(rows) == pytest.approx(expected.predict_log_proba(rows), abs=1e-9)
    assert estimator.predict_joint_log_proba(rows) == pytest.approx(expected.predict_joint_log_proba(rows), rel=1e-9)
    assert (estimator.predict(rows) == expected.predict(rows)).all()
    weights = np.arange(150) % 3
    expected = GaussianNB(var_smoothing=0).fit(rows, labels, weights)
    assert estimator.fit(rows, labels, weights).predict_proba(rows) == pytest.approx(expected.predict_proba(rows), abs=1e-9)


def test_categories_are_those_of_scikit_learn():
    rows = np.random.default_rng(0).integers(4, size=(200, 3))
    labels = (rows.sum(axis=1) > 4).astype(int)
    expected = CategoricalNB(alpha=0.5).fit(rows, labels).predict_proba(rows)
    found = NaiveBayesClassifier(alpha=0.5).fit(rows.astype(str), labels).predict_proba(rows.astype(str))
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "labels", [[2, 2, 7, 7, 7, 2], [True, True, False, False, False, True], [0.5, 0.5, 1.5, 1.5, 1.5, 0.5]]
)
def test_labels_keep_their_type(labels):
    if isinstance(labels[0], float):
        with pytest.raises(ValueError, match="Unknown label type"):
            NaiveBayesClassifier().fit(FRAME, labels)
        labels = [2.0 if label == 0.5 else 1.0 for label in labels]
    estimator = NaiveBayesClassifier(families=FAMILIES).fit(FRAME, labels)
    assert estimator.predict(FRAME).tolist() == labels
    assert estimator.predict(FRAME).dtype == np.array(labels).dtype


@pytest.mark.parametrize("kind", ["Int64", "boolean", pd.ArrowDtype(pa.int64())], ids=str)
def test_labels_that_could_be_missing_are_no_floats(kind):
    base = 0 if kind == "boolean" else 2**60  # whose neighbour is the same double
    labels = pd.Series([base + number % 2 for number in range(6)], dtype=kind)
    estimator = NaiveBayesClassifier(families=FAMILIES).fit(FRAME, labels)
    assert estimator.classes_.tolist() == [base, base + 1]
    assert estimator.classes_.dtype.kind == ("b" if kind == "boolean" else "i")


@pytest.mark.slow
def test_a_time_is_one_label_whatever_its_unit():
    days = np.array(["2026-01-01", "2026-01-02", "2026-01-02", "2026-01-01T12", "2026-01-02", "2026-01-01"], "datetime64[h]")
    estimator = NaiveBayesClassifier(families=FAMILIES).fit(FRAME, pd.Series(days))
    estimator.partial_fit(FRAME[:2], days[:2].astype("datetime64[D]"))
    assert len(estimator.classes_) == len(estimator.model_.classes) == 3
    estimator.unlearn(FRAME[:2], days[:2].astype("datetime64[ns]"))
    assert estimator.predict_proba(FRAME) == pytest.approx(
        NaiveBayesClassifier(families=FAMILIES).fit(FRAME, days).predict_proba(FRAME), abs=1e-12
    )


@pytest.mark.slow
def test_what_is_learnt_in_parts_and_forgotten_again_is_the_whole():
    rows, labels = load_iris(return_X_y=True)
    whole = NaiveBayesClassifier().fit(rows, labels)
    parts = NaiveBayesClassifier()
    for first in range(0, 150, 30):  # the first rows have one class, the last another
        parts.partial_fit(rows[first : first + 30], labels[first : first + 30])
    assert parts.classes_.tolist() == [0, 1, 2]
    assert parts.predict_proba(rows) == pytest.approx(whole.predict_proba(rows), abs=1e-9)
    parts.unlearn(rows[::2], labels[::2])
    rest = NaiveBayesClassifier().fit(rows[1::2], labels[1::2])
    assert parts.predict_proba(rows) == pytest.approx(rest.predict_proba(rows), abs=1e-9)
    with pytest.raises(nbsql.InputError, match="cannot forget"):
        parts.unlearn(rows, labels)
    declared = NaiveBayesClassifier().partial_fit(rows[:30], labels[:30], classes=[0, 1, 2])
    assert declared.predict_proba(rows[:1]).tolist() == [[1, 0, 0]]
    weighted = NaiveBayesClassifier().partial_fit(rows, labels)
    with pytest.raises(nbsql.InputError, match=r"^the first rows had no sample_weight, so that later ones can have none; "):
        weighted.partial_fit(rows, labels, sample_weight=np.ones(150))


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([None, "a"], "^classes must be a list of labels, none of them missing$"),
        ([0.0, float("nan")], "^classes must be a list of labels, none of them missing$"),
        ("ab", "^classes must be a list of labels, none of them missing$"),
        ([0, 1], "^classes and y must both be numbers, or both texts$"),
    ],
)
def test_declared_classes_are_labels(classes, message):
    estimator = NaiveBayesClassifier()
    with pytest.raises(nbsql.InputError, match=message):
        estimator.partial_fit([[1.0], [2.0]], ["a", "b"], classes=classes)
    assert not hasattr(estimator, "classes_")
    numbers = estimator.partial_fit([[1.0], [2.0]], [0, 1], classes=[0, 1, 2])
    assert numbers.classes_.tolist() == [0, 1, 2]


def test_an_estimator_finds_no_clusters():
    refusal = r"^an estimator learns classes, and method='clusters' knows none; nbsql\.fit\("
    with pytest.raises(nbsql.InputError, match=refusal):
        NaiveBayesClassifier(method=nbsql.Clusters(2)).fit([[1.0], [2.0]], ["a", "b"])


@pytest.mark.slow
def test_labels_outside_of_the_declared_classes_are_refused():
    rows, refusal = [[1.0], [2.0]], r"^y has the label 3, which classes does not name; name every class there may be$"
    first = NaiveBayesClassifier()
    with pytest.raises(nbsql.InputError, match=refusal):
        first.partial_fit(rows, [0, 3], classes=[0, 1])
    assert not hasattr(first, "classes_")
    later = pickle.loads(pickle.dumps(first.partial_fit(rows, [0, 1], classes=[1, 0, 2])))  # noqa: S301
    with pytest.raises(nbsql.InputError, match=refusal):
        later.partial_fit(rows, [0, 3])
    with pytest.raises(nbsql.InputError, match=r"^classes are 0, 1, and were 0, 1, 2; give the same ones$"):
        later.partial_fit(rows, [0, 1], classes=[0, 1])
    assert later.partial_fit(rows, [2, 1], classes=[0, 1, 2]).classes_.tolist() == [0, 1, 2]
    undeclared = NaiveBayesClassifier().partial_fit(rows, [0, 3])
    with pytest.raises(nbsql.InputError, match=r"^an earlier call learnt the label 3, which classes does not name; "):
        undeclared.partial_fit(rows, [0, 1], classes=[0, 1])
    assert later.fit(rows, [5, 6]).partial_fit(rows, [7, 5]).classes_.tolist() == [5, 6, 7]  # a fit declares nothing


def test_an_explanation_adds_up():
    estimator = NaiveBayesClassifier(families=FAMILIES).fit(FRAME, LABELS)
    parts = estimator.explain(FRAME).df()
    sums = parts.groupby(["row_id", "class"])["contribution"].sum().unstack().to_numpy()
    assert sums == pytest.approx(estimator.predict_joint_log_proba(FRAME), abs=1e-12)
    assert set(parts["feature"].dropna()) == set(FRAME.columns)


def test_a_row_that_no_class_explains_has_the_priors():
    estimator = NaiveBayesClassifier(alpha=0).fit(np.array([["a", "u"], ["b", "v"], ["b", "v"]], dtype=object), [1, 0, 0])
    impossible = np.array([["a", "v"]], dtype=object)
    assert estimator.predict_proba(impossible) == pytest.approx(np.array([[2 / 3, 1 / 3]]))
    assert estimator.predict(impossible).tolist() == [0]


@pytest.mark.slow
def test_pickles_are_a_file_of_counts():
    estimator = NaiveBayesClassifier(families=FAMILIES).fit(FRAME, LABELS)
    content = pickle.dumps(estimator)
    again = pickle.loads(content)  # noqa: S301
    assert (again.predict_proba(FRAME) == estimator.predict_proba(FRAME)).all()
    assert (again.partial_fit(FRAME, LABELS).classes_ == estimator.classes_).all()
    names = {argument for opcode, argument, _ in pickletools.genops(content) if opcode.name in ("SHORT_BINUNICODE", "GLOBAL")}
    assert "nbsql.sklearn.store" in names
    assert not {name for name in names if isinstance(name, str) and name.startswith(("duckdb", "_duckdb"))}
    assert any(opcode.name.endswith("BYTES") and b"PAR1" in argument for opcode, argument, _ in pickletools.genops(content))


@pytest.mark.slow
def test_clones_threads_pipelines_and_a_search_by_two_processes():
    rows, labels = load_iris(return_X_y=True)
    estimator = clone(NaiveBayesClassifier(prior="uniform")).fit(rows, labels)
    expected = estimator.predict_proba(rows)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: estimator.predict_proba(rows), range(12)):
            assert (found == expected).all()
    piped = make_pipeline(StandardScaler(), NaiveBayesClassifier()).fit(rows, labels)
    assert piped.predict_proba(rows) == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_a_search_by_two_processes():
    search = GridSearchCV(NaiveBayesClassifier(families=FAMILIES), {"alpha": [0.1, 1.0]}, cv=2, n_jobs=2)
    search.fit(pd.concat([FRAME] * 4, ignore_index=True), np.tile(LABELS, 4))
    assert search.predict(FRAME).tolist() == LABELS.tolist()


def mixed(rows):
    random = np.random.default_rng(1)
    labels = random.integers(2, size=rows)
    words = np.array(["a", "b", "c", "d", None], dtype=object)
    frame = pd.DataFrame(
        {
            "k": words[(random.integers(5, size=rows) + labels * random.integers(2, size=rows)) % 5],
            "x": random.normal(labels, 2),
            "j": np.char.add("v", random.integers(60, size=rows).astype(str)).astype(object),
        }
    )
    return frame, labels


# One kind of splits for everybody: what differs by kind is how rows are dealt, which is scikit-learn's.
@pytest.mark.nightly
@pytest.mark.parametrize(
    "cv",
    [StratifiedKFold(3), *(pytest.param(cv, marks=pytest.mark.nightly) for cv in (4, KFold(4, shuffle=True, random_state=0)))],
    ids=str,
)
def test_a_sweep_is_what_fits_of_every_fold_say(cv):
    frame, labels = mixed(120)
    alphas = [0.1, 20.0]
    found = NaiveBayesCV(alphas=alphas, priors=["empirical", "uniform"], cv=cv).fit(frame, labels)
    held_out = [rows for _, rows in check_cv(cv, labels, classifier=True).split(frame, labels)]
    losses = []
    for place, setting in enumerate(found.cv_results_["params"]):
        single = NaiveBayesClassifier(alpha=setting["alpha"], prior=setting["prior"])
        proba = cross_val_predict(single, frame, labels, cv=cv, method="predict_proba")
        assert found.cv_results_["mean_test_neg_log_loss"][place] == pytest.approx(-log_loss(labels, proba), abs=1e-9)
        assert found.cv_results_["mean_test_accuracy"][place] == pytest.approx((proba.argmax(axis=1) == labels).mean())
        losses.append([log_loss(labels[rows], proba[rows], labels=[0, 1]) for rows in held_out])
    assert found.best_score_ == found.cv_results_["mean_test_score"].max()
    excess = np.array(losses[found.best_index_]) - np.min(losses, axis=0)  # of the best setting over the best of each fold
    assert found.optimism_ == pytest.approx(np.average(excess, weights=[len(rows) for rows in held_out]), abs=1e-9)
    assert found.cv_results_["param_alpha"].tolist() == [0.1, 0.1, 20.0, 20.0]
    assert sorted(found.cv_results_["rank_test_score"]) == [1, 2, 3, 4]
    best = NaiveBayesClassifier(alpha=found.best_params_["alpha"], prior=found.best_params_["prior"]).fit(frame, labels)
    assert found.predict_proba(frame) == pytest.approx(best.predict_proba(frame), abs=1e-12)
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert again.cv_results_["rank_test_score"].tolist() == found.cv_results_["rank_test_score"].tolist()


@pytest.mark.nightly
def test_a_sweep_over_families_by_leave_one_out():
    frame, labels = mixed(12)
    found = NaiveBayesCV(alphas=[1.0], families=[{}, {"k": nbsql.Categorical(alpha=5.0)}], cv="loo", scoring="accuracy").fit(
        frame, labels
    )
    proba = cross_val_predict(NaiveBayesClassifier(), frame, labels, cv=KFold(12), method="predict_proba")
    assert found.cv_results_["mean_test_neg_log_loss"][0] == pytest.approx(-log_loss(labels, proba), abs=1e-9)
    assert set(found.best_params_) == {"alpha", "prior", "families"}


@pytest.mark.slow
def test_one_value_is_a_list_of_one_and_no_families_are_those_of_the_types():
    frame, labels = mixed(40)
    found = NaiveBayesCV(alphas=2.0, priors=nbsql.Smoothed(1.0), families=[None, {"x": "binned"}], cv=2).fit(frame, labels)
    assert found.cv_results_["param_alpha"].tolist() == [2.0, 2.0]
    single = NaiveBayesClassifier(alpha=2.0, prior=nbsql.Smoothed(1.0))
    proba = cross_val_predict(single, frame, labels, cv=2, method="predict_proba")
    assert found.cv_results_["params"][0]["families"] is None
    assert found.cv_results_["mean_test_neg_log_loss"][0] == pytest.approx(-log_loss(labels, proba), abs=1e-9)


@pytest.mark.slow
def test_groups_are_kept_together():
    frame, labels = mixed(40)
    groups = np.arange(40) // 4
    found = NaiveBayesCV(alphas=[2.0], cv=GroupKFold(3)).fit(frame, labels, groups=groups)
    single = NaiveBayesClassifier(alpha=2.0)
    proba = cross_val_predict(single, frame, labels, cv=GroupKFold(3), groups=groups, method="predict_proba")
    assert found.best_score_ == pytest.approx(-log_loss(labels, proba), abs=1e-9)
    assert not hasattr(found, "_groups")  # nor does a pickle have them
    with pytest.raises(ValueError, match=r"^Found input variables with inconsistent numbers of samples: \[40, 40, 2\]$"):
        NaiveBayesCV(cv=GroupKFold(3)).fit(frame, labels, groups=[1, 2])
    with pytest.raises(nbsql.InputError, match=r"^cv='loo' leaves out single rows of a group; keep groups together by cv="):
        NaiveBayesCV(cv="loo").fit(frame, labels, groups=groups)


def test_splits_that_are_no_folds_are_refused():
    frame, labels = mixed(20)
    with pytest.raises(
        ValueError, match=r"^cv (never holds out some rows|holds out a row twice); such folds are for GridSearchCV"
    ):
        NaiveBayesCV(cv=ShuffleSplit(3, random_state=0)).fit(frame, labels)
    with pytest.raises(nbsql.InputError, match=r"^scoring must be one of 'neg_log_loss', 'accuracy', not 'f1'$"):
        NaiveBayesCV(scoring="f1", cv=2).fit(frame, labels)
    with pytest.raises(nbsql.InputError, match=r"^NaiveBayesCV takes rows; of a table nbsql.sweep is the same$"):
        NaiveBayesCV().fit("t", "y", connection=":memory:")


@pytest.mark.slow
def test_tables_are_counted_where_they_are(tmp_path):
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as con:
        con.register("frame", FRAME.assign(plan=LABELS))
        con.execute("CREATE TABLE days AS FROM frame")
        estimator = NaiveBayesClassifier(families=FAMILIES).fit("days", "plan", connection=con)
        expected = NaiveBayesClassifier(families=FAMILIES).fit(FRAME, LABELS).predict_proba(FRAME)
        assert estimator.predict_proba("days", connection=con) == pytest.approx(expected, abs=1e-12)
        assert estimator.score("days", "plan", connection=con) == 1
        assert estimator.predict_proba("SELECT * FROM days LIMIT 0", connection=con).shape == (0, expected.shape[1])
        con.execute("CREATE TABLE weighted AS SELECT * REPLACE ('?' AS plan), 9 AS w FROM days LIMIT 1")
        con.execute("INSERT INTO weighted SELECT *, 1 FROM days")
        assert estimator.score("weighted", "plan", "w", connection=con) == pytest.approx(6 / 15)
        tables = con.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        with pytest.raises(
            nbsql.InputError, match=r"^the labels are in 'plan', as they were where it was fitted, not in 'sky'$"
        ):
            estimator.score("days", "sky", connection=con)
        with pytest.raises(nbsql.InputError, match=r"^with a connection y is a name there, not ndarray$"):
            estimator.fit("days", LABELS, connection=con)
    assert estimator.predict_proba(FRAME) == pytest.approx(expected, abs=1e-12)  # without the database
    assert estimator.partial_fit(FRAME, LABELS).predict(FRAME).tolist() == LABELS.tolist()
    assert sorted(tables) == [("days",), ("weighted",)]  # no copies of the model


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("method", ["joint", "lda", "logistic", nbsql.KDB(2), nbsql.Weighted(per="class and feature")])
def test_methods_are_those_of_a_fit(method, tmp_path):
    """On a frame and on a table, after a pickle, and with the methods that take no alpha."""
    frame, labels = load_iris(return_X_y=True, as_frame=True)
    frame.columns = pd.Index(["a", "b", "c", "d"])
    estimator = pickle.loads(pickle.dumps(NaiveBayesClassifier(method=method))).fit(frame, labels)  # noqa: S301
    con = duckdb.connect(str(tmp_path / "iris.duckdb"))
    con.register("iris", frame.assign(y=labels))
    model = nbsql.fit(con, "iris", target="y", method=method, infer="types")
    expected = model.predict_proba("iris", columns=[]).df().to_numpy()[:, 2:]
    in_table = clone(estimator).fit("iris", "y", connection=con)
    for found in (estimator, in_table, pickle.loads(pickle.dumps(estimator))):  # noqa: S301
        assert found.predict_proba(frame) == pytest.approx(expected, abs=1e-9)
    assert in_table.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    con.close()


def test_a_missing_label_is_refused_as_scikit_learn_does():
    for labels in (["out", None, "in"], ["out", float("nan"), "in"]):
        with pytest.raises(ValueError, match=r"^Input y contains NaN\.$"):
            NaiveBayesClassifier().fit(FRAME[:3], np.array(labels, dtype=object))
    for labels in (pd.Series(["out", pd.NA, "in"], dtype=object), pd.to_datetime(["2026-01-01", None, "2026-01-02"])):
        with pytest.raises(ValueError, match=r"^Input y contains NaN\.$"):
            NaiveBayesClassifier().fit(FRAME[:3], labels)


@pytest.mark.filterwarnings("error")
def test_the_cure_of_a_column_without_a_family_is_one_that_an_estimator_has(tmp_path):
    frame = pd.DataFrame({"at": pd.to_timedelta([1, 2, 3, 4], unit="D"), "x": [1.0, 2.0, 3.0, 4.0]})
    message = r"^column 'at' is INTERVAL, which has no family; leave it out of X, or families=\{'at': 'categorical'\}$"
    with pytest.raises(nbsql.InputError, match=message):
        NaiveBayesClassifier().fit(frame, ["a", "b", "a", "b"])
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as con:
        con.register("frame", frame.assign(y=["a", "b", "a", "b"]))
        with pytest.raises(nbsql.InputError, match=message):
            NaiveBayesClassifier().fit("frame", "y", connection=con)
    assert NaiveBayesClassifier(families={"at": "categorical"}).fit(frame, ["a", "b", "a", "b"]).classes_.tolist() == ["a", "b"]


def test_a_notebook_shows_an_estimator_without_warnings():
    for estimator in (NaiveBayesClassifier(), NaiveBayesCV()):
        assert "<style>" in estimator._repr_html_()


def test_headings_of_docstrings_are_those_of_numpydoc():
    """A heading with a colon is shown as text, with its line of dashes."""
    for kind in (NaiveBayesClassifier, NaiveBayesCV):
        methods = [member for name, member in vars(kind).items() if not name.startswith("_") and callable(member)]
        for documented in (kind, *methods, *(getattr(kind, name) for name in ("predict", "explain", "score"))):
            assert not re.search(r":\n *-+\n", documented.__doc__ or ""), documented


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_wrong_column_is_told_those_of_the_frame_and_not_of_the_estimator(library):
    rows = pytest.importorskip(library).DataFrame({"a": [1, 2] * 20, "b": [1, 1] * 20})
    with pytest.raises(nbsql.InputError, match=r"^no column 'q' in the DataFrame; its columns are 'a', 'b'$"):
        NaiveBayesClassifier(families={"q": "gaussian"}).fit(rows, [0, 1] * 20, sample_weight=[1] * 40)


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_series_of_structs_is_a_frame_and_another_series_has_no_columns():
    polars = pytest.importorskip("polars")
    rows = polars.DataFrame({"a": [1, 2] * 20, "b": [1, 1] * 20}).to_struct("rows")
    found = NaiveBayesClassifier().fit(rows, [0, 1] * 20)
    assert [*found.feature_names_in_] == ["a", "b"]
    assert found.predict(rows).tolist() == [0, 1] * 20
    for wrong in (polars.Series([1, 2] * 20), rows.to_arrow()):
        with pytest.raises(ValueError, match=r"^Expected 2D array, got 1D array instead"):
            found.fit(wrong, [0, 1] * 20)
