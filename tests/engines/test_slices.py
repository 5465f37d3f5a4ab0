"""Slices of a model are as on DuckDB: their names, the models of some of them, and how far they are apart."""

import pytest
from engines.places import assert_same_rows
from engines.test_agreement import COLUMNS, mail

import nbsql

OPTIONS = {"target": "label", "id": "id", "families": {"links": "poisson", "day": "categorical"}, "nulls": "category"}
EXPRESSIONS = {"whole numbers": "id % 12", "texts": 'CASE WHEN id % 7 < 5 THEN "Sender" END', "dates": "day"}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.fixture(params=EXPRESSIONS)
def models(request, both):
    found = []
    for place in both:
        place.table("inbox", COLUMNS, mail(300, 1))
        place.table("later", COLUMNS, mail(80, 2))
        expression = EXPRESSIONS[request.param].replace('"', "`" if place.engine == "spark" else '"')
        options = {**OPTIONS, "slice_by": expression}
        nbsql.fit(place.con, "inbox", name="m", weight="weight" if request.param == "dates" else None, **options)
        found.append(nbsql.load(place.con, "m"))
    return found


def assert_alike(models):
    assert_same_rows(*(sorted(model.predict_proba("later").fetchall()) for model in models))


def test_slices_agree(models):
    ours, theirs = (model.slice_names for model in models)
    assert ours == theirs
    assert len(ours) >= 3
    assert_alike(models)
    for chosen in ([ours[0]], ours[1:3], ours):
        assert_alike([model.slices(chosen) for model in models])
    for options in ({"last": 1}, {"last": 2, "decay": 0.25}, {"decay": 0.9}):
        assert_alike([model.window(**options) for model in models])


def test_slices_stay_when_a_model_changes(models):
    for model in models:
        model.update("later", batch="more")
        model.forget("SELECT * FROM inbox WHERE id % 5 = 0")
    assert models[0].slice_names == models[1].slice_names
    assert_alike([model.window(last=2) for model in models])
    assert_alike([model.as_of("1").slices(model.slice_names[:1]) for model in models])


def test_drift_agrees(models):
    for model in models:
        model.update("later", batch="more")
    names = models[0].slice_names
    for a, b in ((names[0], names[1]), (names[:2], names[2:])):
        assert_same_rows(*(sorted(model.drift(a, b).fetchall(), key=lambda row: repr(row[0])) for model in models))
    assert_same_rows(*([(name,) for name, *_ in model.drift(names[0], names[1])] for model in models))


@pytest.mark.parametrize("models", ["texts"], indirect=True)
def test_rows_without_a_slice_are_compared_with_others(models):
    for model in models:
        whole = [*model.slice_names, None]
        rows = [sum(n for _, n, *_ in model.slices(names).priors) for names in ([None], model.slice_names, whole)]
        assert rows[0] > 0
        assert rows[0] + rows[1] == rows[2] == sum(n for _, n, *_ in model.priors)
        assert model.drift(None, [None]).fetchall()[0][1] == 0
        rest = model.drift(model.slice_names, None).fetchall()
        assert max(psi for _, psi, *_ in rest) > 0
        with pytest.raises(nbsql.InputError, match=r"^the model has no rows without a slice; it has the slices '.+'$"):
            model.slices(model.slice_names).drift(None, model.slice_names)
    assert_same_rows(*(sorted(model.drift(None, whole).fetchall(), key=lambda row: repr(row[0])) for model in models))


def test_batches_drift_without_slices(both):
    found = []
    for place in both:
        place.table("inbox", COLUMNS, mail(300, 1))
        place.table("later", COLUMNS, mail(80, 2))
        model = nbsql.fit(place.con, "inbox", name="m", **OPTIONS)
        model.update("later", batch="later")
        found.append(model.drift("1", "later").fetchall())
    assert_same_rows(*found)


REFUSED = {
    "nowhere": "slice_by must be one SQL expression over the columns of golf: ",
    "1, 2": "slice_by must be one SQL expression over the columns of golf, not '1, 2'",
    "wind) FROM golf; DROP TABLE golf; --": "slice_by must be one SQL expression over the columns of golf: ",
    "wind FROM golf --": "slice_by must be one SQL expression over the columns of golf: ",
    "max(wind)": "slice_by must have one value a row, and 'max(wind)' is an aggregate of many",
    "count(*) + 1": "slice_by must have one value a row, and 'count(*) + 1' is an aggregate of many",
    "wind + sum(wind)": "slice_by must have one value a row, and 'wind + sum(wind)' is an aggregate of many",
    "": "slice_by must be one SQL expression over the columns of golf, not ''",
}


MAKES_ROWS = {
    "duckdb": ["unnest([1, 2])", "1 + unnest([wind, 2])", "max(wind) OVER () + unnest([1, 2])"],
    "postgres": ["unnest(ARRAY[1, 2])", "generate_series(1, 2)", "1 + generate_series(1, wind)"],
    "spark": ["explode(array(1, 2))", "1 + explode(array(wind, 2))"],
}


def test_what_makes_rows_is_refused(place):
    place.table("golf", {"wind": "INTEGER", "play": "VARCHAR"}, [(1, "no"), (2, "yes")])
    for expression in MAKES_ROWS[place.engine]:
        for argument in ("slice_by", "segment_by"):
            with pytest.raises(nbsql.InputError) as caught:
                nbsql.fit(place.con, "golf", target="play", name="m", **{argument: expression})
            assert str(caught.value) == f"{argument} must have one value a row, and {expression!r} makes rows of its own"
    assert nbsql.models(place.con) == []
    for expression in ("wind + 1", "max(wind) OVER ()", "(SELECT max(wind) FROM golf)"):
        nbsql.fit(place.con, "golf", target="play", slice_by=expression)


@pytest.mark.parametrize("engine", ["postgres", "spark"])
def test_what_is_no_expression_is_refused(connect, engine):
    place = connect(engine)
    place.table("golf", {"wind": "INTEGER", "play": "VARCHAR"}, [(1, "no"), (2, "yes")])
    for expression, message in REFUSED.items():
        with pytest.raises(nbsql.InputError) as caught:
            nbsql.fit(place.con, "golf", target="play", slice_by=expression, name="m")
        assert str(caught.value).startswith(message)
        assert "\n" not in str(caught.value)
    assert nbsql.models(place.con) == []
    assert place.run("SELECT count(*) FROM golf") == [(2,)]
