"""Missing and unseen values, ties and rows that no class explains, each worked by hand."""

from functools import partial
from math import exp, inf, log

import pytest

import nbsql

pytestmark = pytest.mark.usefixtures("form")


# In class a: u, u and a missing value; in class b: v and two missing values.
GAPS = "FROM (VALUES ('a', 'u'), ('a', 'u'), ('a', NULL), ('b', 'v'), ('b', NULL), ('b', NULL)) AS rows(y, x)"
YES_NO_GAPS = "FROM (VALUES ('a', TRUE), ('a', TRUE), ('a', NULL), ('b', FALSE), ('b', NULL), ('b', NULL)) AS rows(y, x)"
MISSING = "SELECT CAST(NULL AS VARCHAR) AS x"
HALF = log(1 / 2)

near = partial(pytest.approx, rel=1e-13, abs=1e-15)


def test_skipped_nulls_leave_counts_and_denominators(con, likelihood):
    model = nbsql.fit(con, GAPS, target="y")
    assert likelihood(model, "a", "x", "u") == near(3 / 4)
    assert likelihood(model, "a", "x", "v") == near(1 / 4)
    assert likelihood(model, "b", "x", "u") == near(1 / 3)
    assert likelihood(model, "b", "x", "v") == near(2 / 3)
    assert len(model.likelihoods.fetchall()) == 4
    assert {(label, n) for label, n, *_ in model.priors} == {("a", 3), ("b", 3)}


def test_skipped_null_leaves_the_prior(con, joint):
    model = nbsql.fit(con, GAPS, target="y", prior={"a": 0.25, "b": 0.75})
    assert joint(model, MISSING) == [{"a": near(log(0.25)), "b": near(log(0.75))}]


@pytest.mark.parametrize("for_feature", [False, True])
def test_nulls_are_a_category_of_their_own_on_request(con, likelihood, joint, for_feature):
    options = {"families": {"x": nbsql.Categorical(nulls="category")}} if for_feature else {"nulls": "category"}
    model = nbsql.fit(con, GAPS, target="y", **options)
    expected = {
        ("a", "u"): 3 / 6, ("a", "v"): 1 / 6, ("a", None): 2 / 6, ("b", "u"): 1 / 6, ("b", "v"): 2 / 6, ("b", None): 3 / 6,
    }  # fmt: skip
    assert {(row[0], row[2]): row[3] for row in model.likelihoods} == near(expected)
    assert joint(model, MISSING) == [{"a": near(HALF + log(1 / 3)), "b": near(HALF + log(1 / 2))}]


def test_nulls_of_a_yes_or_no_are_a_third_category(con, likelihood, joint):
    model = nbsql.fit(con, YES_NO_GAPS, target="y", nulls="category")
    expected = {"true": 3 / 6, "false": 1 / 6, None: 2 / 6}
    assert {value: likelihood(model, "a", "x", value) for value in expected} == near(expected)
    assert likelihood(model, "b", "x", None) == near(3 / 6)
    scores = joint(model, "FROM (VALUES (NULL::BOOLEAN), (TRUE), (FALSE)) AS rows(x)")
    assert [score["a"] for score in scores] == near([HALF + log(p) for p in (2 / 6, 3 / 6, 1 / 6)])


def test_nulls_of_a_yes_or_no_are_skipped_otherwise(con, likelihood, joint):
    model = nbsql.fit(con, YES_NO_GAPS, target="y")
    assert likelihood(model, "a", "x", "true") == near(3 / 4)
    assert likelihood(model, "b", "x", "true") == near(1 / 3)
    assert joint(model, "SELECT NULL::BOOLEAN AS x") == [{"a": near(HALF), "b": near(HALF)}]


@pytest.mark.parametrize(("unseen", "added"), [("skip", 0), ("smooth", log(1 / 4))])
def test_null_category_that_training_never_met_counts_as_unseen(con, joint, unseen, added):
    source = "FROM (VALUES ('a', 'u'), ('a', 'v'), ('b', 'u'), ('b', 'v')) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", nulls="category", unseen=unseen)
    assert joint(model, MISSING) == [{"a": near(HALF + added), "b": near(HALF + added)}]


