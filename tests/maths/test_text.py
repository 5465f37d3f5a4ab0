"""How texts become words: patterns, case, stop words, lengths, counts and n-grams; and bags of tokens."""

import json
from collections import Counter
from functools import partial
from math import inf, log

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from support.algebra import examples

import nbsql

pytestmark = [pytest.mark.usefixtures("form"), pytest.mark.parametrize("form", ["wide", "long"], indirect=True)]


near = partial(pytest.approx, rel=1e-13, abs=1e-15)
HALF = log(1 / 2)


def learnt(con, *cuts):
    """How often a model of two rows has met each term in each text of the first, each in a column of its own."""
    families = {f"x{number}": family for number, (_, family) in enumerate(cuts)}
    con.execute(f"CREATE OR REPLACE TABLE texts (y VARCHAR, {', '.join(f'{name} VARCHAR' for name in families)})")
    con.execute(f"INSERT INTO texts VALUES ('a'{', ?' * len(cuts)})", [text for text, _ in cuts])
    con.execute(f"INSERT INTO texts VALUES ('b'{', ?' * len(cuts)})", ["entirely different things"] * len(cuts))
    model = nbsql.fit(con, "texts", target="y", families=families)
    found, scored = ({name: {} for name in families} for _ in range(2))
    for _, label, name, value, n, *_ in model.statistics:
        if label == "a" and name is not None and value is not None:
            found[name][value] = n
    # What scoring looks up are the same terms: the values of an explanation.
    for _, _, name, value, _ in model.explain("SELECT * EXCLUDE (y) FROM texts WHERE y = 'a'"):
        if name is not None and value is not None:
            scored[name][value] = found[name].get(value)
    assert scored == found
    return [*found.values()]


CUTS = [
    ("Free FREE free!", nbsql.Text(), {"free": 3}),
    ("Free FREE free!", nbsql.Text(lower=False), {"Free": 1, "FREE": 1, "free": 1}),
    ("don't stop-me_now, 4ever 2", nbsql.Text(), {"don": 1, "t": 1, "stop": 1, "me": 1, "now": 1, "4ever": 1, "2": 1}),
    ("Ärger über Straße, ŁÓDŹ", nbsql.Text(), {"ärger": 1, "über": 1, "straße": 1, "łódź": 1}),
    ("Привет, МИР! 你好 世界 ٣ ½", nbsql.Text(), {"привет": 1, "мир": 1, "你好": 1, "世界": 1, "٣": 1, "½": 1}),
    ("café ☕️ win £1000!!!", nbsql.Text(), {"café": 1, "win": 1, "1000": 1}),
    ("हिन्दी में লেখা தமிழ் ภาษาไทย", nbsql.Text(), {"हिन्दी": 1, "में": 1, "লেখা": 1, "தமிழ்": 1, "ภาษาไทย": 1}),
    ("مُحَمَّد שָׁלוֹם", nbsql.Text(), {"مُحَمَّد": 1, "שָׁלוֹם": 1}),
    ("\u0301lone \u0301marks\u0301 ❤\ufe0f 1\ufe0f\u20e3", nbsql.Text(), {"lone": 1, "mark\u015b": 1, "1\ufe0f\u20e3": 1}),
    ("re\u0301sume\u0301 r\u00e9sum\u00e9 \uac00 \u1100\u1161", nbsql.Text(), {"r\u00e9sum\u00e9": 2, "\uac00": 2}),
    ("re\u0301sume\u0301", nbsql.Text(normal_form=None), {"re\u0301sume\u0301": 1}),
    ("Ré\u0323sumé RESUME Ελλά\u03b4α 가", nbsql.Text(accents=False), {"resume": 2, "ελλαδα": 1, "가": 1}),
    ("été une fois", nbsql.Text(accents=False, stop_words=["été", "une"]), {"fois": 1}),
    ("été une fois", nbsql.Text(vocabulary=["e\u0301te\u0301", "jamais"]), {"été": 1}),
    ("naïve", nbsql.Text(accents=False, characters=(3, 3)), {"nai": 1, "aiv": 1, "ive": 1}),
    ("日本語", nbsql.Text(characters=2), {"日": 1, "本": 1, "語": 1, "日本": 1, "本語": 1}),
    ("日本語日本", nbsql.Text(characters=(2, 2), event="bernoulli"), {"日本": 1, "本語": 1, "語日": 1}),
    ("a bb ccc dddd ÄÖ", nbsql.Text(min_length=2), {"bb": 1, "ccc": 1, "dddd": 1, "äö": 1}),
    ("#tag and #tag, no other", nbsql.Text(pattern=r"#\w+"), {"#tag": 2}),
    ("it's 'quoted' \"here\"", nbsql.Text(pattern=r"[a-z']+"), {"it's": 1, "'quoted'": 1, "here": 1}),
    ("one, two;three", nbsql.Text(pattern=r"[^,; ]+"), {"one": 1, "two": 1, "three": 1}),
    ("The cat and THE dog are not there", nbsql.Text(stop_words="english"), {"cat": 1, "dog": 1}),
    ("The cat's dog", nbsql.Text(stop_words=["dog", "s"]), {"the": 1, "cat": 1}),
    ("it's a dog", nbsql.Text(stop_words=["it's"], pattern=r"[\w']+"), {"a": 1, "dog": 1}),
    ("to be or not", nbsql.Text(ngrams=2), {"to": 1, "be": 1, "or": 1, "not": 1, "to be": 1, "be or": 1, "or not": 1}),
    ("to be or not", nbsql.Text(ngrams=(2, 3)), {"to be": 1, "be or": 1, "or not": 1, "to be or": 1, "be or not": 1}),
    ("to be or not to be", nbsql.Text(ngrams=(3, 3)), {"to be or": 1, "be or not": 1, "or not to": 1, "not to be": 1}),
    ("one", nbsql.Text(ngrams=(2, 3)), {}),
    ("cats and dogs", nbsql.Text(ngrams=(2, 2), stop_words=["and"]), {"cats dogs": 1}),
    ("win win lose", nbsql.Text(event="bernoulli"), {"win": 1, "lose": 1}),
    ("win win win", nbsql.Text(event="bernoulli", ngrams=2), {"win": 1, "win win": 1}),
    ("", nbsql.Text(), {}),
    (" \t\n ", nbsql.Text(), {}),
    ("!?…", nbsql.Text(), {}),
]


