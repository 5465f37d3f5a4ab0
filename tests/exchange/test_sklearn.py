"""Exchange with scikit-learn: there, scored by the model's own macros in a DuckDB shell; on learning there; and back."""

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, PowerTransformer, StandardScaler
from support.fitted_estimators import CALIBRATED, CASES, NUMBERS, TABLE, table_of_what_maps
from support.shell import asked

import nbsql
from nbsql import InputError, NotSupportedError
from nbsql.sklearn import NaiveBayesClassifier, from_sklearn, to_sklearn

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::sklearn.exceptions.ConvergenceWarning")


def imported(con, estimator, case, name=None):
    columns = case.columns if isinstance(case.columns, str) else None
    return from_sklearn(con, estimator, columns=columns, target=case.target, id="row_no", name=name)


def posteriors(rows, estimator, *, suffix=""):
    return rows[[f"probability_{label}{suffix}" for label in estimator.classes_]].to_numpy()


def numbered(rows):
    return rows.assign(row_no=range(len(rows)))


def goes_back(model, estimator, case):
    """To an estimator that says the same, or to none, which is said."""
    if case.back is None:
        with pytest.raises(NotSupportedError, match="scikit-learn"):
            to_sklearn(model)
        return
    back = to_sklearn(model)
    last = back[-1] if hasattr(back, "steps") else back
    assert type(last).__name__ == case.back
    reads_texts = isinstance(case.columns, str) and isinstance(back[0], CountVectorizer)
    rows = TABLE[case.columns] if reads_texts or not isinstance(case.columns, str) else TABLE[[case.columns]]
    if hasattr(back, "feature_names_in_"):
        rows = rows[list(back.feature_names_in_)]
    assert list(back.classes_) == list(estimator.classes_)
    assert np.abs(back.predict_proba(rows) - estimator.predict_proba(TABLE[case.columns])).max() < 1e-9


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("name", [*CASES, *CALIBRATED])
def test_the_macros_of_the_model_say_what_the_estimator_says_there_and_back(tmp_path, name):
    case = {**CASES, **CALIBRATED}[name]
    estimator = case.fit(TABLE)
    path = tmp_path / "models.duckdb"
    with imported(path, estimator, case, "m") as model:
        if name in CASES:
            goes_back(model, estimator, case)
        if name in CASES and not case.counts:
            with pytest.raises(nbsql.ModelError, match="has no counts"):
                model.update(numbered(TABLE))
    with duckdb.connect(path) as con:
        con.register("frame", numbered(TABLE))
        con.execute("CREATE TABLE rows AS FROM frame")
    rows = pd.DataFrame(asked(path, "SELECT prediction, COLUMNS('^probability') FROM m.predict_proba('rows') ORDER BY row_no"))
    rows = rows.astype({name: float for name in rows if name.startswith("probability")})
    assert np.abs(posteriors(rows, estimator) - estimator.predict_proba(TABLE[case.columns])).max() < 1e-9
    assert (rows["prediction"] == estimator.predict(TABLE[case.columns])).all()


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.counts])
def test_a_model_goes_on_learning_and_forgetting_where_the_estimator_counts(con, name):
    case = CASES[name]
    half = len(TABLE) // 2
    old, new = numbered(TABLE[:half]), numbered(TABLE[half:])
    estimator = case.fit(old)
    model = imported(con, estimator, case)
    before = model.predict_proba(old).df()
    model.update(new)
    if case.partial:
        *transformers, last = [step for _, step in getattr(estimator, "steps", [(None, estimator)])]
        x = new[case.columns]
        for transformer in transformers:
            x = transformer.transform(x)
        last.partial_fit(x, new[case.target])
        want = estimator.predict_proba(TABLE[case.columns])
        assert np.abs(posteriors(model.predict_proba(TABLE).df(), estimator) - want).max() < 1e-9
    elif name.startswith("GaussianNB"):  # whose partial_fit smooths by the last rows alone
        want = case.fit(TABLE).predict_proba(TABLE[case.columns])
        assert np.abs(posteriors(model.predict_proba(TABLE).df(), estimator) - want).max() < 1e-9
    model.forget(new)
    after = model.predict_proba(old).df()
    assert np.abs(posteriors(after, estimator) - posteriors(before, estimator)).max() < 1e-9


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if case.counts and "," not in name and "Complement" not in name]
)
def test_partial_fit_goes_on_with_what_a_model_has_counted(con, name):
    case = CASES[name]
    half = len(TABLE) // 2
    back = to_sklearn(imported(con, case.fit(TABLE[:half]), case))
    last, new = back, TABLE[half:][case.columns]
    if hasattr(back, "steps"):
        last, new = back[-1], back[:-1].transform(new)
    last.partial_fit(new, TABLE[half:][case.target])
    want = case.fit(TABLE[:half]).partial_fit(TABLE[half:][case.columns], TABLE[half:][case.target])
    assert np.abs(back.predict_proba(TABLE[case.columns]) - want.predict_proba(TABLE[case.columns])).max() < 1e-9


