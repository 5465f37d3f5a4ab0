"""Derived columns are part of a model: every verb, source and part of a model computes them, and what cannot be is refused."""

import warnings

import pandas as pd
import pytest

import nbsql

PRICE = "CAST(replace(price, '$', '') AS DOUBLE)"
DERIVE = {"price": PRICE, "per_page": "price / pages"}
OPTIONS = {"target": "y", "id": "id"}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.fixture
def con(con):
    con.execute(
        "CREATE TABLE t AS SELECT i AS id, ['a', 'b'][1 + i * 7 % 2] AS y, '$' || (i % 13 + i * 7 % 2 * 3) || '.50' AS price, "
        "1 + i % 5 AS pages FROM range(200) AS r(i)"
    )
    con.execute(f"CREATE VIEW hand AS SELECT id, y, {PRICE} AS price, pages, {PRICE} / pages AS per_page FROM t")
    return con


def posteriors(query):
    """The ids of the rows and their probabilities, in one list."""
    return [x for row in sorted(query.fetchall(), key=lambda row: row[0]) for x in (row[0], *row[-3:])]


@pytest.mark.slow
def test_every_form_of_source(con, tmp_path):
    expected = posteriors(nbsql.fit(con, "hand", **OPTIONS).predict_proba("hand"))
    con.execute(f"COPY t TO '{tmp_path}/t.parquet'")
    con.execute(f"COPY t TO '{tmp_path}/t.csv'")
    frame = con.execute("FROM t").df()
    rows = frame.to_dict("records")
    model = nbsql.fit(con, "t", derive=DERIVE, **OPTIONS)
    files = [f"{tmp_path}/t.parquet", f"{tmp_path}/*.csv"]
    tables = ["t", "SELECT * FROM t", con.table("t"), con.table("t").to_arrow_table()]
    for source in [*tables, *files, frame, rows, frame.to_dict("list")]:
        assert posteriors(model.predict_proba(source)) == pytest.approx(expected)
        fitted = nbsql.fit(con, source, derive=DERIVE, **OPTIONS)
        assert posteriors(fitted.predict_proba("t")) == pytest.approx(expected)


def test_other_types_and_missing_columns(con):
    model = nbsql.fit(con, "t", name="m", derive=DERIVE, **OPTIONS)
    expected = posteriors(model.predict_proba("t"))
    assert posteriors(model.predict_proba("hand")) == pytest.approx(expected)  # numbers already, and per_page anew
    ready = model.predict_proba("SELECT 0 AS id, 0.5 AS price, 0.5 AS per_page, 1 AS pages")
    assert ready.fetchall()[0][-3:] == pytest.approx(expected[1:4])
    made = model.predict_proba("SELECT 0 AS id, price, per_page, pages FROM hand WHERE id = 0")
    assert made.fetchall()[0][-3:] == pytest.approx(expected[1:4])
    with pytest.raises(nbsql.InputError) as caught:
        model.predict("SELECT id, price FROM t")
    line = "no column 'pages' in the query, from which model 'm' derives 'per_page'; its columns are 'id', 'price'"
    assert str(caught.value) == line
    sampled = model.sample(3, seed=1)
    assert len(model.predict(sampled).fetchall()) == 3


def test_what_a_result_contains(con):
    model = nbsql.fit(con, "t", name="m", derive=DERIVE, **OPTIONS)
    names = ["id", "y", "price", "pages"]
    assert model.predict("t").columns == [*names, "prediction", "probability"]
    assert model.impute("t").columns[:4] == names
    assert model.review("t", n=1).columns[:4] == names
    assert model.predict("t", columns=["per_page"]).columns == ["per_page", "prediction", "probability"]
    assert con.execute("FROM m.predict('t') WHERE id = 1").fetchone() == (
        1,
        "b",
        2,
        4.5,
        *model.predict("t").fetchall()[1][-2:],
    )
    assert model.evaluate("t", by="per_page").slices.columns[0] == "per_page"


