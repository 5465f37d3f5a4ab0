"""A model that follows a table: after any changes of the table it is that of a fresh fit."""

import random
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest
from engines.places import Place, assert_same_rows

import nbsql
from nbsql import InputError, ModelError, NbsqlWarning, NotSupportedError

NEW = pytest.mark.skipif(duckdb.__version__ < "2", reason="triggers see the changed rows from DuckDB 2.0 on")
ON = pytest.mark.parametrize(
    "engine", [pytest.param("duckdb", marks=NEW), pytest.param("postgres", marks=pytest.mark.postgres)]
)

pytestmark = pytest.mark.filterwarnings("ignore:.*rows? (of .* has|without)", "ignore:.*row.* left out")

COLUMNS = {
    "id": "INTEGER", "a": "VARCHAR", "x": "DOUBLE PRECISION", "k": "INTEGER", "w": "DOUBLE PRECISION", "message": "VARCHAR",
    "label": "VARCHAR", "seen": "INTEGER",
}  # fmt: skip
FIT = {"target": "label", "id": "id", "exclude": ["seen"], "families": {"message": "text"}}
KINDS = {
    "mixed": {"exclude": ["seen", "w"]},
    "weighted": {"weight": "w"},
    "slices": {"slice_by": "k % 3", "exclude": ["seen", "w"]},
    "segments": {"segment_by": "k % 2", "features": ["a", "x"], "exclude": [], "families": {}},
    "derived": {"derive": {"x2": "x * x + seen * 0"}, "features": ["a", "x2"], "exclude": [], "families": {}},
    "counts": {"families": {"k": "poisson", "xw": nbsql.MultivariateGaussian(["x", "w"]), "message": nbsql.Text(tfidf=True)}},
}
QUICK = ("mixed", "counts")


def row(chance, number):
    word = [None, "free", "lunch", "at noon", "call me", "free money now"]
    return (
        number, chance.choice(["u", "v", "w", None, f"n{number % 17}"]), chance.choice([None, 20 + chance.gauss(0, 2)]),
        chance.randrange(9), chance.choice([0.5, 1.0, 2.25]), chance.choice(word),
        chance.choice(["ham", "spam", "eggs", None]), 0,
    )  # fmt: skip


def with_inbox(connect, engine, rows=60):
    place, chance = connect(engine), random.Random(1)  # noqa: S311
    place.table("inbox", COLUMNS, [(*row(chance, number)[:6], ["ham", "spam"][number % 2], 0) for number in range(rows)])
    return place


def sorted_rows(query):
    return sorted(query.fetchall(), key=lambda values: [repr(value) for value in values if not isinstance(value, float)])


def assert_same_model(model, fresh):
    assert_same_rows(sorted_rows(model.counts), sorted_rows(fresh.counts))
    assert model.classes == fresh.classes
    asked = "SELECT * FROM inbox WHERE id % 3 = 0"
    assert_same_rows(sorted_rows(model.predict_proba(asked)), sorted_rows(fresh.predict_proba(asked)))


@pytest.mark.few
@pytest.mark.slow
@ON
@pytest.mark.parametrize("kind", [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS])
def test_random_changes_are_learnt_as_by_a_fresh_fit(engine, kind, connect):
    place, chance, options = with_inbox(connect, engine), random.Random(kind), {**FIT, **KINDS[kind]}  # noqa: S311
    model = nbsql.fit(place.con, "inbox", name="spam", **options)
    model.follow("inbox")
    for step in range(1, 7):
        for _ in range(chance.randrange(1, 4)):
            low, high = sorted(chance.randrange(60 + 10 * step) for _ in range(2))
            match chance.randrange(3):
                case 0:
                    place.insert("inbox", [row(chance, number) for number in range(50 + 10 * step, 60 + 10 * step)])
                case 1:
                    place.run(f"DELETE FROM inbox WHERE id BETWEEN {low} AND {high} AND id % 4 = 1")
                case 2:
                    changed = chance.choice(["x = x * 1.5", "label = 'ham'", "a = 'u', k = k + 1", "seen = 1", "label = NULL"])
                    place.run(f"UPDATE inbox SET {changed} WHERE id BETWEEN {low} AND {high} AND id % 5 = 1")
        if step % 3 == 0:
            assert_same_model(model, nbsql.fit(place.con, "SELECT * FROM inbox WHERE label IS NOT NULL", **options))
    operations = [operation for _, operation, *_ in model.batches]
    assert operations in (["fit", "follow", "forget"], ["fit", "follow"])  # a line each, however often it has learnt


