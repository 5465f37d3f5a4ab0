"""A verb returns what it adds and those columns of its source that are named, in that order."""

import re

import pytest

import nbsql

ROWS = (
    "SELECT i AS id, CASE WHEN i % 4 = 0 THEN 'a' WHEN sin(i) > 0 THEN 'b' ELSE 'c' END AS y, 'k' || i % 7 AS kind, "
    "sin(i) AS x FROM range(90) AS r(i)"
)
COSTS = {("a", "b"): 4, ("b", "a"): 2}
VERBS = {
    "predict": nbsql.Model.predict,
    "calibrated": lambda model, rows, **columns: model.predict(rows, calibrated=True, **columns),
    "costs": lambda model, rows, **columns: model.predict(rows, costs=COSTS, **columns),
    "thresholds": lambda model, rows, **columns: model.predict(rows, thresholds={"c": 0.2}, **columns),
    "top_k": lambda model, rows, **columns: model.predict(rows, top_k=2, **columns),
    "predict_proba": nbsql.Model.predict_proba,
    "joint_log_likelihood": nbsql.Model.joint_log_likelihood,
    "log_evidence": nbsql.Model.log_evidence,
}

pytestmark = [pytest.mark.usefixtures("form"), pytest.mark.parametrize("form", ["wide", "long"], indirect=True)]


@pytest.fixture
def model(con):
    con.execute(f"CREATE TABLE rows AS {ROWS}")
    model = nbsql.fit(con, "rows", target="y", features=["kind", "x"], name="m")
    model.calibrate("rows")
    return model


def sorted_by_text(rows):
    return sorted(([f"{value:.9g}" if isinstance(value, float) else value for value in row] for row in rows), key=repr)


@pytest.mark.slow
def test_only_the_named_columns_come_back(model):
    for verb in VERBS.values():
        whole = verb(model, "rows")
        names, rows = whole.columns, whole.fetchall()
        for columns in ([], ["X", "id", "x"]):
            found = verb(model, "rows", columns=columns)
            assert found.columns == [*dict.fromkeys(column.lower() for column in columns), *names[4:]]
            places = [names.index(name) for name in found.columns]
            assert sorted_by_text(found.fetchall()) == sorted_by_text([tuple(row[place] for place in places) for row in rows])


@pytest.mark.slow
def test_a_source_may_have_the_columns_that_are_added_where_they_do_not_come_back(model):
    for verb in VERBS.values():
        names = verb(model, "rows").columns[4:]
        source = f"SELECT *, {', '.join(f'1 AS {name}' for name in names)} FROM rows"
        found = verb(model, source, columns=["id"])
        assert found.columns == ["id", *names]
        assert sorted_by_text(found.fetchall()) == sorted_by_text(verb(model, "rows", columns=["id"]).fetchall())


def test_rows_of_a_frame_keep_their_order_and_a_query_is_inlined(con, model):
    frame = con.sql("SELECT * FROM rows ORDER BY hash(id)").df()
    assert [row[0] for row in model.predict(frame, columns=["id"])] == frame["id"].tolist()
    bare = model.predict(frame, columns=[]).fetchall()
    assert bare == [row[4:] for row in model.predict(frame).fetchall()]
    query = model.sql("predict", "rows", inline=True, columns=["id"])
    assert con.sql(query).columns == ["id", "prediction", "probability"]
    assert "kind" not in model.sql("predict", "rows", columns=[]).partition("FROM")[0]


@pytest.mark.slow
def test_columns_that_are_none_are_refused(model, refused):
    with refused(nbsql.InputError, "no column 'kin' in rows; did you mean 'kind'?"):
        model.predict("rows", columns=["kin"])
    with refused(nbsql.InputError, "columns must be a list of names, not 'kind'"):
        model.log_evidence("rows", columns="kind")
    with refused(nbsql.InputError, "calibrated must be True or False, not 'yes'"):
        model.predict("rows", calibrated="yes")
    taken = "the query has a column 'probability' already, which predict adds; choose what comes back by columns=[...]"
    with refused(nbsql.InputError, taken):
        model.predict("SELECT *, 1 AS probability FROM rows", columns=["probability"])
    with refused(nbsql.InputError, "columns goes with the verbs that pass columns of the source on, not with 'explain'"):
        model.sql("explain", "rows", columns=[])


def test_a_column_of_a_dimension_does_not_come_back(con):
    con.execute(f"CREATE TABLE rows AS {ROWS}")
    con.execute("CREATE TABLE kinds AS SELECT 'k' || i AS kind, i % 3 AS size FROM range(7) AS r(i)")
    model = nbsql.fit(con, "rows", target="y", features=["x", "size"], joins=[nbsql.Join("kinds", on="kind")])
    found = model.predict("rows", columns=["id"])
    assert found.columns == ["id", "prediction", "probability"]
    names = model.predict("rows").columns
    places = [names.index(name) for name in found.columns]
    expected = [tuple(row[place] for place in places) for row in model.predict("rows")]
    assert sorted_by_text(found.fetchall()) == sorted_by_text(expected)


@pytest.mark.few
@pytest.mark.parametrize("verb", VERBS)
def test_a_feature_may_have_the_name_of_an_added_column_that_does_not_come_back(con, refused, verb):
    plain = nbsql.fit(con, ROWS, target="y", id="id", name="plain")
    rows = f"SELECT id, y, kind AS prediction, x AS log_evidence FROM ({ROWS})"
    model = nbsql.fit(con, rows, target="y", id="id", name="renamed")
    for each, source in ((plain, ROWS), (model, rows)):
        if verb == "calibrated":
            each.calibrate(source)
    found = VERBS[verb](model, rows, columns=["id"]).fetchall()
    expected = VERBS[verb](plain, ROWS, columns=["id"]).fetchall()
    assert [[x for x in row if not isinstance(x, float)] for row in found] == [
        [x for x in row if not isinstance(x, float)] for row in expected
    ]
    assert [x for row in found for x in row if isinstance(x, float)] == pytest.approx(
        [x for row in expected for x in row if isinstance(x, float)], rel=1e-12
    )
    if verb == "predict":
        taken = "the query has a column 'prediction' already, which predict adds; choose what comes back by columns=[...]"
        with refused(nbsql.InputError, taken):
            model.predict(rows)


@pytest.mark.parametrize(
    ("name", "expression", "kind"),
    [
        ("df", "i::UHUGEINT", "UHUGEINT"),
        ("df", "'10:00:00+02'::TIMETZ", "TIME WITH TIME ZONE"),
        ("pl", "INTERVAL (i) HOUR", "INTERVAL"),
        ("pl", "union_value(n := i)", "UNION"),
    ],
)
def test_a_column_for_which_a_library_has_no_type_is_one_line(con, name, expression, kind):
    model = nbsql.fit(con, "SELECT i % 3 AS x, i % 2 AS y FROM range(60) AS t(i)", target="y")
    query = model.predict(f"SELECT i % 3 AS x, {expression} AS more FROM range(60) AS t(i)")
    library = {"df": "pandas", "pl": "polars"}[name]
    cure = "cast the column to text, or leave it out with columns=[...]"
    with pytest.raises(nbsql.NotSupportedError, match=re.escape(f"{library} has no type for a column of {kind}; {cure}") + "$"):
        getattr(query, name)()
    assert len(query.fetchall()) == 60
