"""Joint log-likelihoods, posteriors and explanations against scikit-learn, on real data, for every family by itself."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
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
NEWS = "SELECT newsgroup, text FROM '{}/newsgroups_6.parquet' USING SAMPLE 10 PERCENT (bernoulli, 7)"
SMS = "SELECT label, message FROM read_csv('{}/sms_spam.csv.gz')"

# Models without categories have one wide form.
TWO_FORMS = pytest.mark.parametrize("form", ["wide", "long"], indirect=True)

# Pseudo-counts and priors, not in all their combinations: nothing in one depends on the other.
ESTIMATES = pytest.mark.parametrize(("alpha", "prior"), [(0.01, "empirical"), (1.0, "uniform"), (7.5, "given")])
WEIGHED = pytest.mark.parametrize(
    ("alpha", "prior", "weighed"), [(0.01, "empirical", True), (1.0, "uniform", False), (7.5, "given", False)]
)
NORMS = pytest.mark.parametrize("norm", [None, "l2"])


@pytest.fixture
def read(con, data):
    return lambda query: con.sql(query.format(data)).df()


def columns_of(query, prefix):
    """The columns of a verb, a class each, in the order of the labels as scikit-learn has it."""
    frame = query.df()
    return frame[[column for column in frame if column.startswith(prefix)]].to_numpy()


def assert_same_scores(model, frame, joint):
    """Joint log-likelihoods, posteriors, predictions, log evidence and explanations are those of the oracle's joint scores."""
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
    few = frame.slice(0, 50) if hasattr(frame, "slice") else frame.head(50)
    explained = model.explain(few).df().groupby(["row_id", "class"])["contribution"].sum().unstack()[labels]
    np.testing.assert_allclose(explained.to_numpy(), joint[:50], rtol=1e-9, atol=1e-9)


def compare(con, rows, target, oracle, matrix, **options):
    """A model of two thirds of the rows scores the others as the oracle, which reads a matrix of the same rows."""
    held_back = np.arange(len(rows)) % 3 == 2
    train, test = rows[~held_back].reset_index(drop=True), rows[held_back].reset_index(drop=True)
    weight = options.get("weight")
    weights = {} if weight is None else {"sample_weight": train[weight]}
    oracle.fit(matrix(train), train[target], **weights)
    model = nbsql.fit(con, train, target=target, **options)
    assert_same_scores(model, test, oracle.predict_joint_log_proba(matrix(test)))
    return model


def priors_for(target, prior):
    """A prior as nbsql takes it, and as scikit-learn does (None: from the data)."""
    labels = sorted(target.unique().tolist())
    if prior == "empirical":
        return prior, None
    if prior == "uniform":
        return prior, [1 / len(labels)] * len(labels)
    weights = np.arange(1, len(labels) + 1)
    given = (weights / weights.sum()).tolist()
    return dict(zip(labels, given, strict=True)), given


def words_of(vectorizer):
    """The matrix of the words of a message: the vectorizer is fitted on the first rows that come, those of training."""
    return lambda rows: (vectorizer.transform if hasattr(vectorizer, "vocabulary_") else vectorizer.fit_transform)(
        rows["message" if "message" in rows else "text"]
    )


@pytest.mark.few
@TWO_FORMS
@pytest.mark.parametrize(
    ("query", "target", "prior"),
    [
        *((IRIS, "species", prior) for prior in ("empirical", "uniform", "given")),
        (ADULT, "income", "empirical"),
        (COVTYPE, "cover_type", "uniform"),
        (BIKES, "season", "given"),
    ],
    ids=["iris-empirical", "iris-uniform", "iris-given", "adult-empirical", "covtype-uniform", "bikes-given"],
)
def test_numbers_score_as_gaussian_nb(con, read, query, target, prior):
    rows = read(query)
    ours, theirs = priors_for(rows[target], prior)
    oracle = GaussianNB(var_smoothing=0, priors=theirs)
    model = compare(con, rows, target, oracle, lambda rows: rows.drop(columns=target).to_numpy(float), prior=ours)
    assert {str(family) for family in model.families.values()} == {"gaussian"}


@TWO_FORMS
def test_weighted_numbers_score_as_gaussian_nb_with_sample_weight(con, read):
    features = ["age", "education_num", "capital_gain", "capital_loss", "hours_per_week"]
    matrix = lambda rows: rows[features].to_numpy(float)  # noqa: E731
    compare(con, read(ADULT), "income", GaussianNB(var_smoothing=0), matrix, weight="fnlwgt")


