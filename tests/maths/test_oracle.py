"""Joint log-likelihoods and posteriors against scikit-learn, on real data, for every family by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from sklearn.preprocessing import OrdinalEncoder

import nbsql

WORD = r"[^\W_]+"  # a run of letters and digits, as nbsql cuts words

pytestmark = pytest.mark.usefixtures("form")

IRIS = "SELECT * FROM read_csv('{}/iris.csv')"
ADULT = """
  SELECT age, education_num, capital_gain, capital_loss, hours_per_week, fnlwgt, income
  FROM read_csv('{}/adult.csv.gz') WHERE split = 'train'"""
COVTYPE = """
  SELECT elevation, aspect, slope, horiz_dist_hydrology, vert_dist_hydrology, horiz_dist_roadways, hillshade_9am,
    hillshade_noon, hillshade_3pm, horiz_dist_fire_points, cover_type
  FROM '{}/covtype_20k.parquet'"""
GROUND = "SELECT COLUMNS('wilderness_|soil_1')::BOOLEAN, cover_type FROM '{}/covtype_20k.parquet'"
VOTES = """
  SELECT party, COLUMNS(* EXCLUDE party) = 'y' FROM read_csv('{}/house_votes_84.csv', all_varchar = TRUE)
  WHERE COLUMNS(*) <> '?'"""
MUSHROOM = "SELECT * FROM read_csv('{}/mushroom.csv.gz', all_varchar = TRUE)"
TITANIC = """
  SELECT Survived, Pclass::VARCHAR AS Pclass, Sex, Age, SibSp, Parch, Fare, Embarked
  FROM read_csv('{}/titanic_train.csv') WHERE Embarked IS NOT NULL"""
BIKES = "SELECT season, hr, casual, registered, temp, hum, windspeed FROM read_csv('{}/bike_sharing_hour.csv.gz')"
SMS = "SELECT label, message FROM read_csv('{}/sms_spam.csv.gz')"

# Models without categories have one wide form.
TWO_FORMS = pytest.mark.parametrize("form", ["wide", "long"], indirect=True)

# Pseudo-counts and priors, not in all their combinations: nothing in one depends on the other.
ESTIMATES = [(0.01, "empirical"), (1.0, "uniform"), (7.5, "given")]

Read = Callable[[str], pd.DataFrame]


@pytest.fixture
def read(con: duckdb.DuckDBPyConnection, data: Path) -> Read:
    return lambda query: con.sql(query.format(data)).df()


def columns_of(query: nbsql.Query, prefix: str) -> np.ndarray:
    """The columns of a verb, a class each, in the order of the labels as scikit-learn has it."""
    frame = query.df()
    return frame[[column for column in frame if column.startswith(prefix)]].to_numpy()


def assert_same_scores(model: nbsql.Model, frame: pd.DataFrame, joint: np.ndarray) -> None:
    """Joint log-likelihoods, posteriors, predictions and log evidence are those of the oracle's joint log-likelihoods."""
    np.testing.assert_allclose(
        columns_of(model.joint_log_likelihood(frame), "joint_log_likelihood_"), joint, rtol=1e-9, atol=1e-9
    )
    evidence = logsumexp(joint, axis=1)
    posterior = np.exp(joint - evidence[:, None])
    scored = model.predict_proba(frame).df()
    found = scored[[column for column in scored if column.startswith("probability_")]].to_numpy()
    np.testing.assert_allclose(found, posterior, rtol=0, atol=1e-9)
    np.testing.assert_allclose(scored["probability"], posterior.max(axis=1), rtol=0, atol=1e-9)
    labels = np.array(sorted(model.classes))
    clear = np.sort(posterior, axis=1)[:, -2] < posterior.max(axis=1) - 1e-6
    assert clear.mean() > 0.9
    assert (scored["prediction"].to_numpy()[clear] == labels[posterior.argmax(axis=1)][clear]).all()
    np.testing.assert_allclose(model.log_evidence(frame).df()["log_evidence"], evidence, rtol=1e-9, atol=1e-9)


