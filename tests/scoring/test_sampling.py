"""Rows drawn from a model: to the bit the same, and distributed as the model says; and how probable it makes a table."""

from collections import Counter
from math import exp, inf, log

import duckdb
import numpy as np
import pytest
from scipy import stats

import nbsql

ROWS = """SELECT 'v' || i * 7 % 4 AS v, CASE WHEN i % 5 > 0 THEN 'w' || i % 3 END AS w, sin(i) + i % 2 * 2 AS x,
    exp(cos(i))::DECIMAL(8, 3) AS income, (i * 13 % 5)::UTINYINT AS calls, (i * 11 % 7)::INTEGER AS fails,
    abs(cos(i * 3))::FLOAT AS wait, i % 3 > 0 AS b, (i % 4 = 1)::INTEGER AS flag, i % 23 AS age, 'k' || i % 4 AS k,
    ((i % 5) // 2)::UTINYINT AS y FROM range(500) AS r(i)"""
FAMILIES = {
    "j": nbsql.Joint(["v", "w"], nulls="category"), "income": "lognormal", "calls": "poisson", "fails": "geometric",
    "wait": "exponential", "flag": "bernoulli", "age": nbsql.Binned(bins=4),
}  # fmt: skip
N = 40_000


pytestmark = pytest.mark.xdist_group("sampling")  # one worker makes what they share


@pytest.fixture(scope="module")
def drawn():
    con = duckdb.connect()
    model = nbsql.fit(con, ROWS, target="y", name="story", families=FAMILIES)
    con.execute(f"CREATE TABLE drawn AS {model.sample(N, seed=11).sql}")
    return con, model


@pytest.mark.slow
def test_the_columns_are_those_of_the_training(drawn):
    con, _ = drawn
    described = {row[0]: row[1] for row in con.execute(f"DESCRIBE {ROWS}").fetchall()}
    assert {row[0]: row[1] for row in con.execute("DESCRIBE drawn").fetchall()} == described


@pytest.mark.slow
def test_values_come_as_often_as_is_likely(drawn):
    """Pearson's chi-square of every class and value, at the seed of the fixture."""
    con, model = drawn
    classes = dict(con.execute("SELECT y, count(*) FROM drawn GROUP BY y").fetchall())
    assert stats.chisquare([classes[y] for y, *_ in model.priors], [N * p for _, _, p, _ in model.priors]).pvalue > 1e-3
    texts = {"k": "k", "b": "b::VARCHAR", "flag": "(flag = 1)::VARCHAR", "j": "to_json([v, w])::VARCHAR"}
    for feature, text in texts.items():
        counts = Counter(
            {row[:2]: row[2] for row in con.execute(f"SELECT y, {text}, count(*) FROM drawn GROUP BY 1, 2").fetchall()}
        )
        for y, n in classes.items():
            expected = {row[2]: row[3] for row in model.likelihoods if row[:2] == (y, feature)}
            assert sum(expected.values()) == pytest.approx(1)
            assert sum(counts[y, value] for value in expected) == n
            assert stats.chisquare([counts[y, v] for v in expected], [n * p for p in expected.values()]).pvalue > 1e-3


def test_numbers_are_distributed_as_their_families_say(drawn):
    con, model = drawn
    found = {row[:2]: row[5:] for row in model.likelihoods}
    for y in model.classes:
        columns = con.execute(f"SELECT x, income, calls, fails, wait FROM drawn WHERE y = {y}").fetchnumpy()
        mean, variance, _ = found[y, "x"]
        assert stats.kstest(columns["x"], stats.norm(mean, variance**0.5).cdf).pvalue > 1e-3
        mean, variance, _ = found[y, "income"]
        log_normal = stats.lognorm(s=variance**0.5, scale=exp(mean))
        assert stats.kstest(columns["income"].astype(float), log_normal.cdf).statistic < 0.01  # three digits of a DECIMAL
        assert stats.kstest(columns["wait"], stats.expon(scale=1 / found[y, "wait"][2]).cdf).pvalue > 1e-3
        for name, distribution in (
            ("calls", stats.poisson(found[y, "calls"][2])),
            ("fails", stats.geom(found[y, "fails"][2], loc=-1)),
        ):
            numbers, top = columns[name].astype(int), 8
            seen = np.bincount(np.minimum(numbers, top), minlength=top + 1)
            expected = np.append(distribution.pmf(np.arange(top)), distribution.sf(top - 1)) * len(numbers)
            assert stats.chisquare(seen, expected).pvalue > 1e-3, (y, name)