def test_a_model_that_was_counted_here_becomes_an_estimator(con):
    families = {each: nbsql.Gaussian(smoothing=1e-9) for each in NUMBERS}
    back = to_sklearn(nbsql.fit(con, TABLE[[*NUMBERS, "kind"]], target="kind", families=families))
    mixed = nbsql.fit(
        con,
        TABLE[["height", "colour", "flag", "note", "kind"]],
        target="kind",
        families={"height": nbsql.Gaussian(shared_variance=True), "note": nbsql.Text()},
    )
    pipeline = to_sklearn(mixed)
    rows = mixed.predict_proba(TABLE).df()
    want = GaussianNB().fit(TABLE[NUMBERS], TABLE["kind"])
    for name in ("theta_", "var_", "class_count_", "class_prior_", "epsilon_"):
        np.testing.assert_allclose(getattr(back, name), getattr(want, name), rtol=1e-9)
    got = pipeline.predict_proba(TABLE[["height", "colour", "flag", "note"]])
    assert np.abs(posteriors(rows, pipeline) - got).max() < 1e-9


@pytest.mark.parametrize(
    "family",
    [
        nbsql.Text(tfidf=True, norm="l2", ngrams=2),
        nbsql.Text(norm="l2", min_length=2, normal_form=None),
        nbsql.Text(tfidf=True, event="complement", pattern=r"[\p{L}\p{N}]+"),
        nbsql.Text(tfidf=True, characters=(2, 3), within_words=True),
    ],
)
@pytest.mark.parametrize("target", ["kind", "y"])
@pytest.mark.forms("target")
def test_a_text_whose_words_are_weighed_becomes_a_vectorizer_of_them(con, family, target):
    model = nbsql.fit(con, TABLE[["note", target]], target=target, families={"note": family})
    pipeline = to_sklearn(model)
    texts = pd.DataFrame({"note": [*TABLE["note"], "", "a word never met, free", "fre\u0301e ❤\ufe0f मैं", "never met"]})
    rows = model.predict_proba(texts).df()
    assert isinstance(pipeline[0], TfidfVectorizer)
    assert np.abs(posteriors(rows, pipeline) - pipeline.predict_proba(texts["note"])).max() < 1e-9
    again = from_sklearn(con, pipeline, columns="note")
    assert np.abs(posteriors(again.predict_proba(texts).df(), pipeline) - posteriors(rows, pipeline)).max() < 1e-9


