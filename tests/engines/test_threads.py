"""One handle, or one connection, shared by threads: every verb answers as it does alone, and readers see a whole model."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone

import duckdb
import pandas as pd
import pytest
from support.forks import answer_of_a_fork

import nbsql

ON = pytest.mark.parametrize("engine", ["duckdb", "postgres"])
COLUMNS = {"y": "VARCHAR", "a": "VARCHAR", "b": "VARCHAR", "x": "DOUBLE PRECISION"}
MAY = [(["ham", "spam", "news"][i * 7 // 5 % 3], f"u{i * 7 % 5}", f"v{(i + i * i) % 4}", i * 5 % 11 + i / 8) for i in range(60)]
JUNE = [("junk", "u9", "v1", 40.0), ("spam", "u1", "v9", 3.0)]

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def stocked(place):
    place.table("may", COLUMNS, MAY)
    place.table("june", COLUMNS, JUNE)
    return nbsql.fit(place.con, "may", target="y", name="mail")


def rows():
    return [dict(zip(COLUMNS, row, strict=True)) for row in [*MAY, *JUNE]]


def together(works):
    """The results of functions that run at once, each in a thread."""
    start = threading.Barrier(len(works))

    def begin(work):
        start.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [each.result() for each in [pool.submit(begin, work) for work in works]]


def aside(work):
    """The result of a function in a thread of its own."""
    return together([work])[0]


def rounded(value):
    """An answer without the digits in which sums of another order differ, and its rows in one order."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        found = [*map(rounded, value)]
        return sorted(found, key=repr) if isinstance(value, list) else tuple(found)
    return f"{value:.9g}" if isinstance(value, float) else value


