"""Rows without a class: each step shares them out by the posterior, and counts the shares beside the rows that have a class."""

from itertools import pairwise

import duckdb
import numpy as np
import pytest
from scipy.special import logsumexp
from support.inserted import insert

import nbsql

pytestmark = pytest.mark.filterwarnings("ignore:method='em' has not converged")

# One row in five has a class; numbers, counts, categories, and missing values among all of them.
ROWS = """CREATE TABLE t AS SELECT
    CASE WHEN i % 5 = 0 THEN CASE WHEN i % 3 = 0 THEN 'a' WHEN i % 3 = 1 THEN 'b' ELSE 'c' END END AS y,
    CASE WHEN i % 11 <> 0 THEN 'v' || (i % 3 + i * 7 % 4) % 5 END AS v,
    CASE WHEN i % 13 <> 0 THEN i % 3 * 2 + sin(i) END AS x,
    i % 3 + i * 5 % 4 AS events,
    i % 3 = 0 AND i % 4 <> 0 AS flag,
    i * 5 % 4 AS w, i % 2 AS half
  FROM range(200) AS r(i)"""
MAXIMUM = {"alpha": 0, "families": {"events": "poisson", "x": nbsql.Gaussian(smoothing=0)}}
LABELLED, UNLABELLED = (f"SELECT * FROM t WHERE y IS {word}NULL" for word in ("NOT ", ""))


@pytest.fixture
def table(con):
    con.execute(ROWS)
    return con


def words(data, source):
    """Texts as counts of their words, their classes, and the texts themselves."""
    with duckdb.connect() as con:
        rows = con.sql(source.format(data)).fetchall()
    texts = [[word for word in "".join(c if c.isalnum() else " " for c in text.lower()).split() if word] for _, text in rows]
    vocabulary = {word: number for number, word in enumerate(sorted({word for text in texts for word in text}))}
    counts = np.zeros((len(rows), len(vocabulary)))
    for row, text in enumerate(texts):
        for word in text:
            counts[row, vocabulary[word]] += 1
    return counts, [label for label, _ in rows], [" ".join(text) for text in texts]


def multinomial(counts, shares, alpha, known):
    """ln P(c) and ln P(word | c) of rows that are shared out to the classes, over the words that are known."""
    by_class = shares.T @ counts + alpha
    by_class[:, ~known] = 1
    log = np.log(by_class / by_class[:, known].sum(axis=1, keepdims=True))
    log[:, ~known] = 0
    return np.log(shares.sum(axis=0) / shares.sum()), log


def expectation_maximisation(counts, truth, steps, *, alpha, weight):
    """The joint log-likelihoods of all rows after so many steps, and the evidence of each model.

    truth: a class a row, by number; -1 for none.
    """
    classes = truth.max() + 1
    given = np.eye(classes)[truth] * (truth >= 0)[:, None]
    shares, known, evidence = given, (counts[truth >= 0].sum(axis=0) > 0), []
    for step in range(steps + 1):
        prior, log = multinomial(counts, shares, alpha, known)
        joint = prior + counts @ log.T
        evidence.append((joint[truth >= 0, truth[truth >= 0]]).sum() + weight * logsumexp(joint[truth < 0], axis=1).sum())
        if step == steps:
            return joint, evidence
        posterior = np.exp(joint - logsumexp(joint, axis=1)[:, None])
        shares, known = np.where((truth >= 0)[:, None], given, weight * posterior), counts.sum(axis=0) > 0
    raise AssertionError


TEXTS = {
    "two classes": "SELECT label, message FROM (SELECT * FROM read_csv('{}/sms_spam.csv.gz') LIMIT 600)",
    "six": "SELECT newsgroup, text FROM (SELECT * FROM '{}/newsgroups_6.parquet' USING SAMPLE 3 PERCENT (bernoulli, 7))",
}


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("form", ["wide", "long"], indirect=True)
@pytest.mark.parametrize(("texts", "weight", "alpha"), [("two classes", 1.0, 1.0), ("six", 0.3, 0.1)])
def test_texts_are_those_of_a_plain_em_on_multinomial_naive_bayes(con, data, texts, weight, alpha):
    counts, labels, cut = words(data, TEXTS[texts])
    names = sorted(set(labels))
    truth = np.array([names.index(label) if row % 4 == 0 else -1 for row, label in enumerate(labels)])
    con.execute("CREATE TABLE t (i INTEGER, y VARCHAR, text VARCHAR)")
    rows = [(row, names[truth[row]] if truth[row] >= 0 else None, text) for row, text in enumerate(cut)]
    insert(con, "t", rows)
    options = {"target": "y", "exclude": ["i"], "alpha": alpha, "families": {"text": nbsql.Text()}}
    for steps in (1, 4):
        joint, evidence = expectation_maximisation(counts, truth, steps, alpha=alpha, weight=weight)
        model = nbsql.fit(con, "t", method=nbsql.EM(weight=weight, iterations=steps, tolerance=0), **options)
        found = model.joint_log_likelihood("SELECT * FROM t ORDER BY i").df()
        np.testing.assert_allclose(found.iloc[:, -len(names) :].to_numpy(), joint, rtol=1e-9, atol=1e-9)
        total = model.log_likelihood(LABELLED, labelled=True) + weight * model.log_likelihood(UNLABELLED)
        assert total == pytest.approx(evidence[-1], rel=1e-9)
    assert all(after >= before for before, after in pairwise(evidence[1:]))