@pytest.mark.parametrize(("unseen", "added"), [("skip", (0, 0)), ("smooth", (log(1 / 5), log(1 / 7)))])
def test_null_of_a_yes_or_no_that_training_never_met_counts_as_unseen(con, joint, unseen, added):
    con.execute("CREATE TABLE learnt AS SELECT ['a', 'b'][1 + (i > 2)::INT] AS y, i % 2 = 0 AS x FROM range(8) AS t(i)")
    con.execute("CREATE TABLE gap AS SELECT CAST(NULL AS BOOLEAN) AS x")
    model = nbsql.fit(con, "learnt", target="y", name="m", nulls="category", unseen=unseen, prior="uniform")
    expected = {label: HALF + more for label, more in zip("ab", added, strict=True)}
    assert joint(model, "gap") == [near(expected)]
    total = sum(map(exp, expected.values()))
    shares = [near(exp(value) / total) for value in expected.values()]
    assert con.execute("FROM m.predict_proba('gap')").fetchall()[0][-2:] == tuple(shares)
    assert con.execute(model.sql("predict_proba", "gap", inline=True)).fetchall()[0][-2:] == tuple(shares)
    assert list(model.predict_one({"x": None})["probabilities"].values()) == shares
    assert sum(row[-1] for row in model.linear() if row[3] == "unseen") == near(added[1] - added[0])


@pytest.mark.parametrize(
    ("source", "options"),
    [
        (GAPS, {"nulls": "error"}),
        (YES_NO_GAPS, {"nulls": "error"}),
        (GAPS, {"families": {"x": nbsql.Categorical(nulls="error")}}),
        (GAPS, {"families": {"x": nbsql.Text(nulls="error")}}),
    ],
)
def test_nulls_are_refused_on_request(con, source, options):
    with pytest.raises(nbsql.InputError) as error:
        nbsql.fit(con, source, target="y", **options)
    assert str(error.value) == "3 values of column 'x' are NULL, and nulls='error'; fill them, or use nulls='skip'"


def test_nulls_of_a_number_are_skipped(con, joint):
    source = "FROM (VALUES ('a', 1.0), ('a', 3.0), ('a', NULL), ('b', 4.0), ('b', 8.0), ('b', NULL)) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y")
    assert {row[0]: row[5:7] for row in model.likelihoods} == {"a": (2.0, 1.0), "b": (6.0, 4.0)}
    assert joint(model, "SELECT NULL::DOUBLE AS x") == [{"a": near(HALF), "b": near(HALF)}]


@pytest.mark.parametrize("alpha", [1.0, 0.5])
@pytest.mark.parametrize("unseen", ["skip", "smooth"])
def test_unseen_category(con, joint, alpha, unseen):
    source = "FROM (VALUES ('a', 'u'), ('a', 'u'), ('a', 'w'), ('b', 'v')) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", alpha=alpha, unseen=unseen, prior="uniform")
    smooth = unseen == "smooth"
    a = log(alpha / (3 + alpha * 3)) if smooth else 0
    b = log(alpha / (1 + alpha * 3)) if smooth else 0
    assert joint(model, "SELECT 'never' AS x") == [{"a": near(HALF + a), "b": near(HALF + b)}]
    assert joint(model, MISSING) == [{"a": near(HALF), "b": near(HALF)}]


@pytest.mark.parametrize("alpha", [1.0, 0.5])
@pytest.mark.parametrize("unseen", ["skip", "smooth"])
def test_unseen_token(con, joint, alpha, unseen):
    source = "FROM (VALUES ('a', ['u', 'u', 'w']), ('b', ['v'])) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", alpha=alpha, families={"x": nbsql.Tokens(unseen=unseen)})
    seen = {"a": log((2 + alpha) / (3 + alpha * 3)), "b": log(alpha / (1 + alpha * 3))}
    new = {"a": log(alpha / (3 + alpha * 3)), "b": log(alpha / (1 + alpha * 3))} if unseen == "smooth" else {"a": 0, "b": 0}
    expected = {label: near(HALF + seen[label] + 2 * new[label]) for label in "ab"}
    assert joint(model, "SELECT ['u', 'never', 'nor this'] AS x") == [expected]


@pytest.mark.parametrize(("given", "value", "winner"), [((0.25, 0.75), "u", "a"), ((0.75, 0.25), "v", "a")])
def test_a_tie_goes_to_the_smaller_label_whatever_the_priors(con, given, value, winner):
    source = "SELECT y, unnest(string_split(x, ' ')) AS x FROM (VALUES ('a', 'u u u v'), ('b', 'u v v v')) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y", alpha=0, prior=dict(zip("ab", given, strict=True)))
    assert model.predict(f"SELECT '{value}' AS x").fetchall() == [(value, winner, near(0.5))]


@pytest.mark.parametrize(("labels", "winner"), [("10, 9, 11", 9), ("'b', 'a', 'c'", "a"), ("TRUE, FALSE", False)])
def test_a_tie_of_equal_priors_goes_to_the_smaller_label(con, labels, winner):
    source = f"SELECT y, x FROM (SELECT unnest([{labels}]) AS y), (VALUES ('u'), ('v')) AS values_of(x)"
    model = nbsql.fit(con, source, target="y")
    assert [row[1] for row in model.predict("FROM (VALUES ('u'), ('v'), ('w')) AS rows(x)")] == [winner] * 3
    assert model.classes[0] == winner