def test_a_text_is_cut_into_words(con):
    assert learnt(con, *(cut[:2] for cut in CUTS)) == [terms for *_, terms in CUTS]


@pytest.mark.few
@pytest.mark.slow
@given(
    text=st.text(
        st.characters(exclude_characters="\0", exclude_categories=["Cs"]) | st.sampled_from(" aB9é.'\t\n\xa0世"), max_size=60
    )
)
@examples(15)
@example(text="\u0301a\u0301 \u0301\u0301!\u0301b ❤\ufe0f")
@pytest.mark.parametrize("options", [{}, {"ngrams": 2, "lower": False}, {"stop_words": ["a", "b"], "event": "bernoulli"}])
def test_words_are_the_matches_of_the_pattern(options, text):
    with duckdb.connect() as con:
        pattern = r"(?:[\p{L}\p{N}][\p{L}\p{M}\p{N}]*)"  # another spelling, which is matched
        matched, found = learnt(con, (text, nbsql.Text(pattern=pattern, **options)), (text, nbsql.Text(**options)))
        assert found == matched


def test_a_model_that_was_stored_before_keeps_its_words(con):
    before = nbsql.Text(pattern=r"[\p{L}\p{N}]+", normal_form=None)
    con.execute("CREATE TABLE texts AS FROM (VALUES ('a', 'मैं re\u0301sume'), ('b', 'other')) AS t(y, x)")
    nbsql.fit(con, "texts", target="y", families={"x": before}, name="old")
    (text,) = con.execute("SELECT spec FROM old.spec").fetchone() or ("",)
    (feature,) = (spec := json.loads(text))["features"]
    for option in ("accents", "normal_form", "characters", "within_words"):  # what a spec had not
        del feature[option]
    con.execute("UPDATE old.spec SET spec = ?", [json.dumps(spec)])
    model = nbsql.load(con, "old")
    assert model.families == {"x": before.with_defaults(alpha=1.0, nulls="skip", unseen="skip").with_estimate("mean")}
    words = {row[3] for row in model.explain("SELECT x FROM texts WHERE y = 'a'") if row[3] is not None}
    assert words == {"म", "re", "sume"}


