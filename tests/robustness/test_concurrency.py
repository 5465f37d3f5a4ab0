"""Several readers and one writer in one process: readers see a whole model, and a second writer is told so."""

import threading

import pytest

import nbsql
from nbsql import DatabaseError

TURN = "another connection is changing the same model or table at this moment; try again when it is done"


@pytest.fixture
def other(con):
    """A second connection to the database of `con`, which has the tables may, june and known, and the model golf."""
    con.execute(
        "CREATE TABLE may AS FROM (VALUES ('sun', 1.0, 'no'), ('sun', 2.0, 'yes'), ('rain', 3.0, 'yes')) AS t(sky, wind, play)"
    )
    con.execute("CREATE TABLE june AS FROM (VALUES ('snow', 9.0, 'maybe'), ('rain', 4.0, 'yes')) AS t(sky, wind, play)")
    con.execute("CREATE TABLE known AS FROM (VALUES ('snow', 9.0, 'no'), ('rain', 4.0, 'yes')) AS t(sky, wind, play)")
    nbsql.fit(con, "may", target="play", name="golf")
    with con.cursor() as cursor:
        yield cursor


def contents(con):
    """Everything that there is of the model, but for the rounding of sums, which are added in any order."""
    tables = ("spec", "batches", "statistics", "parameters", "lookups", "priors", "likelihoods")
    found = {name: con.execute(f"FROM golf.{name} ORDER BY ALL").fetchall() for name in tables}
    for verb in ("predict_proba", "explain", "joint_log_likelihood"):
        found[verb] = con.execute(f"FROM golf.{verb}('may') ORDER BY ALL").fetchall()
    found["columns"] = con.execute("DESCRIBE FROM golf.predict_proba('may')").fetchall()
    return {name: [tuple(map(rounded, row)) for row in rows] for name, rows in found.items()}


def rounded(value):
    if isinstance(value, list):
        return [*map(rounded, value)]
    return f"{value:.9g}" if isinstance(value, float) else value


CHANGES = {
    "update": lambda model: model.update("june"),
    "update of known classes": lambda model: model.update("known"),
    "forget": lambda model: model.forget("FROM may LIMIT 1"),
    "forget a batch": lambda model: model.forget(batch="two"),
    "rollback": lambda model: model.rollback("1"),
    "compact": lambda model: model.compact(),
    "replace": lambda model: nbsql.fit(model.state.engine.connection, "june", target="play", name="golf", replace=True),
}
BESIDE = [("known", "sql"), ("known", "python"), ("june", "sql")]  # which takes seconds
ENDS = {**CHANGES, "drop": lambda model: model.drop()}


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_reader_sees_the_old_model_until_the_writer_commits(con, other, change):
    nbsql.load(con, "golf").update("known", batch="two")
    reader = nbsql.load(other, "golf")
    before, answers = contents(con), reader.predict_proba("may").fetchall()
    con.begin()
    change(nbsql.load(con, "golf"))
    after = contents(con)
    assert after != before
    assert contents(other) == before
    assert reader.predict_proba("may").fetchall() == answers
    con.commit()
    assert contents(other) == after
    assert nbsql.load(other, "golf").predict_proba("may").fetchall() == nbsql.load(con, "golf").predict_proba("may").fetchall()


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    [
        pytest.param(end, id=name, marks=[] if name in ("update", "drop") else [pytest.mark.nightly])
        for name, end in ENDS.items()
    ],
)
def test_a_second_writer_is_told_to_wait_and_writes_nothing(con, other, first):
    nbsql.load(con, "golf").update("known", batch="two")
    before = contents(con)
    late = nbsql.load(other, "golf")
    con.begin()
    first(nbsql.load(con, "golf"))
    for second in ENDS.values():
        with pytest.raises(DatabaseError) as refused:
            second(late)
        assert str(refused.value) == TURN
        assert contents(other) == before
    con.rollback()
    assert contents(other) == before
    late.update("june")  # now it is its turn
    assert other.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]


@pytest.mark.slow
def test_a_writer_whose_model_has_changed_since_it_began_is_refused(con, other):
    model = nbsql.load(con, "golf")
    other.begin()
    late = nbsql.load(other, "golf")
    model.update("june", batch="june")
    after = contents(con)
    with pytest.raises(DatabaseError, match=f"^{TURN}$"):
        late.update("june", batch="again")  # it would add to what it has read
    other.commit()  # DuckDB has undone the transaction already
    assert contents(con) == contents(other) == after
    late.update("june", batch="again")
    assert [row[0] for row in model.batches] == ["1", "june", "again"]


def test_two_writers_of_two_models_do_not_meet(con, other):
    con.begin()
    nbsql.load(con, "golf").update("june")
    tennis = nbsql.fit(other, "may", target="play", name="tennis")
    tennis.update("known")
    con.commit()
    assert nbsql.models(con) == ["golf", "tennis"]
    assert sum(row[1] for row in nbsql.load(con, "golf").priors) == sum(row[1] for row in tennis.priors) == 5


