"""A model at hand that another connection replaces or changes: every verb answers for the model as it is."""

import contextlib
import io
import re
from functools import cache

import duckdb
import pytest

import nbsql
from nbsql.plan.classes import class_columns
from nbsql.storage import state

FOLLOWS = duckdb.__version__ >= "2"
ROWS = """CREATE TABLE rows AS
    SELECT
        ['a', 'b'][1 + i % 2] AS c, i % 7 + i % 2 AS x, i % 5 + 3 * (i % 2) AS y,
        ['u', 'v', 'w'][1 + i % 3] AS z, i % 4 // 2 AS m
    FROM range(40) AS r(i)"""
ASKED = {
    "as_of": lambda model, _: model.as_of("1").likelihoods.fetchall(),
    "batches": lambda model, _: [row[:4] for row in model.batches],
    "calibrate": lambda model, _: model.calibrate("rows").rows,
    "class_shares": lambda model, _: model.class_shares("rows").fetchall(),
    "classes": lambda model, _: model.classes,
    "compact": lambda model, _: (model.compact(), model.statistics.fetchall()),
    "components": lambda model, _: model.components.fetchall(),
    "counts": lambda model, _: sorted(model.counts.fetchall(), key=repr),
    "dependence": lambda model, _: model.dependence("rows").fetchall(),
    "discrimination": lambda model, _: model.discrimination(*model.classes[:2]).fetchall(),
    "drift": lambda model, _: model.drift("0", "1").fetchall(),
    "compare": lambda model, _: model.compare(model, "rows").fetchall(),
    "evaluate": lambda model, _: list(model.evaluate("rows").to_dict().items())[:3],
    "evaluate_sql": lambda model, _: model.state.engine.rows(model.evaluate_sql("rows")),
    "explain": lambda model, _: model.explain("rows").fetchall(),
    "export": lambda model, folder: (model.export(folder / "m.parquet"), read(folder / "m.parquet")),
    "families": lambda model, _: model.families,
    "follow": lambda model, _: (model.follow("rows"), model.classes) if FOLLOWS else model.classes,
    "unfollow": lambda model, _: (model.follow("rows"), model.unfollow(), model.classes) if FOLLOWS else model.classes,
    "refresh": lambda model, _: (model.refresh(), model.classes),
    "forget": lambda model, _: (model.forget("FROM rows LIMIT 4"), model.statistics.fetchall()),
    "impute": lambda model, _: model.impute("SELECT * REPLACE (NULL AS y) FROM rows").fetchall(),
    "joint_log_likelihood": lambda model, _: model.joint_log_likelihood("rows").fetchall(),
    "likelihoods": lambda model, _: model.likelihoods.fetchall(),
    "linear": lambda model, _: model.linear().fetchall(),
    "log_evidence": lambda model, _: model.log_evidence("rows").fetchall(),
    "log_likelihood": lambda model, _: model.log_likelihood("rows", labelled=True),
    "log_likelihood_sql": lambda model, _: model.state.engine.rows(model.log_likelihood_sql("rows")),
    "predict": lambda model, _: model.predict("rows", top_k=2).fetchall(),
    "predict_one": lambda model, _: model.predict_one({"x": 1, "y": 2, "z": "u", "m": 0}),
    "predict_one_sql": lambda model, _: re.sub(r"'[-0-9]{10} [:.0-9]+'", "", model.predict_one_sql()),  # but for the stamp
    "predict_proba": lambda model, _: model.predict_proba("rows").fetchall(),
    "monitor": lambda model, _: rounded(model.monitor("rows", by="m").fetchall()),
    "plot": lambda model, _: model.plot.ranking().spec,
    "priors": lambda model, _: model.priors.fetchall(),
    "profile": lambda model, _: model.profile("y").fetchall(),
    "quadratic": lambda model, _: model.quadratic().fetchall(),
    "report": lambda model, folder: headings(model, folder / "m.html"),
    "relevance": lambda model, _: (model.relevance().fetchall(), model.relevance(values=True).fetchall()),
    "review": lambda model, _: model.review("rows", 3).fetchall(),
    "unusual": lambda model, _: model.unusual("rows", 3).fetchall(),
    "rollback": lambda model, _: (model.rollback("1"), model.statistics.fetchall()),
    "sample": lambda model, _: model.sample(3).fetchall(),
    "scorecard": lambda model, _: model.scorecard(target=model.classes[0]).score("rows", reasons=1).fetchall(),
    "segments": lambda model, _: model.segments.fetchall(),
    "show": lambda model, _: re.sub(r"[0-9]{4}-[-0-9]* [:0-9]*", "", shown(model)),  # but for the time
    "slice_names": lambda model, _: model.slice_names,
    "slices": lambda model, _: model.slices(["1"]).likelihoods.fetchall(),
    "sql": lambda model, _: model.sql("predict", "rows", dialect="sqlite"),
    "statistics": lambda model, _: model.statistics.fetchall(),
    "target": lambda model, _: model.target,
    "update": lambda model, _: (model.update("FROM rows LIMIT 4"), model.statistics.fetchall()),
    "weights": lambda model, _: model.weights(2).fetchall(),
    "window": lambda model, _: model.window(last=1).likelihoods.fetchall(),
}
NEW = {"target": "c", "features": ["y", "z"], "name": "it"}
OPTIONS = {
    **{verb: {"slice_by": "m"} for verb in ("drift", "slice_names", "slices", "window")},
    "components": {"method": nbsql.Mixture(2)},
    "segments": {"segment_by": "m"},
    "linear": {"families": {"y": nbsql.Gaussian(shared_variance=True)}},
    "scorecard": {"families": {"y": nbsql.Binned(bins=2)}},
}


