"""Files that DuckDB cannot read as they are: the line says what is wrong and which source reads them, and that source does."""

import contextlib
import csv
import gzip
import json
import re
import warnings
from pathlib import Path

import duckdb
import pyarrow
import pytest
from pyarrow import parquet

import nbsql
from nbsql.errors import DatabaseError, InputError, NbsqlError

ROWS = 25_000  # more than those from which DuckDB takes the types of a file
SOURCE = re.compile(r'"(FROM read_(?:csv|json)\(.*\))"')


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, late, value=lambda i: f"{i % 50}.5", sep=",", more=""):
    rows = (f"{i}{sep}{'ab'[i % 2]}{sep}{value(i)}\n" for i in range(ROWS))
    Path(name).write_text(f"id{sep}y{sep}x\n{''.join(rows)}{ROWS}{sep}a{sep}{late}\n{more}", encoding="utf-8")


@pytest.mark.few
@pytest.mark.parametrize(
    ("late", "options", "said", "cure"),
    [
        ("NA", {}, "'NA' in column 'x' is no DOUBLE", "nullstr=['', 'NA']"),
        ("cheap", {}, "'cheap' in column 'x' is no DOUBLE", "types={'x': 'VARCHAR'}"),
        ("1,5", {"sep": ";"}, "'1,5' in column 'x' is no DOUBLE", "types={'x': 'VARCHAR'}"),
        (
            "1,5", {"sep": ";", "value": lambda i: i % 9}, "'1,5' in column 'x' is no BIGINT",
            "decimal_separator=',', types={'x': 'DOUBLE'}",
        ),
        ("unknown", {"value": lambda i: i % 3 == 0}, "'unknown' in column 'x' is no BOOLEAN", "types={'x': 'VARCHAR'}"),
        ("1,5", {}, f"has 4 columns and not 3: '{ROWS},a,1,5'; mend it", "ignore_errors=true"),
        ('"$1,234.50"', {}, "has quotes, as none before it", """quote='"'"""),
        ("1.5", {"more": "7,a\n"}, "has 2 columns and not 3: '7,a'", "null_padding=true"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:'x' holds numbers")
def test_a_value_far_down_a_file_names_the_source_that_reads_it(con, late, options, said, cure):
    write("rows.csv", late, **options)
    with pytest.raises(DatabaseError) as caught:
        nbsql.fit(con, "rows.csv", target="y", id="id")
    message = str(caught.value)
    assert message.startswith(f"line {ROWS + 2 + ('more' in options)} of 'rows.csv'")
    assert said in message
    assert cure in message
    source = SOURCE.search(message)[1].replace(r"\"", '"')
    if cure.startswith("quote"):  # which are read, and then dollars are no number
        with pytest.raises(DatabaseError, match=re.escape("'$1,234.50' in column 'x' is no DOUBLE")) as again:
            nbsql.fit(con, source, target="y", id="id")
        source = SOURCE.search(str(again.value))[1].replace(r"\"", '"')
    model = nbsql.fit(con, source, target="y", id="id")
    assert len(model.predict(source, columns=["x"]).fetchall()) >= ROWS


@pytest.mark.slow
def test_every_verb_and_form_says_so(con):
    write("rows.csv", "2.5")
    model = nbsql.fit(con, "rows.csv", target="y", id="id", name="m")
    write("rows.csv", "NA")
    verbs = [
        lambda: model.predict("rows.csv").fetchall(),
        lambda: model.evaluate("rows.csv").accuracy,
        lambda: model.explain("rows.csv").fetchall(),
        lambda: model.update("rows.csv"),
        lambda: nbsql.fit(con, "row*.csv", target="y", id="id"),
        lambda: nbsql.fit(con, "SELECT * FROM 'rows.csv'", target="y", id="id"),
        lambda: nbsql.cross_validate(con, Path("rows.csv"), target="y", id="id").accuracy,
    ]
    for verb in verbs:
        with pytest.raises(DatabaseError, match=r"read it with nullstr=\['', 'NA'\]"):
            verb()


@pytest.mark.parametrize(
    ("late", "value", "found"),
    [
        ("2.5", lambda i: i % 7, 2.5),
        ("25e-1", lambda i: i % 7, 2.5),
        ('"red"', lambda i: ("red", "blue")[i % 2], "red"),
        ("2020-01-03 12:30:00", lambda i: f"2020-01-0{i % 9 + 1}", "2020-01-03 12:30:00"),
    ],
)
def test_no_value_far_down_a_file_is_changed_in_silence(con, late, value, found):
    """DuckDB alone reads 3, '"red"' and midnight."""
    write("rows.csv", late, value)
    fit = dict.fromkeys(["x"], "categorical") if found != 2.5 else {}
    model = nbsql.fit(con, "rows.csv", target="y", id="id", families=fit)
    last = model.predict("rows.csv").df().x.iloc[-1]
    assert str(last) == str(found)


def test_a_fraction_far_down_a_file_of_json_is_kept(con):
    rows = "".join(f'{{"y": "{"ab"[i % 2]}", "x": {i % 7}}}\n' for i in range(ROWS))
    Path("rows.ndjson").write_text(f'{rows}{{"y": "a", "x": 2.5}}\n', encoding="utf-8")
    model = nbsql.fit(con, "rows.ndjson", target="y")
    assert model.predict("rows.ndjson").df().x.sum() == sum(i % 7 for i in range(ROWS)) + 2.5
    Path("rows.ndjson").write_text(f'{rows}{{"y": "a", "x": "NA"}}\n', encoding="utf-8")
    with pytest.raises(DatabaseError, match=r"line \d+ of 'rows.ndjson'.*FROM read_json\('rows.ndjson', sample_size=-1\)"):
        nbsql.fit(con, "rows.ndjson", target="y")


@pytest.mark.parametrize(
    ("first", "later"),
    [("7", "2.5::DOUBLE"), ("DATE '2020-01-03'", "TIMESTAMP '2020-01-03 12:30'"), ("NULL", "'town ' || i % 3")],
)
def test_a_value_of_a_later_file_of_parquet_keeps_its_type(con, first, later):
    """DuckDB alone reads 3, midnight, and no text."""
    for number, value in enumerate([first, later]):
        con.execute(
            f"COPY (SELECT {number} AS file, i % 2 AS y, {value} AS x FROM range(9) AS r(i)) TO 'part_{number}.parquet'"
        )
    model = nbsql.fit(con, "part_*.parquet", target="y", exclude=["file"], families={"x": "categorical"})
    found = {row[2] for row in model.predict("part_*.parquet").fetchall() if row[0] == 1}
    assert found == {value for (value,) in con.sql(f"SELECT {later} FROM range(9) AS r(i)").fetchall()}


TEXT = "id,y,town\n" + "".join(f"{i},{'ab'[i % 2]},{('Köln', 'Ulm')[i % 3 // 2]}\n" for i in range(50))


@pytest.mark.parametrize(
    ("encoding", "name", "option"),
    [
        ("latin-1", "LATIN1", "encoding='latin-1'"),
        ("cp1252", "WINDOWS-1252", ""),
        ("utf-16", "UTF-16", "encoding='utf-16'"),
        ("utf-16-be", "UTF-16BE", ""),
        ("utf-32", "UTF-32", ""),
    ],
)
def test_the_encoding_of_a_file_is_named(con, encoding, name, option):
    text = TEXT.replace("Köln", "5 €") if encoding == "cp1252" else TEXT
    if encoding == "utf-16-be":
        text = "\ufeff" + text.replace("town", "stadt", 1)
        name = "UTF-16"  # its mark says in which order the bytes are
    Path("rows.csv").write_bytes(text.encode(encoding))
    with pytest.raises(DatabaseError) as caught:
        nbsql.fit(con, "rows.csv", target="y", id="id")
    assert str(caught.value).startswith(f"'rows.csv' is encoded in {name} and not in UTF-8; ")
    assert str(caught.value).endswith(f"convert it first: iconv -f {name} -t UTF-8")
    source = SOURCE.search(str(caught.value))
    assert (source is not None) == bool(option)
    if source is not None:
        assert option in source[1]
        assert nbsql.fit(con, source[1], target="y", id="id").predict(source[1]).df().town.iloc[0] == "Köln"


@pytest.mark.parametrize(("encoding", "town"), [("shift_jis", "東京タワー"), ("cp1251", "Москва"), ("euc_kr", "서울")])
def test_a_file_of_other_letters_is_not_said_to_be_in_latin1(con, encoding, town):
    Path("rows.csv").write_bytes(TEXT.replace("Köln", town).encode(encoding))
    with pytest.raises(DatabaseError) as caught:
        nbsql.fit(con, "rows.csv", target="y", id="id")
    assert str(caught.value) == (
        "'rows.csv' is encoded neither in UTF-8 nor, by its bytes, in LATIN1; "
        "convert it first from its own encoding, say SHIFT_JIS: iconv -f SHIFT_JIS -t UTF-8"
    )


def test_a_short_file_of_utf_16_is_read_as_the_message_says(con):
    lines = ["x,y", *(f"{i % 7},{'ab'[i % 2]}" for i in range(60)), ""]
    Path("wide.csv").write_bytes("\r\n".join(lines).encode("utf-16"))
    with pytest.raises(DatabaseError, match=r"^'wide.csv' is encoded in UTF-16 and not in UTF-8; read it with ") as caught:
        nbsql.fit(con, "wide.csv", target="y")
    source = SOURCE.search(str(caught.value))
    assert nbsql.fit(con, source[1], target="y").classes == ["a", "b"]


def test_a_compressed_file_that_is_none_or_is_broken_is_said_to_be_so(con):
    text = "x,y\n" + "".join(f"{i * i * 7919 % 99991},{'ab'[i % 2]}\n" for i in range(20_000))
    packed = gzip.compress(text.encode())
    Path("plain.csv.gz").write_text(text)
    Path("half.csv.gz").write_bytes(packed[: len(packed) // 2])
    Path("plain.csv.zst").write_text(text)
    Path("plain.parquet").write_text("x")
    Path("long.parquet").write_text(text)
    with pytest.raises(DatabaseError, match=r"^'plain.csv.gz' is not compressed by gzip, though its name says so; ") as caught:
        nbsql.fit(con, "plain.csv.gz", target="y")
    source = SOURCE.search(str(caught.value))
    assert nbsql.fit(con, source[1], target="y").classes == ["a", "b"]
    for name, said in {
        "half.csv.gz": "'half.csv.gz' is broken, or not whole; get it anew, and try gzip -t on it",
        "plain.csv.zst": "a file is not compressed by zstd, though its name says so; "
        "rename it, or read it with compression='none'",
        "plain.parquet": "'plain.parquet' is no Parquet file, or not whole; get it anew, or let its name say what it is",
        "long.parquet": "'long.parquet' is no Parquet file, or not whole; get it anew, or let its name say what it is",
    }.items():
        with pytest.raises(DatabaseError) as caught:
            nbsql.fit(con, name, target="y")
        assert str(caught.value) == said


@pytest.mark.parametrize("rest", ['{"y": "b", "x":', '{"y": "b", "x": }\n{"y": "b", "x": 1}\n'])
def test_a_file_of_half_an_object_is_said_to_be_no_json(con, rest):
    Path("rows.ndjson").write_text('{"y": "a", "x": 1}\n' * 3 + rest)
    with pytest.raises(
        DatabaseError, match=r"^'rows.ndjson' is no JSON: .* at byte \d+ in .*; mend it, or check whether it is whole$"
    ):
        nbsql.fit(con, "rows.ndjson", target="y")


def test_a_mark_at_the_beginning_is_no_part_of_a_name_and_a_missing_one_is_said(con):
    Path("rows.csv").write_text(TEXT, encoding="utf-8-sig")
    assert nbsql.fit(con, "rows.csv", target="y", id="id").predict("rows.csv").columns[0] == "id"
    Path("rows.csv").write_bytes(TEXT.replace("ö", "o").encode("utf-16-le"))
    for form in ("rows.csv", "SELECT * FROM 'rows.csv'"):
        with pytest.raises(NbsqlError, match=r"as a file in UTF-16 that was read as UTF-8; .* encoding='utf-16'"):
            nbsql.fit(con, form, target="y", id="id")
    Path("rows.csv").write_bytes(TEXT.replace("ö", "o").encode("utf-16-be"))
    with pytest.raises(NbsqlError, match=r"as a file in UTF-16 that was read as UTF-8; convert it first: iconv -f UTF-16BE "):
        nbsql.fit(con, "rows.csv", target="y", id="id")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rows.xlsx", r'is an Excel file; read it as "FROM read_xlsx\(.rows.xlsx.\)" .*pandas.read_excel\(.rows.xlsx.\)'),
        ("rows.xls", r"is an Excel file; read it as pandas.read_excel\(.rows.xls.\) in Python, or save it as CSV"),
        ("rows.zip", r"is an archive; unpack it first"),
        ("rows.csv.zip", r"is an archive; unpack it first"),
        ("rows.tar.gz", r"is an archive; unpack it first"),
        ("rows.dta", r"read it in Python as pandas.read_stata\(.rows.dta.\)"),
        ("rows.txt", r'ending of .rows.txt. does not say what it holds; read it: "FROM read_csv\(.rows.txt.\)"'),
    ],
)
def test_a_file_of_another_kind_says_what_reads_it(con, name, said):
    Path(name).write_text(TEXT, encoding="utf-8")
    con.execute("CREATE TABLE days AS FROM (VALUES ('a', 1), ('b', 2)) AS t(y, town)")
    model = nbsql.fit(con, "days", target="y", name="m")
    con.execute("SET autoinstall_known_extensions = false")  # without a network, DuckDB waits seconds for one
    for verb in (lambda: nbsql.fit(con, Path(name), target="y"), lambda: model.predict(name), lambda: model.evaluate(name)):
        with pytest.raises(InputError, match=said):
            verb()
    con.execute("RESET autoinstall_known_extensions")
    if name == "rows.txt":
        assert nbsql.fit(con, f"FROM read_csv('{name}')", target="y", id="id").families["town"].name == "categorical"
        with pytest.raises(DatabaseError, match=said):
            nbsql.fit(con, f"SELECT * FROM '{name}'", target="y")


def test_a_database_as_a_source_says_how_to_read_its_tables(con):
    duckdb.connect("other.duckdb").execute("CREATE TABLE days AS FROM (VALUES ('a', 1), ('b', 2)) AS t(y, town)").close()
    with pytest.raises(InputError) as caught:
        nbsql.fit(con, "other.duckdb", target="y")
    cure = "FROM read_duckdb('other.duckdb', table_name='...')"
    assert str(caught.value) == f"'other.duckdb' is a DuckDB database; read one of its tables: \"{cure}\""
    assert nbsql.fit(con, cure.replace("...", "days"), target="y").classes == ["a", "b"]


def test_a_file_that_is_not_what_its_name_says(con):
    Path("rows.csv").write_bytes(b"PK\x03\x04\xff\xfe\x80,\n" * 9)
    with pytest.raises(DatabaseError, match=r"'rows.csv' is a ZIP archive or an Excel file; unpack it"):
        nbsql.fit(con, "rows.csv", target="y")
    Path("rows.csv").write_bytes(gzip.compress(TEXT.encode() * 50))
    with pytest.raises(DatabaseError, match=r"'rows.csv' is compressed by gzip; unpack it, or let its name end in .csv.gz"):
        nbsql.fit(con, "rows.csv", target="y")


ORDERS = {  # the dates of a file, and the formats of these and of the other way to read them; None where there is no other
    "02/11/2020 03/12/2020": ("dateformat", "%d/%m/%Y", "%m/%d/%Y"),
    "02.11.2020": ("dateformat", "%d.%m.%Y", "%m.%d.%Y"),
    "25/02/20 01/02/20": ("dateformat", "%y/%m/%d", "%d/%m/%y"),
    "02/11/2020 02/25/2020": None,
    "02/02/2020 11/11/2020": None,
    "2020-02-11": None,
}


@pytest.mark.parametrize("dates", ORDERS)
@pytest.mark.parametrize("time", ["", " 03:04:05"])
def test_dates_that_may_be_others_are_said_with_the_sources_that_read_them(con, dates, time):
    written = [f"{date}{time}" for date in dates.split()]
    Path("days.csv").write_text("y,d\n" + "".join(f"{'ab'[i % 2]},{date}\n" for i, date in enumerate(written)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nbsql.fit(con, "days.csv", target="y", features=["d"])
    said = [str(each.message) for each in caught if "may be others" in str(each.message)]
    expected = ORDERS[dates]
    if expected is None:
        assert said == []
        return
    option, (chosen, other) = (
        "timestampformat" if time else expected[0],
        (f"{each}{' %H:%M:%S' * bool(time)}" for each in expected[1:]),
    )
    sources = [f"FROM read_csv('days.csv', {option}='{each}')" for each in (chosen, other)]
    example = min(each for each in written if each[:2] != each[3:5])
    assert said == [
        f"the dates in 'days.csv' may be others: those of 'd', such as {example!r}, are read as {chosen}, and may be {other}; "
        f'say which they are: "{sources[0]}" or "{sources[1]}"'
    ]
    read = [
        [f"{row[1]:{each}}" for row in con.sql(source).fetchall()]
        for source, each in zip(sources, (chosen, other), strict=True)
    ]
    assert read == [written] * 2


def test_a_file_whose_dates_may_be_others_than_those_of_the_fit_is_scored_with_a_warning(con):
    Path("old.csv").write_text(
        "y,d\n" + "".join(f"{'ab'[i % 12 > 5]},{i % 12 + 1:02}/{i % 28 + 1:02}/2020\n" for i in range(96))
    )
    Path("new.csv").write_text("y,d\na,02/11/2020\na,03/12/2020\nb,11/02/2020\n")
    model = nbsql.fit(con, "old.csv", target="y")
    for verb in (model.predict, model.evaluate, model.update):
        with pytest.warns(nbsql.NbsqlWarning, match="dates in 'new.csv' may be others") as caught:
            verb("new.csv")
    with pytest.warns(nbsql.NbsqlWarning, match=r"dates in 'ne\[w\].csv' may be others"):  # a pattern
        model.predict("ne[w].csv")
    *_, source = re.findall(r'"(FROM .*?)"', str(caught[0].message))
    assert {(row[0], row[2]) for row in model.predict(source).fetchall()} == {("a", "a"), ("b", "b")}


TOP, LONG = "id,y,x\n" + "".join(f"{i},{'ab'[i % 2]},{i % 7}\n" for i in range(40)), "40,a,3,k\n"
UNEVEN = {  # a file, and how many of its first lines DuckDB would leave out
    "one long line": (TOP + LONG, 41),
    "a second header": (TOP + "id,y,x,z\n" + LONG * 30, 41),
    "no header": (TOP.partition("\n")[2] + LONG, 40),
    "a separator": ("sep=,\n" + TOP, 0),
    "a title": ("Report of May\n\n" + TOP, 0),
    "even lines": (TOP, 0),
}


@pytest.mark.parametrize("name", UNEVEN)
def test_lines_that_duckdb_leaves_out_are_said_with_the_source_that_reads_them(con, name):
    """It takes what precedes the longest lines for no rows: 40 of 41 in silence."""
    text, skipped = UNEVEN[name]
    Path("rows.csv").write_text(text)
    with warnings.catch_warnings(record=True) as caught, contextlib.suppress(InputError):  # whose header is left out, too
        warnings.simplefilter("always")
        nbsql.fit(con, "rows.csv", target="column1" if name == "no header" else "y")
    said = [str(each.message) for each in caught if "left out, as" in str(each.message)]
    if not skipped:
        assert said == []
        return
    every, rest = "FROM read_csv('rows.csv', null_padding=true)", f"FROM read_csv('rows.csv', skip={skipped})"
    assert said == [
        f"the first {skipped} lines of 'rows.csv' are left out, as a later one has more values; "
        f'read all of them: "{every}", or the rest alone: "{rest}"'
    ]
    lines = text.count("\n")
    assert len(con.sql(every).fetchall()) == lines - (name != "no header")
    assert len(con.sql(rest).fetchall()) == lines - skipped - (name == "a second header")


def test_lines_that_are_no_rows_of_one_form_name_the_source_that_reads_them(con):
    Path("rows.csv").write_text(TOP)
    model = nbsql.fit(con, "rows.csv", target="y", families={"id": "gaussian"})
    Path("short.csv").write_text(TOP + "40,a\n")
    cure = "its lines differ in their number of values, so fill them with NULL: "
    source = "FROM read_csv('short.csv', null_padding=true)"
    for ask in (lambda: nbsql.fit(con, "short.csv", target="y"), lambda: model.predict("short.csv")):
        with pytest.raises(InputError, match=f'{cure}"{re.escape(source)}"$'):
            ask()
    assert len(model.predict(source).fetchall()) == 41


SPLIT = "FROM read_json('rows.json') SELECT unnest(rows, recursive := true)"
OTHER_FORMS = {  # a file, and the source that reads it, or what is said
    "rows.csv": (TOP.replace(",", "^"), "FROM read_csv('rows.csv', delim='^')"),
    "ends.csv": (TOP.replace("1\n", "1\r\n"), "FROM read_csv('ends.csv', strict_mode=false)"),
    "rows.json": (json.dumps({"rows": [{"y": "ab"[i % 2], "x": i} for i in range(40)]}), SPLIT),
    "columns.json": (json.dumps({"y": {i: "ab"[i % 2] for i in range(40)}}), 'STRUCT."0" VARCHAR, ….; .* pandas.read_json'),
}


@pytest.mark.parametrize("name", OTHER_FORMS)
def test_a_file_of_another_form_names_the_source_that_reads_it(con, name):
    text, source = OTHER_FORMS[name]
    Path(name).write_bytes(text.encode())
    with pytest.raises(NbsqlError, match=source if "pandas" in source else f'"{re.escape(source)}"$'):
        nbsql.fit(con, name, target="y")
    if "pandas" not in source:
        assert nbsql.fit(con, source, target="y", families={"x": "gaussian"}).classes == ["a", "b"]


def test_a_folder_that_is_named_like_a_file_names_its_files(con):
    Path("rows.csv").mkdir()
    Path("rows.csv/part.csv").write_text(TOP)
    with pytest.raises(
        InputError, match=r"'rows.csv' is a folder, and no table; say which files in it, such as 'rows.csv/\*.csv'"
    ):
        nbsql.fit(con, "rows.csv", target="y")


def test_a_file_whose_header_is_not_found_names_the_source_that_has_its_columns(con):
    rows = "".join(f"{'ab'[i % 2]},{i}\n" for i in range(40))
    Path("bare.csv").write_text(rows)
    Path("title.csv").write_text(f"Report of May,,\n,,\ny,x,z\n{rows}".replace("\na", "\na,").replace("\nb", "\nb,"))
    model = nbsql.fit(con, {"y": ["a", "b"], "x": [1, 2]}, target="y")
    for name, columns, cure in (
        ("bare.csv", "'column0', 'column1'", "it has no header, name them: \"FROM read_csv('bare.csv', names=['{}', ...])\""),
        (
            "title.csv",
            "'Report of May', 'column1', 'column2'",
            "there are lines above its header, leave them out: \"FROM read_csv('title.csv', skip=...)\"",
        ),
    ):
        for ask, missing in ((lambda: nbsql.fit(con, name, target="y"), "y"), (lambda: model.predict(name), "x")):  # noqa: B023
            with pytest.raises(InputError, match=re.escape(f"; its columns are {columns}; if {cure.format(missing)}") + "$"):
                ask()
    with pytest.raises(InputError, match=r"did you mean 'column0'[?]$"):
        nbsql.fit(con, "bare.csv", target="colum0")
    source = "FROM read_csv('bare.csv', names=['y', 'x'])"
    assert len(nbsql.fit(con, source, target="y").predict(source).fetchall()) == 40


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet"])
def test_columns_that_only_later_files_of_a_pattern_have_are_named_with_the_source_that_reads_them(con, form):
    for number, column in ((1, ""), (2, ", i % 3 AS z")):
        con.execute(f"COPY (SELECT i % 2 AS y, i % 5 AS x{column} FROM range(40) AS r(i)) TO 'part_{number}.{form}'")
    with pytest.warns(nbsql.NbsqlWarning, match="later files of .* are read without them: 'z'; read these, too: ") as caught:
        model = nbsql.fit(con, f"part_*.{form}", target="y")
    assert [*model.families] == ["x"]
    source = re.search(r'too: "(.*)"$', str(caught[0].message))[1]
    assert [*nbsql.fit(con, source, target="y").families] == ["x", "z"]


@pytest.mark.filterwarnings("ignore:later files of:nbsql.NbsqlWarning")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_of_a_pattern_that_differ_in_columns_name_the_option_that_reads_them(con, form):
    for number, column in ((1, "x"), (2, "z")):
        con.execute(f"COPY (SELECT i % 2 AS y, i AS {column} FROM range(40) AS r(i)) TO 'part_{number}.{form}'")
    message = (
        f"part_2.{form}' has no column 'x', as files before it have; read them by read_{form} with union_by_name=true, if "
    )
    with pytest.raises(nbsql.DatabaseError, match=re.escape(f"{message}it is not known there") + "$"):
        nbsql.fit(con, f"part_*.{form}", target="y")
    source = f"FROM read_{form}('part_*.{form}', union_by_name=true)"
    assert [*nbsql.fit(con, source, target="y").families] == ["x", "z"]


def test_a_text_of_json_has_no_quotes_beside_numbers(con):
    rows = [{"y": "ab"[i % 2], "x": ["u", 1][i % 2]} for i in range(40)]
    Path("rows.json").write_text("\n".join(map(json.dumps, rows)))
    model = nbsql.fit(con, "rows.json", target="y")
    assert sorted({row[3] for row in model.statistics if row[2] == "x"}) == ["1", "u"]
    assert [row[0] for row in model.predict("rows.json", columns=[])] == ["a", "b"] * 20
    assert model.predict_one({"x": "u"})["prediction"] == "a"


@pytest.mark.parametrize("column", ["x", "the x", 'x"y'])
def test_a_number_that_a_new_file_has_as_texts_names_the_source_that_casts_it(con, column):
    def written(name, values):
        with Path(name).open("w", newline="") as file:
            csv.writer(file).writerows([["y", column], *([f"{'ab'[i % 2]}", value] for i, value in enumerate(values))])
        return name

    model = nbsql.fit(con, written("old.csv", [f"{i % 7}.5" for i in range(40)]), target="y")
    with pytest.raises(
        InputError, match="is VARCHAR, which the model cannot take for a gaussian feature; cast it, with"
    ) as caught:
        model.predict(written("new.csv", ["1.5", "NA", "2.5"]))
    source = re.search(r'are none: "(.*)"$', str(caught.value))[1].replace(r"\"", '"')
    assert sorted(model.predict(source).fetchall(), key=str)[0][1] == 1.5
    assert [row[1] is None for row in model.predict(source)].count(True) == 1


NUMBERED = {
    "csv": "y,x,y,x_1\na,1,u,1\nb,2,v,2\n",
    "csv.gz": 'y,"x",y,x_1\na,1,u,1\nb,2,v,2\n',
    "tsv": "Y\tx\ty\nu\t1\ta\nv\t2\tb\n",
    "json": '[{"Y": "a", "x": 1, "y": "u"}, {"Y": "b", "x": 2, "y": "v"}]',
    "ndjson": '{"Y": "a", "x": 1}\n{"Y": "b", "x": 2, "y": "v"}\n',
    "parquet": "",
}


@pytest.mark.parametrize("ending", NUMBERED)
def test_a_file_with_a_name_twice_is_refused(con, ending):
    """DuckDB calls the second y_1, which would be a feature."""
    path = Path(f"twice.{ending}")
    path.write_bytes(gzip.compress(NUMBERED[ending].encode()) if ending == "csv.gz" else NUMBERED[ending].encode())
    if ending == "parquet":
        parquet.write_table(pyarrow.table([["a", "b"], [1, 2], ["u", "v"]], names=["y", "x", "y"]), path)
    with pytest.raises(
        InputError, match=rf"^column 'y' is ambiguous in '{path}', which has it twice; rename one, or"
    ) as caught:
        nbsql.fit(con, path, target="y")
    source = re.search(r'"(.*)"$', str(caught.value))
    assert con.sql(source[1]).columns[2] in ("y_1", "Y_1")


def test_a_name_that_ends_in_a_number_is_one_of_its_own(con):
    Path("once.csv").write_text("y,x,x_1\na,1,u\nb,2,v\n")
    Path("once.json").write_text('[{"y": "a", "x": 1, "x_1": "u"}, {"y": "b", "x": 2, "x_1": "v"}]')
    nested = pyarrow.table({"y": ["a", "b"], "x": [1, 2], "x_1": ["u", "v"], "s": [{"x": 1}, {"x": 2}]})
    parquet.write_table(nested, "once.parquet")
    for path in ("once.csv", "once.json", "once.parquet"):
        assert {*nbsql.fit(con, path, target="y", features=["x", "x_1"]).families} == {"x", "x_1"}


def test_a_key_twice_in_json_names_the_source_that_leaves_it_out(con):
    Path("rows.ndjson").write_text('{"y": "a", "x": 1, "x": 2}\n{"y": "b", "x": 3}\n')
    with pytest.raises(DatabaseError, match=r"has duplicate key .*\"FROM (read_json\('rows.ndjson', ignore_errors=true\))\"$"):
        nbsql.fit(con, "rows.ndjson", target="y")
    assert len(con.sql("FROM read_json('rows.ndjson', ignore_errors=true)").fetchall()) == 2


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda path: nbsql.fit(duckdb.connect(), f"{path}.csv", target="y"), "^(no file|.*too long)"),
        (lambda path: nbsql.fit(duckdb.connect(), f"{path}.parquet", target="y"), "^(no file|.*too long)"),
        (lambda path: nbsql.fit(f"{path}/a.duckdb", "SELECT 1 AS y", target="y", name="m"), "its folder does not exist"),
        (lambda path: nbsql.fit(f"{path}.duckdb", "SELECT 1 AS y", target="y", name="m"), "cannot open"),
        (lambda path: nbsql.load(f"{path}/a.duckdb", "m"), "^no database"),
        (lambda path: nbsql.import_(duckdb.connect(), f"{path}.parquet"), "^no file"),
    ],
)
def test_a_path_that_the_system_does_not_look_up_is_one_line(tmp_path, act, message):
    """A name of 300 characters stands for a folder that is closed to the user, which it is not to the root of a container."""
    with pytest.raises(nbsql.NbsqlError, match=message) as caught:
        act(str(tmp_path / ("x" * 300)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("<!DOCTYPE html>\n<html><head><title>404</title></head>\n<p>Not found, sorry.</p></html>\n", "HTML"),
        ("<html>\r\n<head><title>403 Forbidden</title></head>\r\n<hr>\r\n</html>\r\n", "HTML"),
        ('{"error": {"code": 403, "message": "quota exceeded, try later"}}\n', "JSON"),
        ('[\n {"a": 1, "y": "u"},\n {"a": 2, "y": "v"}\n]\n', "JSON"),
    ],
)
def test_a_file_that_is_no_table_is_said_to_be_html_or_json(tmp_path, monkeypatch, text, hint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(text)
    cure = {"HTML": "HTML, as a page of an error is; load it again", "JSON": "JSON: \"FROM read_json('rows.csv')\""}[hint]
    with pytest.raises(nbsql.InputError) as refused:
        nbsql.fit(duckdb.connect(), "rows.csv", target="kind")
    assert str(refused.value) == f"no column 'kind' in rows.csv; it is {cure}"
    model = nbsql.fit(duckdb.connect(), {"a": [1, 2, 3], "kind": ["u", "v", "u"]}, target="kind")
    with pytest.raises(nbsql.InputError) as refused:
        model.predict("rows.csv")
    assert str(refused.value).endswith(f"it is {cure}")
