"""DuckDB's error messages, those of files among them, shortened for nbsql's errors."""

import gzip
import re
import zlib
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb

from nbsql.engines.duckdb.paths import is_database
from nbsql.engines.foreign_sources import reads_again
from nbsql.errors import quoted, source_text, suggestion
from nbsql.spec.column import MISSING_WORDS
from nbsql.warn import user_variable

_FILE = re.compile(r'^ *file ?= ?(.*)$|\bfile "([^"]*)"', re.MULTILINE)
_LINE = re.compile(r"CSV Error on Line: (\d+)")
_ROW = re.compile(r"^Original Line: ?(.*)$", re.MULTILINE)
_VALUE = re.compile(r'converting column "(.*?)"\. Could not convert string "(.*)" to \'(.*?)\'', re.DOTALL)
_WIDTH = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_CHOSEN = re.compile(r"^ *(\w+) ?= ?(.*) \(Set By User\)$", re.MULTILINE)
_OPTIONS = {"delimiter": "delim", "quote": "quote", "escape": "escape", "skip_rows": "skip", "comment": "comment"}
_NO_QUOTE = re.compile(r"^ *quote ?= ?\(empty\)", re.MULTILINE)
_DECIMAL = re.compile(r"[+-]?\d+,\d+")
_NOT_UTF8 = "not utf-8 encoded|File is not latin-1 encoded|invalid UTF-8 encoding|UTF-(?:16|32) encoding is not supported"
_JSON = re.compile(r'JSON transform error in file "([^"]*)", in (?:line|record/value) (\d+): (.*)')
_MALFORMED = re.compile(r'Malformed JSON in file "([^"]*)", (at byte \d+ in [\w/]+ \d+): (.*)')
_UNKNOWN = re.compile(r'No extension found that is capable of reading the file "([^"]*)"')
_NO_GZIP = re.compile(r"Input is not a GZIP stream: (.*)")
_PLAIN = "compression='none'"
_BROKEN = "{!r} is broken, or not whole; get it anew, and try gzip -t on it"
CORRUPT = (OSError, EOFError, zlib.error)  # what reading a file that is compressed by gzip may raise
_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")  # of the order of bytes in UTF-16 and UTF-32
_ENDS = re.compile(rb"\r\n|\n|\r")
_WITHIN_ROW = 60  # the most characters of a row that a message shows
_BLOCK = 1 << 20

_EXCEL = re.compile(r"\.xls[xmb]?$", re.IGNORECASE)
_DATA = re.compile(r"\.(parquet|(csv|tsv|json|jsonl|ndjson)(\.gz|\.zst)?)$", re.IGNORECASE)
_ARCHIVE = re.compile(r"\.(zip|7z|rar|tar(\.gz|\.zst)?|tgz|bz2|xz)$", re.IGNORECASE)
_OF_PANDAS = {
    ".ods": "read_excel", ".feather": "read_feather", ".arrow": "read_feather", ".dta": "read_stata", ".sav": "read_spss",
    ".sas7bdat": "read_sas", ".pkl": "read_pickle", ".pickle": "read_pickle", ".xml": "read_xml", ".html": "read_html",
    ".h5": "read_hdf", ".orc": "read_orc",
}  # fmt: skip
_MAGIC = {
    b"PK": "a ZIP archive or an Excel file; unpack it, or save its sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an Excel file; save its sheet as CSV",
    b"\x1f\x8b": "compressed by gzip; unpack it, or let its name end in .csv.gz",
    b"SQLi": "a SQLite database; ATTACH it (TYPE sqlite), and name a table of it, or save that as CSV",
    b"PAR1": "a Parquet file; let its name end in .parquet",
}