@pytest.mark.nightly
def test_roles_may_be_derived(con):
    """The class, the weight, the slices, the segment, the time of a row and the key of a dimension."""
    con.execute("CREATE TABLE sizes AS SELECT k, k * 2 AS size FROM range(3) AS r(k)")
    bare = "SELECT id, pages FROM t"
    late = nbsql.fit(con, "t", target="late", features=["pages"], derive={"late": "y = 'a'"}, name="late")
    assert late.predict(bare).columns == ["id", "pages", "prediction", "probability"]
    assert late.classes == [False, True]
    rows = {name: value for of, name, value in con.execute("FROM late.evaluate('t')").fetchall() if of is None}
    assert rows["accuracy"] == pytest.approx(late.evaluate("t").accuracy)
    late.update("t")
    late.forget("t")
    for options in (
        {"derive": {"w": "1 + id % 3"}, "weight": "w"},
        {"derive": {"part": "id % 3"}, "slice_by": "part", "exclude": ["part"]},
        {"derive": {"part": "id % 3"}, "segment_by": "part"},
        {"derive": {"at": "CAST(id AS BIGINT)"}, "weight": nbsql.HalfLife(50, at="at")},
        {"derive": {"k": "id % 3"}, "joins": nbsql.Join("sizes", "k")},
        {"derive": DERIVE, "method": "logistic"},
        {"derive": DERIVE, "method": "tan"},
        {"derive": DERIVE, "method": "em"},
    ):
        by_hand = ", ".join(
            f"{sql} AS {name}" for name, sql in options["derive"].items() if name != "price" and name != "per_page"
        )
        source = f"SELECT *, {by_hand} FROM t" if by_hand else "hand"
        asked = {**OPTIONS, **options, "exclude": [*options.get("exclude", ()), *(["price"] if by_hand else [])]}
        model = nbsql.fit(con, "t", **asked)
        hand = nbsql.fit(con, source, **{**asked, "derive": None})
        for each, rows_of in ((model, "t"), (hand, source)):
            each.update(rows_of) if asked.get("method") in (None, "tan") else None
        assert posteriors(model.predict_proba("t")) == pytest.approx(posteriors(hand.predict_proba(source)))


@pytest.mark.nightly
@pytest.mark.look
def test_searches_and_folds(con):
    for folds in (5, "loo"):
        derived = nbsql.cross_validate(con, "t", derive=DERIVE, folds=folds, **OPTIONS)
        assert derived.log_loss == pytest.approx(nbsql.cross_validate(con, "hand", folds=folds, **OPTIONS).log_loss)
    for found in (
        nbsql.sweep(con, "t", derive=DERIVE, alpha=[1, 2], **OPTIONS),
        nbsql.auto(con, "t", derive=DERIVE, methods=["naive", "tan"], **OPTIONS),
    ):
        assert len(found.best().predict("t").fetchall()) == 200
    assert nbsql.families(con, "t", derive=DERIVE, **OPTIONS)["per_page"].name == "lognormal"


@pytest.mark.slow
def test_models_made_of_others_derive_too(con, tmp_path):
    model = nbsql.fit(con, "t", name="m", derive=DERIVE, infer="types", **OPTIONS)
    expected = posteriors(model.predict_proba("t"))
    model.export(tmp_path / "m.nbsql")
    script = nbsql.fit_sql(con, "t", name="scripted", derive=DERIVE, **OPTIONS)
    con.execute(script)
    for other in (
        nbsql.import_(con, tmp_path / "m.nbsql", name="moved"),
        nbsql.merge(con, [model]),
        nbsql.load(con, "scripted"),
        model.as_of("1"),
    ):
        assert posteriors(other.predict_proba("t")) == pytest.approx(expected)
    from nbsql.sklearn import to_sklearn

    others = nbsql.fit(con, "t", derive={"price": PRICE, "per_page": "price / (pages + 0)"}, infer="types", **OPTIONS)
    with pytest.raises(
        nbsql.ModelError, match=r"one derives 'per_page' as 'price / pages', the other as 'price / \(pages \+ 0\)'"
    ):
        nbsql.merge(con, [model, others])
    with pytest.raises(nbsql.NotSupportedError, match="no estimator with derived columns"):
        to_sklearn(model)


@pytest.mark.parametrize(
    ("derive", "line"),
    [
        ({"x": "sum(pages)"}, "derive['x'] must have one value a row, and 'sum(pages)' is an aggregate of many"),
        ({"x": "unnest([1, 2])"}, "derive['x'] must have one value a row, and 'unnest([1, 2])' makes rows of its own"),
        (
            {"x": "lag(y) OVER ()"},
            "derive['x'] must read one row, and 'lag(y) OVER ()' has a window of others; compute it in the source",
        ),
        ({"x": "nope + 1"}, "derive['x'] must be one SQL expression over the columns of t: Binder Error: "),
        ({"x": "1), (2"}, "derive['x'] must be one SQL expression over the columns of t: Parser Error: "),
        ({"a": "pages + 1", "A": "2"}, "derive names 'a' and 'A', which is one column; rename one"),
        ({"nbsql_x": "1"}, "derive names a column 'nbsql_x', and nbsql keeps such names for itself; rename it"),
        ({"x": 1}, "derive must map names to SQL expressions, {'per_page': 'price / pages'}, not {'x': 1}"),
        (["x"], "derive must map names to SQL expressions, {'per_page': 'price / pages'}, not ['x']"),
    ],
)
def test_what_is_no_column(con, derive, line):
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(con, "t", derive=derive, **OPTIONS)
    assert str(caught.value).startswith(line)