def test_a_step_by_hand(con):
    con.execute("CREATE TABLE t AS FROM (VALUES ('a', 'x'), ('b', 'z'), (NULL, 'x')) AS t(y, v)")
    model = nbsql.fit(con, "t", target="y", method=nbsql.EM(weight=0.5, iterations=1))
    # P(x | a) = 2/3 and P(x | b) = 1/3 of the first two rows: of the third, which counts a half, a third is a and a sixth b.
    soft = con.execute(
        "SELECT class, feature, value, n FROM query_table(?) WHERE batch = 'em' ORDER BY ALL", [table_of(model)]
    ).fetchall()
    near = [(*row[:3], pytest.approx(n, rel=1e-12)) for *row, n in [("a", "v", "x", 1 / 3), ("a", None, None, 1 / 3),
        ("b", "v", "x", 1 / 6), ("b", None, None, 1 / 6)]]  # fmt: skip
    assert soft == near
    priors = {label: prior for label, _, prior, _ in model.priors}
    assert priors == {"a": pytest.approx((4 / 3) / 2.5, rel=1e-12), "b": pytest.approx((7 / 6) / 2.5, rel=1e-12)}
    likelihood = {(label, value): p for label, _, value, p, *_ in model.likelihoods}
    assert likelihood["a", "x"] == pytest.approx((4 / 3 + 1) / (4 / 3 + 2), rel=1e-12)
    assert likelihood["b", "x"] == pytest.approx((1 / 6 + 1) / (7 / 6 + 2), rel=1e-12)


def table_of(model):
    return str(model.state.relations["statistics"]).replace('"', "")


@pytest.mark.nightly
def test_the_evidence_never_falls(table):
    """Of estimates that are those of maximum likelihood; with pseudo-counts it is the posterior that never falls."""
    largest = {"exclude": ["w", "half"], **MAXIMUM}
    smoothed = {"features": ["v", "flag"], "alpha": 2}
    for options, alpha in ((largest, 0), (smoothed, 2)):
        found = []
        for steps in range(1, 5):
            model = nbsql.fit(table, "t", target="y", method=nbsql.EM(weight=0.25, iterations=steps, tolerance=0), **options)
            evidence = model.log_likelihood(LABELLED, labelled=True) + 0.25 * model.log_likelihood(UNLABELLED)
            found.append(evidence + (alpha and alpha * sum(log for _, _, _, _, log, *_ in model.likelihoods)))
        assert all(after >= before - 1e-9 * abs(after) for before, after in pairwise(found))


@pytest.mark.nightly
def test_it_ends_where_nothing_changes(table):
    options = {"target": "y", "features": ["v", "flag", "events"], "families": {"events": "poisson"}}
    ended = nbsql.fit(table, "t", method=nbsql.EM(tolerance=1e-3), **options)
    steps = int(ended.batches.fetchall()[1][2].split()[-2])
    assert 2 < steps < 40
    again = nbsql.fit(table, "SELECT * FROM t ORDER BY hash(x)", method=nbsql.EM(tolerance=1e-3), **options)
    assert_same(again, ended)
    more = nbsql.fit(table, "t", method=nbsql.EM(tolerance=0, iterations=steps + 1), **options)
    before, after = (m.log_likelihood(LABELLED, labelled=True) + m.log_likelihood(UNLABELLED) for m in (ended, more))
    assert abs(after - before) < 1e-3 * abs(after)
    with pytest.warns(nbsql.NbsqlWarning, match=r"^method='em' has not converged after 2 steps, the last"):
        nbsql.fit(table, "t", method=nbsql.EM(iterations=2), **options)