def file_error(text: str) -> str | None:
    """DuckDB's message on a file in one line, with the cure; None if it is about something else."""
    if unknown := _UNKNOWN.search(text):
        return other_file(unknown[1])
    if late := _JSON.search(text):
        options = "ignore_errors=true" if "duplicate key" in late[3] else "sample_size=-1"
        return f"line {late[2]} of {late[1]!r}: {late[3]}; {_cure('read_json', late[1], options)}"
    if malformed := _MALFORMED.search(text):
        return f"{malformed[1]!r} is no JSON: {malformed[3].rstrip('.')} {malformed[2]}; mend it, or check whether it is whole"
    if plain := _NO_GZIP.search(text):
        reader = "read_json" if re.search(r"json", Path(plain[1]).name, re.IGNORECASE) else "read_csv"
        return f"{plain[1]!r} is not compressed by gzip, though its name says so; {_cure(reader, plain[1], _PLAIN)}"
    file = _FILE.search(text)
    path = "" if file is None else file[1] or file[2]
    if re.search(_NOT_UTF8, text):
        return _encoding(path) if path else "the file is not encoded in UTF-8; convert it first, by iconv -t UTF-8"
    if "Error when sniffing file" in text:
        return (
            _unsniffed(path)
            or f"the rows of {path!r} follow no one form; {_cure('read_csv', path, 'delim=...', 'quote=...', 'skip=...')}"
        )
    return None if (line := _LINE.search(text)) is None else _in_row(text, path, line[1])


_UNQUOTED = re.compile(r"\s*(?:SELECT|FROM|WITH)\s.*?(\S+)$", re.IGNORECASE | re.DOTALL)


def unquoted_file(text: str) -> str | None:
    """What is wrong with a query that ends like the name of a file; None if it is that of a file."""
    named = _UNQUOTED.match(text)
    if named is None or Path(text).exists():
        return None
    return f"{text!r} is no file; if it is a query, write the file that it reads in quotes: FROM '{named[1]}'"


def _pattern(folder: Path) -> str:
    """The files of the kind of the first one that DuckDB reads in a folder, or below it."""
    found = ((each, ending) for each in islice(folder.rglob("*"), 1000) if (ending := _DATA.search(each.name)))
    first, ending = next(found, (folder / "*", None))
    return str(folder / ("" if first.parent == folder else "**") / f"*{ending[0] if ending else '.parquet'}")


def other_file(path: str) -> str | None:
    """What reads a file whose name does not say that DuckDB can; None for a name that is that of no such file."""
    pandas = _OF_PANDAS.get(Path(path).suffix.lower())
    if _EXCEL.search(path):
        by_duckdb = f"{source_text('read_xlsx', path)} (by DuckDB's extension excel), " if path.lower().endswith("x") else ""
        return f"{path!r} is an Excel file; read it as {by_duckdb}pandas.read_excel({path!r}) in Python, or save it as CSV"
    if _ARCHIVE.search(path):
        return f"{path!r} is an archive; unpack it first: CSV files may stay compressed as .csv.gz or .csv.zst alone"
    if pandas is not None:
        return f"{path!r} is no file that DuckDB reads; read it in Python as pandas.{pandas}({path!r}), or save it as CSV"
    with suppress(OSError, ValueError):
        if Path(path).is_dir():
            return f"{path!r} is a folder, and no table; say which files in it, such as {_pattern(Path(path))!r}"
        if is_database(Path(path)):
            return f"{path!r} is a DuckDB database; read one of its tables: {source_text('read_duckdb', path, _TABLE)}"
        if Path(path).is_file():
            return _content(path) or f"the ending of {path!r} does not say what it holds; {_cure('read_csv', path)}"
    return None


