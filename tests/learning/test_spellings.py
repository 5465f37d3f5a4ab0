"""Classes and categories that differ only by case or blanks, and classes that stand for a missing value, get a word."""

import ast
import re
import warnings

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main
from nbsql.report.panel import shown

LABELS = ["yes", "Yes ", " yes", "no", "NA", ""]
TOWNS = ["Köln", "köln", "Bonn ", " Bonn", "New  York", "New York", "a\xa0b", "a b", "Ulm"]


@pytest.fixture
def rows():
    return {"order": [LABELS[i * 7 % 6] for i in range(180)], "town": [TOWNS[i * 5 % 9] for i in range(180)]}


def fitted(con, rows, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = nbsql.fit(con, rows, target="order", **options)
    return model, [str(each.message) for each in caught]


def test_the_line_that_a_fit_says_makes_one_of_them(con, rows):
    _, lines = fitted(con, rows)
    assert lines == [
        "'order' has classes that differ only by case or blanks, ' yes', 'Yes ', 'yes'; take them for one: "
        r'derive={"order": "lower(trim(\"order\"))"}',
        "'', 'NA' are classes of 'order', in 60 of 180 rows; if there is no class in these rows, leave them out: "
        'missing=["", "NA"]',
        "'town' has values that differ only by case or blanks, ' Bonn', 'Bonn ' and 'Köln', 'köln' and 'New  York', 'New York' "
        "and 1 more; take them for one: "
        """derive={"town": "lower(trim(replace(replace(town, chr(160), ' '), '  ', ' ')))"}""",
    ]
    said = [ast.literal_eval(found) for line in lines for found in re.findall(r"(?:derive|missing)=(.*)$", line)]
    model, lines = fitted(con, rows, derive={**said[0], **said[2]}, missing=said[1])
    assert lines == ["60 rows of the rows have no 'order' and are left out"]
    assert sorted(model.classes) == ["no", "yes"]
    towns = con.sql(model.likelihoods.sql).df().query("feature == 'town'").value
    assert sorted(towns.unique()) == ["a b", "bonn", "köln", "new york", "ulm"]
    assert model.predict([{"town": "NEW YORK "}]).fetchall() == model.predict([{"town": "New York"}]).fetchall()


@pytest.mark.slow
def test_a_single_cause_has_a_single_cure(con):
    for values, sql in {("a ", "a"): "trim(x)", ("A", "a"): "lower(x)", ("a  b", "a b"): "replace(x, '  ', ' ')"}.items():
        rows = {"order": ["p", "q"] * 30, "x": [values[i // 3 % 2] for i in range(60)]}
        _, lines = fitted(con, rows)
        assert [line.rpartition("take them for one: ")[2] for line in lines] == [f'derive={{"x": "{sql}"}}']
        assert fitted(con, rows, derive={"x": sql})[1] == ["one value only in 'x'; such a column tells no class from another"]
    assert fitted(con, {"order": ["p", "q"] * 30, "x": ["a", "b", "c"] * 20})[1] == []


def test_an_update_says_which_class_is_new_by_its_spelling_alone(con):
    model, _ = fitted(con, {"order": ["yes", "no"] * 9, "x": [1, 2, 3] * 6}, name="m")
    with pytest.warns(nbsql.NbsqlWarning, match=r"class 'Yes ' of the rows differs only by case or blanks from 'yes'"):
        model.update([{"order": "Yes ", "x": 1}])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.update([{"order": "perhaps", "x": 1}])


@pytest.mark.slow
def test_tables_show_them_apart(con, rows, tmp_path):
    model, _ = fitted(con, rows, name="m")
    for text in (repr(model.predict(rows)), str(model.evaluate(rows)), repr(model.explain(rows)), model._repr_html_()):
        plain = text.replace("&#39;", "'")
        assert all(each in plain for each in ("'Yes '", "' yes'", "''")), text
    assert r"a\xa0b" in repr(model.predict(rows))
    assert [shown(label) for label in LABELS] == ["yes", "'Yes '", "' yes'", "no", "NA", "''"]
    path = str(tmp_path / "shop.duckdb")
    with duckdb.connect(path) as file:
        file.execute('CREATE TABLE r AS SELECT unnest(?) AS "order", unnest(?) AS town', [rows["order"], rows["town"]])
        fitted(file, "r", name="m2")
    for words in ("show", "predict", "evaluate"):
        result = CliRunner().invoke(main, [words, path, "m2", *(["r"] if words != "show" else [])], prog_name="nbsql")
        assert all(each in result.stdout for each in ("'Yes '", "' yes'", "''")), result.output
    result = CliRunner().invoke(main, ["predict", path, "m2", "r", "--csv", "--columns", "order"], prog_name="nbsql")
    assert "\nYes ," in result.stdout