@pytest.mark.parametrize("fit_prior", [True, False])
@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "CountVectorizer, MultinomialNB"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.forms("fit_prior")
def test_a_class_still_to_come_comes_along(con, name, fit_prior):
    case = CASES[name]
    pipeline = case.fit(TABLE)
    *transformers, last = [step for _, step in getattr(pipeline, "steps", [(None, pipeline)])]
    rows = TABLE[case.columns]
    for transformer in transformers:
        rows = transformer.transform(rows)
    labels = [*sorted(TABLE[case.target].unique()), "still to come"]
    last.__init__(**{**last.get_params(), "fit_prior": fit_prior})
    for counted in ("classes_", "class_count_", "feature_count_"):
        delattr(last, counted)
    last.partial_fit(rows, TABLE[case.target], classes=labels)
    model = imported(con, pipeline, case)
    assert sorted(model.classes) == sorted(labels)
    found = posteriors(model.predict_proba(TABLE).df(), pipeline)
    assert np.abs(found - pipeline.predict_proba(TABLE[case.columns])).max() < 1e-9
    more = TABLE[:5].assign(**{case.target: "still to come"})
    model.update(numbered(more))
    assert dict(row[:2] for row in model.priors)["still to come"] == 5


def test_labels_are_of_any_type():
    for labels in ([1, 2], [True, False], [0.0, 1.0], ["b", "a"]):
        y = np.where(TABLE["y"] == "yes", labels[0], labels[1])
        with duckdb.connect() as con:
            model = from_sklearn(con, GaussianNB().fit(TABLE[NUMBERS], y))
            assert sorted(model.classes) == sorted(labels)
            assert list(to_sklearn(model).classes_) == sorted(labels)


def test_arrays_have_columns_by_number(con):
    estimator = GaussianNB().fit(TABLE[NUMBERS].to_numpy(), TABLE["kind"])
    assert list(from_sklearn(con, estimator).families) == ["x0", "x1", "x2"]
    assert list(from_sklearn(con, estimator, columns=["a", "b", "c"]).families) == ["a", "b", "c"]
    with pytest.raises(InputError, match="GaussianNB reads 3 columns, and columns has 2; name those that it reads"):
        from_sklearn(con, estimator, columns=["a", "b"])


X, Y = TABLE[NUMBERS], TABLE["kind"]
TEXTS = TABLE["note"]
LATIN = "[a-z]+"


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda: RandomForestClassifier(n_estimators=2).fit(X, Y), "RandomForestClassifier does not map to SQL; GaussianNB"),
        (
            lambda: make_pipeline(PowerTransformer(), GaussianNB()).fit(X, Y),
            "PowerTransformer does not map to SQL; StandardScaler",
        ),
        (
            lambda: make_pipeline(MinMaxScaler(clip=True), GaussianNB()).fit(X, Y),
            r"MinMaxScaler\(clip=True\) does not map to SQL",
        ),
        (
            lambda: make_pipeline(HashingVectorizer(alternate_sign=False), MultinomialNB()).fit(TEXTS, Y),
            "HashingVectorizer does not map to SQL",
        ),
        (
            lambda: make_pipeline(CountVectorizer(analyzer=str.split), MultinomialNB()).fit(TEXTS, Y),
            r"CountVectorizer\(analyzer=.*\) does not map to SQL; fit it with analyzer='word', 'char' or 'char_wb'",
        ),
        (
            lambda: make_pipeline(CountVectorizer(strip_accents="unicode"), MultinomialNB()).fit(TEXTS, Y),
            r"CountVectorizer\(strip_accents='unicode'\) does not map to SQL; fit it with strip_accents=None",
        ),
        (
            lambda: make_pipeline(CountVectorizer(token_pattern=LATIN), MultinomialNB()).fit(TEXTS, Y),
            r"CountVectorizer\(token_pattern='\[a-z\]\+'\) does not map to SQL; the patterns that do",
        ),
        (
            lambda: make_pipeline(TfidfVectorizer(sublinear_tf=True), MultinomialNB()).fit(TEXTS, Y),
            r"TfidfVectorizer\(sublinear_tf=True\) does not map to SQL",
        ),
        (
            lambda: make_pipeline(TfidfVectorizer(norm="l1"), MultinomialNB()).fit(TEXTS, Y),
            r"TfidfVectorizer\(norm='l1'\) does not map to SQL; fit it with norm='l2' or None",
        ),
        (
            lambda: make_pipeline(OneHotEncoder(min_frequency=90), LogisticRegression()).fit(TABLE[["colour", "code"]], Y),
            "OneHotEncoder with infrequent categories does not map to SQL",
        ),
        (
            lambda: make_pipeline(TfidfVectorizer(), BernoulliNB(binarize=0.2)).fit(TEXTS, Y),
            r"BernoulliNB\(binarize=0.2\) of words does not map to SQL; fit it with binarize=0.0",
        ),
        (
            lambda: make_pipeline(OneHotEncoder(), BernoulliNB(binarize=1)).fit(TABLE[["colour"]], Y),
            r"BernoulliNB\(binarize=1\) of indicators does not map to SQL; fit it with binarize=0.0",
        ),
        (
            lambda: make_pipeline(
                ColumnTransformer([("levels", OneHotEncoder(), ["colour"]), ("scaled", StandardScaler(), ["height"])]),
                BernoulliNB(),
            ).fit(TABLE, Y),
            "BernoulliNB of scaled numbers beside indicators does not map to SQL; leave out the scaler, or the indicators",
        ),
        (
            lambda: CalibratedClassifierCV(LogisticRegression(max_iter=2000)).fit(TABLE[["height", "width"]], TABLE["y"]),
            "CalibratedClassifierCV of 5 estimators does not map to SQL; fit it with ensemble=False",
        ),
        (
            lambda: CalibratedClassifierCV(GaussianNB(), ensemble=False).fit(X, TABLE["y"]),
            "CalibratedClassifierCV of GaussianNB, whose probabilities it calibrates, does not map to SQL",
        ),
        (
            lambda: CalibratedClassifierCV(LogisticRegression(max_iter=2000), ensemble=False).fit(
                TABLE[["height", "width"]], Y
            ),
            r"CalibratedClassifierCV\(method='sigmoid'\) of more than two classes does not map to SQL",
        ),
    ],
)
def test_what_does_not_map_is_refused_by_name(con, fit, message):
    estimator = fit()
    with pytest.raises(NotSupportedError, match=message):
        from_sklearn(con, estimator, name="m")
    assert nbsql.models(con) == []


