"""Texts, bags of tokens and count columns agree with DuckDB's."""

import random

import pytest
from engines.places import Place
from engines.test_agreement import assert_agreement

import nbsql

WORDS = """the a free FREE prize Lunch über ÜBER naïve 42 2026
    ΟΔΟΣ οδός ΣΑΣ ½cup x² Ⅷ don't e-mail co_op 数学 Ελλάδα été e\u0301te\u0301 ﬁne 𝒜 ١٢
    हिन्दी தமிழ் ภาษาไทย مُحَمَّد 가 \u1100\u1161 ❤\ufe0f \U00011103\U00011127 \u0301x""".split()
ENDS = [" ", ", ", "\n", "  ", ".", " - ", "\t", "\u00a0", "_", "'"]

FAMILIES = {
    "words": nbsql.Text(),
    "smoothed": nbsql.Text(alpha=0.1, unseen="smooth"),
    "as they are": nbsql.Text(lower=False, min_length=2),
    "stop words": nbsql.Text(stop_words=["the", "a", "it's"], min_count=3),
    "runs": nbsql.Text(ngrams=(1, 3)),
    "pairs": nbsql.Text(ngrams=(2, 2), stop_words="english"),
    "presence": nbsql.Text(event="bernoulli", min_count=2),
    "complement": nbsql.Text(event="complement", weight_norm=True),
    "weighed": nbsql.Text(tfidf=True),
    "weighed and normed": nbsql.Text(tfidf=True, norm="l2"),
    "a pattern": nbsql.Text(pattern="[a-z]+|[0-9]"),
    "as before": nbsql.Text(pattern=r"[\p{L}\p{N}]+", normal_form=None),
    "no accents": nbsql.Text(accents=False, ngrams=2),
    "characters": nbsql.Text(characters=(1, 3), lower=False, event="bernoulli"),
    "characters within words": nbsql.Text(characters=(4, 5), within_words=True, accents=False),
}


def texts(count, seed):
    chance = random.Random(seed)  # noqa: S311
    found = []
    for row in range(count):
        label = chance.choice(["ham", "spam", "work"])
        words = [chance.choice(WORDS[: 12 if label == "ham" else None]) for _ in range(chance.randrange(9))]
        text = None if row % 19 == 18 else "".join(word + chance.choice(ENDS) for word in words)
        bag = None if row % 23 == 22 else [chance.choice([*words, "", None]) for _ in words]
        found.append((row, label, text, bag, chance.choice([0.0, 0.5, 1.0, 3.0])))
    return found


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_texts_agree(both, family, weight):
    columns = {"id": "INTEGER", "label": "VARCHAR", "body": "VARCHAR", "tags": "VARCHAR[]", "weight": "DOUBLE PRECISION"}
    for place in both:
        place.table("inbox", columns, texts(150, 1))
        place.table("today", columns, [*texts(40, 2), (-1, None, "nothing known", ["nothing"], 1.0), (-2, None, "", [], 1.0)])
    options = {"exclude": [] if weight else ["weight"], "weight": weight}
    families = {"body": FAMILIES[family], "tags": nbsql.Tokens(event="bernoulli" if family == "presence" else "multinomial")}
    assert_agreement(both, "inbox", "today", target="label", id="id", families=families, **options)


def test_shares_of_words_agree_where_labels_are_booleans(both):  # of which PostgreSQL has no least
    rows = [(i, i % 2 == 1, f"w{i % 3} v{i % 5} w{i % 2}", i % 4) for i in range(30)]
    for place in both:
        place.table("inbox", {"id": "INTEGER", "label": "BOOLEAN", "body": "VARCHAR", "weight": "INTEGER"}, rows)
    families = {"body": nbsql.Text(norm="l2", tfidf=True)}
    assert_agreement(both, "inbox", "inbox", target="label", id="id", families=families, weight="weight")


COUNTS = {
    "multinomial": nbsql.Multinomial(["u", "v", "w"]),
    "a pseudo-count a column": nbsql.Multinomial(["u", "v", "w"], alpha={"u": 0.0, "v": 2.0}),
    "complement": nbsql.Complement(["u", "v", "w"], norm=True),
}


@pytest.mark.parametrize("family", COUNTS)
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_count_columns_agree(both, family):
    chance = random.Random(3)  # noqa: S311
    rows = [
        (i, chance.choice("ab"), *(chance.choice([None, 0, 1, 2, 7]) for _ in range(2)), chance.random()) for i in range(60)
    ]
    for place in both:
        place.table("t", {"id": "INTEGER", "y": "VARCHAR", "u": "INTEGER", "v": "BIGINT", "w": "DOUBLE PRECISION"}, rows)
    assert_agreement(both, "t", "t", target="y", id="id", families={"words": COUNTS[family]})


@pytest.mark.parametrize(
    "family",
    [
        *("beta", "gamma", "lognormal", "exponential", "geometric"),
        pytest.param(nbsql.Gaussian(prior=nbsql.NormalInverseGamma()), id="normal-inverse-gamma"),
    ],
)
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_other_numbers_agree(both, family):
    chance = random.Random(4)  # noqa: S311
    unit = 10 if family == "beta" else 1
    rows = [(i, chance.choice("ab"), float(chance.randrange(1, 9)) / unit if i % 9 else None) for i in range(60)]
    points = [(i, x) for i, x in enumerate([None, 0.0, 0.001, 1.0, -1.0, 250.0])]
    for place in both:
        place.table("t", {"id": "INTEGER", "y": "VARCHAR", "x": "DOUBLE PRECISION"}, rows)
        place.table("u", {"id": "INTEGER", "x": "DOUBLE PRECISION"}, points)
    assert_agreement(both, "t", "u", target="y", id="id", families={"x": family})


def test_a_pattern_that_is_none(pg):
    Place("postgres", pg).table("t", {"x": "VARCHAR", "y": "VARCHAR"}, [("u v", "a"), ("v", "b")])
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(pg, "t", target="y", families={"x": nbsql.Text(pattern="(")})
    assert str(caught.value) == (
        "pattern '(' is not one that PostgreSQL understands: invalid regular expression: parentheses () not balanced"
    )