def test_a_fit_of_the_sample_finds_the_model_again(drawn):
    con, model = drawn
    again = nbsql.fit(con, "drawn", target="y", families={**FAMILIES, "age": model.families["age"]})
    for one, other in zip(again.likelihoods, model.likelihoods, strict=True):
        assert one[:3] == other[:3]
        for x, y in zip(one[3:4] + one[5:], other[3:4] + other[5:], strict=True):
            assert (x is None) == (y is None)
            assert x is None or x == pytest.approx(y, abs=0.02, rel=0.06)


def test_features_are_independent_in_a_class_and_draws_of_each_other(drawn):
    con, _ = drawn
    columns = con.execute("SELECT x, ln(income)::DOUBLE AS i, wait, age, calls, fails, b::INTEGER AS b FROM drawn WHERE y = 0")
    matrix = np.corrcoef(np.array([column.astype(float) for column in columns.fetchnumpy().values()]))
    n = con.execute("SELECT count(*) FROM drawn WHERE y = 0").fetchall()[0][0]
    assert np.abs(matrix - np.eye(len(matrix))).max() < 4 / n**0.5


def test_the_same_seed_gives_the_same_rows_to_the_bit(drawn):
    con, model = drawn
    long = model.sample(1000, seed=11).fetchall()
    assert long == con.execute("FROM drawn LIMIT 1000").fetchall()
    assert long[:10] == model.sample(10, seed=11).fetchall()
    assert nbsql.load(con, "story").sample(1000, seed=11).fetchall() == long
    con.execute("SET threads = 1")
    assert model.sample(1000, seed=11).fetchall() == long
    con.execute("RESET threads")
    assert model.sample(1000, seed=12).fetchall() != long
    assert model.sample(5).fetchall() == model.sample(5, seed=0).fetchall()
    assert model.sample(0).fetchall() == []


def test_these_rows_are_those_of_every_version(con):
    likelihoods = {"yes": {"sky": {"sun": 0.75, "rain": 0.25}}, "no": {"sky": {"sun": 0.25, "rain": 0.75}}}
    model = nbsql.from_tables(con, priors={"yes": 0.5, "no": 0.5}, likelihoods=likelihoods)
    assert "".join(sky[0] + label[0] for sky, label in model.sample(12, seed=2026)) == "rnryrysyrnsnrnsysnryrnsy"


def test_a_model_without_features_draws_classes(con):
    model = nbsql.from_tables(con, priors={True: 0.125, False: 0.875})
    share = sum(row[0] for row in model.sample(8000)) / 8000
    assert share == pytest.approx(0.125, abs=0.012)


def test_missing_values_that_are_a_category_are_drawn(con):
    rows = "SELECT CASE WHEN i % 4 > 0 THEN 'a' END AS x, i % 2 AS y FROM range(400) AS r(i)"
    model = nbsql.fit(con, rows, target="y", families={"x": nbsql.Categorical(nulls="category")}, alpha=0)
    found = Counter(model.sample(4000, seed=3).fetchall())
    assert set(found) == {("a", 1), ("a", 0), (None, 0)}
    assert found[None, 0] == pytest.approx(1000, abs=110)


@pytest.mark.filterwarnings("ignore:one bin only:nbsql.NbsqlWarning")
def test_a_number_in_a_single_bin_is_not_drawn(con):
    rows = "SELECT i % 3 = 0 AS y, i % 7 AS x FROM range(30) AS t(i)"
    model = nbsql.fit(con, rows, target="y", families={"x": nbsql.Binned(by="mdl")})
    assert {x for x, _ in model.sample(20)} == {None}  # its bin has no ends


def test_a_backoff_draws_each_column_once(con):
    rows = "SELECT 'a' || i % 2 AS u, i % 3 AS v, i % 5 > 2 AS y FROM range(30) AS r(i)"
    model = nbsql.fit(con, rows, target="y", method=nbsql.JointBayes(backoff="naive"))
    assert model.sample(3).columns == ["u", "v", "y"]
    seen = set(con.execute(rows).fetchall())
    assert set(model.sample(200)) <= seen