def test_a_value_that_cannot_be_read_is_an_error(con):
    model = nbsql.fit(con, "t", derive=DERIVE, **OPTIONS)
    with pytest.raises(nbsql.DatabaseError, match="Could not convert string 'cheap' to DOUBLE"):
        model.predict("SELECT 1 AS id, 'cheap' AS price, 1 AS pages").fetchall()
    with pytest.raises(nbsql.DatabaseError, match="Could not convert string 'cheap' to DOUBLE"):
        model.predict_one({"price": "cheap", "pages": 1})
    with pytest.raises(nbsql.InputError, match="no 'price' in the row, read by the model; give None if it is not known"):
        model.predict_one({"pages": 1})
    with pytest.raises(nbsql.NotSupportedError, match=r"derived column 'z' is .*, which has no form in the dialect 'sqlite'"):
        nbsql.fit(con, "t", derive={"z": "list_sum([pages, 1])"}, exclude=["price"], **OPTIONS).sql(
            "predict", "t", dialect="sqlite"
        )


@pytest.mark.slow
def test_estimators_derive():
    pytest.importorskip("sklearn")
    from nbsql.sklearn import NaiveBayesClassifier, NaiveBayesCV

    frame = pd.DataFrame({"price": [f"${i % 7}.50" for i in range(60)], "pages": [1 + i % 3 for i in range(60)]})
    labels = ["a" if i % 7 > 3 else "b" for i in range(60)]
    hand = pd.DataFrame({"price": frame.price.str[1:].astype(float), "pages": frame.pages})
    hand["per_page"] = hand.price / hand.pages
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        derived = NaiveBayesClassifier(derive=DERIVE).fit(frame, labels)
    expected = NaiveBayesClassifier().fit(hand, labels).predict_proba(hand)
    assert derived.predict_proba(frame) == pytest.approx(expected)
    assert NaiveBayesCV(derive=DERIVE, alphas=[1.0]).fit(frame, labels).predict_proba(frame) == pytest.approx(expected)


@pytest.mark.parametrize("expression", ["TRY_CAST(x AS DOUBLE)", "try_cast(x AS DOUBLE)"])
def test_a_text_of_a_file_that_is_no_number_is_a_missing_one_by_try_cast(con, tmp_path, expression):
    """DuckDB 2.0 hands a cast that is the only use of a column on to the reader of the file, which fails on the text."""
    con.execute(
        "CREATE TABLE r AS SELECT id, y, CASE WHEN id % 9 = 0 THEN 'cheap' ELSE CAST(id % 13 AS VARCHAR) END AS x FROM t"
    )
    path = str(tmp_path / "r.csv")
    con.execute(f"COPY r TO '{path}'")
    models = [nbsql.fit(con, source, **OPTIONS, derive={"x": expression}) for source in ("r", path)]
    assert [model.families["x"].name for model in models] == ["gaussian"] * 2
    expected = posteriors(models[0].predict_proba("r", columns=["id"]))
    assert posteriors(models[1].predict_proba(path, columns=["id"])) == pytest.approx(expected, rel=1e-9)
    assert (
        sum(row[2] is None for row in models[1].predict(path))
        == con.sql("FROM r WHERE x = 'cheap'").count("id").fetchall()[0][0]
    )


def test_another_type_of_what_is_computed_with_is_named(con):
    model = nbsql.fit(con, "t", derive=DERIVE, name="m", **OPTIONS)
    con.execute("CREATE TABLE texts AS SELECT * REPLACE (CAST(pages AS VARCHAR) AS pages) FROM t")
    line = (
        "column 'pages' of texts is VARCHAR, and model 'm' has learnt BIGINT there, from which it derives 'per_page'; read it"
    )
    for verb in model.predict, model.evaluate, model.update:
        with pytest.raises(nbsql.InputError, match=line):
            verb("texts")