def _in_row(text: str, path: str, line: str) -> str:
    """The message on one row of a CSV file."""
    row = (_ROW.search(text) or [""] * 2)[1].strip()
    where = f"line {line} of {path!r}"
    unquoted = ["""quote='"'"""] if '"' in row and row.count('"') % 2 == 0 and _NO_QUOTE.search(text) else []
    chosen = [f"{_OPTIONS[name]}={quoted(value)}" for name, value in _CHOSEN.findall(text) if name in _OPTIONS]
    if value := _VALUE.search(text):
        column, wrong, kind = value.groups()
        options = [*chosen, *unquoted, *_of_value(column, wrong, kind)]
        return f"{where}: {wrong!r} in column {column!r} is no {kind}; {_cure('read_csv', path, *options)}"
    shown = row if len(row) <= _WITHIN_ROW else f"{row[: _WITHIN_ROW - 1]}…"
    if unquoted:
        return f"{where}: {shown!r} has quotes, as none before it; {_cure('read_csv', path, *chosen, *unquoted)}"
    if width := _WIDTH.search(text):
        few = int(width[2]) < int(width[1])
        options = [*chosen, "null_padding=true" if few else "ignore_errors=true"]
        what = "fill it with NULL" if few else "put values with a comma in quotes, or leave such rows out"
        cure = source_text("read_csv", path, *options)
        return f"{where} has {width[2]} columns and not {width[1]}: {shown!r}; mend it, or {what}: {cure}"
    reason = next((each for each in text.splitlines() if each.endswith(".") and "utoma" not in each), "cannot be read.")
    cure = source_text("read_csv", path, *chosen, "ignore_errors=true")
    return f"{where}: {reason.strip().rstrip('.')}: {shown!r}; mend it, or leave such rows out: {cure}"


def _of_value(column: str, wrong: str, kind: str) -> list[str]:
    """The options by which a reader takes a value that is not of the type of those before it."""
    if wrong.strip().lower() in MISSING_WORDS and kind != "BOOLEAN":
        return [f"nullstr=['', {quoted(wrong)}]"]
    if _DECIMAL.fullmatch(wrong.strip()) and "INT" in kind:
        return ["decimal_separator=','", f"types={{{quoted(column)}: 'DOUBLE'}}"]
    return [f"types={{{quoted(column)}: 'VARCHAR'}}"]


def _encoding(path: str) -> str:
    """The message on a file that is not encoded in UTF-8, with its encoding by the bytes that it holds."""
    if (what := _content(path)) is not None:
        return what
    name, first = "LATIN1", b""
    with suppress(*CORRUPT), opened(path) as file:
        first = file.read(_BLOCK)
        if first.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
            name = "UTF-32"
        elif first.startswith((b"\xff\xfe", b"\xfe\xff")):
            name = "UTF-16"
        elif b"\0" in first:
            name = "UTF-16BE" if first.startswith(b"\0") else "UTF-16LE"
        else:
            block = first
            while block and name == "LATIN1":
                if re.search(rb"[\x80-\x9f]", block):
                    name = "WINDOWS-1252"
                if re.search(rb"[\x81\x8d\x8f\x90\x9d]|[\x80-\xff]{4}", block):  # which that has not, or no word of it
                    return (
                        f"{path!r} is encoded neither in UTF-8 nor, by its bytes, in LATIN1; "
                        "convert it first from its own encoding, say SHIFT_JIS: iconv -f SHIFT_JIS -t UTF-8"
                    )
                block = file.read(_BLOCK)
    known = {"LATIN1": "latin-1", "UTF-16": "utf-16", "UTF-16LE": "utf-16"}.get(name)
    convert = f"convert it first: iconv -f {name} -t UTF-8"
    if known is None or first.startswith(b"\xfe\xff") or not re.search(r"\.(csv|tsv)", path, re.IGNORECASE):
        return f"{path!r} is encoded in {name} and not in UTF-8; {convert}"  # DuckDB finds no row of big-endian UTF-16
    option = f"encoding='{known}'"
    return f"{path!r} is encoded in {name} and not in UTF-8; {_cure('read_csv', path, option)}, or {convert}"


