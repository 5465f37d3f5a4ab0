"""Files as people have them, each fitted, judged and explained on the command line alone.

What is lost is said, with words to paste; the words that are pasted cure it, until nothing more is said.
"""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main

ROWS = 240
SOURCE = re.compile(r'"(FROM read_csv\(.*?\))"(?=$|,)')
OPTIONS = re.compile(r"(--(?:missing|derive|exclude|family|target) .*)$")
FIT = ("--target", "bought", "--name", "m")
Row = dict[str, Any]


class File(NamedTuple):
    """A file: a row by its number, how the rows become bytes, what is said, and the families in the end."""

    row: Callable[[int], Row]
    said: list[str]  # the beginnings of what is said, in the order of the fits
    families: dict[str, str]  # those that have to be right
    text: Callable[[list[Row]], bytes] = lambda rows: table(rows).encode()
    name: str = "orders.csv"
    classes: tuple[Any, ...] = ("kept", "sent")
    rows: int = ROWS


def table(rows, between=","):
    return "\n".join([between.join(rows[0]), *(between.join(map(str, row.values())) for row in rows), ""])


def age(i):
    """A number that decides the class in nine of ten rows."""
    return i * 7 % 50 + 18.5


def bought(i):
    return "sent" if (age(i) > 40) != (i % 10 == 0) else "kept"


def sold(i, **columns):
    return {"bought": bought(i), **columns, "town": f"town {i % 3}x"}


FILES = {
    "decimal commas": File(
        lambda i: sold(i, age=f"{age(i)}".replace(".", ",")), ["'age' holds numbers, written as '"], {"age": "gaussian"},
        lambda rows: table(rows, ";").encode(),
    ),
    "currency": File(
        lambda i: sold(i, price=f'"${age(i) * 100:,.2f}"'), ["'price' holds numbers, written as '$"], {"price": "gaussian"}
    ),
    "per cent": File(lambda i: sold(i, rate=f"{age(i)} %"), ["'rate' holds numbers, written as '"], {"rate": "gaussian"}),
    "words": File(
        lambda i: sold(i, age="NA" if i % 9 == 4 else "?" if i % 11 == 4 else age(i)),
        ["'age' holds numbers but for '?', 'NA' in 46 of 240 rows"], {"age": "gaussian"},
    ),
    "a mark and carriage returns": File(
        lambda i: sold(i, age=age(i)), [], {"age": "gaussian"},
        lambda rows: table(rows).replace("\n", "\r\n").encode("utf-8-sig"),
    ),
    "UTF-16": File(
        lambda i: sold(i, age=age(i)), ["'orders.csv' is encoded in UTF-16 and not in UTF-8"], {"age": "gaussian"},
        lambda rows: table(rows).encode("utf-16"),
    ),
    "Latin 1": File(
        lambda i: {"bought": ("grün", "weiß")[bought(i) == "sent"], "age": age(i)},
        ["'orders.csv' is encoded in LATIN1 and not in UTF-8"], {"age": "gaussian"},
        lambda rows: table(rows).encode("latin-1"), classes=("grün", "weiß"),
    ),
    "blanks and case": File(
        lambda i: {
            "bought": (" yes", "Yes ", "YES")[i % 3] if bought(i) == "sent" else "no ", "age": age(i),
            "town": ("Ulm", "ULM ", "Köln", "köln")[i % 4],
        },
        [
            "'bought' has classes that differ only by case or blanks, ' yes', 'YES', 'Yes '",
            "'town' has values that differ only by case or blanks, 'Köln', 'köln' and 'ULM ', 'Ulm'",
        ],
        {"age": "gaussian", "town": "categorical"}, classes=("no", "yes"),
    ),
    "no class": File(
        lambda i: {"bought": ("NA", "n/a")[i % 2] if i % 8 == 5 else bought(i), "age": age(i)},
        ["'n/a' is a class of 'bought', in 30 of 240 rows"], {"age": "gaussian"},
    ),
    "a word far down": File(
        lambda i: sold(i, age=age(i)) if i < 25_000 else sold(i, age="N/A"),
        ["line 25002 of 'orders.csv': 'N/A' in column 'age' is no DOUBLE"], {"age": "gaussian"}, rows=25_001,
    ),
    "another ending": File(
        lambda i: sold(i, age=f"{age(i)} kg"),
        ["the ending of 'orders.txt' does not say what it holds", "'age' holds numbers, written as '"], {"age": "gaussian"},
        lambda rows: table(rows, "\t").encode(), name="orders.txt",
    ),
    "ids": File(
        lambda i: {"order_id": 1000 + i, "code": f"A{i * 7919 % 10007:05}", **sold(i, age=age(i))}, [], {"age": "gaussian"}
    ),
    "dates": File(
        lambda i: sold(
            i, age=age(i), day=f"2024-{i % 12 + 1:02}-{i % 28 + 1:02}", seen=f"{i % 28 + 1:02}.{i % 12 + 1:02}.2024",
            sent=(f"2024-03-{i % 28 + 1:02}", f"{i % 28 + 1:02}.04.2024", f'"May {i % 28 + 1}, 2024"')[i % 3],
        ),
        ["'seen' holds dates, written as '", "'sent' holds dates, written as '"],
        {"age": "gaussian", "month of day": "categorical", "month of seen": "categorical", "month of sent": "categorical"},
        rows=1200,
    ),
}  # fmt: skip