@pytest.mark.slow
@ON
def test_a_rollback_takes_changes_back(engine, connect):
    place = with_inbox(connect, engine)
    model = nbsql.fit(place.con, "inbox", name="spam", **FIT)
    model.follow("inbox")
    before = sorted_rows(model.counts)
    place.run("BEGIN")
    place.run("DELETE FROM inbox WHERE id < 20")
    assert sum(n for _, n, *_ in model.priors) == 40
    place.run("ROLLBACK")
    assert sum(n for _, n, *_ in model.priors) == 60
    assert_same_rows(sorted_rows(model.counts), before)
    assert place.run("SELECT count(*) FROM spam.changes") == [(0,)]


@pytest.mark.few
@pytest.mark.slow
@ON
def test_every_reader_learns_what_has_changed(engine, connect):
    place = with_inbox(connect, engine)
    model = nbsql.fit(place.con, "inbox", name="spam", **FIT)
    query, loaded = model.priors, nbsql.load(place.con, "spam")
    model.follow("inbox")
    kept = model.predict_proba("inbox")
    readers = {
        "a handle of before": lambda: len(loaded.classes),
        "a query of before": lambda: len(query.fetchall()),
        "a model that is loaded": lambda: (
            len(nbsql.load(place.con, "spam").likelihoods.fetchall()) and len(nbsql.load(place.con, "spam").classes)
        ),
        "a prediction of before": lambda: sum(name.startswith("probability_") for name in kept.columns),
        "an evaluation": lambda: len(model.evaluate("inbox").classes),
        "a merge": lambda: len(nbsql.merge(place.con, ["spam"]).classes),
        "a refresh": lambda: model.refresh() or len(model.state.classes),
    }
    for number, (name, reads) in enumerate(readers.items(), start=3):
        place.run(f"INSERT INTO inbox VALUES ({number}, 'u', 1, 1, 1, 'free', 'class {number}', 0)")
        assert reads() == number, name


@pytest.mark.slow
@ON
def test_deletes_of_all_rows_and_truncate(engine, connect):
    place = with_inbox(connect, engine)
    model = nbsql.fit(place.con, "SELECT * FROM inbox WHERE id < 10", name="spam", **FIT)
    model.follow("inbox", present="new")
    place.run("TRUNCATE inbox")
    assert sum(n for _, n, *_ in model.priors) == 10
    model.unfollow()
    assert [(operation, rows) for _, operation, _, rows, *_ in model.batches] == [
        ("fit", 10), ("update", 60), ("follow", 0), ("forget", 60), ("unfollow", 0),
    ]  # fmt: skip
    place.insert("inbox", [(1, "u", 1.0, 1, 1.0, "free", "ham", 0)])
    assert sum(n for _, n, *_ in model.priors) == 10


@pytest.mark.slow
@ON
def test_refusals_say_the_cure(engine, connect):
    place = with_inbox(connect, engine)
    con = place.con
    model = nbsql.fit(con, "SELECT * FROM inbox WHERE id < 10", name="spam", **FIT)
    place.run("CREATE VIEW mail AS SELECT * FROM inbox")

    def refused(error, act, message):
        with pytest.raises(error) as caught:
            act()
        assert str(caught.value) == message

    refused(InputError, lambda: model.follow("mail"), "mail is no table, and only a table tells what changes in it; "
            "name the table itself")  # fmt: skip
    refused(InputError, lambda: model.follow("inbox"), "inbox has 60 rows, and the ledger of model 'spam' no rows of it; say "
            "present='learnt' if it has learnt them, or present='new' to learn them now")  # fmt: skip
    with pytest.raises(
        InputError, match=r"^cannot follow inbox: it has 30 of class 'ham', of which model 'spam' has learnt 5$"
    ):
        model.follow("inbox", present="learnt")
    refused(ModelError, lambda: model.unfollow(), "model 'spam' follows no table")
    refused(ModelError, lambda: nbsql.fit(con, "inbox", **FIT).follow("inbox"),
            "a model without a name ends with the connection, and cannot follow a table; fit it with name")  # fmt: skip
    assert [operation for _, operation, *_ in model.batches] == ["fit"]
    model.follow("inbox", present="new")
    refused(ModelError, lambda: model.follow("inbox"), "model 'spam' follows inbox already; unfollow it first")
    refused(InputError, lambda: model.rollback("1"), "model 'spam' follows inbox, which rollback would contradict; "
            "unfollow it first")  # fmt: skip
    refused(InputError, lambda: model.update("inbox"), "model 'spam' follows inbox, and learns what changes in it by itself")


