"""Numbers with a covariance matrix, of linear and quadratic discriminant analysis, are DuckDB's."""

import random

import pytest
from engines.places import assert_same_rows
from engines.test_agreement import assert_agreement

import nbsql
import nbsql.plan.form

COLUMNS = {"id": "INTEGER", "y": "VARCHAR", "w": "DOUBLE PRECISION", "c": "VARCHAR", "k": "INTEGER"}
NUMBERS = {"x1": "DOUBLE PRECISION", "x2": "DECIMAL(8, 2)", "x3": "INTEGER"}
TEST = "SELECT id, y, c, x1, x2, x3 FROM t WHERE id < 30"

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.fixture
def tables(both):
    chance = random.Random(5)  # noqa: S311
    rows = []
    for i in range(200):
        kind = i % 3
        a, b, c = (chance.gauss(0, 1) for _ in range(3))
        x1 = float("nan") if i == 7 else None if i % 29 == 28 else 1e6 + a + kind
        x2 = None if i % 31 == 30 else round(a / 2 + b * (1 + kind), 2)
        x3 = None if i % 37 == 36 else round(10 * (c - b) + kind)
        rows.append((i, "aBc"[kind], chance.choice([0.0, 0.5, 1.0, 2.0]), chance.choice("uv"), i % 4, x1, x2, x3))
    for engine in both:
        engine.table("t", {**COLUMNS, **NUMBERS}, rows)
    return both


def together(**options):
    return {"families": {"all": nbsql.MultivariateGaussian(list(NUMBERS), **options)}}


CASES = {
    "lda": {"method": "lda"},
    "qda": {"method": "qda"},
    "lda of weights": {"method": "lda", "weight": "w"},
    "qda, shrunk": {"method": nbsql.QDA(shrinkage=0.25)},
    "qda, shrunk toward the pooled": {"method": nbsql.QDA(shrinkage=0.25, toward="pooled"), "weight": "w"},
    "lda by Ledoit and Wolf": {"method": nbsql.LDA(shrinkage="ledoit-wolf")},
    "qda by Ledoit and Wolf, of weights": {"method": nbsql.QDA(shrinkage="ledoit-wolf"), "weight": "w"},
    "shared, sample, imputed": together(variance="sample", impute=True),
    "own, sample, imputed by weights": {**together(shared=False, variance="sample", impute=True), "weight": "w"},
    "toward the pooled, sample": together(shared=False, variance="sample", shrinkage=0.5, toward="pooled"),
}


@pytest.mark.parametrize("case", CASES)
def test_matrices_agree(tables, case):
    options = {"target": "y", "id": "id", "exclude": ["k"] + ([] if "weight" in CASES[case] else ["w"]), **CASES[case]}
    assert_agreement(tables, "t", TEST, **options)


@pytest.mark.parametrize("method", ["lda", "qda"])
@pytest.mark.parametrize("both", ["postgres"], indirect=True)  # Spark has a column a class only
def test_a_row_a_class_agrees(tables, layout, method):
    """What a model of more parameters than a row holds is scored by."""
    layout(class_columns=False)
    assert_agreement(tables, "t", TEST, target="y", id="id", exclude=["k", "w"], method=method)
    model = nbsql.load(tables[0].con, "m")
    assert any(column.name == "class_no" for column in model.state.engine.columns(model.state.relations["parameters"]))


@pytest.mark.parametrize("method", ["lda", "qda"])
def test_models_change_and_are_judged_alike(tables, method):
    options = {"target": "y", "method": method, "exclude": ["w", "c"]}
    models = [nbsql.fit(place.con, "SELECT * FROM t WHERE id < 120", id="id", name="m", **options) for place in tables]
    for model in models:
        model.update("SELECT * FROM t WHERE id >= 120", batch="more")
        model.forget("SELECT * FROM t WHERE id % 5 = 4")
    for ask in (
        lambda model: sorted(model.predict_proba(TEST.replace("c, ", "k, ")).fetchall()),
        lambda model: list(model.evaluate("t").to_dict().items())[1:],
        lambda model: sorted((model.linear() if method == "lda" else model.quadratic()).fetchall(), key=repr),
        lambda model: model.drift("1", "more").fetchall(),
    ):
        assert_same_rows(*map(ask, models))


@pytest.mark.parametrize("method", ["lda", "qda"])
def test_what_columns_tell_together_agrees(tables, method):
    models = [nbsql.fit(place.con, "t", target="y", method=method, exclude=["id", "w", "c"]) for place in tables]
    assert_same_rows(*(model.relevance().fetchall() for model in models))
    assert_same_rows(*(sorted(model.relevance(values=True).fetchall(), key=repr) for model in models))
    weights = [model.linear() if method == "lda" else model.quadratic() for model in models]
    assert_same_rows(*(sorted(query.fetchall(), key=repr) for query in weights))