def nb(*words, code=0):
    result = CliRunner().invoke(main, list(words), prog_name="nbsql")
    assert code is None or result.exit_code == code, result.output
    return result


def fit(source):
    """Fit a file, paste what is said until nothing is, and return the source in the end and what was said."""
    said, options = list[str](), list[str]()
    for _ in range(6):
        result = nb("fit", "shop.duckdb", source, *FIT, "--replace", *options, code=None)
        lines = [line.split(": ", 1)[1] for line in result.stderr.splitlines() if "left out" not in line]
        if not lines:
            assert result.exit_code == 0
            return source, said
        said += lines
        for line in lines:
            if found := SOURCE.search(line):
                source = found[1]
            elif found := OPTIONS.search(line):
                words = shlex.split(found[1].split(", or ")[0])
                options += [re.sub(r"\\([$`])", r"\1", word) for word in words]  # as a shell does
            else:
                raise AssertionError(f"nothing to paste: {line}")
    raise AssertionError(f"it does not end: {said}")


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_messy_file_is_fitted_judged_and_explained(name, tmp_path, monkeypatch):
    file = FILES[name]
    monkeypatch.chdir(tmp_path)
    Path(file.name).write_bytes(file.text([file.row(i) for i in range(file.rows)]))
    source, said = fit(file.name)
    if name != "ids":  # which are left out in words that are another test's
        assert [line[: len(start)] for line, start in zip(said, file.said, strict=True)] == file.said
    with nbsql.load("shop.duckdb", "m") as model:
        families = {feature: family.name for feature, family in model.families.items()}
        assert file.families.items() <= families.items()
        assert not {"order_id", "code"} & {*families}
        assert sorted(model.classes) == sorted(file.classes)
    judged = json.loads(nb("evaluate", "shop.duckdb", "m", source, "--folds", "5", "--json").stdout)
    assert judged["accuracy"] > 0.8
    explained = nb("explain", "shop.duckdb", "m", source, "--row", "2").stdout
    assert explained.startswith("row 2: predicted ")
    assert nb("predict", "shop.duckdb", "m", source, "--csv").stdout.count("\n") == file.rows + 1


@pytest.mark.nightly
def test_a_class_of_yes_and_no_can_keep_its_words_by_what_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{age(i)},{'Yes' if bought(i) == 'sent' else 'No'}" for i in range(60)]
    Path("new.csv").write_text("\n".join(["age,bought", *lines, ""]), encoding="utf-8")
    with duckdb.connect() as con:
        if con.sql("SELECT bought FROM 'new.csv'").types != ["BOOLEAN"]:
            pytest.skip("this DuckDB reads yes and no as texts")
    said = "'Yes' and 'No' of 'bought' in the file are read as true and false; to keep these words: "
    done = nb("fit", "shop.duckdb", "new.csv", *FIT)
    assert done.stderr.startswith(f"warning: {said}--derive "), done.stderr
    cure = shlex.split(done.stderr.splitlines()[0].partition("words: ")[2])
    again = nb("fit", "shop.duckdb", "new.csv", *FIT, "--replace", *cure)
    assert said not in again.stderr
    assert "Yes " in again.stdout
    assert "No " in again.stdout
    assert json.loads(nb("evaluate", "shop.duckdb", "m", "new.csv", "--folds", "5", "--json").stdout)["accuracy"] > 0.8
    with duckdb.connect() as con:
        with pytest.warns(nbsql.NbsqlWarning, match="to keep these words"):
            nbsql.write_report(con, "new.csv", "plain.html", target="bought")
        derive = dict([cure[1].split("=", 1)])
        with pytest.warns(nbsql.NbsqlWarning, match="of 'bought' in the file are read as true and false"):
            nbsql.fit(con, "new.csv", target="BOUGHT")
        nbsql.write_report(con, "new.csv", "all.html", target=nbsql.Target("bought", classes=["Yes", "No"]), derive=derive)
        nbsql.write_report(con, "new.csv", "words.html", target="bought", derive=derive)
    assert "bought = true" in Path("plain.html").read_text(encoding="utf-8")
    assert re.search("which is (No or Yes|Yes or No)", Path("words.html").read_text(encoding="utf-8"))
    assert "to keep these words" not in nb("report", "new.csv", "--target", "bought", *cure).stderr


def test_columns_whose_names_are_numbers_have_a_warning_each(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{'NA' if i % 3 == 0 else i},{'?' if i % 3 == 1 else i},{'ab'[i % 2]}" for i in range(60)]
    Path("years.csv").write_text("\n".join(["2020,2021,kind", *rows, ""]), encoding="utf-8")
    warned = nb("fit", "shop.duckdb", "years.csv", "--target", "kind", "--name", "m").stderr
    assert "warning: '2020' " in warned
    assert "warning: '2021' " in warned


def test_a_method_that_a_warning_names_is_an_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"x{i},y{i},{'pq'[i % 2]}" for i in range(240)]
    Path("pairs.csv").write_text("\n".join(["a,b,kind", *rows, ""]), encoding="utf-8")
    told = nb("fit", "shop.duckdb", "pairs.csv", "--target", "kind", "--name", "m", "--method", "joint").stderr
    assert "fall back on each column by itself: --backoff naive\n" in told