def test_what_is_not_fitted_is_refused():
    with duckdb.connect() as con, pytest.raises(InputError, match="GaussianNB is not fitted; fit it first"):
        from_sklearn(con, GaussianNB())


def test_what_is_no_estimator_and_no_model_is_refused(con):
    own = NaiveBayesClassifier().fit(X, Y)
    for act, message in {
        lambda: from_sklearn(con, GaussianNB): "GaussianNB is a class; pass a fitted estimator",
        lambda: from_sklearn(con, GaussianNB().fit(X, Y), target="width"): (
            "column 'width' is a feature of GaussianNB; name another column as target"
        ),
        lambda: from_sklearn(con, own): (
            "NaiveBayesClassifier has a model of nbsql; estimator.model_.export(path) and nbsql.import_(con, path) copy it"
        ),
        lambda: to_sklearn(own): "to_sklearn takes an nbsql.Model, not NaiveBayesClassifier; pass its model_",
        lambda: to_sklearn("m"): "to_sklearn takes an nbsql.Model, not str; nbsql.load returns one",
    }.items():
        with pytest.raises(InputError) as caught:
            act()
        assert str(caught.value) == message


def test_a_search_is_its_best_estimator(con):
    search = GridSearchCV(make_pipeline(StandardScaler(), GaussianNB()), {"gaussiannb__var_smoothing": [1e-9, 0.5]}).fit(X, Y)
    found = posteriors(from_sklearn(con, search).predict_proba(TABLE).df(), search)
    assert np.abs(found - search.predict_proba(X)).max() < 1e-9


def test_a_model_that_scikit_learn_has_no_class_for_is_refused(con):
    rows = TABLE[["height", "colour", "kind"]]
    with pytest.raises(NotSupportedError, match="scikit-learn has no such estimator: the model has no linear form: 'height'"):
        to_sklearn(nbsql.fit(con, rows, target="kind"))
    with pytest.raises(NotSupportedError, match="scikit-learn has no estimator with segments"):
        to_sklearn(nbsql.fit(con, rows, target="kind", segment_by="colour"))