@pytest.mark.parametrize("method", ["lda", "qda"])
def test_folds_of_them_agree(tables, method):
    options = {"target": "y", "id": "id", "method": method, "exclude": ["w", "c"], "fold": "k"}
    judged = [nbsql.cross_validate(place.con, "t", **options) for place in tables]
    assert_same_rows(*(each.folds.fetchall() for each in judged))
    assert judged[0].log_loss == pytest.approx(judged[1].log_loss, rel=1e-9)
    assert judged[0].accuracy == judged[1].accuracy


@pytest.mark.parametrize("method", ["lda", "qda"])
def test_folds_that_leave_a_column_without_any_variance_agree(both, method):
    """There is no inverse then, which a fit would refuse: the model of such a fold says nothing."""
    chance = random.Random(4)  # noqa: S311
    rows = []
    for i in range(60):
        a, b, part = chance.gauss(i % 3, 1), chance.gauss(0, 1), i // 3 % 2
        rows.append((i, "abc"[i % 3], part, 2.0 if part else a, b - a / 3, a - b if part else 5.0))
    columns = {"id": "INTEGER", "y": "VARCHAR", "k": "INTEGER", **dict.fromkeys(["x1", "x2", "x3"], "DOUBLE PRECISION")}
    for place in both:
        place.table("t", columns, rows)
    options = {"target": "y", "id": "id", "method": method, "fold": "k"}
    judged = [nbsql.cross_validate(place.con, "t", **options) for place in both]
    assert_same_rows(*(each.folds.fetchall() for each in judged))


def test_far_and_huge_numbers_agree(both):
    """Means that are far apart, which the first scan cannot hold, and sizes from one end of the doubles to the other."""
    chance = random.Random(8)  # noqa: S311
    rows = []
    for i in range(90):
        a, b, c = (chance.gauss(0, 1) for _ in range(3))
        huge = float("inf") if i == 4 else 1e200 if i == 5 else 1e120 * (a + b)
        rows.append((i, "ab"[i % 2], 1e5 * (i % 2) + a, huge, 1e-120 * (c - a / 2)))
    for place in both:
        place.table("far", {"id": "INTEGER", "y": "VARCHAR", **dict.fromkeys(["x1", "x2", "x3"], "DOUBLE PRECISION")}, rows)
    assert_agreement(both, "far", "SELECT * FROM far WHERE id < 20", target="y", id="id", method="qda")


OPTIONS = {"target": "y", "id": "id", "method": "qda", "exclude": ["w", "k"]}


def model_of(place, source="t", **options):
    return nbsql.fit(place.con, source, **{**OPTIONS, **options})


def from_a_file(place, folder):
    path = folder / f"{place.engine}.nbsql"
    model_of(place).export(path)
    return nbsql.import_(place.con, path)


def merged(place):
    return nbsql.merge(place.con, [model_of(place, f"SELECT * FROM t WHERE id % 2 = {part}") for part in range(2)])


def scored(model):
    return sorted(model.predict_proba(TEST).fetchall())


USES = {
    "slices": lambda place, _: scored(model_of(place, slice_by="k % 2").slices(["1"])),
    "merged": lambda place, _: scored(merged(place)),
    "a file": lambda place, folder: scored(from_a_file(place, folder)),
    "with its numbers": lambda place, _: sorted(place.run(model_of(place).sql("predict_proba", TEST, inline=True))),
    "with the numbers of a shared matrix": lambda place, _: sorted(
        place.run(model_of(place, method="lda").sql("predict_proba", TEST, inline=True))
    ),
    "how likely rows are": lambda place, _: [(model_of(place, method="lda").log_likelihood(TEST, labelled=True),)],
}


@pytest.mark.parametrize("use", USES)
def test_uses_of_them_agree(tables, tmp_path, use):
    assert_same_rows(*(USES[use](place, tmp_path) for place in tables))


def test_rows_are_drawn_of_them(tables):
    """Chance differs from engine to engine, what is drawn does not."""
    for place in tables:
        model = nbsql.fit(place.con, "t", target="y", method="qda", exclude=["id", "w", "c", "k"], name="m")
        place.run("CREATE TABLE drawn AS " + model.sample(4000, seed=1).sql)
        moments = "avg(x1), avg(x2), corr(x1, x2), corr(x2, x3), stddev_pop(x3)"
        (found,) = place.run(f"SELECT {moments} FROM drawn WHERE y = 'B'")
        (expected,) = place.run(
            f"SELECT {moments} FROM t WHERE y = 'B' AND x1 + x2 + x3 < 1e12 AND x1 < 1e9 AND x1 IS NOT NULL"
        )
        for ours, theirs in zip(found, expected, strict=True):
            assert float(ours) == pytest.approx(float(theirs), abs=0.12 * max(1.0, abs(float(theirs)) if theirs < 1e3 else 1))