@TWO_FORMS
@WEIGHED
def test_count_columns_score_as_multinomial_nb(con, read, alpha, prior, weighed):
    rows, columns = read(BIKES), ["casual", "registered", "hr"]
    ours, theirs = priors_for(rows["season"], prior)
    options = {"features": columns, "families": {"riders": nbsql.Multinomial(columns)}, "alpha": alpha, "prior": ours}
    oracle = MultinomialNB(alpha=alpha, class_prior=theirs)
    weight = "windspeed" if weighed else None
    compare(con, rows, "season", oracle, lambda rows: rows[columns], weight=weight, **options)


@TWO_FORMS
@pytest.mark.parametrize(
    ("alpha", "norm", "weight"), [(1.0, False, None), (0.1, True, "windspeed"), (2.5, False, "windspeed"), (1.0, True, None)]
)
def test_count_columns_score_as_complement_nb(con, read, alpha, norm, weight):
    columns = ["casual", "registered", "hr"]
    options = {"features": columns, "families": {"riders": nbsql.Complement(columns, norm=norm)}, "alpha": alpha}
    oracle = ComplementNB(alpha=alpha, norm=norm)
    compare(con, read(BIKES), "season", oracle, lambda rows: rows[columns], weight=weight, **options)


@pytest.mark.filterwarnings("ignore:one value only in 'soil_")
@pytest.mark.few
@TWO_FORMS
@WEIGHED
@pytest.mark.parametrize(("query", "target"), [(VOTES, "party"), (GROUND, "cover_type")], ids=["votes", "covtype"])
def test_yes_and_no_score_as_bernoulli_nb(con, read, query, target, alpha, prior, weighed):
    rows = read(query)
    names = [name for name in rows if name != target]
    ours, theirs = priors_for(rows[target], prior)
    rows = rows.assign(weight=0.25 + np.arange(len(rows)) % 5)
    options = {"features": names, "alpha": alpha, "prior": ours, "weight": "weight" if weighed else None}
    oracle = BernoulliNB(alpha=alpha, class_prior=theirs)
    model = compare(con, rows, target, oracle, lambda rows: rows[names], **options)
    assert {str(family) for family in model.families.values()} == {"bernoulli"}


@pytest.mark.few
@ESTIMATES
@pytest.mark.filterwarnings("ignore:one value only in 'veil_type'")
def test_categories_score_as_categorical_nb(con, read, alpha, prior):
    rows = read(MUSHROOM)
    names = [name for name in rows if name != "class"]
    encoder = OrdinalEncoder(dtype=int).fit(rows[names])
    ours, theirs = priors_for(rows["class"], prior)
    levels = {name: known.tolist() for name, known in zip(names, encoder.categories_, strict=True)}
    oracle = CategoricalNB(alpha=alpha, class_prior=theirs, min_categories=[len(known) for known in levels.values()])
    families = {name: nbsql.Categorical(levels=known) for name, known in levels.items()}
    matrix = lambda rows: encoder.transform(rows[names])  # noqa: E731
    compare(con, rows, "class", oracle, matrix, alpha=alpha, prior=ours, families=families)


def test_weighted_categories_score_as_categorical_nb_with_sample_weight(con, read):
    rows = read(TITANIC)[["Survived", "Pclass", "Sex", "Embarked", "Fare"]]
    encoder = OrdinalEncoder(dtype=int).fit(rows[["Pclass", "Sex", "Embarked"]])
    matrix = lambda rows: encoder.transform(rows[["Pclass", "Sex", "Embarked"]])  # noqa: E731
    compare(con, rows.assign(Fare=rows["Fare"] + 1), "Survived", CategoricalNB(alpha=0.5), matrix, weight="Fare", alpha=0.5)


@pytest.mark.few
@TWO_FORMS
@pytest.mark.parametrize(("ngrams", "alpha"), [((1, 1), 1.0), ((1, 2), 0.01), ((2, 3), 1.0)])
def test_text_scores_as_count_vectorizer_and_multinomial_nb(con, read, ngrams, alpha):
    words = words_of(CountVectorizer(token_pattern=WORD, ngram_range=ngrams))
    families = {"message": nbsql.Text(ngrams=ngrams)}
    compare(con, read(SMS), "label", MultinomialNB(alpha=alpha), words, families=families, alpha=alpha)


@pytest.mark.few
@TWO_FORMS
@pytest.mark.parametrize("prior", ["empirical", "uniform", "given"])
def test_presence_of_words_scores_as_count_vectorizer_and_bernoulli_nb(con, read, prior):
    rows, stop_words = read(SMS), ["a", "the", "to", "you"]
    ours, theirs = priors_for(rows["label"], prior)
    words = words_of(CountVectorizer(token_pattern=WORD, binary=True, stop_words=stop_words))
    families = {"message": nbsql.Text(event="bernoulli", stop_words=stop_words)}
    compare(con, rows, "label", BernoulliNB(class_prior=theirs), words, families=families, prior=ours)


