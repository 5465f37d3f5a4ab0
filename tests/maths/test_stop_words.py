"""Stop words and short words against scikit-learn, by the same list and the same words."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.naive_bayes import MultinomialNB

import nbsql
from nbsql.family.text import STOP_WORDS

OURS = list(nbsql.Text(stop_words="english").stop_words or ())
THEIRS = sorted(ENGLISH_STOP_WORDS)
TEXTS = [
    ("a", "Don't you WON'T they'll we've isn’t cannot couldnt I'm it's o'clock"),
    ("a", "snake_case __init__ a_b_cde _the_ the_cat cat's the-end x2 v2.0 3rd 1234 12 ab1"),
    ("b", "Über ÜBER straße ÉTÉ été naïve Ångström ﬁx ǅungla σας ас"),
    ("b", "serious system interest fire three four name did does done than the THE The tHe"),
    ("c", "日本語 テキスト 中文 中文字 한국어 ½ ²³ Ⅻ ⅫⅫⅫ ٣٤٥ 漢字かな 🙂🙂🙂 e\u0301te\u0301"),
    ("c", "  and, but; or: if!then?else(so)than[too]very{just}more/most\\less|least "),
]
QUERIES = {
    "sms": ("label", "message", "SELECT label, message FROM read_csv('{}/sms_spam.csv.gz')"),
    "newsgroups": (
        "newsgroup",
        "text",
        "SELECT newsgroup, text FROM '{}/newsgroups_6.parquet' USING SAMPLE 20 PERCENT (bernoulli, 7)",
    ),
}


def assert_same(con, frame, target, text, words, least, ngrams):
    vectorizer = CountVectorizer(token_pattern=rf"[^\W_]{{{least},}}", stop_words=words, ngram_range=(1, ngrams))
    oracle = MultinomialNB().fit(vectorizer.fit_transform(frame[text]), frame[target])
    family = nbsql.Text(pattern=r"[\p{L}\p{N}]+", normal_form=None, stop_words=words, min_length=least, ngrams=ngrams)
    model = nbsql.fit(con, frame, target=target, families={text: family})
    assert {row[2] for row in model.likelihoods.fetchall()} == set(vectorizer.vocabulary_)
    found = model.predict_proba(frame).df()
    shares = found[[column for column in found if column.startswith("probability_")]].to_numpy()
    np.testing.assert_allclose(shares, oracle.predict_proba(vectorizer.transform(frame[text])), rtol=0, atol=1e-9)


@pytest.mark.few
@pytest.mark.parametrize("ngrams", [1, 2])
@pytest.mark.parametrize("least", [1, 3])
@pytest.mark.parametrize("words", [OURS, THEIRS], ids=["ours", "theirs"])
def test_texts_that_are_hard_to_cut(con, words, least, ngrams):
    assert_same(con, pd.DataFrame(TEXTS, columns=["label", "message"]), "label", "message", words, least, ngrams)


@pytest.mark.nightly
@pytest.mark.few
@pytest.mark.parametrize("words", [OURS, THEIRS], ids=["ours", "theirs"])
@pytest.mark.parametrize("name", QUERIES)
def test_real_texts(con, data, name, words):
    target, text, query = QUERIES[name]
    assert_same(con, con.sql(query.format(data)).df(), target, text, words, 3, 1)


def test_english_is_a_list_of_function_words_of_its_own():
    """Which is not that of scikit-learn: what the README says of it."""
    assert tuple(OURS) == STOP_WORDS["english"]
    assert (len(set(OURS)), len(THEIRS)) == (203, 318)
    assert {"don", "isn", "did", "does"} <= set(OURS) - set(THEIRS)
    assert {"serious", "system", "interest", "fire", "three"} <= set(THEIRS) - set(OURS)


def test_a_dotted_i_is_folded_to_one_letter(con):
    """Python makes two characters of it, i and a mark at which scikit-learn cuts."""
    rows = "SELECT unnest(['İstanbul', 'x']) AS t, unnest(['a', 'b']) AS c"
    model = nbsql.fit(con, rows, target="c", families={"t": nbsql.Text()})
    assert {row[2] for row in model.likelihoods.fetchall()} == {"istanbul", "x"}


def test_a_sigma_at_the_end_of_a_word_is_folded_as_in_python(con):
    texts = "ΣΑΣ|Σ|ΣΑΣ ΣΑΣ ΟΔΥΣΣΕΥΣ,|ΑΣ'Β|ΟΔΟΣ.ΟΔΟΣ|aΣΣ|A1Σ|ΑΣ1|σασ|ΑΣ'|Α\u0301Σ\u0301 Σ|ΑΣ\nΒΣ|Σ2Σ".split("|")
    con.execute("CREATE TABLE words AS SELECT unnest(?) AS t, t < 'σ' AS c", [texts])
    families = {"t": nbsql.Text(pattern="(?s).+", normal_form=None)}
    model = nbsql.fit(con, "words", target="c", families=families)
    assert {row[2] for row in model.likelihoods.fetchall()} == {text.lower() for text in texts}