@pytest.mark.parametrize("place", ["spark"], indirect=True)
def test_a_script_of_them_is_refused_where_they_are_solved_outside_of_sql(place):
    flat(place)
    with pytest.raises(nbsql.NotSupportedError) as caught:
        nbsql.fit_sql(place.con, "flat", target="y", id="id", method="lda", name="m")
    assert str(caught.value) == "a script of covariance matrices is not available on Spark yet; it is on DuckDB"


def flat(place):
    columns = {"id": "INTEGER", "y": "VARCHAR", **dict.fromkeys(["x1", "x2", "x3"], "DOUBLE PRECISION")}
    chance = random.Random(3)  # noqa: S311
    pairs = [(chance.gauss(0, 1), chance.gauss(5, 2)) for _ in range(60)]
    place.table("flat", columns, [(i, "ab"[i % 2], a, b, a + b if i % 3 else a) for i, (a, b) in enumerate(pairs)])


COLLINEAR = "'x1', 'x2', 'x3' are collinear"
NO_INVERSE = "no inverse; leave one of them out, or use shrinkage=0.1, say"


@pytest.mark.slow
@pytest.mark.parametrize("place", ["duckdb", "postgres"], indirect=True)
def test_estimated_shrinkage_does_not_depend_on_the_unit(place):
    """Not even where the square of a variance is beyond every double, or below it."""
    units = (1.0, 1e100, 1e-100)
    rows = [(i, i % 2, *((i * i % 7 + i % 2) * unit for unit in units), i % 5) for i in range(24)]
    numbers = dict.fromkeys(["one", "large", "small", "x"], "DOUBLE PRECISION")
    place.table("t", {"id": "INTEGER", "y": "INTEGER", **numbers}, rows)
    expected, *others = (
        nbsql.fit(place.con, "t", target="y", features=[name, "x"], method=nbsql.LDA("ledoit-wolf"))
        .predict_proba("t", columns=["id"])
        .fetchall()
        for name in ("one", "large", "small")
    )
    for each in others:
        assert_same_rows(sorted(each, key=lambda row: row[0]), sorted(expected, key=lambda row: row[0]))


def test_estimated_shrinkage_where_a_column_does_not_vary_in_a_class_agrees(both):
    """The trace of its correlations is then less than their number, and both are whole numbers."""
    rows = [(i % 2, i * i % 11 + i % 2, i % 7, i % 2 * (i % 5)) for i in range(30)]
    found = []
    for place in both:
        place.table("t", dict.fromkeys("yabc", "INTEGER"), rows)
        model = nbsql.fit(place.con, "t", target="y", method=nbsql.LDA("ledoit-wolf"))
        found.append(sorted(model.likelihoods.fetchall(), key=lambda row: (row[0], row[2])))
    assert_same_rows(*found)


@pytest.mark.slow
def test_collinear_columns_are_named_and_shrinkage_is_the_cure(place):
    flat(place)
    source = "SELECT y, x1, x2, x3 FROM flat WHERE id % 3 > 0"
    for method, where in (("lda", "within the classes"), ("qda", "in class 'a'")):
        with pytest.raises(nbsql.InputError) as caught:
            nbsql.fit(place.con, source, target="y", method=method, name="m")
        assert str(caught.value) == f"{COLLINEAR} {where}, so the covariance matrix of '{method}' has {NO_INVERSE}"
        shrunk = nbsql.LDA(shrinkage=0.1) if method == "lda" else nbsql.QDA(shrinkage=0.1)
        nbsql.fit(place.con, source, target="y", method=shrunk)
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(place.con, "SELECT y, x1, x2, x1 + x2 AS x3 FROM flat", target="y", method=nbsql.QDA(0.1, "pooled"), name="m")
    where = f"{COLLINEAR} in class 'a', so the covariance matrix of 'qda' has no inverse"
    assert str(caught.value) == f"{where}; leave one of them out, or use toward='identity'"
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(place.con, "SELECT y, x1, 0 * x2 AS x2 FROM flat", target="y", method="lda", name="m")
    assert str(caught.value) == (
        "'x2' does not vary within the classes, so the covariance matrix of 'lda' has no inverse; "
        "leave it out, or use shrinkage=0.1, say"
    )
    assert nbsql.models(place.con) == []
    model = nbsql.fit(place.con, "flat", target="y", id="id", method="lda", name="m")
    with pytest.raises(nbsql.InputError) as caught:
        model.forget("SELECT * FROM flat WHERE id % 3 = 0")
    assert str(caught.value) == f"{COLLINEAR} within the classes, so the covariance matrix of 'lda' has {NO_INVERSE}"
    assert len(model.batches.fetchall()) == 1
