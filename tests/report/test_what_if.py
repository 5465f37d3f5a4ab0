"""The what-if: for every kind of feature, the values that are chosen give the posterior that the model gives of such a row."""

import math

import duckdb
import pytest

import nbsql

CLASSES = "['red', 'green', 'blue']"


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as con:
        con.execute(
            f"""CREATE TABLE rows AS SELECT
                {CLASSES}[1 + i % 3] AS class,
                CASE WHEN i % 11 = 0 THEN NULL ELSE ['u', 'v "x", it''s', 'w'][1 + (i % 3 + i // 5) % 3] END AS sky,
                i % 7 < 2 + i % 3 AS windy,
                (i % 3) * 1.5 + hash(i) % 100 / 25.0 AS x,
                (i % 3) * 0.5 + hash(i + 3) % 100 / 30.0 AS z,
                CAST((i % 3) + hash(i + 7) % 4 AS INTEGER) AS visits,
                CAST((2 - i % 3) + hash(i + 9) % 3 AS INTEGER) AS clicks,
                ['free prize now', 'lunch on friday', 'the prize of friday'][1 + (i % 3 + i // 11) % 3] AS words,
                string_split(words, ' ') AS bag
            FROM range(900) AS t(i)"""
        )
        con.execute("CREATE TABLE maps AS SELECT class, x, list_aggregate(bag, 'histogram') AS bag FROM rows")
        yield con


def choices(picture):
    """By the feature: its choices in order, each with what it adds to each class."""
    found = {}
    for row in picture.spec["datasets"]["rows"]:
        found.setdefault(row["feature"], []).append((row["value"], row["contribution"]))
    return found


def posterior(terms):
    """That of the sums of some terms, each a number a class."""
    totals = [math.fsum(of_class) for of_class in zip(*terms, strict=True)]
    mass = [math.exp(total - max(totals)) for total in totals]
    return [one / sum(mass) for one in mass]


def classes_of(picture):
    return next(param["value"] for param in picture.spec["params"] if param["name"] == "classes")


TEXTS = [
    {}, {"tfidf": True}, {"tfidf": True, "norm": "l2"}, {"event": "bernoulli"}, {"event": "complement"}, {"best": 4},
    {"ngrams": 2}, {"event": "complement", "weight_norm": True},
]  # fmt: skip


@pytest.mark.few
@pytest.mark.parametrize("options", TEXTS, ids=str)
def test_words_of_a_text_add_what_they_do_in_a_row(con, options):
    model = nbsql.fit(con, "SELECT class, words, x FROM rows", target="class", families={"words": nbsql.Text(**options)})
    picture = model.plot.nomogram()
    found, labels = choices(picture), classes_of(picture)
    inputs = [param["bind"]["input"] for param in picture.spec["params"] if param.get("bind", {}).get("name") == "words "]
    alone = options.get("norm") or options.get("event") == "bernoulli" or "ngrams" in options
    assert inputs == ["select" if alone else "text"]
    prior = found["prior"][0][1]
    said = [one for one in found["words"][1:] if " " not in one[0]]  # a pair of words is one token among several of its text
    assert len(said) > 3
    for place, (word, adds) in enumerate(said):
        other, more = said[(place + 1) % len(said)]
        text = word if alone else f"{word} {other}"
        terms = [prior, adds] if alone else [prior, adds, more]
        answer = model.predict_one({"words": text, "x": None})["probabilities"]
        assert posterior(terms) == pytest.approx([answer[label] for label in labels], abs=1e-9)