def test_a_row_that_no_class_explains_has_no_prediction(con, joint):
    source = "FROM (VALUES ('a', 'u', 'p'), ('b', 'v', 'q')) AS rows(y, x, z)"
    model = nbsql.fit(con, source, target="y", alpha=0)
    rows = "FROM (VALUES ('u', 'q'), ('u', 'p')) AS rows(x, z)"
    assert model.predict(rows).fetchall() == [("u", "q", None, None), ("u", "p", "a", 1.0)]
    assert model.predict_proba(rows).fetchall() == [("u", "q", None, None, None, None), ("u", "p", "a", 1.0, 1.0, 0.0)]
    assert joint(model, rows) == [{"a": -inf, "b": -inf}, {"a": near(HALF), "b": -inf}]
    assert [row[-1] for row in model.log_evidence(rows)] == [-inf, near(HALF)]
    contributions = [row[-1] for row in model.explain(rows) if row[0] == 1]
    assert sorted(contributions) == [-inf, -inf, near(HALF), near(HALF), 0.0, 0.0]


def test_a_class_ruled_out_by_its_given_prior_is_never_predicted(con):
    model = nbsql.fit(con, GAPS, target="y", prior={"a": 0, "b": 1})
    assert model.predict_proba("SELECT 'u' AS x").fetchall() == [("u", "b", 1.0, 0.0, 1.0)]


@pytest.mark.parametrize("alpha", [0, 1])
def test_a_class_without_any_value_has_the_limit_of_smoothing(con, likelihood, alpha):
    source = """
      FROM (VALUES ('a', 'u', TRUE, 2.0, 3, ['s']), ('a', 'v', TRUE, 6.0, 5, ['t']), ('a', 'w', FALSE, 4.0, 4, ['t']),
        ('b', NULL, NULL, NULL, NULL, NULL)) AS rows(y, category, flag, number, events, tokens)"""
    model = nbsql.fit(con, source, target="y", alpha=alpha, families={"events": "poisson"})
    assert [likelihood(model, "b", "category", value) for value in "uvw"] == near([1 / 3] * 3)
    assert [likelihood(model, "b", "flag", value) for value in ("true", "false")] == near([1 / 2] * 2)
    assert [likelihood(model, "b", "tokens", value) for value in "st"] == near([1 / 2] * 2)
    numbers = {row[:2]: row[5:] for row in model.likelihoods if row[2] is None}
    assert numbers["b", "number"] == (near(4.0), near(8 / 3), None)
    assert numbers["b", "events"] == (None, None, near(4.0))


def test_a_missing_column_of_type_null_is_skipped_when_scoring(con, joint):
    model = nbsql.fit(con, GAPS, target="y")
    assert [exp(p) for p in joint(model, "SELECT NULL AS x")[0].values()] == near([0.5, 0.5])


ASKED_OF_BOTH = {
    "scores": lambda con, source, options: nbsql.fit(con, source, **options).predict_proba("asked").fetchall(),
    "segments": lambda con, source, options: (
        nbsql.fit(con, source, segment_by="part", **options).joint_log_likelihood("asked").fetchall()
    ),
    "explanations": lambda con, source, options: nbsql.fit(con, source, **options).explain("asked").fetchall(),
    "rows left out": lambda con, source, options: [(nbsql.cross_validate(con, source, folds="loo", **options).log_loss,)],
}


@pytest.mark.few
@pytest.mark.parametrize("asked", ASKED_OF_BOTH)
@pytest.mark.parametrize("source", ["learnt", "FROM learnt WHERE flag IS NOT NULL"], ids=["one gap", "no gap"])
def test_a_yes_or_no_is_a_category_of_two_values(con, source, asked):
    con.execute("""CREATE TABLE learnt AS SELECT
            ['a', 'b'][1 + (hash(i) % 3 > 0)::INT] AS y, CASE WHEN i <> 5 THEN hash(i, 1) % 2 = 0 END AS flag,
            CAST(hash(i, 2) % 7 AS DOUBLE) AS x, 'part ' || i % 3 AS part
        FROM range(60) AS t(i)""")
    con.execute("CREATE TABLE asked AS SELECT * FROM learnt LIMIT 9; INSERT INTO asked VALUES ('a', NULL, 1, 'a new part')")
    options = {"target": "y", "features": ["flag", "x"], "nulls": "category", "unseen": "smooth"}
    found, expected = (
        sorted(ASKED_OF_BOTH[asked](con, source, {**options, "families": {"flag": family}}), key=lambda row: repr(row[:-2]))
        for family in ("bernoulli", "categorical")
    )
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        texts = [value for value in one if not isinstance(value, float)]
        assert texts == [value for value in other if not isinstance(value, float)]
        assert [v for v in one if isinstance(v, float)] == near([v for v in other if isinstance(v, float)])