def priors_for(target: pd.Series, prior: str) -> tuple[Any, list[float] | None]:
    """A prior as nbsql takes it, and as scikit-learn does (None: from the data)."""
    labels = sorted(target.unique().tolist())
    if prior == "empirical":
        return prior, None
    if prior == "uniform":
        return prior, [1 / len(labels)] * len(labels)
    weights = np.arange(1, len(labels) + 1)
    given = (weights / weights.sum()).tolist()
    return dict(zip(labels, given, strict=True)), given


def split(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two thirds to learn from, one third to score."""
    held_back = np.arange(len(frame)) % 3 == 2
    return frame[~held_back].reset_index(drop=True), frame[held_back].reset_index(drop=True)


@TWO_FORMS
@pytest.mark.parametrize("prior", ["empirical", "uniform", "given"])
@pytest.mark.parametrize(
    ("query", "target"),
    [(IRIS, "species"), (ADULT, "income"), (COVTYPE, "cover_type"), (BIKES, "season")],
    ids=["iris", "adult", "covtype", "bikes"],
)
def test_numbers_score_as_gaussian_nb(con: duckdb.DuckDBPyConnection, read: Read, query: str, target: str, prior: str) -> None:
    train, test = split(read(query))
    ours, theirs = priors_for(train[target], prior)
    oracle = GaussianNB(var_smoothing=0, priors=theirs).fit(train.drop(columns=target).to_numpy(float), train[target])
    model = nbsql.fit(con, train, target=target, prior=ours)
    assert {str(family) for family in model.families.values()} == {"gaussian"}
    assert_same_scores(model, test, oracle.predict_joint_log_proba(test.drop(columns=target).to_numpy(float)))


@TWO_FORMS
def test_weighted_numbers_score_as_gaussian_nb_with_sample_weight(con: duckdb.DuckDBPyConnection, read: Read) -> None:
    train, test = split(read(ADULT))
    features = ["age", "education_num", "capital_gain", "capital_loss", "hours_per_week"]
    oracle = GaussianNB(var_smoothing=0).fit(train[features].to_numpy(float), train["income"], sample_weight=train["fnlwgt"])
    model = nbsql.fit(con, train, target="income", weight="fnlwgt")
    assert_same_scores(model, test, oracle.predict_joint_log_proba(test[features].to_numpy(float)))


@TWO_FORMS
@pytest.mark.parametrize(("alpha", "prior"), ESTIMATES)
def test_count_columns_score_as_multinomial_nb(con: duckdb.DuckDBPyConnection, read: Read, alpha: float, prior: str) -> None:
    train, test = split(read(BIKES))
    columns = ["casual", "registered", "hr"]
    ours, theirs = priors_for(train["season"], prior)
    oracle = MultinomialNB(alpha=alpha, class_prior=theirs).fit(train[columns], train["season"])
    model = nbsql.fit(
        con, train, target="season", features=columns, families={"riders": nbsql.Multinomial(columns)}, alpha=alpha, prior=ours
    )
    assert_same_scores(model, test, oracle.predict_joint_log_proba(test[columns]))


@TWO_FORMS
def test_weighted_count_columns_score_as_multinomial_nb_with_sample_weight(con: duckdb.DuckDBPyConnection, read: Read) -> None:
    train, test = split(read(BIKES))
    columns = ["casual", "registered"]
    oracle = MultinomialNB().fit(train[columns], train["season"], sample_weight=train["windspeed"])
    families = {"riders": nbsql.Multinomial(columns)}
    model = nbsql.fit(con, train, target="season", features=columns, families=families, weight="windspeed")
    assert_same_scores(model, test, oracle.predict_joint_log_proba(test[columns]))


@TWO_FORMS
@pytest.mark.parametrize(("alpha", "prior"), ESTIMATES)
@pytest.mark.parametrize(("query", "target"), [(VOTES, "party"), (GROUND, "cover_type")], ids=["votes", "covtype"])
def test_yes_and_no_score_as_bernoulli_nb(
    con: duckdb.DuckDBPyConnection, read: Read, query: str, target: str, alpha: float, prior: str
) -> None:
    train, test = split(read(query))
    ours, theirs = priors_for(train[target], prior)
    oracle = BernoulliNB(alpha=alpha, class_prior=theirs).fit(train.drop(columns=target), train[target])
    model = nbsql.fit(con, train, target=target, alpha=alpha, prior=ours)
    assert {str(family) for family in model.families.values()} == {"bernoulli"}
    assert_same_scores(model, test, oracle.predict_joint_log_proba(test.drop(columns=target)))


@TWO_FORMS
def test_weighted_yes_and_no_score_as_bernoulli_nb_with_sample_weight(con: duckdb.DuckDBPyConnection, read: Read) -> None:
    train, test = split(read(VOTES))
    weights = 0.25 + np.arange(len(train)) % 5
    oracle = BernoulliNB().fit(train.drop(columns="party"), train["party"], sample_weight=weights)
    model = nbsql.fit(con, train.assign(weight=weights), target="party", weight="weight")
    assert_same_scores(model, test, oracle.predict_joint_log_proba(test.drop(columns="party")))


@pytest.mark.parametrize(("alpha", "prior"), ESTIMATES)
@pytest.mark.filterwarnings("ignore:one value only in 'veil_type'")
def test_categories_score_as_categorical_nb(con: duckdb.DuckDBPyConnection, read: Read, alpha: float, prior: str) -> None:
    frame = read(MUSHROOM)
    names = [name for name in frame if name != "class"]
    encoder = OrdinalEncoder(dtype=int).fit(frame[names])
    train, test = split(frame)
    ours, theirs = priors_for(train["class"], prior)
    sizes = [len(levels) for levels in encoder.categories_]
    oracle = CategoricalNB(alpha=alpha, class_prior=theirs, min_categories=sizes)
    oracle.fit(encoder.transform(train[names]), train["class"])
    families = {
        name: nbsql.Categorical(levels=levels.tolist()) for name, levels in zip(names, encoder.categories_, strict=True)
    }
    model = nbsql.fit(con, train, target="class", alpha=alpha, prior=ours, families=families)
    assert_same_scores(model, test, oracle.predict_joint_log_proba(encoder.transform(test[names])))


def test_weighted_categories_score_as_categorical_nb_with_sample_weight(con: duckdb.DuckDBPyConnection, read: Read) -> None:
    frame = read(TITANIC)[["Survived", "Pclass", "Sex", "Embarked", "Fare"]]
    names = ["Pclass", "Sex", "Embarked"]
    codes = OrdinalEncoder(dtype=int).fit_transform(frame[names])
    weights = frame["Fare"] + 1
    oracle = CategoricalNB(alpha=0.5).fit(codes, frame["Survived"], sample_weight=weights)
    model = nbsql.fit(con, frame.assign(Fare=weights), target="Survived", weight="Fare", alpha=0.5)
    assert_same_scores(model, frame, oracle.predict_joint_log_proba(codes))


@TWO_FORMS
@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3)])
def test_text_scores_as_count_vectorizer_and_multinomial_nb(
    con: duckdb.DuckDBPyConnection, read: Read, alpha: float, ngrams: tuple[int, int]
) -> None:
    train, test = split(read(SMS))
    vectorizer = CountVectorizer(token_pattern=WORD, ngram_range=ngrams)
    oracle = MultinomialNB(alpha=alpha).fit(vectorizer.fit_transform(train["message"]), train["label"])
    model = nbsql.fit(con, train, target="label", families={"message": nbsql.Text(ngrams=ngrams)}, alpha=alpha)
    assert_same_scores(model, test, oracle.predict_joint_log_proba(vectorizer.transform(test["message"])))


@TWO_FORMS
@pytest.mark.parametrize("prior", ["empirical", "uniform", "given"])
def test_presence_of_words_scores_as_count_vectorizer_and_bernoulli_nb(
    con: duckdb.DuckDBPyConnection, read: Read, prior: str
) -> None:
    train, test = split(read(SMS))
    ours, theirs = priors_for(train["label"], prior)
    stop_words = ["a", "the", "to", "you"]
    vectorizer = CountVectorizer(token_pattern=WORD, binary=True, stop_words=stop_words)
    oracle = BernoulliNB(class_prior=theirs).fit(vectorizer.fit_transform(train["message"]), train["label"])
    family = nbsql.Text(event="bernoulli", stop_words=stop_words)
    model = nbsql.fit(con, train, target="label", families={"message": family}, prior=ours)
    assert_same_scores(model, test, oracle.predict_joint_log_proba(vectorizer.transform(test["message"])))


@pytest.mark.slow
@TWO_FORMS
@pytest.mark.parametrize("kind", ["tokens", "token counts"])
def test_bags_of_tokens_score_as_multinomial_nb(con: duckdb.DuckDBPyConnection, read: Read, kind: str) -> None:
    frame = read(SMS)
    con.register("messages", frame)
    words = "list_filter(string_split(lower(message), ' '), lambda word: word <> '')"
    bag = words if kind == "tokens" else f"list_aggregate({words}, 'histogram')"
    arrow = con.sql(f"SELECT label, {bag} AS words FROM messages").to_arrow_table()
    vectorizer = CountVectorizer(analyzer=lambda text: [word for word in text.lower().split(" ") if word])
    counts = vectorizer.fit_transform(frame["message"])
    oracle = MultinomialNB(alpha=0.3).fit(counts, frame["label"])
    model = nbsql.fit(con, arrow, target="label", alpha=0.3)
    assert str(model.families["words"]) == kind.replace(" ", "_")
    assert_same_scores(model, arrow, oracle.predict_joint_log_proba(counts))


@TWO_FORMS
@pytest.mark.parametrize("kind", ["tokens", "token counts"])
def test_presence_of_tokens_scores_as_bernoulli_nb(con: duckdb.DuckDBPyConnection, read: Read, kind: str) -> None:
    frame = read(SMS)[:1500]
    con.register("messages", frame)
    words = "list_filter(string_split(lower(message), ' '), lambda word: word <> '')"
    bag = words if kind == "tokens" else f"list_aggregate({words}, 'histogram')"
    arrow = con.sql(f"SELECT label, {bag} AS words FROM messages").to_arrow_table()
    vectorizer = CountVectorizer(analyzer=lambda text: [word for word in text.lower().split(" ") if word])
    counts = vectorizer.fit_transform(frame["message"])
    assert counts.max() > 2
    oracle = BernoulliNB(alpha=0.3).fit(counts, frame["label"])
    family = {"tokens": nbsql.Tokens, "token counts": nbsql.TokenCounts}[kind](event="bernoulli")
    model = nbsql.fit(con, arrow, target="label", alpha=0.3, families={"words": family})
    assert_same_scores(model, arrow, oracle.predict_joint_log_proba(counts))
    one = model.predict_one({"words": ["free", "free", "prize"] if kind == "tokens" else {"free": 2, "prize": 0.5}})
    expected = oracle.predict_proba(vectorizer.transform(["free prize"]))[0]
    assert [one["probabilities"][label] for label in oracle.classes_] == pytest.approx(expected, abs=1e-9)
    explained = model.explain(arrow.slice(0, 1)).fetchall()
    assert sum(row[-1] for row in explained if row[1] == "ham") == pytest.approx(
        oracle.predict_joint_log_proba(counts[:1])[0][0], abs=1e-9
    )