@pytest.mark.slow
def test_the_ledger_says_what_is_soft(table):
    options = {"target": "y", "exclude": ["w", "half"], "families": {"events": "poisson"}}
    model = nbsql.fit(table, "t", name="m", method=nbsql.EM(weight=0.5, iterations=3), **options)
    (first, second) = [row[:4] for row in model.batches.fetchall()]
    assert first == ("1", "fit", "t", 40)
    assert second == ("em", "em", "t without 'y', each counting 0.5, 3 steps", 160)
    plain = nbsql.fit(table, LABELLED, **options)
    as_was = model.as_of("1")
    assert_same(as_was, plain)
    assert sum(n for _, n, *_ in model.priors) == pytest.approx(40 + 80, rel=1e-12)
    model.update("SELECT * REPLACE ('a' AS y) FROM t WHERE y IS NULL LIMIT 7")
    model.forget("SELECT * FROM t WHERE y = 'b'")
    model.rollback("em")
    kept = nbsql.merge(table, [model, plain])
    assert sum(n for _, n, *_ in kept.priors) == pytest.approx(160, rel=1e-12)
    model.forget(batch="em")
    assert_same(nbsql.load(table, "m"), plain)


def assert_same(model, other):
    ours, theirs = (each.joint_log_likelihood("t").df().filter(like="joint_").to_numpy() for each in (model, other))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.slow
def test_a_weight_is_so_many_copies(table):
    options = {"target": "y", "exclude": ["half"], "method": nbsql.EM(iterations=4), "families": {"w": "poisson"}}
    del options["families"]
    weighed = nbsql.fit(table, "t", weight="w", **options)
    copies = "SELECT t.* EXCLUDE (w) FROM t, range(t.w) AS copies(copy)"
    assert_same(weighed, nbsql.fit(table, copies, **options))


@pytest.mark.slow
def test_slices_and_joins_are_counted_as_ever(table):
    method = nbsql.EM(iterations=3)
    options = {"target": "y", "exclude": ["half", "w"], "method": method}
    sliced = nbsql.fit(table, "t", slice_by="half", **options)
    whole = nbsql.fit(table, "t", **options)
    assert_same(sliced.slices([0, 1]), whole)
    assert sum(n for _, n, *_ in sliced.slices([1]).priors) == pytest.approx(100, rel=1e-12)
    table.execute("CREATE TABLE facts AS SELECT y, events AS place, x FROM t")
    table.execute("CREATE TABLE places AS SELECT i AS place, 'p' || i % 3 AS kind, i * 2.5 AS far FROM range(5) AS r(i)")
    joined = nbsql.fit(table, "facts", target="y", joins=nbsql.Join("places", on="place"), method=method)
    flat = "SELECT * EXCLUDE (place) FROM facts LEFT JOIN places USING (place)"
    beside = nbsql.fit(table, flat, target="y", method=method)
    ours, theirs = (m.joint_log_likelihood(s).df().filter(like="joint_") for m, s in ((joined, "facts"), (beside, flat)))
    np.testing.assert_allclose(np.sort(ours.to_numpy(), axis=0), np.sort(theirs.to_numpy(), axis=0), rtol=1e-9)


def test_rows_of_no_class_and_those_that_break_a_rule(con):
    con.execute("CREATE TABLE t AS FROM (VALUES ('a', 'x', 1), ('b', 'z', 2), (NULL, 'x', 3)) AS t(y, v, k)")
    with pytest.warns(
        nbsql.NbsqlWarning, match=r"^every row of the query has a 'y', so method='em' counts what method='naive'"
    ):
        model = nbsql.fit(con, "SELECT y, v FROM t WHERE y IS NOT NULL", target="y", method="em")
    assert len(model.batches.fetchall()) == 1
    crossed = "SELECT y, v, v AS u FROM t UNION ALL SELECT NULL, 'x', 'z'"
    with pytest.warns(nbsql.NbsqlWarning, match=r"^1 row of the query without 'y' could be of no class and is left out$"):
        model = nbsql.fit(con, crossed, target="y", method="em", alpha=0)
    assert model.batches.fetchall()[1][3] == 1
    broken = "SELECT * REPLACE (CASE WHEN y IS NULL THEN -1 ELSE k END AS k) FROM t"
    with pytest.raises(nbsql.InputError, match=r"^1 value of column 'k' is negative; poisson counts must be at least 0$"):
        nbsql.fit(con, broken, target="y", method="em", families={"k": "poisson"})
