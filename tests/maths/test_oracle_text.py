"""Complement naive Bayes, TF-IDF and the l2 norm against scikit-learn, on real texts and counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import ComplementNB, MultinomialNB

import nbsql

WORD = r"[^\W_]+"  # a run of letters and digits, as nbsql cuts words

pytestmark = [pytest.mark.usefixtures("form"), pytest.mark.parametrize("form", ["wide", "long"], indirect=True)]

SMS = "SELECT label, message FROM read_csv('{}/sms_spam.csv.gz')"
NEWS = "SELECT newsgroup, text FROM '{}/newsgroups_6.parquet' USING SAMPLE 10 PERCENT (bernoulli, 7)"
BIKES = "SELECT season, hr, casual, registered FROM read_csv('{}/bike_sharing_hour.csv.gz')"

Read = Callable[[str], pd.DataFrame]


@pytest.fixture
def read(con: duckdb.DuckDBPyConnection, data: Path) -> Read:
    return lambda query: con.sql(query.format(data)).df()


def split(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two thirds to learn from, one third to score."""
    held_back = np.arange(len(frame)) % 3 == 2
    return frame[~held_back].reset_index(drop=True), frame[held_back].reset_index(drop=True)


def assert_same_scores(model: nbsql.Model, frame: Any, joint: np.ndarray) -> None:
    """Joint scores, posteriors and explanations are those of the oracle's joint scores."""
    found = model.joint_log_likelihood(frame).df()
    columns = [column for column in found if column.startswith("joint_log_likelihood_")]
    np.testing.assert_allclose(found[columns].to_numpy(), joint, rtol=1e-9, atol=1e-9)
    proba = model.predict_proba(frame).df()
    columns = [column for column in proba if column.startswith("probability_")]
    posterior = np.exp(joint - logsumexp(joint, axis=1)[:, None])
    np.testing.assert_allclose(proba[columns].to_numpy(), posterior, rtol=0, atol=1e-9)
    labels = sorted(model.classes)
    few = frame.slice(0, 50) if hasattr(frame, "slice") else frame.head(50)
    explained = model.explain(few).df().groupby(["row_id", "class"])["contribution"].sum().unstack()[labels]
    np.testing.assert_allclose(explained.to_numpy(), joint[:50], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("alpha", "norm"), [(1.0, False), (0.1, True), (2.5, False)])
def test_count_columns_score_as_complement_nb(con: duckdb.DuckDBPyConnection, read: Read, alpha: float, norm: bool) -> None:
    train, test = split(read(BIKES))
    columns = ["casual", "registered", "hr"]
    oracle = ComplementNB(alpha=alpha, norm=norm).fit(train[columns], train["season"])
    model = nbsql.fit(con, train, target="season", families={"riders": nbsql.Complement(columns, norm=norm)}, alpha=alpha)
    assert_same_scores(model, test, oracle.predict_joint_log_proba(test[columns]))


@pytest.mark.parametrize("norm", [False, True])
def test_weighted_count_columns_score_as_complement_nb_with_sample_weight(
    con: duckdb.DuckDBPyConnection, read: Read, norm: bool
) -> None:
    train, test = split(read(BIKES))
    columns = ["casual", "registered"]
    oracle = ComplementNB(norm=norm).fit(train[columns], train["season"], sample_weight=train["hr"] + 0.5)
    families = {"riders": nbsql.Complement(columns, norm=norm)}
    frame = train.assign(hr=train["hr"] + 0.5)
    model = nbsql.fit(con, frame, target="season", families=families, weight="hr")
    assert_same_scores(model, test, oracle.predict_joint_log_proba(test[columns]))


@pytest.mark.slow
@pytest.mark.forms("event", "norm")
@pytest.mark.parametrize("event", ["multinomial", "complement", "normed complement"])
@pytest.mark.parametrize("tfidf", [False, True], ids=["counts", "tfidf"])
@pytest.mark.parametrize("norm", [None, "l2"])
def test_text_scores_as_tfidf_vectorizer_and_naive_bayes(
    con: duckdb.DuckDBPyConnection, read: Read, event: str, tfidf: bool, norm: Any
) -> None:
    train, test = split(read(SMS))
    vectorizer = TfidfVectorizer(token_pattern=WORD, norm=norm, use_idf=tfidf, ngram_range=(1, 2))
    weight_norm = event == "normed complement"
    oracle: Any = MultinomialNB(alpha=0.3) if event == "multinomial" else ComplementNB(alpha=0.3, norm=weight_norm)
    oracle.fit(vectorizer.fit_transform(train["message"]), train["label"])
    family = nbsql.Text(event=event.split()[-1], weight_norm=weight_norm, tfidf=tfidf, norm=norm, ngrams=2)
    model = nbsql.fit(con, train, target="label", families={"message": family}, alpha=0.3)
    assert_same_scores(model, test, oracle.predict_joint_log_proba(vectorizer.transform(test["message"])))


@pytest.mark.forms("event", "norm")
@pytest.mark.parametrize("norm", [None, "l2"])
@pytest.mark.parametrize("event", ["multinomial", "complement"])
def test_six_newsgroups(con: duckdb.DuckDBPyConnection, read: Read, event: Any, norm: Any) -> None:
    train, test = split(read(NEWS))
    vectorizer = TfidfVectorizer(token_pattern=WORD, norm=norm)
    oracle: Any = MultinomialNB() if event == "multinomial" else ComplementNB()
    oracle.fit(vectorizer.fit_transform(train["text"]), train["newsgroup"])
    family = nbsql.Text(event=event, tfidf=True, norm=norm)
    model = nbsql.fit(con, train, target="newsgroup", families={"text": family})
    assert_same_scores(model, test, oracle.predict_joint_log_proba(vectorizer.transform(test["text"])))


@pytest.mark.slow
@pytest.mark.forms("tfidf", "norm")
@pytest.mark.parametrize("kind", ["tokens", "token counts"])
@pytest.mark.parametrize(("tfidf", "norm"), [(False, None), (True, None), (True, "l2"), (False, "l2")])
def test_bags_of_tokens_score_as_tfidf_vectorizer_and_complement_nb(
    con: duckdb.DuckDBPyConnection, read: Read, kind: str, tfidf: bool, norm: Any
) -> None:
    frame = read(SMS)
    con.register("messages", frame)
    words = "list_filter(string_split(lower(message), ' '), lambda word: word <> '')"
    bag = words if kind == "tokens" else f"list_aggregate({words}, 'histogram')"
    arrow = con.sql(f"SELECT label, {bag} AS words FROM messages").to_arrow_table()
    vectorizer = TfidfVectorizer(
        analyzer=lambda text: [word for word in text.lower().split(" ") if word], use_idf=tfidf, norm=norm
    )
    counts = vectorizer.fit_transform(frame["message"])
    oracle = ComplementNB(alpha=0.3).fit(counts, frame["label"])
    make = nbsql.Tokens if kind == "tokens" else nbsql.TokenCounts
    family = make(event="complement", tfidf=tfidf, norm=norm)
    model = nbsql.fit(con, arrow, target="label", alpha=0.3, families={"words": family})
    assert_same_scores(model, arrow, oracle.predict_joint_log_proba(counts))
