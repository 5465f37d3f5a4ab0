"""Models without a name, and what evaluations keep for later, leave nothing behind when nobody holds them any more."""

import gc
import threading

import duckdb
import pandas as pd
import pytest

import nbsql

COLUMNS = {"week": "INTEGER", "y": "VARCHAR", "a": "VARCHAR", "x": "DOUBLE PRECISION"}
DAYS = [(i // 10, "no" if i % 3 else "yes", f"a{i % 4}", i % 7 / 2) for i in range(40)]
ON = pytest.mark.parametrize("engine", ["duckdb", "postgres"])

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

MADE = {
    "fit": lambda model, _: nbsql.fit(con(model), "days", target="y").predict("days").fetchall(),
    "classify": lambda model, _: nbsql.classify(con(model), "days", "days", target="y").fetchall(),
    "as_of": lambda model, _: model.as_of("1").explain("days").fetchall(),
    "slices": lambda model, _: model.slices(["1", "2"]).evaluate("days").roc.fetchall(),
    "window": lambda model, _: model.window(last=2).predict_one({"a": "a1", "x": 2.0}),
    "merge": lambda model, _: nbsql.merge(con(model), [model, model.as_of("1")]).likelihoods.fetchall(),
    "import": lambda model, folder: nbsql.import_(con(model), exported(model, folder)).predict("days").fetchall(),
    "from_tables": lambda model, _: nbsql.from_tables(
        con(model), priors={"u": 0.5, "v": 0.5}, likelihoods={"u": {"a": {"a1": 1.0}}, "v": {"a": {"a2": 1.0}}}
    ).predict("days").fetchall(),
    "calibrate": lambda model, _: nbsql.fit(con(model), "days", target="y").calibrate("days", folds=2),
    "cross_validate": lambda model, _: nbsql.cross_validate(con(model), "days", target="y", folds=2).evaluation.roc.fetchall(),
    "sweep": lambda model, _: nbsql.sweep(con(model), "days", target="y", alpha=[0.5, 1], folds=2).best().priors.fetchall(),
    "update": lambda model, _: (made := model.as_of("1"), made.update("days"), made.forget("days"), made.classes),
    "segments": lambda model, _: nbsql.fit(con(model), "days", target="y", segment_by="week").predict("days").fetchall(),
    "components": lambda model, _: nbsql.fit(con(model), "days", target="y", method=nbsql.Mixture(2)).classes,
    "error": lambda model, _: refused(model.as_of("1")),
}  # fmt: skip


def con(model):
    return model.state.engine.handle


def refused(model):
    with pytest.raises(nbsql.InputError):
        model.predict("SELECT 1 AS z")


def exported(model, folder):
    model.export(folder / "m.parquet", overwrite=True)
    return folder / "m.parquet"


def stocked(place):
    place.table("days", COLUMNS, DAYS)
    return nbsql.fit(place.con, "days", target="y", name="weather", exclude=["week"], slice_by="week")


def temporary(place):
    """The temporary tables and views of the connection, on which DuckDB 1 drops with the next statement of nbsql."""
    if place.engine == "duckdb" and duckdb.__version__ < "2":
        nbsql.models(place.con)
    if place.engine == "spark":
        return [name for _, name, is_temporary in place.run("SHOW VIEWS") if is_temporary]
    if place.engine == "postgres":
        sql = "SELECT relname FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relkind IN ('r', 'v')"
    else:
        sql = "SELECT table_name FROM duckdb_tables() WHERE temporary UNION ALL FROM (SELECT view_name FROM duckdb_views() \
            WHERE temporary AND NOT internal)"
    return [name for (name,) in place.run(sql)]


@pytest.mark.few
@pytest.mark.slow
@ON
@pytest.mark.parametrize("verb", MADE)
def test_what_nobody_holds_is_dropped(verb, engine, connect, tmp_path):
    place = connect(engine)
    model = stocked(place)
    for _ in range(2):
        MADE[verb](model, tmp_path)
        assert temporary(place) == []
    assert len(model.predict("days").fetchall()) == 40


@pytest.mark.nightly
def test_what_nobody_holds_is_dropped_on_spark(connect):
    place = connect("spark")
    model = stocked(place)
    held = model.as_of("1")
    before = len(temporary(place))
    assert before > 0
    derived = model.slices(["1"])
    assert len(temporary(place)) > before
    del derived
    assert len(temporary(place)) == before
    assert held.classes == ["no", "yes"]
    del held
    assert temporary(place) == []


@pytest.mark.forms("engine")
@pytest.mark.slow
@ON
def test_a_query_or_an_evaluation_holds_the_model_that_it_is_of(engine, connect):
    place = connect(engine)
    model = stocked(place)
    holders = {
        "predict": lambda: model.as_of("1").predict("days"),
        "priors": lambda: model.as_of("1").priors,
        "limit": lambda: model.as_of("1").explain("days").limit(3),
        "source": lambda: model.predict(model.as_of("1").predict("days", columns=["a", "x"]), columns=["a"]),
        "evaluate": lambda: model.as_of("1").evaluate("days", by="week").slices.intervals,
        "compare": lambda: model.compare(model.as_of("1"), "days"),
        "monitor": lambda: model.as_of("1").monitor("days"),
        "profile": lambda: model.as_of("1").profile("a"),
        "sample": lambda: model.as_of("1").sample(3),
        "relevance": lambda: model.as_of("1").relevance(),
        "cross_validate": lambda: nbsql.cross_validate(place.con, "days", target="y", folds=2).evaluation.calibration,
    }
    for name, make in holders.items():
        query = make()
        gc.collect()
        assert temporary(place) != [], name
        assert query.fetchall() != [], name
        del query
        assert temporary(place) == [], name


@pytest.mark.slow
@ON
def test_a_model_that_is_let_go_in_a_transaction_is_dropped_after_it(engine, connect):
    place = connect(engine)
    model = stocked(place)
    early = model.as_of("1")
    for end in ("COMMIT", "ROLLBACK"):
        early = model.as_of("1")
        place.run("BEGIN")
        model.as_of("1").predict("days").fetchall()
        del early
        place.run(end)
        assert model.classes == ["no", "yes"]  # its statements end a turn
        assert temporary(place) == []
    early = model.as_of("1")
    place.run("BEGIN")
    with pytest.raises(Exception, match="nowhere"):
        place.run("SELECT * FROM nowhere")
    del early
    place.run("ROLLBACK")
    assert model.classes == ["no", "yes"]
    assert temporary(place) == []


@pytest.mark.nightly
@pytest.mark.forms("engine")
@ON
def test_models_are_let_go_in_any_thread_and_by_the_garbage_collector(engine, connect):
    place = connect(engine)
    model = stocked(place)
    wrong = []

    def work():
        try:
            for _ in range(5):
                cycle = [model.as_of("1"), model.slices(["0"])]
                cycle.append(cycle)
                if cycle[0].predict("days").limit(1).fetchall() == []:
                    wrong.append("no row")
                gc.collect(0)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    gc.collect()
    assert model.classes == ["no", "yes"]
    assert temporary(place) == []


def test_letting_a_model_go_leaves_the_rows_that_are_still_to_be_read(connect):
    place = connect("duckdb")
    model = stocked(place)
    derived, framed = model.as_of("1"), model.predict(pd.DataFrame({"a": ["a1"], "x": [1.0]}))
    place.con.execute("FROM range(5000)")
    assert place.con.fetchone() == (0,)
    del derived, framed
    assert len(place.con.fetchall()) == 4999
    assert model.classes == ["no", "yes"]
    assert temporary(place) == []


@pytest.mark.slow
def test_what_outlives_a_model_without_a_name_can_be_read(connect):
    place = connect("duckdb")
    model = stocked(place)
    relation = model.as_of("1").predict("days").relation.project("prediction")
    model.as_of("1").priors.create_view("first_priors")
    gc.collect()
    assert len(relation.fetchall()) == 40
    assert place.run("SELECT count(*) FROM first_priors") == [(2,)]


def test_a_connection_that_is_closed_first(tmp_path):
    con = duckdb.connect()
    model = nbsql.fit(con, "SELECT i % 2 AS y, 'a' || i % 3 AS a FROM range(9) AS r(i)", target="y")
    con.close()
    del model
    owned = nbsql.fit(tmp_path / "a.duckdb", "SELECT i % 2 AS y, 'a' || i % 3 AS a FROM range(9) AS r(i)", target="y")
    owned.close()
    del owned
    duckdb.connect(str(tmp_path / "a.duckdb"), read_only=True).close()