def test_the_log_likelihood_of_a_table(drawn):
    con, model = drawn
    con.execute("CREATE OR REPLACE TABLE part AS FROM drawn LIMIT 300")
    evidence = [row[-1] for row in model.log_evidence("part")]
    assert model.log_likelihood("part") == pytest.approx(sum(evidence), rel=1e-12)
    assert model.log_likelihood("part", mean=True) == pytest.approx(sum(evidence) / 300, rel=1e-12)
    labels = sorted(model.classes)
    joint = [row[-len(labels) :][labels.index(row[-len(labels) - 1])] for row in model.joint_log_likelihood("part")]
    assert model.log_likelihood("part", labelled=True) == pytest.approx(sum(joint), rel=1e-12)
    con.execute("INSERT INTO part (y, x) VALUES (NULL, 1)")
    assert model.log_likelihood("part", labelled=True, mean=True) == pytest.approx(sum(joint) / 300, rel=1e-12)
    con.execute("INSERT INTO part (y, x) VALUES (9, 1)")
    assert model.log_likelihood("part", labelled=True) == -inf


@pytest.mark.usefixtures("form")
def test_the_log_likelihood_in_every_form(con):
    model = nbsql.from_tables(
        con, priors={"a": 0.25, "b": 0.75}, likelihoods={"a": {"x": {"u": 1}}, "b": {"x": {"u": 0.5, "v": 0.5}}}
    )
    rows = "FROM (VALUES ('u', 'a'), ('u', 'b'), ('v', 'b'), ('u', NULL)) AS t(x, class)"
    assert model.log_likelihood(rows) == pytest.approx(3 * log(0.625) + log(0.375), rel=1e-14)
    assert model.log_likelihood(rows, labelled=True) == pytest.approx(log(0.25) + 2 * log(0.375), rel=1e-14)
    assert model.log_likelihood(f"{rows} WHERE FALSE") == 0


def test_what_depends_on_others_is_not_drawn(con, refused):
    rows = "SELECT i % 2 AS y, 'u' || i % 3 AS u, 'v' || i % 3 AS v, 'w' || i % 3 AS w FROM range(30) AS r(i)"
    model = nbsql.fit(con, rows, target="y", name="tree", method="tan")
    line = "model 'tree' cannot be sampled: its features 'v', 'w' depend on others; fit it with method='naive'"
    with refused(nbsql.InputError, line):
        model.sample(1)


def test_what_cannot_be_drawn(con, refused):
    rows = "SELECT ['a', 'b'] AS bag, i AS y FROM range(2) AS r(i)"
    model = nbsql.fit(con, rows, target="y", name="bags", families={"bag": nbsql.Tokens(tfidf=True)})
    for act, message in [
        (lambda model: model.sample(-1), "n must be a whole number of at least 0, not -1"),
        (lambda model: model.sample(1.5), "n must be a whole number of at least 0, not 1.5"),
        (lambda model: model.sample(1, seed="x"), "seed must be a whole number, not 'x'"),
        (lambda model: model.sample(1, seed=2**64), "seed must be a whole number below 2^62, not 18446744073709551616"),
        (
            lambda model: model.sample(1),
            "model 'bags' cannot be sampled: 'bag' of family 'tokens' with these options does not say how a row comes about; "
            "fit it without",
        ),
        (
            lambda model: model.log_likelihood("SELECT ['a'] AS bag LIMIT 0", mean=True),
            "the query has no row to take the mean of",
        ),
        (
            lambda model: model.log_likelihood("SELECT ['a'] AS bag", labelled=True),
            "no column 'y' in the query, the target of model 'bags'; its columns are 'bag'",
        ),
    ]:
        with refused(nbsql.InputError, message):
            act(model)


@pytest.mark.parametrize("rate", [9 * 10**7, 2 * 10**8, 10**15])
def test_large_counts_are_drawn_by_some_of_their_values(con, rate):
    """There are up to 800 million values within twelve deviations."""
    rows = f"SELECT i % 2 AS y, {rate} + i % 3 - 1 AS x FROM range(30) AS r(i)"
    model = nbsql.fit(con, rows, target="y", families={"x": "poisson"})
    values = [(int(x) - rate) / rate**0.5 for x, _ in model.sample(5000, seed=5)]
    assert stats.kstest(values, "norm").pvalue > 0.01