@pytest.mark.few
@pytest.mark.parametrize("table", ["rows", "maps"])
@pytest.mark.parametrize("options", [{}, {"tfidf": True}, {"tfidf": True, "norm": "l2"}, {"event": "complement"}], ids=str)
def test_tokens_add_what_they_do_in_a_row(con, table, options):
    kind, query = nbsql.Tokens(**options), "string_split('{}', ' ')"
    if table == "maps":
        kind, query = nbsql.TokenCounts(**options), "MAP {{'{}': 1}}"
    model = nbsql.fit(con, f"SELECT class, bag FROM {table}", target="class", families={"bag": kind})
    picture = model.plot.nomogram()
    found, labels = choices(picture), classes_of(picture)
    name = "bag" if options.get("norm") else "bag: word 1"
    for token, adds in found[name][1:]:
        answers = model.predict_proba(f"SELECT {query.format(token)} AS bag")
        row = dict(zip(answers.columns, answers.fetchall()[0], strict=True))
        expected = [row[f"probability_{label}"] for label in labels]
        assert posterior([found["prior"][0][1], adds]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("nulls", ["skip", "category"])
def test_a_joint_feature_is_chosen_as_a_list_of_values(con, nulls):
    families = {"both": nbsql.Joint(["sky", "windy"], nulls=nulls)}
    model = nbsql.fit(con, "SELECT class, sky, windy, x FROM rows", target="class", families=families)
    picture = model.plot.nomogram()
    found, labels = choices(picture), classes_of(picture)
    values = {
        ", ".join("missing" if value is None else str(value).lower() for value in row): row
        for row in con.execute("SELECT DISTINCT sky, windy FROM rows").fetchall()
    }
    assert len(found["both"]) == 1 + (8 if nulls == "category" else 6)
    for value, adds in [(None, found["both"][0][1]), *found["both"][1:]]:
        sky, windy = (None, None) if value is None else values[value]
        answer = model.predict_one({"sky": sky, "windy": windy, "x": None})["probabilities"]
        assert posterior([found["prior"][0][1], adds]) == pytest.approx([answer[label] for label in labels], abs=1e-9)


@pytest.mark.parametrize("shared", [True, False])
def test_numbers_together_are_chosen_as_the_mean_of_a_class(con, shared):
    families = {"both": nbsql.MultivariateGaussian(["x", "z"], shared=shared)}
    model = nbsql.fit(con, "SELECT class, x, z, sky FROM rows", target="class", families=families)
    picture = model.plot.nomogram()
    found, labels = choices(picture), classes_of(picture)
    assert [value for value, _ in found["both"]] == [None, *(f"mean of {label}" for label in sorted(labels))]
    for value, adds in found["both"][1:]:
        means = con.execute("SELECT avg(x), avg(z) FROM rows WHERE class = ?", [value.removeprefix("mean of ")]).fetchone()
        answer = model.predict_one(dict(zip(("x", "z"), means, strict=True)) | {"sky": None})["probabilities"]
        missing = found["sky"][0][1]
        assert posterior([found["prior"][0][1], adds, missing]) == pytest.approx([answer[label] for label in labels], abs=1e-9)


@pytest.mark.parametrize("kind", [nbsql.Multinomial, nbsql.Complement])
def test_columns_of_counts_are_chosen_one_count_at_a_time(con, kind):
    families = {"acts": kind(["visits", "clicks"])}
    model = nbsql.fit(con, "SELECT class, visits, clicks, x FROM rows", target="class", families=families)
    picture = model.plot.nomogram()
    found, labels = choices(picture), classes_of(picture)
    assert [name for name in found if name.startswith("acts")] == ["acts: count 1", "acts: count 2", "acts: count 3"]
    adds = dict(found["acts: count 1"][1:])
    answer = model.predict_one({"visits": 2, "clicks": 1, "x": None})["probabilities"]
    terms = [found["prior"][0][1], adds["visits"], adds["visits"], adds["clicks"]]
    assert posterior(terms) == pytest.approx([answer[label] for label in labels], abs=1e-9)


@pytest.mark.parametrize("kind", [nbsql.Binned(bins=4), nbsql.Binned(by="mdl"), nbsql.Binned(by=[1.5, 2.5, 2.7])], ids=repr)
def test_bins_are_chosen_by_their_names(con, kind):
    model = nbsql.fit(con, "SELECT class, visits, x FROM rows", target="class", families={"visits": kind, "x": kind})
    picture = model.plot.nomogram()
    found, labels = choices(picture), classes_of(picture)
    for name, other in (("x", "visits"), ("visits", "x")):
        assert len(found[name]) > 3
        for value, adds in found[name][1:]:
            low, high = (float(end) for end in value.strip("[()").split(", "))
            number = (low + high) / 2 if math.isfinite(low + high) else low + 1 if math.isfinite(low) else high - 1
            if name == "visits":
                number = math.ceil(low) if math.isfinite(low) else math.floor(high - 1)
            answer = model.predict_one({name: number, other: None})["probabilities"]
            assert posterior([found["prior"][0][1], adds]) == pytest.approx([answer[label] for label in labels], abs=1e-9)


def test_numbers_that_are_yes_or_no_are_chosen_as_such(con):
    families = {"odd": "bernoulli"}
    model = nbsql.fit(con, "SELECT class, visits % 2 AS odd, sky FROM rows", target="class", families=families)
    picture = model.plot.nomogram()
    found, labels = choices(picture), classes_of(picture)
    adds = dict(found["odd"][1:])
    assert set(adds) == {"true", "false"}
    missing = found["sky"][0][1]
    for value, number in (("true", 1), ("false", 0)):
        answer = model.predict_one({"odd": number, "sky": None})["probabilities"]
        expected = [answer[label] for label in labels]
        assert posterior([found["prior"][0][1], adds[value], missing]) == pytest.approx(expected, abs=1e-9)


def test_every_family_is_chosen_or_named_as_left_out(con):
    families = {"both": nbsql.Joint(["sky", "windy"], backoff="naive")}
    model = nbsql.fit(con, "SELECT class, sky, windy, x FROM rows", target="class", families=families)
    assert "Left as missing: both." in model.plot.nomogram().figure.notes


def test_a_derived_column_is_chosen_by_itself(con):
    source = "SELECT class, sky FROM rows"
    model = nbsql.fit(con, source, target="class", derive={"half": "left(sky, 1)", "twice": "half || half"})
    notes = model.plot.nomogram().figure.notes
    end = "in the data; here each is chosen by itself."
    assert notes == [f"half is made of sky {end}", f"twice is made of half, sky {end}"]


def test_of_many_features_the_most_informative_are_chosen(con):
    noise = ", ".join(f"CAST(hash(i + {k}) % 2 AS BOOLEAN) AS n{k}" for k in range(24))
    rows = f"SELECT i % 2 AS y, {noise}, i % 2 + (i % 10 = 0)::INT AS told FROM range(400) AS t(i)"
    picture = nbsql.fit(con, rows, target="y", families={"told": "categorical"}).plot.nomogram()
    assert list(choices(picture))[-1] == "told"
    assert len(choices(picture)) == 25  # the prior, and 24 features
    assert picture.finding.startswith("told = ")