# Each with white space and words of every kind that scikit-learn's analyzers tell apart.
IN_CHARACTERS = ["Free  prize\tnow", "a\tab\n\nabc", "", " \n ", "日本語 テキスト", "x\u00a0y\u2003z\x1c\x85w", " 😀 É\u0301é"]


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("lengths", [(1, 3), (2, 2), (4, 6)])
@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
def test_runs_of_characters_are_those_of_scikit_learn(con, analyzer, lengths):
    family = nbsql.Text(characters=lengths, within_words=analyzer == "char_wb", normal_form=None)
    analyze = CountVectorizer(analyzer=analyzer, ngram_range=lengths).build_analyzer()
    for text in ["".join(IN_CHARACTERS), *IN_CHARACTERS]:
        assert learnt(con, (text, family)) == [Counter(analyze(text))]


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_words_met_too_rarely_are_no_part_of_the_vocabulary(con, event):
    source = "FROM (VALUES ('a', 'win cash now'), ('a', 'win now'), ('b', 'now lunch'), ('b', 'rare')) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", families={"x": nbsql.Text(min_count=2, event=event)})
    found = {(row[0], row[2]): row[3] for row in model.likelihoods}
    if event == "multinomial":  # counted: a has win win now now, b has now; K = 2
        expected = {("a", "win"): 3 / 6, ("a", "now"): 3 / 6, ("b", "win"): 1 / 3, ("b", "now"): 2 / 3}
    else:  # present in: a 2 and 2 of 2, b 0 and 1 of 2
        expected = {("a", "win"): 3 / 4, ("a", "now"): 3 / 4, ("b", "win"): 1 / 4, ("b", "now"): 2 / 4}
    assert found == near(expected)


def test_multinomial_text_scores_every_occurrence(con, joint):
    source = "FROM (VALUES ('a', 'win win cash'), ('b', 'lunch cash')) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", families={"x": "text"})
    expected = {"a": near(HALF + 2 * log(3 / 6) + log(1 / 6)), "b": near(HALF + 2 * log(1 / 5) + log(2 / 5))}
    assert joint(model, "SELECT 'Win! WIN lunch, never heard' AS x") == [expected]


def test_bernoulli_text_scores_presence_and_absence(con, joint):
    source = "FROM (VALUES ('a', 'win win cash'), ('a', 'win'), ('b', 'lunch cash')) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", families={"x": nbsql.Text(event="bernoulli", alpha=0.5)})
    a = {"win": 2.5 / 3, "cash": 1.5 / 3, "lunch": 0.5 / 3}
    b = {"win": 0.5 / 2, "cash": 1.5 / 2, "lunch": 1.5 / 2}
    assert {(row[0], row[2]): row[3] for row in model.likelihoods} == near(
        {("a", word): p for word, p in a.items()} | {("b", word): p for word, p in b.items()}
    )
    scores = joint(model, "SELECT unnest(['win win never', '']) AS x")
    for prior, label, p in ((2 / 3, "a", a), (1 / 3, "b", b)):
        absent = log(1 - p["cash"]) + log(1 - p["lunch"])
        assert scores[0][label] == near(log(prior) + log(p["win"]) + absent)
        assert scores[1][label] == near(log(prior) + log(1 - p["win"]) + absent)


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_null_text_leaves_the_prior(con, joint, event):
    source = "FROM (VALUES ('a', 'win'), ('a', NULL), ('b', 'lunch'), ('b', '')) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", families={"x": nbsql.Text(event=event)})
    assert joint(model, "SELECT NULL::VARCHAR AS x") == [{"a": near(HALF), "b": near(HALF)}]
    if event == "bernoulli":  # b has two texts, a only one
        assert {(row[0], row[2]): row[3] for row in model.likelihoods} == near(
            {("a", "win"): 2 / 3, ("a", "lunch"): 1 / 3, ("b", "win"): 1 / 4, ("b", "lunch"): 2 / 4}
        )


@pytest.mark.parametrize("text", ["''", "'...'", "'never heard'"])
def test_text_without_known_words_leaves_the_prior(con, joint, text):
    source = "FROM (VALUES ('a', 'win'), ('b', 'lunch')) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", families={"x": "text"}, prior={"a": 0.2, "b": 0.8})
    assert joint(model, f"SELECT {text} AS x") == [{"a": near(log(0.2)), "b": near(log(0.8))}]