def test_a_class_that_comes_while_rows_are_scored_is_noticed():
    con = connect()
    model = nbsql.fit(con, "rows", target="c", name="it")
    query, other = model.predict_proba("rows"), con.cursor()
    scored = []

    class Interrupted:
        """The connection; while it scores for the first time, another brings a class."""

        def __getattr__(self, name):
            return getattr(con, name)

        def execute(self, sql):
            answer = con.execute(sql)
            if "probability_a" in sql:
                scored.append(sql)
                if len(scored) == 1:
                    nbsql.load(other, "it").update("SELECT * REPLACE ('0' AS c) FROM rows")
            return answer

    model.state.engine.connection = Interrupted()
    answers = query.fetchall()
    model.state.engine.connection = con
    assert [("probability_0" in sql) for sql in scored] == [False, True]
    assert rounded(answers) == rounded(nbsql.load(con, "it").predict_proba("rows").fetchall())


def test_a_query_notices_a_change_in_the_transaction_that_it_is_run_in():
    con = connect()
    model = nbsql.fit(con, "rows", target="c", name="it")
    query = model.predict_proba("rows")
    con.begin()
    nbsql.fit(con, "SELECT * REPLACE (7 AS c) FROM rows UNION ALL FROM rows", target="c", name="it", replace=True)
    answers = query.fetchall()
    con.commit()
    loaded = nbsql.load(con, "it")
    assert loaded.classes == ["7", "a", "b"]
    assert rounded(answers) == rounded(loaded.predict_proba("rows").fetchall())


def read(path):
    return nbsql.import_(duckdb.connect(), path).likelihoods.fetchall()


def headings(model, path):
    model.report(path)
    return re.findall(r"<h2.*?</h2>|<h3.*?</h3>", path.read_text(encoding="utf-8"), re.DOTALL)


def shown(model):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        model.show()
    return out.getvalue()


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        found = [*map(rounded, value)]
        return sorted(found, key=repr) if isinstance(value, list) else found  # rows come in any order
    return f"{value:.9g}" if isinstance(value, float) else value


def connect():
    con = duckdb.connect()
    con.execute(ROWS)
    return con


