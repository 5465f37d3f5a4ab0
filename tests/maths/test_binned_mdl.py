"""Bins cut where the classes differ: the edges against the algorithm of Fayyad and Irani, written down anew in Python."""

from collections import Counter
from itertools import pairwise
from math import log2

import numpy as np
import pytest
from support.inserted import insert

import nbsql


def entropy(counts):
    total = sum(counts.values())
    return -sum(n / total * log2(n / total) for n in counts.values() if n)


def fayyad_irani(pairs):
    """The cuts of (value, class, weight), by trying every one."""
    values = sorted({x for x, _, _ in pairs})
    whole = Counter()
    by_value = {x: Counter() for x in values}
    for x, y, w in pairs:
        whole[y] += w
        by_value[x][y] += w
    total = sum(whole.values())
    left = Counter()
    best = None
    for x, following in pairwise(values):
        left.update(by_value[x])
        right = Counter({y: whole[y] - left[y] for y in whole if whole[y] > left[y]})
        cost = (sum(left.values()) * entropy(left) + sum(right.values()) * entropy(right)) / total
        if best is None or cost < best[0] - 1e-10:
            best = (cost, x, left.copy(), right, (x + following) / 2)
    if best is None:
        return []
    cost, x, one, other, edge = best
    delta = log2(3 ** len(whole) - 2) - (len(whole) * entropy(whole) - len(one) * entropy(one) - len(other) * entropy(other))
    if entropy(whole) - cost <= (log2(total - 1) + delta) / total:
        return []
    below, above = ([pair for pair in pairs if (pair[0] <= x) is side] for side in (True, False))
    return [*fayyad_irani(below), edge, *fayyad_irani(above)]


def edges(con, source, **options):
    columns = [row[0] for row in con.execute(f"DESCRIBE {source}").fetchall() if row[0] not in ("y", "w")]
    model = nbsql.fit(con, source, target="y", families=dict.fromkeys(columns, nbsql.Binned(by="mdl")), **options)
    return {name: list(model.families[name].edges) for name in columns}


def test_the_edges_of_iris(con, data):
    con.execute(f"CREATE TABLE iris AS SELECT * EXCLUDE (species), species AS y FROM read_csv('{data}/iris.csv')")
    found = edges(con, "iris")
    frame = con.sql("FROM iris").df()
    for name, ours in found.items():
        expected = fayyad_irani([(x, y, 1) for x, y in zip(frame[name], frame["y"], strict=True)])
        assert ours == pytest.approx(expected, rel=1e-12)
    assert [*found.values()] == [pytest.approx(cuts) for cuts in ([5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75])]


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.forms("seed")
def test_the_edges_of_numbers_with_ties_and_weights(con, seed):
    random = np.random.default_rng(seed)
    n, classes = 400, 2 + seed % 3
    y = random.integers(0, classes, n)
    noise, steps = random.normal(size=n), random.normal(size=n)
    con.execute("CREATE TABLE t (a DOUBLE, b INTEGER, c DOUBLE, y VARCHAR, w DOUBLE)")
    rows = [
        (
            float(noise[i]),
            round(2 * steps[i] + 3 * y[i]),
            float(round(noise[i] + y[i] % 2 * 2, 2)),
            f"k{y[i]}",
            float(i % 4) / 2,
        )
        for i in range(n)
    ]
    insert(con, "t", rows)
    con.execute("INSERT INTO t VALUES ('nan', NULL, 'inf', 'k0', 1), (NULL, NULL, NULL, 'k1', 1), (5, 5, 5, NULL, 1)")
    for options, weights in (({"exclude": ["w"]}, [1.0] * n), ({"weight": "w"}, [row[4] for row in rows])):
        for index, ours in enumerate(edges(con, "t", **options).values()):
            pairs = [(row[index], row[3], weight) for row, weight in zip(rows, weights, strict=True) if weight]
            assert ours == pytest.approx(fayyad_irani(pairs), rel=1e-12)


