"""On PostgreSQL: one transaction a verb, beside readers and writers, in the caller's transaction and out of it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from engines.places import Place

import nbsql
from nbsql import DatabaseError, InputError, ModelError

psycopg = pytest.importorskip("psycopg")

COLUMNS = {"x": "VARCHAR", "y": "VARCHAR"}
FIRST = [("a", "yes"), ("a", "yes"), ("b", "no")]
AGAIN = "try again when it is done"
SECOND = [("a", "no"), ("b", "yes"), ("b", "yes"), ("c", "perhaps")]


@pytest.fixture
def tables(pg):
    place = Place("postgres", pg)
    place.table("first", COLUMNS, FIRST)
    place.table("second", COLUMNS, SECOND)
    return pg


def leftovers(con):
    return list(con.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'nbsql %'").fetchall()) + list(
        con.execute("SELECT relname FROM pg_class WHERE relname LIKE 'nbsql %' AND relkind IN ('r', 'v')").fetchall()
    )


def test_readers_see_the_old_model_until_the_new_one_is_whole(tables, address):
    nbsql.fit(tables, "first", target="y", name="m")
    with psycopg.connect(address, autocommit=True) as reader, psycopg.connect(address) as writer:
        model = nbsql.load(reader, "m")
        reader.execute("SET lock_timeout = '5s'")
        before = model.predict("first").fetchall()
        writer.execute("SELECT 1")  # opens the writer's own transaction, in which the fit takes place
        nbsql.fit(writer, "second", target="y", name="other")
        nbsql.load(writer, "m").predict("first").create_table("held")
        assert nbsql.models(reader) == ["m"]
        assert model.predict("first").fetchall() == before
        writer.rollback()
        assert nbsql.models(reader) == ["m"]

        # A whole replacement in a thread, with readers at work all the while.
        done = threading.Event()

        def replace():
            for source in ("second", "first", "second"):
                nbsql.fit(address, source, target="y", name="m", replace=True).close()
            done.set()

        thread = threading.Thread(target=replace)
        thread.start()
        seen = set()
        while not done.is_set():
            seen.add(len(nbsql.load(reader, "m").priors.fetchall()))
        thread.join()
        assert seen <= {2, 3}
        assert sorted(model.classes) == ["no", "perhaps", "yes"]  # the handle takes notice
        assert [row[2] for row in model.predict("SELECT 'c' AS x, 1 AS one").fetchall()] == ["perhaps"]
    assert leftovers(tables) == []


def test_a_fit_in_the_callers_transaction_is_the_callers(tables, address):
    with psycopg.connect(address) as con:
        con.execute("SET jit = on")  # which the servers of the tests are without
        con.execute("CREATE TABLE mine AS SELECT * FROM first")
        nbsql.fit(con, "mine", target="y", name="m")
        with pytest.raises(InputError):
            nbsql.fit(con, "mine", target="nothing", name="other")
        with pytest.raises(DatabaseError):
            nbsql.load(con, "m").predict("SELECT 'a' AS x, 1 / 0 AS broken").fetchall()
        assert con.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS  # and not aborted
        assert nbsql.models(con) == ["m"]
        assert con.execute("SHOW jit").fetchone() == ("on",)
        con.rollback()
        assert nbsql.models(con) == []
        assert con.info.transaction_status == psycopg.pq.TransactionStatus.IDLE  # a question leaves no transaction open
        model = nbsql.fit(con, "first", target="y", name="m")
        assert con.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        assert len(model.predict("first").fetchall()) == 3
        assert con.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        with con.transaction(force_rollback=True):
            first, second = (nbsql.fit(con, "first", target=name, name="n", replace=True) for name in ("y", "x"))
            assert (first.target, first.classes) == ("x", second.classes)
    assert nbsql.models(tables) == ["m"]
    assert leftovers(tables) == []


@pytest.mark.parametrize(
    "source", ["SELECT * FROM first WHERE y = 'nobody'", "SELECT x, CAST(NULL AS VARCHAR) AS y FROM first"]
)
def test_a_fit_that_fails_leaves_the_old_model(tables, source):
    model = nbsql.fit(tables, "first", target="y", name="m")
    before = model.priors.fetchall()
    with pytest.raises(InputError):
        nbsql.fit(tables, source, target="y", name="m", replace=True)
    assert nbsql.load(tables, "m").priors.fetchall() == before
    assert leftovers(tables) == []


def test_what_is_not_nbsqls_is_not_dropped(tables):
    model = nbsql.fit(tables, "first", target="y", name="m")
    tables.execute("CREATE TABLE m.notes (x TEXT)")
    message = "schema 'm' holds 'notes', which nbsql did not make; move it elsewhere first"
    for act in (model.drop, lambda: nbsql.fit(tables, "second", target="y", name="m", replace=True)):
        with pytest.raises(ModelError) as caught:
            act()
        assert str(caught.value) == message
    assert len(model.predict("first").fetchall()) == 3
    tables.execute("DROP TABLE m.notes")
    model.drop()
    assert nbsql.models(tables) == []
    tables.execute("CREATE VIEW scored_elsewhere AS SELECT 1 AS one")


def test_a_second_writer_gets_one_line(tables, address):
    nbsql.fit(tables, "first", target="y", name="m")
    with psycopg.connect(address) as one, psycopg.connect(address, autocommit=True) as two:
        one.execute("SELECT 1")
        nbsql.load(one, "m").update("first")
        two.execute("SET lock_timeout = '200ms'")
        with pytest.raises(DatabaseError) as caught:
            nbsql.load(two, "m").update("second")
        assert str(caught.value) == f"another connection is changing the same model or table at this moment; {AGAIN}"
        one.commit()
        nbsql.load(two, "m").update("second")
        assert nbsql.load(two, "m").batches.fetchall()[-1][3:4] == (4,)


def at_once(*acts):
    """What becomes of acts that begin together, sorted."""

    def result(act):
        try:
            act()
        except nbsql.NbsqlError as error:
            return str(error)
        return "done"

    with ThreadPoolExecutor(len(acts)) as threads:
        return sorted(threads.map(result, acts))


def test_writers_of_a_model_wait_for_each_other(tables, address):
    def fit(**options):
        nbsql.fit(address, "first", target="y", name="m", **options).close()

    def update():
        with nbsql.load(address, "m") as model:
            model.update("first")

    assert at_once(fit, fit) == ["done", "model 'm' is there already; replace it with replace=True, or choose another name"]
    replace = partial(fit, replace=True)
    assert at_once(replace, replace, replace) == ["done"] * 3
    assert at_once(update, update, update) == ["done"] * 3
    assert sum(row[1] for row in nbsql.load(tables, "m").priors) == 12
    with nbsql.load(address, "m") as one, nbsql.load(address, "m") as two:
        assert at_once(one.drop, two.drop) == ["done", f"no model 'm' in {address.rsplit('/', 1)[1]!r}; there are none yet"]
        with pytest.raises(ModelError, match="no model 'm'"):
            one.update("first")
    assert leftovers(tables) == []


def test_a_reader_holds_up_a_replacement_and_nobody_else(tables, address):
    model = nbsql.fit(tables, "first", target="y", name="m")
    expected = model.predict("first").fetchall()
    with psycopg.connect(address) as slow, nbsql.load(address, "m") as other:
        slow.execute("SELECT * FROM m.parameters, m.priors").fetchall()
        pid = slow.info.backend_pid
        tables.execute("SET lock_timeout = '400ms'")
        acts = [
            lambda: model.update("second"),  # another class
            lambda: nbsql.fit(tables, "second", target="y", name="m", replace=True),
            model.drop,
        ]
        for act in acts:
            found = at_once(act, lambda: other.predict("first").fetchall())
            line = f"process {pid} of nbsql (idle in transaction) reads the model, whose tables are to be made anew; {AGAIN}"
            assert found == ["done", line]
            assert other.predict("first").fetchall() == expected
        assert leftovers(tables) == []
        assert tables.execute("SHOW lock_timeout").fetchone() == ("400ms",)
        tables.execute("SET lock_timeout = 0")
        threading.Timer(0.7, slow.rollback).start()
        acts[1]()
    assert sorted(model.classes) == ["no", "perhaps", "yes"]
    assert leftovers(tables) == []


def test_a_transient_model_goes_with_its_connection(tables, address):
    model = nbsql.fit(address, "first", target="y")
    assert len(model.predict("first").fetchall()) == 3
    assert nbsql.models(tables) == []
    model.close()
    kept = nbsql.fit(tables, "first", target="y")
    kept.update("second")
    assert [row[0] for row in kept.priors] == ["no", "perhaps", "yes"]
    kept.drop()
    assert leftovers(tables) == []


def test_a_transaction_reads_one_state_of_the_rows(tables, address, monkeypatch):
    """Rows that come in between two reads of a fit are in none of them."""
    from nbsql.plan import Plan

    scan = Plan.find_imprecise_features

    def and_then_insert(self, *arguments):
        with psycopg.connect(address, autocommit=True) as con:
            con.execute("INSERT INTO first VALUES ('z', 'yes')")
        return scan(self, *arguments)

    monkeypatch.setattr(Plan, "find_imprecise_features", and_then_insert)
    model = nbsql.fit(tables, "first", target="y", name="m")
    assert {row[2] for row in model.likelihoods} == {"a", "b"}
    assert sum(row[1] for row in model.priors) == 3


def test_views_follow_an_update_and_hold_a_replacement_up(tables, address):
    model = nbsql.fit(tables, "first", target="y", name="m")
    model.predict("first").create_view("scored")
    before = tables.execute("SELECT probability FROM scored").fetchall()
    with psycopg.connect(address) as reader:
        reader.execute("SELECT * FROM scored")  # reads the model's tables in a transaction that stays open
        tables.execute("SET lock_timeout = '2s'")
        model.update("SELECT * FROM second WHERE y <> 'perhaps'")
    after = tables.execute("SELECT probability FROM scored").fetchall()
    assert after != before
    assert after == [row[-1:] for row in model.predict("first").fetchall()]
    message = "view public.scored reads what is to be made anew; drop it first, and make it again afterwards"
    acts = [
        lambda: model.update("second"),  # another class
        lambda: nbsql.fit(tables, "second", target="y", name="m", replace=True),
        model.drop,
    ]
    for act in acts:
        with pytest.raises(DatabaseError) as caught:
            act()
        assert str(caught.value) == message
        assert tables.execute("SELECT probability FROM scored").fetchall() == after
    tables.execute("DROP VIEW scored")
    for act in acts:
        act()
    assert nbsql.models(tables) == []
    assert leftovers(tables) == []


def test_a_query_shows_its_first_rows_but_in_a_transaction_or_if_it_takes_long(tables, monkeypatch):
    model = nbsql.fit(tables, "first", target="y", name="m")
    query = model.predict("first")
    assert repr(query).startswith("nbsql.Query, its first rows (10 at most); .show() runs it, .sql is its text\nx ")
    assert ">a</td>" in query._repr_html_()
    tables.autocommit = False
    tables.execute("SELECT 1")
    assert repr(query) == "<nbsql.Query of x, y, prediction, probability; .show() runs it, .sql is its text>"
    tables.rollback()
    tables.autocommit = True
    monkeypatch.setattr(model.state.engine, "preview_seconds", 0.2)
    slow = model.predict("SELECT 'a' AS x, pg_sleep(60)::text AS s")
    assert repr(slow) == "<nbsql.Query of x, s, prediction, probability; .show() runs it, .sql is its text>"
    assert tables.execute("SELECT 42").fetchall() == [(42,)]