def test_two_new_models_of_one_name_do_not_mix(con, other):
    con.begin()
    nbsql.fit(con, "may", target="play", name="tennis")
    with pytest.raises(DatabaseError, match=f"^{TURN}$"):
        nbsql.fit(other, "june", target="play", name="tennis")
    con.commit()
    assert nbsql.load(other, "tennis").classes == ["yes", "no"]


@pytest.mark.slow
def test_writers_in_threads_take_turns_and_none_is_lost(con, other):
    refusals = []

    def write(connection, number):
        model = nbsql.load(connection, "golf")
        for turn in range(4):
            while True:
                try:
                    model.update("known", batch=f"{number}-{turn}")
                    break
                except DatabaseError as error:
                    refusals.append(str(error))

    with con.cursor() as third:
        threads = [threading.Thread(target=write, args=pair) for pair in ((con, 1), (other, 2), (third, 3))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert set(refusals) <= {TURN}
    model = nbsql.load(con, "golf")
    assert sorted(row[0] for row in model.batches) == ["1", *(f"{number}-{turn}" for number in (1, 2, 3) for turn in range(4))]
    expected = nbsql.fit(con, "FROM may UNION ALL SELECT known.* FROM known, range(12)", target="play")
    assert model.priors.fetchall() == expected.priors.fetchall()
    for row, fresh in zip(model.predict_proba("may"), expected.predict_proba("may"), strict=True):
        assert row[-2:] == pytest.approx(fresh[-2:], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "asks"), [("june", "python"), *(pytest.param(*case, marks=pytest.mark.nightly) for case in BESIDE)]
)
def test_readers_beside_many_changes_never_see_a_mixture(con, other, source, asks):
    model = nbsql.load(con, "golf")
    legal = [model.predict_proba("may").fetchall()]
    model.update(source)
    legal.append(model.predict_proba("may").fetchall())
    model.rollback("1")
    assert legal[0] != legal[1]
    seen = []
    done = threading.Event()

    def read(connection):
        try:
            loaded = nbsql.load(connection, "golf")
            while not done.is_set() or not seen:
                if asks == "python":
                    seen.append(loaded.predict_proba("may").fetchall())
                else:
                    seen.append(connection.execute("FROM golf.predict_proba('may')").fetchall())
        except Exception as error:
            seen.append(error)

    with con.cursor() as third:
        threads = [threading.Thread(target=read, args=(connection,)) for connection in (other, third)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(8):
                model.update(source)
                model.rollback("1")
        finally:
            done.set()
            for thread in threads:
                thread.join()
    assert [answer for answer in seen if answer not in legal] == []


@pytest.mark.slow
def test_a_query_that_waits_is_of_the_model_as_it_is_when_it_runs(con, other):
    model, changing = nbsql.load(other, "golf"), nbsql.load(con, "golf")
    verbs = ("predict", "predict_proba", "joint_log_likelihood", "log_evidence", "explain")
    waiting = {verb: getattr(model, verb)("may") for verb in verbs}
    waiting["costs"] = model.predict("may", costs={("no", "yes"): 3})
    texts = {verb: query.sql for verb, query in waiting.items()}
    con.begin()
    changing.update("known")
    changing.update("june")  # brings a class; in one transaction, at one time
    nbsql.load(con, "golf").predict("may").fetchall()
    con.commit()
    for verb in verbs:
        assert waiting[verb].fetchall() == getattr(nbsql.load(other, "golf"), verb)("may").fetchall()
        assert waiting[verb].columns == getattr(nbsql.load(other, "golf"), verb)("may").columns
    assert waiting["costs"].fetchall() == model.predict("may", costs={("no", "yes"): 3}).fetchall()
    assert {verb for verb, query in waiting.items() if query.sql == texts[verb]} == set()


def test_two_handles_in_one_transaction_take_notice_of_each_other(con, other):
    one, two = nbsql.load(con, "golf"), nbsql.load(con, "golf")
    con.begin()
    for source in ("known", "june"):
        one.update(source)
        assert two.predict_proba("may").columns == one.predict_proba("may").columns
    con.rollback()
    assert two.predict_proba("may").columns == nbsql.load(con, "golf").predict_proba("may").columns


@pytest.mark.slow
def test_a_handle_of_a_model_that_is_replaced_takes_notice_of_its_new_features(con, other):
    con.execute(
        "CREATE TABLE pairs AS FROM (VALUES (1.0, 9.0, 'a'), (2.0, 7.0, 'a'), (8.0, 1.0, 'b'), (9.0, 4.0, 'b')) AS t(x, y, c)"
    )
    handle = nbsql.fit(other, "pairs", target="c", name="pair")
    fresh = nbsql.fit(con, "SELECT y, x, c FROM pairs", target="c", name="pair", replace=True)
    assert handle.predict_proba("pairs").fetchall() == fresh.predict_proba("pairs").fetchall()
    nbsql.fit(con, "SELECT x, c FROM pairs", target="c", name="pair", replace=True)
    assert list(handle.predict("SELECT 1.0 AS x")) == list(nbsql.load(con, "pair").predict("SELECT 1.0 AS x"))
