"""A vocabulary of the tokens that tell most of the class, against scikit-learn's SelectKBest and against the relevance."""

import duckdb
import numpy as np
import pandas
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from support.algebra import alike

import nbsql

pytestmark = pytest.mark.usefixtures("form")

LETTERS_AND_DIGITS = r"[^\W_]+"


@pytest.fixture
def mail(con):
    """A table of texts in which some words hang on the class, and most do not."""
    rng = np.random.default_rng(5)
    frequencies = rng.dirichlet(np.full(120, 0.3), size=3) / 2 + rng.dirichlet(np.full(120, 0.5)) / 2
    y = rng.integers(0, 3, 400)
    texts = [" ".join(f"w{word}" for word in rng.choice(120, size=rng.integers(3, 20), p=frequencies[c])) for c in y]
    frame = pandas.DataFrame({"text": texts, "y": y})
    con.register("frame", frame)
    con.execute("CREATE TABLE mail AS FROM frame")
    return frame


def vocabulary(model):
    return {row[2] for row in model.likelihoods}


@pytest.mark.parametrize("min_count", [1, 20])
@pytest.mark.parametrize(
    ("options", "vectorizer", "classifier"),
    [
        ({}, CountVectorizer(token_pattern=LETTERS_AND_DIGITS), MultinomialNB()),
        ({"event": "bernoulli"}, CountVectorizer(token_pattern=LETTERS_AND_DIGITS, binary=True), BernoulliNB()),
        ({"event": "complement"}, CountVectorizer(token_pattern=LETTERS_AND_DIGITS), ComplementNB()),
        ({"tfidf": True}, TfidfVectorizer(token_pattern=LETTERS_AND_DIGITS, norm=None), MultinomialNB()),
    ],
)
@pytest.mark.forms("min_count")
def test_chosen_and_scored_as_by_scikit_learn(con, mail, options, vectorizer, classifier, min_count):
    counts = vectorizer.fit_transform(mail["text"])
    occurrences = np.asarray((counts if "event" in options else CountVectorizer(
        token_pattern=LETTERS_AND_DIGITS).fit_transform(mail["text"])).sum(axis=0)).ravel()  # fmt: skip
    often = occurrences >= min_count
    counts = counts[:, often]
    chosen = SelectKBest(chi2, k=25).fit(counts, mail["y"])
    family = nbsql.Text(**options, best=25, best_by="chi_square", min_count=min_count)
    model = nbsql.fit(con, "mail", target="y", families={"text": family}, name="m")
    assert vocabulary(model) == set(vectorizer.get_feature_names_out()[often][chosen.get_support()])
    expected = classifier.fit(chosen.transform(counts), mail["y"]).predict_proba(chosen.transform(counts))
    for answer in (model, nbsql.load(con, "m")):
        found = answer.predict_proba(mail[["text"]]).df()[[f"probability_{label}" for label in range(3)]]
        np.testing.assert_allclose(found.to_numpy(), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("by", ["mutual_information", "chi_square"])
def test_the_best_are_those_of_the_relevance(con, mail, by):
    source = "SELECT y, string_split(text, ' ') AS bag FROM mail"
    model = nbsql.fit(con, source, target="y", families={"bag": nbsql.Tokens(best=10, best_by=by)})
    column = 3 if by == "mutual_information" else 4
    ranked = sorted(model.relevance(values=True), key=lambda row: (-float(f"{row[column]:.9g}"), row[1]))
    assert vocabulary(model) == {row[1] for row in ranked[:10]}
    assert len(ranked) == len({word for text in mail["text"] for word in text.split()})  # all are counted
    everything = nbsql.fit(con, source, target="y", families={"bag": nbsql.Tokens(best=1000)})
    alike(everything.likelihoods.fetchall(), nbsql.fit(con, source, target="y").likelihoods.fetchall())


@pytest.mark.slow
def test_every_fold_chooses_anew(con, mail):
    con.execute("CREATE TABLE folded AS SELECT *, hash(text) % 3 AS fold FROM mail")
    options = {"target": "y", "families": {"text": nbsql.Text(best=12)}}
    found = nbsql.cross_validate(con, "folded", fold="fold", **options)
    for fold, rows, _, accuracy, log_loss in found.folds:
        others = nbsql.fit(con, f"SELECT * EXCLUDE (fold) FROM folded WHERE fold <> {fold}", **options)
        evaluation = others.evaluate(f"FROM folded WHERE fold = {fold}")
        assert (rows, accuracy) == (evaluation.rows, pytest.approx(evaluation.accuracy))
        assert log_loss == pytest.approx(evaluation.log_loss, rel=1e-9)
    sizes = [{"text": nbsql.Text(best=count)} for count in (3, 12, 60)]
    swept = nbsql.sweep(con, "folded", target="y", fold="fold", families=sizes)
    losses = {families: log_loss for _, _, _, families, _, log_loss in swept.ranking}
    assert losses["text=text(best=12)"] == pytest.approx(found.log_loss, rel=1e-9)


def test_what_reads_the_model_reads_the_best(con, mail):
    model = nbsql.fit(con, "mail", target="y", families={"text": nbsql.Text(best=5)})
    words = vocabulary(model)
    assert len(words) == 5
    assert {row[3] for row in model.explain("mail") if row[2] == "text"} <= words
    assert {row[2] for row in model.linear() if row[1] is not None} == words
    con.execute(f"CREATE TABLE drawn AS {model.sample(2000, seed=1).sql}")
    drawn = con.execute("SELECT DISTINCT unnest(string_split(text, ' ')) FROM drawn").fetchall()
    assert {word for (word,) in drawn} - {""} == words
    often = "SELECT avg(len(list_filter(string_split(text, ' '), lambda word: list_contains(?, word)))) FROM {}"
    ((held,),), ((had,),) = (con.execute(often.format(name), [sorted(words)]).fetchall() for name in ("mail", "drawn"))
    assert had == pytest.approx(held, rel=0.05)
    query = model.sql("predict", "SELECT 'w1 w2 w3' AS text", inline=True)
    alike(duckdb.connect().execute(query).fetchall(), model.predict("SELECT 'w1 w2 w3' AS text").fetchall())


def test_unseen_words_are_smoothed_in_no_choice(con, mail):
    source = "SELECT *, 'k' || y AS k FROM mail"
    model = nbsql.fit(con, source, target="y", unseen="smooth", families={"text": nbsql.Text(best=5)})
    assert (model.families["text"].unseen, model.families["k"].unseen) == ("skip", "smooth")
