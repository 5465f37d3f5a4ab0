"""Texts that would be dates: a fit says the line that reads them."""

import ast
import re
import warnings

import pytest

import nbsql

CASES = {  # what people write of day i, and the expression
    "three forms": (
        ["2024-01-{i:02}", "{i:02}.03.2024", "Mar {i}, 2024"],
        "CAST(strptime(d, ['%Y-%m-%d', '%d.%m.%Y', '%b %d, %Y']) AS DATE)",
    ),
    "day first": (["{i:02}/03/2024"], "CAST(strptime(d, '%d/%m/%Y') AS DATE)"),
    "month first": (["03/{i:02}/2024"], "CAST(strptime(d, '%m/%d/%Y') AS DATE)"),
    "with a time": (["{i:02}.03.24 12:30"], "CAST(strptime(d, '%d.%m.%y %H:%M') AS TIMESTAMP)"),
    "with a zone": (["2024-03-{i:02}T08:30:05Z", "2024-03-{i:02}T08:30:05.123456Z"], "CAST(d AS TIMESTAMP)"),
    "with words": (["2024-03-{i:02}", "2024-03-{i:02}", "n/a"], "CAST(d AS DATE)"),
}


def fitted(con, texts, most=28, **options):
    numbers = [i * 11 % most + 1 for i in range(252)]
    rows = {"y": ["late" if i > most / 2 else "soon" for i in numbers]}
    rows["d"] = [texts[place % len(texts)].format(i=i) for place, i in enumerate(numbers)]
    rows |= {"n": numbers} if "derive" in options else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = nbsql.fit(con, rows, target="y", **options)
    return model, [str(each.message) for each in caught]


@pytest.mark.parametrize("case", CASES)
def test_a_fit_says_the_line_that_makes_dates(con, case):
    texts, sql = CASES[case]
    model, (line,) = fitted(con, texts)
    assert [*model.families] == ["d"]
    assert line.startswith("'d' holds dates")
    derive = re.search(r"derive=(\{.*\})$", line)
    assert ast.literal_eval(derive[1]) == {"d": sql}
    options = {"missing": ["n/a"]} if case == "with words" else {}
    assert ('missing=["n/a"], derive' in line) == bool(options)
    cured, lines = fitted(con, texts, derive={"d": sql}, **options)
    assert "day of d" in cured.families
    assert not any("holds dates" in each for each in lines)
    for text in texts:  # of which predict_one reads no part before the expression has made a date of it
        row = {"d": text.format(i=9), "n": 12}
        (answer,) = cured.predict({name: [value] for name, value in row.items()}).fetchall()
        one = cured.predict_one(row)
        assert (one["prediction"], one["probability"]) == (answer[-2], pytest.approx(answer[-1], rel=1e-9))


def test_times_with_offsets_are_read_as_such(con):
    _, (line,) = fitted(con, ["2024-03-{i:02}T08:30:05+02:00", "2024-03-{i:02} 08:30:00-0500"])
    assert line.endswith('read them as such: derive={"d": "CAST(d AS TIMESTAMPTZ)"}')
    _, lines = fitted(con, ["2024-13-{i:02}T08:30:05Z"])  # has no such month
    assert not any("holds dates" in each for each in lines)


def test_times_of_the_day_are_said_if_they_are(con):
    _, (line,) = fitted(con, ["{i}:05", "{i}:05", "NA"], most=23)
    fact = "'d' holds times but for 'NA', written as '14:05', and is taken for a category"
    cure = 'missing=["NA"], derive={"d": "CAST(d AS TIME)"}'
    assert re.sub(r"'\d+:05'", "'14:05'", line) == f"{fact}; if these are of the day, read them as such: {cure}"
    cured, _ = fitted(con, ["{i}:05", "NA"], most=23, missing=["NA"], derive={"d": "CAST(d AS TIME)"})
    assert "hour of d" in cured.families


def test_what_only_a_person_knows_is_said(con):
    _, (line,) = fitted(con, ["{i:02}/02/2024"], most=9)
    assert "; if the day comes first, read them as such: derive=" in line
    _, (line,) = fitted(con, ["{i:02}/03/2024", "03/{i:02}/2024"])
    assert line.endswith("; the day comes first in some and the month in others, which only you can tell apart")


@pytest.mark.parametrize("text", ["1.2.{i}", "24:{i:02}", "030-{i:04}", "x{i}", "{i}-{i}"])
def test_what_is_no_date_is_left_alone(con, text):
    assert not any("holds dates" in line for line in fitted(con, [text])[1])