def _content(path: str) -> str | None:
    """What a file is whose first bytes say that it holds no text."""
    with suppress(*CORRUPT), opened(path) as file:
        first = file.read(4)
        for magic, what in _MAGIC.items():
            if first.startswith(magic):
                return f"{path!r} is {what}"
    return None


def _unsniffed(path: str) -> str | None:
    """What a file is in whose rows DuckDB finds no form: no text, not whole, in UTF-16, or of several ends; None for others."""
    if (what := _content(path)) is not None:
        return what
    try:
        with opened(path) as file:
            first = file.read(_BLOCK)
    except (EOFError, zlib.error):
        return _BROKEN.format(path)
    except OSError:
        return None
    if first.startswith(_MARKS) or 4 * first.count(0) > len(first):
        return _encoding(path)
    if len({*_ENDS.findall(first)}) > 1:
        return f"the lines of {path!r} end in several ways; {_cure('read_csv', path, 'strict_mode=false')}"
    return None


def opened(path: str) -> Any:
    return gzip.open(path) if path.lower().endswith(".gz") else Path(path).open("rb")


def _cure(reader: str, path: str, *options: str) -> str:
    names = f" with {', '.join(options)}" if options else ""
    return f"read it{names}: {source_text(reader, path, *options)}"


_TABLE = "table_name='...'"
_EXTENSION = re.compile(r"(?:install|download).* extension ['\"](\w+)", re.DOTALL)
_NO_TABLE = re.compile(r'Catalog Error: Table with name (.*?) does not exist!(?:\s+Did you mean "([^"]*)")?')
_SAID = {  # what DuckDB says -> what is said of the name in it
    r'on database "(.*)" which is attached in read-only mode': "database {!r} is open read-only; open it for writing",
    'infinite recursion detected: attempting to recursively expand table macro "(.*)"': "a view that reads {!r} of a model "
    "cannot be scored by the same macro, which DuckDB expands once; make a table of the view, or score it in Python",
    "Query exceeded maximum execution time": "the query took longer than this session allows; SET max_execution_time = 0, or a "
    "longer time in milliseconds",
    r"Could not convert .* \((.*)\) to microseconds": "pandas has no date {!r}; cast the column to text, or leave it out with "
    "columns=[...]",
    "Connection (?:has )?already (?:been )?closed": "the connection is closed; open a new one, and load the model with it",
    r'No files found that match the pattern "(.*)"': "no file {!r}; check its path",
    r'Cannot open file "(.*)": No such file or directory': "cannot open {!r}: no such file or folder; check its path",
    r'Cannot open file "(.*)": Permission denied': "cannot open {!r}: you have no right to; ask its owner for it, or "
    "choose another",
    r"Unexpected end of GZIP stream: (.*)": _BROKEN,
    "IO Error: Unknown frame descriptor": "a file is not compressed by zstd, though its name says so; rename it, or read it "
    f"with {_PLAIN}",
    r"No magic bytes found at end of file '(.*)'|File '(.*)' too small to be a Parquet file": "{!r} is no Parquet file, or not "
    "whole; get it anew, or let its name say what it is",
    r'Could not write file \\?"(.*?)\\?": No space left on device': "cannot write {!r}: no space is left on its disk; "
    "free some, or choose another",
    r'Failed to create directory "(.*?)":': "cannot make the folder {!r}, to which DuckDB writes what memory does not hold; "
    "choose another: SET temp_directory = 'path'",
    r'Ambiguous reference to catalog or schema "(.*?)"': "{!r} is the name of a model and of its database; "
    "rename the file, or ATTACH it under another name",
    r'Binder Error: (?:Values list|Table) ".*?" does not have a column named "(.*?)"': "no column {!r} in the rows; "
    "check whether it was dropped or renamed since",
    r'with name "([^"]*)" does not exist because (schema "[^"]*")': "no table or view {!r}: there is no {}; "
    "check whether it was dropped or detached",
    r"Required module '(\w+)' failed to import": "DuckDB needs the module {0!r} for these values; install it: pip install {0}",
    r"Invalid Input Error: (this session (?:writes|counts|reads) .*: RESET \w+)": "{}",
    "connection has an open result": "a reader of this connection is not read to its end; "
    "read it first, and pass its rows: reader.read_all()",
    r'Schema mismatch between globbed files[\s\S]*?Current file: (.*)\s+Column with name: "(.*?)" is missing': "{0!r} has no "
    "column {1!r}, as files before it have; read them by read_csv with union_by_name=true, if it is not known there",
    r'schema mismatch in glob: column "(.*?)" was read from[\s\S]*? could not be found in file "(.*?)"': "{1!r} has no "
    "column {0!r}, as files before it have; read them by read_parquet with union_by_name=true, if it is not known there",
    r"Overflow in \w+ of (\S+) \((.+?)\)[!;.]": "{1} is beyond the type {0}; make a double of one of them: CAST(... AS DOUBLE)",
    'Cannot drop entry "estimates" because there are entries that depend on it': "a table of the model cannot be made anew, "
    "as the session that fitted it keeps what views depend on: RESET enable_view_dependencies, and fit it with ⟨replace=True⟩",
    r"TRIGGER is only supported for storage versions (v[\d.]*\d)": "the file of the table can be read by DuckDB 1, "
    "and has no triggers; make it one of DuckDB 2 by any change to it after ATTACH 'path' (STORAGE_VERSION {0!r})",
    r'Failed to execute query "(?:BEGIN[^;]*;\s*)?CREATE VIEW': "a database that is attached from elsewhere takes no view of "
    "DuckDB's; create_table makes a table there",
    "Current transaction is aborted": "an earlier error has ended the transaction; begin anew after con.rollback()",
    "cannot encode str as UTF-8|invalid code point detected|Invoked with(?:: <_duckdb| .* str$)": "a text in the rows "
    "holds half a character, which UTF-8 has not; replace it: text.encode(errors='replace').decode()",
    "Could not convert string ['\"](the text '.*' in column '.*' is no number, and none of .*)['\"] to ": "{}",
}


