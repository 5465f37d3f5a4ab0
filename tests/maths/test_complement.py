"""Complement and TF-IDF worked by hand: what the prior does, mixed models, weights, declared columns, and what is refused."""

from functools import partial
from math import log, sqrt

import pytest

import nbsql

pytestmark = [pytest.mark.usefixtures("form"), pytest.mark.parametrize("form", ["wide", "long"], indirect=True)]


near = partial(pytest.approx, rel=1e-13, abs=1e-15)

COUNTS = "FROM (VALUES ('a', 3, 1, 0), ('a', 2, 0, 1), ('b', 0, 4, 1), ('c', 1, 1, 1)) AS rows(y, w1, w2, w3)"
THETA = {  # of a class: the counts of the others, and 1 of smoothing each
    "a": {"w1": 2 / 11, "w2": 6 / 11, "w3": 3 / 11},
    "b": {"w1": 7 / 13, "w2": 3 / 13, "w3": 3 / 13},
    "c": {"w1": 6 / 15, "w2": 6 / 15, "w3": 3 / 15},
}
TEXTS = "FROM (VALUES ('a', 'one two two'), ('a', 'one'), ('b', 'two three'), ('b', NULL), ('b', '')) AS rows(y, x)"


def weights(theta, norm):
    total = -sum(map(log, theta.values())) if norm else 1
    return {column: -log(p) / total for column, p in theta.items()}


@pytest.mark.parametrize("norm", [False, True])
def test_a_class_is_weighed_by_the_others_and_the_prior_stays_out(con, joint, norm):
    families = {"words": nbsql.Complement(["w1", "w2", "w3"], norm=norm)}
    model = nbsql.fit(con, COUNTS, target="y", families=families, name="opposed")
    assert {(row[0], row[2]): row[3] for row in model.likelihoods} == near(
        {(label, column): p for label, theta in THETA.items() for column, p in theta.items()}
    )
    row = "SELECT 2 AS w1, 0 AS w2, 5 AS w3"
    expected = {}
    for label, theta in THETA.items():
        weight = weights(theta, norm)
        expected[label] = 2 * weight["w1"] + 5 * weight["w3"]
    assert joint(model, row) == [near(expected)]
    assert {label: prior for label, _, prior, _ in model.priors} == {"a": 0.5, "b": 0.25, "c": 0.25}
    contributions = {}
    for _, label, feature, _, contribution in model.explain(row):
        assert feature is not None or contribution == 0
        contributions[label] = contributions.get(label, 0) + contribution
    assert contributions == near(expected)
    assert nbsql.load(con, "opposed").families == model.families


def test_among_other_features_the_prior_enters(con, joint):
    source = f"SELECT *, w3 = 1 AS flag {COUNTS}"
    model = nbsql.fit(con, source, target="y", families={"words": nbsql.Complement(["w1", "w2", "w3"])})
    scores = joint(model, "SELECT 1 AS w1, 0 AS w2, 0 AS w3, TRUE AS flag")[0]
    assert scores["a"] == near(log(2 / 4) + log(2 / 4) - log(THETA["a"]["w1"]))
    assert scores["b"] == near(log(1 / 4) + log(2 / 3) - log(THETA["b"]["w1"]))


def test_a_token_never_met_is_smoothed_by_the_complement_too(con, joint):
    family = nbsql.Text(event="complement", unseen="smooth", alpha=0.5)
    model = nbsql.fit(con, TEXTS, target="y", families={"x": family})
    assert joint(model, "SELECT 'four' AS x")[0] == near({"a": -log(0.5 / (2 + 1.5)), "b": -log(0.5 / (4 + 1.5))})


def test_the_complement_takes_a_pseudo_count_a_column_and_the_mode(con):
    family = nbsql.Complement(["w1", "w2", "w3"], alpha={"w1": 3, "w2": 2}, estimate="mode")
    model = nbsql.fit(con, COUNTS, target="y", alpha=1.5, families={"words": family})
    found = {row[2]: row[3] for row in model.likelihoods if row[0] == "a"}
    assert found == near({"w1": (1 + 2) / 11.5, "w2": (5 + 1) / 11.5, "w3": (2 + 0.5) / 11.5})


def idf(documents, df):
    return log((1 + documents) / (1 + df)) + 1


def test_tfidf_counts_the_texts_that_hold_a_word_and_keeps_sums_that_add_up(con, joint):
    model = nbsql.fit(con, TEXTS, target="y", families={"x": nbsql.Text(tfidf=True)})
    cells = {(row[1], row[3]): (row[4], row[5]) for row in model.statistics if row[2] == "x"}
    assert cells == {
        ("a", None): (2, None),
        ("b", None): (2, None),  # an empty text is a text, a missing one is not
        ("a", "one"): (2, 1),
        ("a", "two"): (1, 2),
        ("b", "two"): (1, 1),
        ("b", "three"): (1, 1),
    }
    one, two, three = idf(4, 2), idf(4, 2), idf(4, 1)
    total = {"a": 2 * one + 2 * two + 3, "b": two + three + 3}
    found = {(row[0], row[2]): row[3] for row in model.likelihoods}
    assert found["a", "two"] == near((2 * two + 1) / total["a"])
    assert found["b", "one"] == near(1 / total["b"])
    score = joint(model, "SELECT 'two, three, two: four!' AS x")[0]["b"]
    expected = 2 * two * log((two + 1) / total["b"]) + three * log((three + 1) / total["b"])
    assert score == near(log(3 / 5) + expected)
    explained = {row[3]: row[4] for row in model.explain("SELECT 'two three two' AS x") if row[1] == "b"}
    assert explained["two"] == near(2 * two * log((two + 1) / total["b"]))


