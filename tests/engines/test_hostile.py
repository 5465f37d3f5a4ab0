"""Names and values that break careless SQL, on every engine: they come back as they went in, and nothing in them runs."""

import pytest
from engines.places import ident

import nbsql

# fmt: off
HOSTILE = [
    "a b", "it's", 'say "hi"', '"', "'", "back`tick", "a.b", "select", "order", "größe", "数", "İ", "emoji \U0001f600",
    "x; DROP TABLE canary; --", "'); DROP TABLE canary; --", '"; DROP TABLE canary; --', "-- c", "/* c */", "$$x$$", "a\\b",
    "line\nend", "tab\tend", "cr\rend", "nel\x85end", "\x01\x7f", " lead", "trail ", "{{ 7 * 7 }}", "&<>", "&amp;", "x" * 60,
    "%s", "%", "?", "$1", ":p", "\ufeff", "class", "source", "parameters", "value", "rows", "user", "position", "offset",
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize("names", [HOSTILE[::2], HOSTILE[1::2]], ids=["even", "odd"])  # a plan of all is wide
def test_columns_labels_categories_and_models_round_trip(place, names):
    place.run("CREATE TABLE canary AS SELECT 'alive' AS state")
    size = len(names)
    rows = [(row, *(names[(row + column) % size] for column in range(size)), names[row % 3]) for row in range(size)]
    place.table("t", {"key_": "INTEGER", **dict.fromkeys(names, "VARCHAR"), "target_": "VARCHAR"}, rows)
    labels = names[:3]
    families = {names[0]: nbsql.Categorical(levels=["never", *names])}
    prior = {labels[0]: 0.5, labels[1]: 0.25, labels[2]: 0.25}
    options = {"target": "target_", "id": "key_", "families": families, "prior": prior, "nulls": "category", "unseen": "smooth"}
    spark = place.engine == "spark"  # where schemas and tables have letters, digits and underscores only
    name, table = ("m", "scored") if spark else ('it\'s "m" %s; --', "it's; --")
    nbsql.fit(place.con, "t", name=name, **options)
    model = nbsql.load(place.con, name)
    assert list(model.families) == names
    assert model.classes == [labels[0], *sorted(labels[1:], key=str.encode)]
    assert {(column, value) for column in names for value in names} <= {row[1:3] for row in model.likelihoods}
    model.predict("t").create_table(table)
    predicted = sorted(place.run(f"SELECT * FROM {table if spark else ident(table)}"))
    assert [row[:-2] for row in predicted] == rows
    shown = model.predict_proba("t").columns
    assert shown[-3:] == [f"probability_{label}" for label in sorted(labels, key=str.encode)]
    explained = model.explain("t").fetchall()
    assert {(row[1], row[3], row[4]) for row in explained if row[3]} == {
        (row[0], column, value) for row in rows for column, value in zip(names, row[1:-1], strict=True)
    }
    model.drop()
    assert nbsql.models(place.con) == []
    assert place.run("SELECT state FROM canary") == [("alive",)]


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_long_labels_have_columns_of_their_own(place):
    labels = ["ü" * 40 + end for end in ("a", "b", "c")]
    place.table("t", {"x": "VARCHAR", "y": "VARCHAR"}, [(label, label) for label in labels])
    scored = nbsql.fit(place.con, "t", target="y", name="m").joint_log_likelihood("t")
    assert len(set(scored.columns)) == 5
    scored.create_table("scored")
    assert len(place.run("SELECT * FROM scored")[0]) == 5


def test_id_columns_that_are_named_as_those_of_an_explanation(place):
    place.table(
        "t", {"row_id": "INTEGER", "value": "INTEGER", "x": "VARCHAR", "y": "VARCHAR"}, [(7, 8, "a", "p"), (9, 5, "b", "q")]
    )
    model = nbsql.fit(place.con, "t", target="y", id=["row_id", "value"], name="m")
    explained = model.explain("t")
    assert explained.columns == ["row_id", "source_row_id", "source_value", "class", "feature", "value", "contribution"]
    assert {row[1:3] for row in explained.fetchall()} == {(7, 8), (9, 5)}
    explained.create_table("reasons")
    assert place.run("SELECT DISTINCT source_row_id FROM reasons ORDER BY 1") == [(7,), (9,)]


def test_zero_is_one_category_with_either_sign(place):
    kind = "DOUBLE PRECISION" if place.engine == "postgres" else "DOUBLE"
    place.table("t", {"x": kind, "y": "VARCHAR"}, [(0.0, "p"), (0.0, "p"), (-0.0, "p"), (1.5, "q"), (-1.5, "q"), (1.5, "q")])
    model = nbsql.fit(place.con, "t", target="y", families={"x": "categorical"}, name="m")
    zero = "0" if place.engine == "postgres" else "0.0"
    assert {row[2] for row in model.likelihoods.fetchall()} == {zero, "1.5", "-1.5"}
    chances = [row[-2] for row in model.predict_proba("t").fetchall() if row[0] == 0]
    assert chances == [pytest.approx(4 / 5)] * 3