def frame_hint(name: str) -> str:
    """A hint for the name of a table that there is not, if the user has a frame of that name; or else an empty text."""
    found = user_variable(name)
    if not reads_again(found) or not (hasattr(found, "columns") or hasattr(found, "column_names")):
        return ""
    kind = type(found).__name__
    return f"; {name} is a {kind} of Python: pass the {kind} itself, or register it on the connection for a query"


def one_line(error: Exception) -> str:
    """DuckDB's message in one line, without the excerpt of the statement and without tracebacks."""
    if isinstance(error, duckdb.TransactionException) and "conflict" in str(error).lower():
        return "another connection is changing the same model or table at this moment; try again when it is done"
    text = str(error)
    for pattern, message in _SAID.items():
        if said := re.search(pattern, text):
            return message.format(*(name.replace('""', '"') for name in said.groups() if name is not None))
    if missing := _NO_TABLE.search(text):
        # DuckDB suggests tables of its catalogue, too
        hint = frame_hint(missing[1]) or suggestion(missing[1], filter(None, [missing[2]]))
        return f"no table or view {missing[1]!r}{hint or '; check its name, or whether it was dropped or renamed'}"
    if (missing := _EXTENSION.search(text)) and "Failed to download" in text:
        return (
            f"DuckDB reads this with its extension {missing[1]!r}, which it cannot download; check the network, "
            "or download the rows first" + ("; or save the sheet as CSV" if missing[1] == "excel" else "")
        )
    if (of_file := file_error(text)) is not None:
        return of_file
    message = re.split(r"\n\nLINE |\n\s*Candidate functions:|\n+Stack Trace:|, due to the following Python exception", text)[0]
    line = " ".join(message.split())
    return f"{line}; TRY_CAST makes NULL of such values" if " when casting from source column " in line else line