def test_the_page_says_what_maps():
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "scikit-learn.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line.startswith("|")] == table_of_what_maps()


def _as_read(estimator, columns):
    """The rows as an estimator that knows the names of its columns, or as one behind a transformer, takes them."""
    rows = TABLE[columns].astype(float)
    return rows if hasattr(estimator, "feature_names_in_") else rows.to_numpy()


@pytest.mark.parametrize("name", ["GaussianNB", "MultinomialNB", "BernoulliNB", "LogisticRegression"])
def test_onnx_is_made_of_what_goes_back(con, name):
    import onnxruntime as runtime
    import skl2onnx as onnx

    case = CASES[name]
    back = to_sklearn(imported(con, case.fit(TABLE), case))
    estimator = back[-1] if hasattr(back, "steps") else back
    columns = list(back.feature_names_in_)
    kinds = [("rows", onnx.common.data_types.DoubleTensorType([None, len(columns)]))]
    options = {id(estimator): {"zipmap": False}}
    made = onnx.convert_sklearn(estimator, initial_types=kinds, options=options)
    session = runtime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    got = session.run(None, {"rows": TABLE[columns].to_numpy(dtype=float)})[1]
    assert np.abs(got - estimator.predict_proba(_as_read(estimator, columns))).max() < 1e-4  # of 32 bits


def test_onnx_is_made_of_a_text_whose_words_are_weighed(con):
    import onnxruntime as runtime
    import skl2onnx as onnx

    families = {"note": nbsql.Text(tfidf=True, norm="l2", lower=False, normal_form=None)}
    rows = TABLE.assign(note=TABLE["note"].str.replace("[^a-zA-Z0-9 ]", "", regex=True))[["note", "kind"]]
    model = nbsql.fit(con, rows, target="kind", families=families)
    pipeline = to_sklearn(model)
    want = posteriors(model.predict_proba(rows).df(), pipeline)
    kinds = [("texts", onnx.common.data_types.StringTensorType([None, 1]))]
    options = {id(pipeline[0]): {"tokenexp": "[a-zA-Z0-9]+"}, id(pipeline[-1]): {"zipmap": False}}
    made = onnx.convert_sklearn(pipeline, initial_types=kinds, options=options)
    session = runtime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    got = session.run(None, {"texts": rows[["note"]].to_numpy(dtype=object)})[1]
    assert np.abs(got - want).max() < 1e-4  # of 32 bits


@pytest.mark.slow
def test_labels_of_every_type_come_back_from_weights(con):
    for label in (
        "i % 2 = 0",
        "i % 2",
        "if(i % 2 = 0, 'a', 'b')",
        "i % 2 / 2",
        "DATE '2026-01-01' + (i % 2)::INT",
        "18446744073709551615::UBIGINT * (i % 2)",
    ):
        rows = con.sql(f"SELECT {label} AS y, 'u' || i % 3 AS a, 'v' || i * i % 5 AS b FROM range(20) AS t(i)")
        families = {"a": nbsql.Categorical(alpha=2)}  # another pseudo-count than that of b, which only weights can hold
        model = nbsql.fit(con, rows, target="y", families=families)
        found = nbsql.sklearn.to_sklearn(model).predict_proba(rows.df()[["a", "b"]])
        wanted = model.predict_proba(rows, columns=[]).df().iloc[:, 2:].to_numpy()
        assert np.abs(found - wanted).max() < 1e-9


def test_an_import_that_fails_leaves_no_database(tmp_path):
    path, estimator = tmp_path / "new.duckdb", GaussianNB().fit([[1.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    with pytest.raises(nbsql.ModelError, match=r"^schema 'main' is there already and is not a model of nbsql"):
        from_sklearn(path, estimator, name="main")
    assert not path.exists()
    assert from_sklearn(path, estimator, name="kept").classes == [0, 1]