@pytest.mark.few
@pytest.mark.slow
@TWO_FORMS
@pytest.mark.forms("event", "norm")
@pytest.mark.parametrize("event", ["multinomial", "complement", "normed complement"])
@pytest.mark.parametrize("tfidf", [False, True], ids=["counts", "tfidf"])
@NORMS
def test_text_scores_as_tfidf_vectorizer_and_naive_bayes(con, read, event, tfidf, norm):
    words = words_of(TfidfVectorizer(token_pattern=WORD, norm=norm, use_idf=tfidf, ngram_range=(1, 2)))
    normed = event == "normed complement"
    oracle = MultinomialNB(alpha=0.3) if event == "multinomial" else ComplementNB(alpha=0.3, norm=normed)
    family = nbsql.Text(event=event.split()[-1], weight_norm=normed, tfidf=tfidf, norm=norm, ngrams=2)
    compare(con, read(SMS), "label", oracle, words, families={"message": family}, alpha=0.3)


@pytest.mark.slow
@TWO_FORMS
@pytest.mark.forms("event", "norm")
@NORMS
@pytest.mark.parametrize("event", ["multinomial", "complement"])
def test_six_newsgroups(con, read, event, norm):
    oracle = MultinomialNB() if event == "multinomial" else ComplementNB()
    words = words_of(TfidfVectorizer(token_pattern=WORD, norm=norm))
    compare(con, read(NEWS), "newsgroup", oracle, words, families={"text": nbsql.Text(event=event, tfidf=True, norm=norm)})


def bags(con, rows, kind):
    """The messages as lists of words, or as maps of their counts."""
    con.register("messages", rows)
    words = "list_filter(string_split(lower(message), ' '), lambda word: word <> '')"
    bag = words if kind == "tokens" else f"list_aggregate({words}, 'histogram')"
    return con.sql(f"SELECT label, {bag} AS words FROM messages").to_arrow_table()


def cut(text):
    return [word for word in text.lower().split(" ") if word]


@pytest.mark.few
@pytest.mark.slow
@TWO_FORMS
@pytest.mark.forms("tfidf", "norm")
@pytest.mark.parametrize("kind", ["tokens", "token counts"])
@pytest.mark.parametrize(("tfidf", "norm"), [(False, None), (True, None), (True, "l2"), (False, "l2")])
def test_bags_of_tokens_score_as_tfidf_vectorizer_and_naive_bayes(con, read, kind, tfidf, norm):
    rows = read(SMS)
    arrow, counts = (
        bags(con, rows, kind),
        TfidfVectorizer(analyzer=cut, use_idf=tfidf, norm=norm).fit_transform(rows["message"]),
    )
    for event, oracle in {"multinomial": MultinomialNB(alpha=0.3), "complement": ComplementNB(alpha=0.3)}.items():
        families = {"words": (nbsql.Tokens if kind == "tokens" else nbsql.TokenCounts)(event=event, tfidf=tfidf, norm=norm)}
        inferred = event == "multinomial" and not tfidf and norm is None
        model = nbsql.fit(con, arrow, target="label", alpha=0.3, families={} if inferred else families)
        assert str(model.families["words"]) == kind.replace(" ", "_")
        assert_same_scores(model, arrow, oracle.fit(counts, rows["label"]).predict_joint_log_proba(counts))


@pytest.mark.few
@TWO_FORMS
@pytest.mark.parametrize("kind", ["tokens", "token counts"])
def test_presence_of_tokens_scores_as_bernoulli_nb(con, read, kind):
    rows = read(SMS)[:1500]
    vectorizer = CountVectorizer(analyzer=cut)
    arrow, counts = bags(con, rows, kind), vectorizer.fit_transform(rows["message"])
    assert counts.max() > 2
    oracle = BernoulliNB(alpha=0.3).fit(counts, rows["label"])
    family = {"tokens": nbsql.Tokens, "token counts": nbsql.TokenCounts}[kind](event="bernoulli")
    model = nbsql.fit(con, arrow, target="label", alpha=0.3, families={"words": family})
    assert_same_scores(model, arrow, oracle.predict_joint_log_proba(counts))
    one = model.predict_one({"words": ["free", "free", "prize"] if kind == "tokens" else {"free": 2, "prize": 0.5}})
    expected = oracle.predict_proba(vectorizer.transform(["free prize"]))[0]
    assert [one["probabilities"][label] for label in oracle.classes_] == pytest.approx(expected, abs=1e-9)
