"""Special codes: bins of their own, without which the other bins are found."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from support.commands import run
from support.elsewhere import SQLite

import nbsql

CODES = [-999, -998, 0]


def table(con):
    """Ages of which some are codes; 0 is among the ages, the others below them."""
    random = np.random.default_rng(5)
    age = np.round(random.normal(20, 15, 1200), 1)
    for code in CODES:
        age = np.where(random.random(1200) < 0.1, code, age)
    bad = random.random(1200) < np.where(age == -999, 0.7, 0.2 + 0.5 * np.abs(age % 60 - 30) / 30)
    frame = pd.DataFrame({"id": range(1200), "age": age, "bad": bad})
    frame["home"] = np.where(random.random(1200) < 0.3 + 0.4 * bad, "rents", "owns")
    con.register("frame", frame)
    con.execute("CREATE TABLE t AS FROM frame")
    return frame


def bins_of(frame, edges, codes):
    """The bin of each row by pandas: a code as a text, or the place among the edges."""
    place = pd.Series(np.searchsorted(edges, frame["age"], side="right"), index=frame.index).astype(str)
    return place.mask(frame["age"].isin(codes), frame["age"].map(lambda age: f"code {age:g}"))


def test_by_hand(con):
    """Five good and five bad rows: of the code one and three, of the first bin three and one, of the second one and one."""
    ages = {True: [-9, 1, 2, 3, 30], False: [-9, -9, -9, -5, 40]}
    con.register("frame", pd.DataFrame([{"good": good, "age": age} for good, of in ages.items() for age in of]))
    model = nbsql.fit(con, "FROM frame", target="good", families={"age": nbsql.Binned(by=[10], special=[-9])}, alpha=0)
    lines = [line[2:8] for line in model.scorecard().lines if line[1] == "value"]
    assert lines == [
        ("(-inf, 10)", None, 10, 4, 3, pytest.approx(math.log(3))),
        ("-9", -9, -9, 4, 1, pytest.approx(-math.log(3))),
        ("[10, inf)", 10, None, 2, 1, 0),
    ]


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"bins": 4},
        {"by": "width", "bins": 4},
        {"by": "mdl"},
        {"by": [0, 15, 30]},
        {"bins": 8, "monotone": True},
        {"monotone": "peak", "by": [-10, 0, 10, 20, 30]},
    ],
)
def test_the_other_bins_are_found_without_them(con, options):
    frame = table(con)
    families = {"age": nbsql.Binned(**options)}
    without = nbsql.fit(
        con, f"FROM t WHERE age NOT IN {tuple(CODES)}", target="bad", features=["age"], families=families
    ).families["age"]
    families = {"age": nbsql.Binned(**options, special=CODES)}
    model = nbsql.fit(con, "t", target="bad", id="id", features=["age"], families=families, name="m")
    binned = model.families["age"]
    labels = dict.fromkeys(binned.labels)
    assert len(labels) == len(without.edges) + 1 + len(CODES)
    assert {"-999", "-998", "0"} < {*labels}
    assert nbsql.load(con, "m").families == model.families
    # The weights of evidence are those of pandas, with 1 added to each count.
    at = pd.crosstab(bins_of(frame, list(without.edges), CODES), frame["bad"]) + 1
    shares = at / at.sum()
    expected = np.log(shares[True] / shares[False])
    card = model.scorecard(target=True)
    found = [line[7] for line in card.lines if line[1] == "value"]
    assert sorted(found) == pytest.approx(sorted(expected), abs=1e-12)
    assert {line[2]: line[5] for line in card.lines if line[1] == "value"}["-999"] == (frame["age"] == -999).sum()
    # Each row has the points of its bin, here, elsewhere and alone.
    points = bins_of(frame, list(without.edges), CODES).map(expected) * card.factor
    base = next(line[10] for line in card.lines if line[1] == "base")
    assert [row[0] for row in card.score("t", columns=[])] == pytest.approx(list(points + base), abs=1e-9)
    elsewhere = SQLite()
    elsewhere.load(con, "t")
    scored = elsewhere.rows(model.sql("predict", "t", dialect="sqlite", columns=["id"]))
    here = {row[0]: row[1:] for row in model.predict("t", columns=["id"])}
    assert {row["id"]: row["prediction"] for row in scored} == {id_: row[0] for id_, row in here.items()}
    for age in (-999, -998.5, 0, 5e-300, 15, None):
        answer = model.predict_one({"age": age})
        (row,) = model.predict(f"SELECT {'NULL' if age is None else age}::DOUBLE AS age", columns=[])
        assert (answer["prediction"], answer["probability"]) == (row[0], pytest.approx(row[1], abs=1e-12))


@pytest.mark.parametrize("method", ["tan", "aode"])
def test_other_methods_are_those_of_the_bins_as_categories(con, method):
    frame = table(con)
    frame["age"] = bins_of(frame, [10.0, 30.0], CODES)
    con.register("grouped", frame)
    cut = nbsql.fit(con, "t", target="bad", id="id", method=method, families={"age": nbsql.Binned(by=[10, 30], special=CODES)})
    grouped = nbsql.fit(con, "FROM grouped", target="bad", id="id", method=method)
    expected = {row[0]: row[1:] for row in grouped.predict_proba("FROM grouped", columns=["id"])}
    found = {row[0]: row[1:] for row in cut.predict_proba("t", columns=["id"])}
    assert [found[id_] for id_ in range(0, 1200, 7)] == [pytest.approx(expected[id_], abs=1e-9) for id_ in range(0, 1200, 7)]


def test_rows_of_a_code_are_filled_and_sampled_by_it(con):
    table(con)
    binned = nbsql.Binned(by=[10, 30], special=CODES)
    model = nbsql.fit(con, "t", target="bad", id="id", families={"age": binned})
    drawn = {row[0] for row in con.sql(f"SELECT age FROM ({model.sample(500, seed=1).sql}) WHERE age <= 0").fetchall()}
    assert {-999.0, -998.0, 0.0} <= drawn
    assert binned.spans[:2] == [("(-inf, 10)", -10, 10), ("-999", -999, -999)]


def test_on_the_command_line(con, tmp_path):
    table(con)
    con.execute(f"COPY t TO '{tmp_path}/t.parquet'")
    store = str(tmp_path / "m.duckdb")
    asked = "age=binned(by=[10,30],special=[-999,-998])"
    run("fit", store, f"{tmp_path}/t.parquet", "--target", "bad", "--id", "id", "--name", "ages", "--family", asked)
    assert "-999 " in run("scorecard", store, "ages", "--target", "true")


@pytest.mark.parametrize(
    ("special", "message"),
    [
        (-999, "special must be a list of numbers, such as [-999], not -999"),
        (["x"], "a special code must be a finite number, not 'x'"),
        ([1, 1], "special must be at most 100 different numbers, not [1, 1]"),
    ],
)
def test_what_is_refused(special, message):
    with pytest.raises(nbsql.InputError) as error:
        nbsql.Binned(special=special)
    assert str(error.value) == message
