"""What other libraries hand over on PostgreSQL and Spark, as docs/reference/sources.md says: its model is that of the table."""

import warnings

import pytest
from engines.places import Place

import nbsql

ROWS = [(i, "abc"[i % 3], float(i * i % 7), "uv"[i % 2]) for i in range(30)]
COLUMNS = {"id": "INTEGER", "y": "VARCHAR", "x": "DOUBLE PRECISION", "kind": "VARCHAR"}


def assert_as_the_table(place, source):
    options = {"target": "y", "id": "id"}
    expected = nbsql.fit(place.con, "rows", **options)
    found = nbsql.fit(place.con, source, **options)
    assert sorted(found.priors.fetchall()) == sorted(expected.priors.fetchall())
    scores = [sorted(model.predict(rows).fetchall()) for model, rows in ((found, source), (expected, "rows"))]
    assert [row[:-1] for row in scores[0]] == [row[:-1] for row in scores[1]]
    assert [row[-1] for row in scores[0]] == pytest.approx([row[-1] for row in scores[1]], rel=1e-12)
    only = found.predict(source, columns=["id"])
    assert only.columns == ["id", "prediction", "probability"]
    assert sorted(row[:2] for row in only) == sorted((row[0], row[-2]) for row in scores[1])


def test_a_table_of_ibis_on_the_same_connection_is_its_sql(pg):
    place = Place("postgres", pg)
    place.table("rows", COLUMNS, ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the library's own
        ibis = pytest.importorskip("ibis", reason="ibis is not installed: pip install 'ibis-framework[postgres]'")
        table = ibis.postgres.from_connection(pg).table("rows")
        assert_as_the_table(place, table)
        assert sum(row[1] for row in nbsql.fit(pg, table.filter(table.id < 10), target="y", id="id").priors) == 10


@pytest.mark.nightly
@pytest.mark.spark
def test_a_frame_of_narwhals_on_spark_is_what_it_wraps(spark):
    narwhals = pytest.importorskip("narwhals", reason="narwhals is not installed: pip install narwhals")
    place = Place("spark", spark)
    place.table("rows", COLUMNS, ROWS)
    assert_as_the_table(place, narwhals.from_native(spark.table("rows")))


def test_a_query_may_begin_with_a_comment_and_a_notebook_shows_its_model(place, capsys):
    place.table("rows", COLUMNS, ROWS)
    model = nbsql.fit(place.con, "-- all rows; none is left out\n/* of\nthe table */ (SELECT * FROM rows)", target="y", id="id")
    assert len(model.predict(" /* new */ -- rows\nSELECT * FROM rows WHERE id < 3 -- these").fetchall()) == 3
    with pytest.raises(nbsql.NbsqlError, match=r"^[^\n]*nowhere[^\n]*$"):
        model.predict("-- some\nSELECT * FROM nowhere")
    model.show()
    lines = capsys.readouterr().out.splitlines()
    assert ["a", "10", "33.3", "%"] in [line.split() for line in lines]
    assert [row[0] for row in model.priors] == model.classes
    assert model._repr_html_().count("<table") == 2


def test_functions_of_the_user_need_a_path_of_their_own_in_a_view_and_are_found_in_a_query(pg):
    pg.execute(
        "CREATE TABLE people AS SELECT * FROM (VALUES ('spam', 'low'), ('spam', 'low'), ('ham', 'high')) AS t(label, tone)"
    )
    pg.execute("CREATE FUNCTION tone_of(TEXT) RETURNS TEXT LANGUAGE SQL AS 'SELECT upper($1)'")
    pg.execute("CREATE FUNCTION outer_tone(TEXT) RETURNS TEXT LANGUAGE SQL AS 'SELECT tone_of($1)'")
    pg.execute("CREATE VIEW toned AS SELECT label, outer_tone(tone) AS tone FROM people")
    fitted = nbsql.fit(pg, "SELECT label, tone_of(tone) AS tone FROM people", target="label", slice_by="tone_of(tone)")
    assert sorted(fitted.slice_names) == ["HIGH", "LOW"]
    with pytest.raises(nbsql.DatabaseError) as caught:
        nbsql.fit(pg, "toned", target="label")
    assert str(caught.value) == (
        'function tone_of(text) does not exist, in SQL function "outer_tone", which looks it up on the path of its caller; '
        "ALTER FUNCTION ... SET search_path"
    )
    pg.execute("ALTER FUNCTION outer_tone(TEXT) SET search_path = public")
    assert nbsql.fit(pg, "toned", target="label").classes == ["spam", "ham"]