@pytest.mark.slow
@ON
def test_rows_that_cannot_be_learnt_are_said_until_they_are_right(engine, connect):
    place = with_inbox(connect, engine)
    model = nbsql.fit(place.con, "inbox", name="spam", **{**FIT, "weight": "w"})
    model.follow("inbox")
    place.run("INSERT INTO inbox VALUES (100, 'u', 1, 1, -1, 'free', 'ham', 0)")
    for reads in (model.refresh, lambda: model.predict("inbox"), lambda: model.classes):
        with pytest.raises(InputError, match=r"^model 'spam' cannot learn the changes of inbox: .*; put that right in inbox$"):
            reads()
    place.run("UPDATE inbox SET w = 1 WHERE id = 100")
    assert len(model.predict("inbox").fetchall()) == 61
    place.run("UPDATE inbox SET w = -1 WHERE id = 100")
    with pytest.warns(NbsqlWarning, match=r"put that right in inbox, or leave them out, as is done now$"):
        model.unfollow()


@pytest.mark.few
@pytest.mark.slow
@ON
def test_a_table_or_a_model_that_is_dropped(engine, connect):
    place = with_inbox(connect, engine)
    model = nbsql.fit(place.con, "inbox", name="spam", **FIT)
    model.follow("inbox")
    assert "follows inbox" in repr(model)
    assert " rows so far, by " in repr(model)
    with pytest.warns(NbsqlWarning, match=r"^model 'spam' followed inbox, and the one in its place does not; let it follow"):
        model = nbsql.fit(place.con, "inbox", name="spam", **FIT, replace=True)
    place.run("INSERT INTO inbox VALUES (100, 'u', 1, 1, 1, 'free', 'ham', 0)")
    assert sum(n for _, n, *_ in model.priors) == 60
    assert "follows" not in repr(model)
    model.follow("inbox", present="new")
    model.drop()
    place.run("INSERT INTO inbox VALUES (101, 'u', 1, 1, 1, 'free', 'ham', 0)")
    model = nbsql.fit(place.con, "inbox", name="spam", **FIT)
    model.follow("inbox")
    place.run("INSERT INTO inbox VALUES (102, 'u', 1, 1, 1, 'free', 'ham', 0)")
    place.run("DROP TABLE inbox")
    with pytest.warns(
        NbsqlWarning, match=r"^model 'spam' no longer follows inbox, whose triggers are gone, as it was dropped, made anew"
    ):
        assert model.classes == ["ham", "spam"]
    with pytest.warns(NbsqlWarning, match="no longer follows"):
        model.unfollow()
    assert sum(n for _, n, *_ in model.priors) == 63