def test_a_vocabulary_without_a_word_leaves_the_prior(con, joint):
    con.execute("CREATE TABLE silent AS SELECT * FROM (VALUES ('a', NULL), ('b', NULL)) AS t(y, x)")
    data = "SELECT y, CAST(x AS VARCHAR) AS x FROM silent"
    with pytest.warns(nbsql.NbsqlWarning, match="nothing but NULL in 'x'"):
        model = nbsql.fit(con, data, target="y", families={"x": nbsql.Text(event="bernoulli")})
    assert joint(model, "SELECT 'anything' AS x") == [{"a": near(HALF), "b": near(HALF)}]


def test_null_and_empty_tokens_are_dropped(con, joint):
    source = "FROM (VALUES ('a', ['s', NULL, '', 's']), ('b', ['t', ' ']), ('b', NULL), ('a', [])) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y")
    expected = {
        ("a", "s"): 3 / 5,
        ("a", "t"): 1 / 5,
        ("a", " "): 1 / 5,
        ("b", "s"): 1 / 5,
        ("b", "t"): 2 / 5,
        ("b", " "): 2 / 5,
    }
    assert {(row[0], row[2]): row[3] for row in model.likelihoods} == near(expected)
    scores = joint(model, "SELECT unnest([[NULL, '', 's'], [], NULL]) AS x")
    prior = {"a": near(HALF), "b": near(HALF)}
    assert scores == [{"a": near(HALF + log(3 / 5)), "b": near(HALF + log(1 / 5))}, prior, prior]


def test_tokens_are_taken_as_they_are(con):
    source = "FROM (VALUES ('a', ['Win it', 'Win it', 'it''s']), ('b', ['win it'])) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y")
    assert {row[3]: row[4] for row in model.statistics if row[2] == "x" and row[1] == "a"} == {"Win it": 2, "it's": 1}


@pytest.mark.parametrize("number", ["INTEGER", "DOUBLE", "DECIMAL(6, 2)", "UBIGINT"])
def test_counts_of_a_map_are_occurrences(con, joint, number):
    source = f"""
      SELECT y, CAST(x AS MAP(VARCHAR, {number})) AS x
      FROM (VALUES ('a', MAP {{'s': 3, 't': 1}}), ('b', MAP {{'t': 2, '': 9}}), ('b', NULL)) AS rows(y, x)"""
    model = nbsql.fit(con, source, target="y", prior="uniform")
    expected = {("a", "s"): 4 / 6, ("a", "t"): 2 / 6, ("b", "s"): 1 / 4, ("b", "t"): 3 / 4}
    assert {(row[0], row[2]): row[3] for row in model.likelihoods} == near(expected)
    scores = joint(model, f"SELECT CAST(MAP {{'s': 2, 't': 5, 'never': 7}} AS MAP(VARCHAR, {number})) AS x")
    assert scores == [{"a": near(HALF + 2 * log(4 / 6) + 5 * log(2 / 6)), "b": near(HALF + 2 * log(1 / 4) + 5 * log(3 / 4))}]


@pytest.mark.parametrize("count", ["NULL::DOUBLE", "0::DOUBLE", "'nan'::DOUBLE", "'inf'::DOUBLE"])
def test_counts_that_are_missing_0_or_not_finite_are_no_occurrences(con, joint, count):
    odd = f"CAST(MAP {{'s': 1, 't': {count}, 'new': {count}}} AS MAP(VARCHAR, DOUBLE))"
    source = f"""
      SELECT 'a' AS y, {odd.replace("'s': 1", "'s': 3")} AS x UNION ALL SELECT 'b', MAP {{'t': 2.0::DOUBLE}}"""
    model = nbsql.fit(con, source, target="y", alpha=0)
    assert {(row[0], row[2]): row[3] for row in model.likelihoods} == {
        ("a", "s"): 1,
        ("a", "t"): 0,
        ("b", "s"): 0,
        ("b", "t"): 1,
    }
    assert joint(model, f"SELECT {odd} AS x") == [{"a": near(HALF), "b": -inf}]