def test_the_norm_gives_every_text_the_same_length(con, joint):
    model = nbsql.fit(con, TEXTS, target="y", families={"x": nbsql.Text(norm="l2", min_count=2)})
    cells = {(row[1], row[3]): row[4] for row in model.statistics if row[2] == "x"}
    assert cells == near({("a", "one"): 1 / sqrt(5) + 1, ("a", "two"): 2 / sqrt(5), ("b", "two"): 1})  # "three" is met once
    total = 1 / sqrt(5) + 1 + 2 / sqrt(5) + 2
    score = joint(model, "SELECT 'two one two two three' AS x")[0]["a"]
    one, two = log((1 / sqrt(5) + 2) / total), log((2 / sqrt(5) + 1) / total)
    assert score == near(log(2 / 5) + (one + 3 * two) / sqrt(10))
    assert joint(model, "FROM (VALUES (''), (NULL), ('three')) AS rows(x)") == [near({"a": log(2 / 5), "b": log(3 / 5)})] * 3


@pytest.mark.slow
def test_weighed_texts_stand_beside_plain_ones(con, joint):
    source = f"SELECT y, x, x AS z, x AS u, x AS v {TEXTS}"
    families = {
        "x": nbsql.Text(tfidf=True),
        "z": nbsql.Text(),
        "u": nbsql.Text(event="complement", weight_norm=True),
        "v": nbsql.Text(tfidf=True, norm="l2", event="complement"),
    }
    together = nbsql.fit(con, source, target="y", families=families)
    row = "SELECT 'two one two' AS x, 'two' AS z, 'one three' AS u, 'three one one' AS v"
    expected = {"a": log(2 / 5), "b": log(3 / 5)}
    for name, family in families.items():
        alone = nbsql.fit(con, source, target="y", features=[name], families={name: family})
        for label, score in joint(alone, row)[0].items():
            expected[label] += score - (0 if name in "uv" else log(2 / 5 if label == "a" else 3 / 5))
    assert joint(together, row)[0] == near(expected)


def test_tfidf_leaves_out_what_occurs_too_rarely(con):
    model = nbsql.fit(con, TEXTS, target="y", families={"x": nbsql.Text(tfidf=True, min_count=3)})
    assert {(row[0], row[2]): row[3] for row in model.likelihoods} == near({("a", "two"): 1, ("b", "two"): 1})


def test_a_loaded_model_of_count_columns_scores_and_explains(con):
    families = {"words": nbsql.Multinomial(["w1", "w2"], alpha={"w1": 2}), "other": nbsql.Complement(["w3", "w4"])}
    model = nbsql.fit(con, f"SELECT *, 1 AS w4 {COUNTS}", target="y", families=families, name="kept")
    loaded = nbsql.load(con, "kept")
    assert loaded.families == model.families
    row = "SELECT 2 AS w1, 1 AS w2, 5 AS w3, 1 AS w4"
    assert loaded.explain(row).fetchall() == model.explain(row).fetchall()
    assert loaded.joint_log_likelihood(row).fetchall() == model.joint_log_likelihood(row).fetchall()


@pytest.mark.parametrize("family", [nbsql.Text(tfidf=True, norm="l2"), nbsql.Text(norm="l2", min_count=2)])
def test_a_norm_that_depends_on_all_texts_is_fitted_anew(con, family):
    model = nbsql.fit(con, TEXTS, target="y", name="fixed", families={"x": family})
    for change in (model.update, model.forget):
        with pytest.raises(nbsql.ModelError, match="'x' is estimated from all rows at once; fit it anew"):
            change("SELECT 'a' AS y, 'one' AS x")


@pytest.mark.parametrize("norm", [None, "l2"])
def test_slices_of_weighed_texts(con, norm):
    source = f"SELECT *, length(x) > 5 AS long {TEXTS}"
    family = nbsql.Text(tfidf=True, norm=norm)
    sliced = nbsql.fit(con, source, target="y", slice_by="long", families={"x": family}, exclude=["long"])
    plain = nbsql.fit(con, source, target="y", families={"x": family}, exclude=["long"])
    assert {row[0] for row in sliced.statistics if row[2] == "x"} == {"true", "false"}
    assert [(*row[:3], near(row[3])) for row in sliced.likelihoods] == [row[:4] for row in plain.likelihoods]