def test_every_verb_is_asked():
    assert {name for name in dir(nbsql.Model) if not name.startswith("_")} - ASKED.keys() == {"close", "drop", "state"}


CHANGES = {"calibrate", "compact", "follow", "forget", "rollback", "unfollow", "update"}
SHARING = [verb for verb in ASKED if verb not in CHANGES | OPTIONS.keys()]


def handles(verbs, fit, then):
    """A handle of one model for each verb, from before something happens to it: the first that is asked of one looks anew."""
    con = connect()
    model = fit(con)
    found = {verb: model if verb == verbs[0] else nbsql.load(con, "it") for verb in verbs}
    if "predict_one" in found:  # its statement is kept
        found["predict_one"].predict_one(dict.fromkeys(found["predict_one"].families))
    then(con.cursor())
    return con, found


@pytest.fixture(scope="module")
def replaced():
    """Handles of a model that another connection replaces; what leaves the new one as it is shares it."""

    def made(verbs):
        new = {**NEW, **OPTIONS.get(verbs[0], {})}
        return handles(
            verbs,
            lambda con: nbsql.fit(con, "rows", target="m", features=["x"], name="it"),
            lambda con: nbsql.fit(con, "rows", **new, replace=True),
        )

    shared = cache(lambda: made(SHARING))
    return lambda verb: shared() if verb in SHARING else made([verb])


@pytest.fixture(scope="module")
def dropped():
    """Handles of a model that another connection drops."""

    def made(verbs):
        old = {"target": "c", "features": ["x", "y", "z"], "name": "it", **OPTIONS.get(verbs[0], {})}
        return handles(verbs, lambda con: nbsql.fit(con, "rows", **old), lambda con: nbsql.load(con, "it").drop())

    shared = cache(lambda: made([verb for verb in ASKED if verb not in OPTIONS]))
    return lambda verb: made([verb]) if verb in OPTIONS else shared()


@pytest.mark.forms("verb")
@pytest.mark.slow
@pytest.mark.parametrize("verb", ASKED)
def test_a_model_that_was_replaced_elsewhere_is_the_new_one(verb, replaced, tmp_path):
    found = []
    for folder in ("stale", "fresh"):
        con, stale = replaced(verb)
        (tmp_path / folder).mkdir()
        model = stale[verb] if folder == "stale" else nbsql.load(con, "it")
        found.append(rounded(ASKED[verb](model, tmp_path / folder)))
    assert found[0] == found[1]


@pytest.mark.few
@pytest.mark.parametrize("verb", ASKED)
def test_a_model_that_was_dropped_elsewhere_is_no_more(verb, dropped, tmp_path):
    con, stale = dropped(verb)
    with pytest.raises(nbsql.ModelError) as refused:
        ASKED[verb](stale[verb], tmp_path)
    assert str(refused.value) == "no model 'it' in 'memory'; there are none yet"
    assert con.execute("SELECT count(*) FROM rows").fetchall() == [(40,)]  # no transaction is left open


def test_queries_of_a_model_that_was_dropped():
    con = connect()
    model = nbsql.fit(con, "rows", target="c", name="it")
    nbsql.fit(con, "rows", target="c", name="its")
    queries = [model.predict("rows"), model.priors]
    model.drop()
    for query in queries:
        for ask in (
            query.fetchall,
            query.df,
            query.arrow,
            lambda query=query: query.columns,
            lambda query=query: query.relation,
        ):
            with pytest.raises(nbsql.ModelError, match=r"^no model 'it' in 'memory'; did you mean 'its'\?$"):
                ask()


def test_a_model_without_a_name_that_was_dropped():
    con = connect()
    model = nbsql.fit(con, "rows", target="c")
    query = model.predict("rows")
    model.drop()
    for ask in (query.fetchall, model.priors.fetchall, lambda: model.classes, lambda: model.update("rows")):
        with pytest.raises(nbsql.ModelError, match=r"^the model, which has no name, has been dropped; fit it anew$"):
            ask()


