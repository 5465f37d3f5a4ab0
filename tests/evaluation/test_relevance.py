"""What a feature tells of the class, against scikit-learn and scipy, and by hand."""

import numpy as np
import pandas
import pytest
from scipy.stats import chi2_contingency
from sklearn.datasets import load_iris
from sklearn.feature_selection import chi2, f_classif
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

import nbsql

near = pytest.approx


@pytest.fixture
def table(con):
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, 500)
    frame = pandas.DataFrame({
        "y": y,
        "a": np.array(["u", "v", "w", "z"])[(y + rng.integers(0, 2, 500)) % 4],
        "b": np.array(["left", "right"])[rng.integers(0, 2, 500)],
        "flag": (y == 1) ^ (rng.random(500) < 0.2),
    })  # fmt: skip
    con.register("t", frame)
    return frame


def test_counts_against_scikit_learn_and_scipy(con, table):
    model = nbsql.fit(con, "SELECT * FROM t", target="y")
    rows = {row[0]: row[1:] for row in model.relevance()}
    assert list(rows) == sorted(rows, key=lambda name: -rows[name][5])
    for name in ("a", "b", "flag"):
        information = mutual_info_score(table["y"], table[name].astype(str))
        shares = [table[side].value_counts(normalize=True).to_numpy() for side in ("y", name)]
        entropies = [-(share * np.log(share)).sum() for share in shares]
        crossed = pandas.crosstab(table["y"], table[name])
        assert rows[name][0] == near(information, rel=1e-9, abs=1e-12)
        assert rows[name][1] == near(2 * information / sum(entropies), rel=1e-9, abs=1e-12)
        assert rows[name][2] == near(chi2_contingency(crossed, correction=False).statistic, rel=1e-9)
        assert rows[name][3] is None


def test_values_against_scikit_learn(con, table):
    model = nbsql.fit(con, "SELECT * FROM t", target="y")
    found = {row[:2]: row[2:] for row in model.relevance(values=True)}
    for name in ("a", "b"):
        for value in table[name].unique():
            is_value = table[name] == value
            n, information, chi_square = found[name, value]
            assert n == is_value.sum()
            assert information == near(mutual_info_score(table["y"], is_value), rel=1e-9, abs=1e-12)
            assert chi_square == near(chi2(is_value.to_numpy().astype(float).reshape(-1, 1), table["y"])[0][0], rel=1e-9)


def test_tokens_against_the_chi_square_of_scikit_learn(con):
    con.execute("CREATE TABLE mail AS FROM (VALUES ('a', 'x x y'), ('a', 'y z'), ('b', 'z z z w'), ('c', 'y')) AS t(y, text)")
    model = nbsql.fit(con, "mail", target="y", families={"text": nbsql.Text()})
    counts = np.array([[2, 1, 0, 0], [0, 1, 1, 0], [0, 0, 3, 1], [0, 1, 0, 0]])
    expected, _ = chi2(counts, ["a", "a", "b", "c"])
    found = {row[1]: row[4] for row in model.relevance(values=True)}
    assert [found[word] for word in "xyzw"] == near(list(expected), rel=1e-12)


def test_numbers_against_the_analysis_of_variance(con):
    data, target = load_iris(return_X_y=True)
    con.register("iris", pandas.DataFrame({"y": target, **{f"x{i}": data[:, i] for i in range(4)}}))
    model = nbsql.fit(con, "SELECT * FROM iris", target="y")
    rows = {row[0]: row[1:] for row in model.relevance()}
    assert [rows[f"x{i}"][3] for i in range(4)] == near(list(f_classif(data, target)[0]), rel=1e-9)
    assert next(iter(rows)) == "x2"


def test_a_feature_that_tells_nothing_and_one_that_tells_all(con):
    con.execute(
        "CREATE TABLE t AS SELECT i % 2 AS y, 'same' AS nothing, 'v' || (i % 2) AS everything, 1.5 AS x FROM range(8) r(i)"
    )
    with pytest.warns(nbsql.NbsqlWarning, match="one value only"):
        model = nbsql.fit(con, "t", target="y")
    rows = {row[0]: row[1:5] for row in model.relevance()}
    assert rows["nothing"] == (0, 0, near(0, abs=1e-12), None)
    assert rows["everything"] == (near(np.log(2)), near(1), near(8), None)
    assert rows["x"] == (None, None, None, None)


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")  # of a key, and of a column with one value
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.07, 0.03)])
def test_what_chance_alone_would_tell_is_that_of_dealt_classes(con, shares):
    """Held against the exact expectation of scikit-learn, which takes a sum for each count that there could be."""
    rng = np.random.default_rng(11)
    y = rng.choice(len(shares), 300, p=shares)
    levels = {f"of_{k}": rng.integers(0, k, 300) for k in (2, 20, 150)} | {
        "key": rng.permutation(300),
        "one": np.zeros(300, int),
    }
    con.register("frame", pandas.DataFrame({"y": y} | {name: np.array([f"v{i}" for i in v]) for name, v in levels.items()}))
    model = nbsql.fit(con, "FROM frame", target="y", features=list(levels))
    for name, information, _, _, _, by_chance, gain in model.relevance():
        expected = expected_mutual_information(contingency_matrix(y, levels[name], sparse=True), 300)
        assert by_chance == near(expected, rel=0.1, abs=1e-3)
        assert gain == near(information - by_chance, abs=1e-12)
    found = {name: gain for name, *_, gain in model.relevance()}
    assert (found["key"], found["one"]) == near((0, 0), abs=1e-9)  # where it is exact


@pytest.mark.slow
def test_chance_of_numbers_is_their_mean_where_nothing_is_told(con):
    rng = np.random.default_rng(5)
    columns = ", ".join(f"x{j}" for j in range(300))
    frame = pandas.DataFrame(rng.normal(size=(40, 300)), columns=columns.split(", "))
    con.register("frame", frame.assign(y=np.arange(40) % 4))
    rows = nbsql.fit(con, "FROM frame", target="y").relevance().fetchall()
    informations = [row[1] for row in rows]
    error = np.std(informations) / np.sqrt(len(rows))
    assert len({f"{row[5]:.9f}" for row in rows}) == 1
    assert np.mean(informations) == near(rows[0][5], abs=4 * error)


@pytest.mark.parametrize("by", ["mutual_information", "symmetrical_uncertainty"])
def test_a_key_is_no_match_for_a_column_that_is_right_nine_times_in_ten(con, by):
    con.execute("""CREATE TABLE t AS SELECT 'c' || i % 2 AS y, md5(i::VARCHAR) AS key,
        'v' || CASE WHEN i % 20 < 2 THEN 1 - i % 2 ELSE i % 2 END AS nine FROM range(400) AS r(i)""")
    families = {"key": "categorical"}  # by its values it is a key, which a fit leaves out
    model = nbsql.fit(con, "t", target="y", families=families)
    assert [row[0] for row in model.relevance()] == ["nine", "key"]
    best = nbsql.Best(1, by=by)
    assert list(nbsql.fit(con, "t", target="y", features=best, families=families).families) == ["nine"]
    assert "nine is the most informative" in model.plot.ranking().finding