@pytest.mark.forms("engine")
@pytest.mark.slow
@ON
@pytest.mark.parametrize("calls", [1_200, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_each_thread_gets_the_answers_of_its_own_rows(engine, calls, connect):
    model = stocked(connect(engine))
    asked = rows()
    alone = [rounded(model.predict_one(row)) for row in asked]
    assert len({str(each) for each in alone}) > 40

    def ask(thread):
        places = [(thread * 7 + call) % len(asked) for call in range(calls // 8)]
        return [place for place in places if rounded(model.predict_one(asked[place])) != alone[place]]

    assert together([lambda thread=thread: ask(thread) for thread in range(8)]) == [[]] * 8


VERBS = {
    "predict": lambda model: model.predict("may").fetchall(),
    "predict, df": lambda model: model.predict_proba("may").df().to_numpy().tolist(),
    "predict, arrow": lambda model: model.predict("june").arrow().to_pylist(),
    "predict, iterated": lambda model: [*model.joint_log_likelihood("may")],
    "predict_one": lambda model: [model.predict_one(row) for row in rows()[:8]],
    "explain": lambda model: model.explain("june").fetchall(),
    "evaluate": lambda model: model.evaluate("may").to_dict(),
    "priors": lambda model: (model.priors.fetchall(), model.classes, model.families),
    "log_likelihood": lambda model: model.log_likelihood("may"),
    "sample": lambda model: model.sample(5).fetchall(),
    "monitor": lambda model: [row[:5] for row in model.monitor("may")],
    "as_of": lambda model: model.as_of("1").predict("may").fetchall(),
    "batches": lambda model: [row[:4] for row in model.batches],
    "load": lambda model: nbsql.load(model.state.engine.handle, "mail").predict("june").fetchall(),
    "fit": lambda model: nbsql.fit(model.state.engine.handle, "may", target="y", features=["x"]).likelihoods.fetchall(),
    "cross_validate": lambda model: nbsql.cross_validate(model.state.engine.handle, "may", target="y", folds=3).accuracy,
}


@pytest.mark.forms("engine")
@pytest.mark.slow
@ON
def test_all_verbs_of_one_handle_at_once(engine, connect):
    model = stocked(connect(engine))
    alone = {verb: rounded(ask(model)) for verb, ask in VERBS.items()}

    def ask(first):
        order = [*VERBS][first:] + [*VERBS][:first]
        return {verb: found for verb in order if (found := rounded(VERBS[verb](model))) != alone[verb]}

    assert together([lambda first=first: ask(first) for first in range(0, len(VERBS), 4)]) == [{}] * 4


@pytest.mark.forms("engine")
@pytest.mark.slow
@ON
def test_readers_beside_a_writer_of_the_same_handle_see_a_whole_model(engine, connect):
    model = stocked(connect(engine))
    asked = rows()
    read = {
        "predict_proba": lambda: model.predict_proba("may").df().to_dict("list"),
        "predict_one": lambda: model.predict_one(asked[0]),
        "explain": lambda: model.explain("june").fetchall(),
        "evaluate": lambda: model.evaluate("may").to_dict(),
        "log_likelihood": lambda: model.log_likelihood("june", labelled=True),
        "as_of": lambda: model.as_of("1").priors.fetchall(),
    }
    legal = {name: [rounded(ask())] for name, ask in read.items()}
    model.update("june", batch="june")
    for name, ask in read.items():
        legal[name].append(rounded(ask()))
    model.rollback("1")
    assert legal["predict_proba"][0] != legal["predict_proba"][1]
    done = threading.Event()

    def write():
        try:
            for _ in range(2):
                model.update("june", batch="june")
                model.rollback("1")
                model.update("june", batch="june")
                model.forget(batch="june")
                model.rollback("1")
        finally:
            done.set()
        return []

    def watch(name):
        seen = [rounded(read[name]())]
        while not done.is_set():
            seen.append(rounded(read[name]()))
        # a forgotten batch leaves its class behind, with a count of 0, until the rollback
        return [each for each in seen if each not in legal[name] and "junk" not in str(each)]

    assert together([write, *(lambda name=name: watch(name) for name in read)]) == [[]] * (1 + len(read))
    assert [row[0] for row in model.batches] == ["1"]
    assert rounded(read["evaluate"]()) == legal["evaluate"][0]


@pytest.mark.nightly
@pytest.mark.forms("engine")
@ON
def test_writers_of_one_connection_take_turns(engine, connect):
    place = connect(engine)
    model = stocked(place)

    def work(thread):
        source = f"SELECT * FROM may WHERE x > {thread}"
        own = nbsql.fit(place.con, source, target="y", name=f"mail{thread}")
        own.calibrate(source, folds=3)
        for turn in range(3):
            model.update("june", batch=f"{thread}-{turn}")
        return own.priors.fetchall()

    found = together([lambda thread=thread: work(thread) for thread in range(4)])
    for thread, priors in enumerate(found):
        assert priors == nbsql.fit(place.con, f"SELECT * FROM may WHERE x > {thread}", target="y").priors.fetchall()
    assert sorted(row[0] for row in model.batches) == sorted(["1", *(f"{i}-{j}" for i in range(4) for j in range(3))])
    assert dict(row[:2] for row in model.priors)["junk"] == 12


@ON
def test_a_query_is_read_in_another_thread_than_the_one_that_made_it(engine, connect):
    model = stocked(connect(engine))
    queries = {"stored": model.predict("may"), "derived": model.as_of("1").predict("may")}
    if engine == "duckdb":
        queries["frame"] = model.predict(pd.DataFrame(MAY, columns=[*COLUMNS]))
    expected = rounded(model.predict("may").fetchall())
    for query in queries.values():
        assert rounded(aside(query.fetchall)) == expected
        assert len(aside(query.df)) == len(MAY)
    query = aside(lambda: model.predict("may"))
    assert rounded(query.fetchall()) == expected


@pytest.mark.slow
@ON
def test_another_thread_sees_what_the_callers_transaction_has_done(engine, connect):
    place = connect(engine)
    model, row = stocked(place), rows()[0]
    before = model.predict_one(row)
    assert rounded(aside(lambda: model.predict_one(row))) == rounded(before)
    place.run("BEGIN")
    nbsql.load(place.con, "mail").update("june")
    fresh = nbsql.fit(place.con, "june", target="y", name="fresh")
    within = model.predict_one(row)
    assert "junk" in within["probabilities"]
    assert rounded(aside(lambda: model.predict_one(row))) == rounded(within)
    assert set(aside(lambda: fresh.predict_one(row))["probabilities"]) == {"junk", "spam"}
    place.run("ROLLBACK")
    assert rounded(aside(lambda: model.predict_one(row))) == rounded(before)
    with pytest.raises(nbsql.ModelError, match=r"^no model 'fresh' in "):
        aside(lambda: fresh.predict_one(row))


@ON
def test_what_is_wrong_is_said_in_every_thread(engine, connect):
    model = stocked(connect(engine))
    for wrong, error, message in [
        ({"a": "u1"}, nbsql.InputError, "no 'b' in the row, a feature of model 'mail'; give None if it is not known"),
        (
            rows()[0] | {"x": "much"},
            nbsql.InputError,
            "'x' of the row is the text 'much', and a number in model 'mail'; pass a number, or None if it is not known",
        ),
    ]:
        for _ in range(2):
            with pytest.raises(error) as refused:
                aside(lambda wrong=wrong: model.predict_one(wrong))
            assert str(refused.value) == message
    model.drop()
    with pytest.raises(nbsql.ModelError, match=r"^no model 'mail' in "):
        aside(lambda: model.predict_one(rows()[0]))


def test_threads_of_a_model_without_a_name_and_of_session_settings(connect):
    con = connect("duckdb").con
    con.execute("SET TimeZone = 'Asia/Tokyo'")
    con.execute("""CREATE TEMP TABLE seen AS SELECT ['early', 'late'][1 + i % 2] AS y,
        TIMESTAMPTZ '2020-01-01 20:00:00+00' + to_days((i % 4)::INTEGER) AS sent FROM range(40) AS r(i)""")
    row = {"sent": datetime(2020, 1, 1, 20, tzinfo=timezone.utc)}
    for name in (None, "zoned"):
        model = nbsql.fit(con, "seen", target="y", name=name, families={"sent": "categorical"})
        alone = model.predict_one(row)
        assert alone["probability"] > 0.8
        assert together([lambda model=model: model.predict_one(row)] * 4) == [alone] * 4


def test_closing_a_model_closes_what_its_threads_have_opened(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as con:
        nbsql.fit(con, "SELECT 'a' || i % 3 AS a, i % 2 AS y FROM range(30) AS r(i)", target="y", name="m")
    model = nbsql.load(path, "m")
    assert len(together([lambda: model.predict_one({"a": "a1"})] * 4)) == 4
    model.close()
    with pytest.raises(nbsql.DatabaseError, match=r"^the connection is closed; open a new one, and load the model with it$"):
        aside(lambda: model.predict_one({"a": "a1"}))
    duckdb.connect(str(path), read_only=True).close()  # which is refused while the file is open for writing


@pytest.mark.slow
def test_an_estimator_predicts_in_threads():
    from nbsql.sklearn import NaiveBayesClassifier

    frame = pd.DataFrame(MAY, columns=[*COLUMNS])
    estimator = NaiveBayesClassifier().fit(frame.drop(columns="y"), frame["y"])
    parts = [frame.drop(columns="y").iloc[start : start + 20] for start in (0, 10, 20, 30)]
    alone = [rounded(estimator.predict_proba(part).tolist()) for part in parts]

    def ask(place):
        return [rounded(estimator.predict_proba(parts[place]).tolist()) for _ in range(5)]

    assert together([lambda place=place: ask(place) for place in range(4)]) == [[each] * 5 for each in alone]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_fork_does_not_read_the_answers_of_another_process(pg):
    model = nbsql.fit(pg, [{"y": "a", "x": True}, {"y": "b", "x": False}], target="y", name="m")
    said = "the connection is that of the process from which this one was forked; connect anew here"
    for act in (model.priors.fetchall, lambda: model.predict_one({"x": True}), lambda: nbsql.load(pg, "m")):
        assert answer_of_a_fork(act) == said
    assert len(model.priors.fetchall()) == 2