def test_other_errors_of_the_database_stay_what_they_are():
    con = connect()
    model = nbsql.fit(con, "rows", target="c", name="it")
    con.execute("CREATE VIEW broken AS SELECT * REPLACE (error('broken') AS x) FROM rows")
    with pytest.raises(nbsql.DatabaseError, match="broken"):
        model.predict("broken").fetchall()
    con.close()
    with pytest.raises(nbsql.DatabaseError, match=r"^the connection is closed; open a new one, and load the model with it$"):
        model.priors.fetchall()


@pytest.mark.parametrize("how", ["merge", "like"])
def test_what_is_made_of_a_model_that_was_replaced_is_made_of_the_new_one(how):
    con = connect()
    handle = nbsql.fit(con, "rows", target="m", features=["x"], name="it")
    new = nbsql.fit(con.cursor(), "rows", **NEW, replace=True)
    if how == "merge":
        made = nbsql.merge(con, [handle])
    else:
        cells = con.sql(new.sql("statistics", "rows", dialect="duckdb"))
        made = nbsql.from_statistics(con, cells, like=handle)
    assert rounded(made.likelihoods.fetchall()) == rounded(new.likelihoods.fetchall())


@pytest.mark.parametrize("dropped", [False, True])
def test_a_model_that_is_replaced_in_the_transaction_of_its_fit_is_the_new_one(dropped):
    con = connect()
    con.execute("BEGIN")
    handle = nbsql.fit(con, "rows", target="m", features=["x"], name="it")
    handle.predict_one({"x": None})
    if dropped:
        nbsql.load(con, "it").drop()
    new = nbsql.fit(con, "rows", **NEW, replace=not dropped)
    assert handle.classes == new.classes
    row = dict.fromkeys(new.families)
    assert handle.predict_one(row) == new.predict_one(row)


def test_a_model_of_another_connection_is_not_merged():
    here, there = connect(), connect()
    named, transient = (nbsql.fit(there, "rows", target="c", name=name) for name in ("it", None))
    nbsql.fit(here, "FROM rows LIMIT 8", target="c", name="it")
    with pytest.raises(nbsql.InputError) as refused:
        nbsql.merge(here, ["it", named])
    assert str(refused.value) == (
        "model 'it' is of another connection; pass its name, or (database, name) of an attached database, "
        "or export it there and import it here"
    )
    with pytest.raises(nbsql.InputError) as refused:
        nbsql.merge(here, ["it", transient])
    assert str(refused.value) == "the model is of another connection; export it there and import it here"


def test_a_class_that_comes_while_a_model_is_loaded_is_noticed(monkeypatch):
    con = connect()
    nbsql.fit(con, "rows", target="c", name="it")
    other = con.cursor()

    def interrupted(rows):
        monkeypatch.undo()
        nbsql.load(other, "it").update("SELECT * REPLACE ('0' AS c) FROM rows")
        return class_columns(rows)

    monkeypatch.setattr(state, "class_columns", interrupted)
    model = nbsql.load(con, "it")
    assert model.predict_proba("rows").columns[-3:] == ["probability_0", "probability_a", "probability_b"]
    assert sorted(model.predict("rows", costs={("a", "b"): 2})) == sorted(
        nbsql.load(other, "it").predict("rows", costs={("a", "b"): 2})
    )


def test_a_class_that_comes_as_a_change_ends_is_noticed():
    con = connect()
    model = nbsql.fit(con, "rows", target="c", name="it")
    other = con.cursor()

    class Interrupted:
        """The connection; when its transaction has ended, another brings a class before anything else is asked."""

        def __getattr__(self, name):
            return getattr(con, name)

        def commit(self):
            con.commit()
            nbsql.load(other, "it").update("SELECT * REPLACE ('0' AS c) FROM rows")

    model.state.engine.connection = Interrupted()
    model.update("rows")
    model.state.engine.connection = con
    assert model.predict_proba("rows").columns[-3:] == ["probability_0", "probability_a", "probability_b"]