@pytest.mark.postgres
def test_statements_that_insert_and_update_and_those_of_others_are_learnt(pg, address):
    import psycopg

    place, options = Place("postgres", pg), {"target": "label", "features": ["a", "k"]}
    chance = random.Random(2)  # noqa: S311
    rows = [(*row(chance, number)[:6], ["ham", "spam"][number % 2], 0) for number in range(30)]
    place.table("inbox", COLUMNS, rows)
    pg.execute("ALTER TABLE inbox ADD PRIMARY KEY (id)")
    model = nbsql.fit(pg, "inbox", name="spam", **options)
    model.follow("inbox")
    pg.execute("""INSERT INTO inbox VALUES (1, 'z', 1, 1, 1, 'free', 'eggs', 0), (90, 'z', 1, 1, 1, 'free', 'eggs', 0)
        ON CONFLICT (id) DO UPDATE SET a = excluded.a""")
    pg.execute("""MERGE INTO inbox USING (VALUES (2, 'm'), (91, 'n')) AS v(id, a) ON inbox.id = v.id
        WHEN MATCHED THEN UPDATE SET a = v.a WHEN NOT MATCHED THEN INSERT VALUES (v.id, v.a, 1, 1, 1, 'free', 'ham', 0)""")
    with psycopg.connect(address, autocommit=True) as other, pg.transaction():
        pg.execute("DELETE FROM inbox WHERE id < 9")
        assert_same_model(model, nbsql.fit(pg, "inbox", **options))
        other.execute("INSERT INTO inbox VALUES (92, 'u', 1, 1, 1, 'free', 'ham', 0)")
        assert_same_model(model, nbsql.fit(pg, "inbox", **options))
    pg.execute("CREATE TABLE years (id INTEGER, label VARCHAR) PARTITION BY RANGE (id)")
    pg.execute("CREATE TABLE first_year PARTITION OF years FOR VALUES FROM (0) TO (9)")
    model.unfollow()
    for name in ("years", "first_year"):
        with pytest.raises(InputError, match=f"^{name} is partitioned, or a partition, whose rows can be written past its"):
            model.follow(name)


@NEW
def test_a_file_is_followed_by_whoever_opens_it(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(path, config={"storage_compatibility_version": "v1.5.0"}) as con:
        con.execute("CREATE TABLE inbox AS SELECT i % 7 AS x, ['a', 'b'][1 + i % 2] AS c FROM range(40) AS r(i)")
        model = nbsql.fit(con, "inbox", target="c", name="it")
        with pytest.raises(nbsql.NbsqlError, match=r"no triggers; .* \(STORAGE_VERSION 'v2.0.0'\)$"):
            model.follow("inbox")
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{path}' AS shop (STORAGE_VERSION 'v2.0.0')")
        con.execute("CREATE TABLE shop.anything AS SELECT 1 AS x")
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{path}' AS other")
        with pytest.raises(InputError, match=r"^triggers would know the file of other.inbox as 'other', .* 'shop'; DETACH"):
            nbsql.load(con, "it", database="other").follow("other.inbox")
    with duckdb.connect(path) as con:
        nbsql.load(con, "it").follow("inbox")
    with duckdb.connect(path) as con:
        con.execute("INSERT INTO inbox VALUES (3, 'c')")
    with duckdb.connect(path, read_only=True) as con:
        model = nbsql.load(con, "it")
        with pytest.warns(NbsqlWarning, match=r"^model 'it' has not learnt the last changes of inbox, since it cannot be writ"):
            assert model.classes == ["a", "b"]
    with duckdb.connect(path) as con:
        assert nbsql.load(con, "it").classes == ["a", "b", "c"]


@pytest.mark.nightly
@NEW
def test_threads_with_connections_of_their_own_learn_in_turn(connect):
    place = with_inbox(connect, "duckdb")
    nbsql.fit(place.con, "inbox", name="spam", **FIT).follow("inbox")

    def insert_and_read(thread):
        con = place.con.cursor()
        model = nbsql.load(con, "spam")
        read = []
        for number in range(4):
            con.execute(f"INSERT INTO inbox VALUES ({100 * thread + number}, 'u', 1, 1, 1, 'free', 'class {thread}', 0)")
            read.append(len(model.predict_proba("inbox").fetchall()))
        return read

    with ThreadPoolExecutor(3) as pool:
        read = list(pool.map(insert_and_read, [1, 2, 3]))
    assert max(map(max, read)) == 72
    assert sorted(n for _, n, *_ in nbsql.load(place.con, "spam").priors) == [4, 4, 4, 30, 30]


@pytest.mark.skipif(duckdb.__version__ >= "2", reason="later versions have the triggers")
def test_an_older_duckdb_is_refused():
    con = duckdb.connect()
    model = nbsql.fit(con, "SELECT 1 AS x, 'a' AS c", target="c", name="it")
    with pytest.raises(NotSupportedError, match=r"^following a table needs the triggers of DuckDB 2.0, and this is 1"):
        model.follow("it")