@pytest.mark.slow
def test_bags_texts_and_counts(con):
    """As many tokens as a row of the class has on average, each by its likelihood."""
    con.execute("""CREATE TABLE t AS SELECT list_transform(range(3 + i % 3), lambda j: 't' || (i * 7 + j * j) % 5) AS bag,
        concat_ws(' ', 'u' || i % 4, CASE WHEN i % 2 = 0 THEN 'v' || i % 6 END) AS note,
        MAP {'m' || i % 3: i % 4 + 1, 'n': 2} AS counts, i % 3 AS w1, i % 5 AS w2, i % 2 = 0 AS y FROM range(300) AS r(i)""")
    families = {"note": nbsql.Text(), "words": nbsql.Multinomial(["w1", "w2"])}
    model = nbsql.fit(con, "t", target="y", families=families)
    con.execute(f"CREATE TABLE drawn AS {model.sample(20_000, seed=5).sql}")
    assert con.execute("SELECT typeof(bag), typeof(note), typeof(w1) FROM drawn LIMIT 1").fetchall() == [
        ("VARCHAR[]", "VARCHAR", "BIGINT")
    ]
    again = nbsql.fit(con, "drawn", target="y", families=families)
    for one, other in zip(again.likelihoods, model.likelihoods, strict=True):
        assert one[:3] == other[:3]
        assert one[3] == pytest.approx(other[3], abs=0.01)
    sizes = """SELECT y, avg(len(bag)), avg(len(string_split(note, ' '))), avg(w1 + w2), avg(list_sum(map_values(counts)))
        FROM {} WHERE note <> '' GROUP BY y ORDER BY y"""
    for one, other in zip(*(con.execute(sizes.format(name)).fetchall() for name in ("drawn", "t")), strict=True):
        assert one[:2] + one[3:] == pytest.approx(other[:2] + other[3:], rel=0.03)
    variance = con.execute("SELECT var_pop(len(bag)) / avg(len(bag)) FROM drawn WHERE y").fetchall()[0][0]
    assert variance == pytest.approx(1, abs=0.05)  # Poisson's
    assert model.sample(50, seed=5).fetchall() == con.execute("FROM drawn LIMIT 50").fetchall()


def test_a_number_is_drawn_the_same_beside_a_text_as_without(con):
    con.execute(
        "CREATE TABLE t AS SELECT sin(i) AS x, i % 5 / 3 AS b, 'u' || i % 4 AS note, i % 2 = 0 AS y FROM range(50) AS r(i)"
    )
    families = {"note": nbsql.Text(), "b": nbsql.Binned(bins=2)}
    both = nbsql.fit(con, "t", target="y", families=families).sample(20, seed=5).fetchall()
    alone = nbsql.fit(con, "t", target="y", exclude=["note"], families={"b": nbsql.Binned(bins=2)}).sample(20, seed=5)
    assert [(x, b, y) for x, b, _, y in both] == alone.fetchall()


def test_a_class_without_rows_has_as_many_words_as_the_others(con):
    rows = "SELECT ['a', 'b'][1 + i % 2] AS y, 'red blue' AS note, 2 AS u, i % 3 AS v FROM range(10) AS r(i)"
    target = nbsql.Target("y", classes=["a", "b", "c"])
    families = {"note": nbsql.Text(), "counts": nbsql.Multinomial(["u", "v"])}
    model = nbsql.fit(con, rows, target=target, features=["note"], families=families, prior="uniform")
    found = [row for row in model.sample(3000) if row[-1] == "c"]
    assert np.mean([len(note.split()) for note, *_ in found]) == pytest.approx(2, abs=0.2)
    assert np.mean([u + v for _, u, v, _ in found]) == pytest.approx(2.9, abs=0.2)


def test_a_text_beside_a_number(con):
    con.execute("CREATE TABLE notes AS FROM (VALUES ('a', 1.0, 'x y'), ('a', 2.0, 'x'), ('b', 9.0, 'z')) AS t(y, n, note)")
    drawn = nbsql.fit(con, "notes", target="y", families={"note": nbsql.Text(alpha=0)}).sample(2000, seed=5).df()
    assert set(drawn.columns) == {"n", "note", "y"}
    assert set(" ".join(drawn[drawn["y"] == "a"]["note"]).split()) == {"x", "y"}
    assert set(" ".join(drawn[drawn["y"] == "b"]["note"]).split()) == {"z"}
    assert drawn[drawn["y"] == "a"]["n"].astype(float).mean() == pytest.approx(1.5, abs=0.05)