def test_many_values_are_cut_between_bins_of_as_many_rows(con):
    random = np.random.default_rng(7)
    y = random.integers(0, 2, 3_000)
    x = np.where(random.random(3_000) < 0.1, 0.25, random.normal(size=3_000) + y)
    con.execute("CREATE TABLE t AS SELECT unnest($1) AS a, 'k' || unnest($2) AS y", [x.tolist(), y.tolist()])
    values, first, counts = np.unique(np.sort(x), return_index=True, return_counts=True)
    own = counts * 256 >= len(x)  # a value of as many rows as a bin
    starts = np.flatnonzero(np.diff(first * 256 // len(x), prepend=-1) | own | np.r_[False, own[:-1]])
    number = np.searchsorted(values[starts], x, side="right") - 1
    cuts = fayyad_irani([(int(place), int(label), 1) for place, label in zip(number, y, strict=True)])
    expected = [(values[starts[int(cut) + 1] - 1] + values[starts[int(cut) + 1]]) / 2 for cut in cuts]
    assert len(values) > 1_000
    assert 0.25 in values[starts]
    assert len(expected) > 1
    assert edges(con, "t")["a"] == pytest.approx(expected, rel=1e-12)


def test_bins_of_a_sample_are_cut_by_all_of_many_rows(con, monkeypatch):
    con.execute("""CREATE TABLE t AS SELECT hash(i) % 30 AS a, (hash(i) % 30 > 9 AND hash(i + 0.5) % 3 > 0)::INT::VARCHAR AS y
        FROM range(24000) AS r(i)""")  # fmt: skip
    con.execute("INSERT INTO t VALUES (NULL, '1')")
    pairs = con.execute("SELECT a, y, count(*) FROM t WHERE a IS NOT NULL GROUP BY ALL").fetchall()
    expected = pytest.approx(fayyad_irani(pairs), rel=1e-12)
    assert edges(con, "t")["a"] == expected
    monkeypatch.setattr("nbsql.learning.prepare.MANY_VALUES", 0)
    assert edges(con, "t")["a"] == expected
    con.execute("ALTER TABLE t ADD COLUMN w INTEGER DEFAULT 1")
    assert edges(con, "t", weight="w")["a"] == expected


def test_the_order_of_the_rows_changes_no_edge(con, monkeypatch):
    monkeypatch.setattr("nbsql.learning.prepare.ROWS_FOR_BINS", 500)
    x = "hash(i) % 100000 / 7 + CASE WHEN hash(i + 1) % 3 = 0 THEN 3000 ELSE 0 END"
    con.execute(f"CREATE TABLE t AS SELECT {x} AS a, hash(i + 1) % 3 = 0 AS y FROM range(4000) AS r(i)")
    con.execute("CREATE TABLE turned AS FROM t ORDER BY hash(a)")
    found = edges(con, "t")["a"]
    assert found
    assert edges(con, "turned")["a"] == found


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize(
    ("rows", "classes", "bins", "used"), [(600, 2, 10, 10), (600, 4, 10, 6), (190, 2, 4, 3), (70, 2, 10, 1)]
)
def test_numbers_are_cut_at_quantiles_too(con, rows, classes, bins, used):
    """Into so many bins that each has 25 rows for each class, after the value up to which that share of the rows is."""
    con.execute(f"""CREATE TABLE t AS SELECT hash(i) % 997 % 53 + 20 * (i % {classes} = 1)::INT AS x, i % {classes} AS y
        FROM range({rows}) AS r(i)""")  # fmt: skip
    family = nbsql.Binned(bins, by="mdl and quantile")
    model = nbsql.fit(con, "t", target="y", families={"x": family}, name="both")
    pairs = con.execute("SELECT x, y, 1 FROM t").fetchall()
    values = sorted(x for x, *_ in pairs)
    above = dict(pairwise(sorted({*values})))
    reached = (values[-(-len(values) * i // used) - 1] for i in range(1, used))
    expected = {*fayyad_irani(pairs), *((x + above[x]) / 2 for x in reached if x in above)}
    assert model.families["x"].edges == pytest.approx(sorted(expected), rel=1e-12)
    assert len(expected) > len(fayyad_irani(pairs)) or used == 1
    assert nbsql.load(con, "both").families == model.families


def test_a_cut_separates_and_noise_has_none(con):
    con.execute("CREATE TABLE t AS SELECT i AS x, hash(i) % 7 AS noise, i >= 30 AS y FROM range(100) AS r(i)")
    with pytest.warns(nbsql.NbsqlWarning, match="^one bin only in 'noise', which tells no class from another"):
        model = nbsql.fit(con, "t", target="y", families=dict.fromkeys(["x", "noise"], nbsql.Binned(by="mdl")), name="kept")
    assert (model.families["x"].edges, model.families["noise"].edges) == ((29.5,), ())
    assert model.evaluate("t").accuracy == 1.0
    assert nbsql.load(con, "kept").families == model.families
    model.update("SELECT 0 AS x, 0 AS noise, TRUE AS y FROM range(50)")
    assert model.families["x"].edges == (29.5,)


def test_values_without_room_between_them_are_cut_at_the_upper_one(con):
    above = float(np.nextafter(1.0, 2.0))
    con.execute("CREATE TABLE t (x DOUBLE, y VARCHAR)")
    insert(con, "t", [(1.0, "a"), (above, "b")] * 20)
    model = nbsql.fit(con, "t", target="y", families={"x": nbsql.Binned(by="mdl")})
    assert model.families["x"].edges == (above,)
    assert model.evaluate("t").accuracy == 1.0
