"""Files as sources: CSV and JSON in types that change no value, and Parquet."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from markupsafe import Markup

from nbsql.engines.duckdb.messages import CORRUPT, opened, other_file
from nbsql.engines.duckdb.paths import check_readable, exists
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed, source_text
from nbsql.rendering.dialect import folded
from nbsql.spec.column import Column
from nbsql.warn import warn_user

PARQUET = re.compile(r"\.parquet$", re.IGNORECASE)
_CSV = re.compile(r"\.(csv|tsv)(\.gz|\.zst)?$", re.IGNORECASE)
_SEPARATOR = re.compile(r"\ufeff?sep=.\s*", re.IGNORECASE)  # by which Excel knows the mark between values
_PATTERN = re.compile(r"[*?\[]")
_PACKED = re.compile(r"\.(gz|zst)$", re.IGNORECASE)
_NUMBERED = re.compile(r"(.+)_\d+")
_UNNAMED = re.compile(r"column\d+")  # as DuckDB names the columns of a file without a header
_SAMPLE = 40_000  # the bytes of a file that has no more rows than those by which DuckDB takes its types
_PARTS_OF_DAY = re.compile("%[ymdY]")
_ORDERS = [["%d", "%m", "%Y"], ["%m", "%d", "%Y"], ["%y", "%m", "%d"], ["%d", "%m", "%y"], ["%m", "%d", "%y"]]
_WIDER = {"integer": "DOUBLE", "text": "VARCHAR", "temporal": "TIMESTAMP"}


def read_file(engine: Engine, path: str) -> Source:
    """The rows of a file, or of all files that a pattern names. Raises InputError if the file is empty or no file."""
    if exists(path) and Path(path).is_file() and not Path(path).stat().st_size:
        raise InputError(f"file {path!r} is empty; write a header and rows into it")
    check_readable(path)
    if not PARQUET.search(path) and exists(path) and Path(path).is_dir() and (what := other_file(path)) is not None:
        raise InputError(what)
    relation = engine.renderer.dialect.ident(path)
    if PARQUET.search(path):
        found = engine.described(Source(relation, path, [], rereads=engine.renderer.layout.file_rereads))
        _check_numbered(engine, path, "parquet", found.columns)
        return _with_types_of_all_files(engine, path, found)
    found = engine.described(Source(relation, path, []))
    _check_numbered(engine, path, "csv" if _CSV.search(path) else "json", found.columns)
    types, quoted = _types_of_all_rows(engine, path, found.columns)
    if _CSV.search(path) is None:
        # With texts beside numbers a column has the type JSON, in which a text has quotes around it.
        types |= {column.name: "VARCHAR" for column in found.columns if column.type == "JSON"}
        found.as_texts = partial(_json_with_texts, engine, path)
        known = [(column.name, types.get(column.name, column.type)) for column in found.columns]
        wider = engine.renderer.fragment("json_with_types", path, known)
    else:
        found.as_texts = partial(_csv_with_texts, engine, path, types, quoted)
        wider = found.as_texts(found.columns, [])
    if types:
        found.relation = wider
        found = engine.described(found)
    if _CSV.search(path):
        files = [path] if Path(path).is_file() else [file for (file,) in engine.query_macro("files_of_pattern", path)] or [path]
        skipped, delimiter, *formats = engine.query_macro("csv_as_sniffed", files[0])[0]
        _warn_of_lines(path, files[0], skipped, delimiter)
        if len({*map(_first_line, files)}) > 1:
            relation = engine.renderer.fragment("files_by_name", "read_csv", path)
            _warn_of_columns("read_csv", path, found, engine.described(Source(relation, path, [])))
        _warn_of_dates(engine, path, found, formats)
    return found


def _with_types_of_all_files(engine: Engine, path: str, first: Source) -> Source:
    """Parquet files in types that change no value: by those of the first one, DuckDB would round a later file's 2.5 to 3."""
    if not _PATTERN.search(path) and not (exists(path) and Path(path).is_dir()):
        return first
    relation = engine.renderer.fragment("files_by_name", "read_parquet", path)
    every = engine.described(Source(relation, path, [], rereads=engine.renderer.layout.file_rereads))
    types = {column.name: column.type for column in every.columns}
    if any(types.get(column.name) != column.type for column in first.columns):
        return every
    _warn_of_columns("read_parquet", path, first, every)
    return first


def _first_line(path: str) -> bytes:
    """The first line of a file; nothing of one that only DuckDB reads."""
    with suppress(*CORRUPT, ValueError), opened(path) as file:
        return bytes(next(file, b"").strip())
    return b""


def _warn_of_columns(reader: str, path: str, first: Source, every: Source) -> None:
    """Warn about columns that only later files of a pattern have, which DuckDB leaves out."""
    known = {*map(folded, first.names)}
    if more := [name for name in every.names if folded(name) not in known]:
        have = f"later files of {path!r} have columns that the first one has not, and are read without them: {listed(more)}"
        warn_user(f"{have}; read these, too: {source_text(reader, path, 'union_by_name=true')}")


def _check_numbered(engine: Engine, path: str, form: str, columns: Sequence[Column]) -> None:
    """Raise InputError if a file has a name twice: DuckDB would call the second y_1, and a model would learn it."""
    names = {folded(column.name) for column in columns}
    found = ((column.name, _NUMBERED.fullmatch(column.name)) for column in columns)
    numbered = [name for name, match in found if match and folded(match[1]) in names]
    written = [name or "" for row in engine.query_macro(f"names_in_{form}", path) for name in row] if numbered else []
    times = Counter(map(folded, written))
    for name in numbered:
        twice = next((each for each in times if times[each] > 1 and folded(name).startswith(f"{each}_")), None)
        if name not in written and twice is not None:
            cure = f"rename one, or take the second for {name!r}: {source_text(f'read_{form}', path)}"
            raise InputError(f"column {twice!r} is ambiguous in {path!r}, which has it twice; {cure}")


def _warn_of_lines(path: str, first: str, skipped: int, delimiter: str) -> None:
    """Warn about lines at the top of a CSV file that DuckDB leaves out though they have values, for a later line has more."""
    lines = [delimiter]  # of a file that only DuckDB reads
    with suppress(OSError, ValueError), opened(first) as file:
        lines = [next(file, b"").decode(errors="replace") for _ in range(skipped)]
    if skipped and any(delimiter in line and not _SEPARATOR.fullmatch(line) for line in lines):
        every = source_text("read_csv", path, "null_padding=true")
        rest = source_text("read_csv", path, f"skip={skipped}")
        left_out = "the first line of {!r} is" if skipped == 1 else f"the first {skipped:,} lines of {{!r}} are"
        what = f"{left_out.format(path)} left out, as a later one has more values"
        warn_user(f"{what}; read all of them: {every}, or the rest alone: {rest}")


def _warn_of_dates(engine: Engine, path: str, source: Source, formats: Sequence[str | None]) -> None:
    """Warn about dates of a CSV file whose day and month may be the other way round: DuckDB guesses their order by each file.

    So 02/11/2020 of one file may be another day than that of the file by which a model was fitted.
    """
    by_option = {
        "dateformat": [each.name for each in source.columns if each.type == "DATE"],
        "timestampformat": [each.name for each in source.columns if each.type == "TIMESTAMP"],
    }
    said, ways = list[str](), list[tuple[str, str]]()
    for (option, names), chosen in zip(by_option.items(), formats, strict=True):
        for other in _other_orders(chosen) if names and chosen else ():
            texts = source.as_texts(source.columns, names) if source.as_texts else source.relation
            examples = engine.query_macro("dates_in_other_order", texts, names, chosen, other)[0]
            found = next(((name, example) for name, example in zip(names, examples, strict=True) if example is not None), None)
            if found is not None:
                said.append(f"of {found[0]!r}, such as {found[1]!r}, are read as {chosen}, and may be {other}")
                ways.append((f"{option}='{chosen}'", f"{option}='{other}'"))
                break
    if said:
        cures = " or ".join(source_text("read_csv", path, *options) for options in zip(*ways, strict=True))
        warn_user(f"the dates in {path!r} may be others: those {' and those '.join(said)}; say which they are: {cures}")


def _other_orders(chosen: str) -> list[str]:
    """The formats of dates by which a text of this one may be a date, too; none if a year of four digits comes first."""
    parts = _PARTS_OF_DAY.findall(chosen)
    if parts not in _ORDERS:
        return []
    others = [order for order in _ORDERS if order != parts and sorted(order) == sorted(parts)]
    template = _PARTS_OF_DAY.sub("{}", chosen)
    return [template.format(*order) for order in others]


def _types_of_all_rows(engine: Engine, path: str, columns: Sequence[Column]) -> tuple[dict[str, str], bool]:
    """Types for the columns of a file that change no value, and whether the quotes of its values have to be named.

    DuckDB takes the types from the first rows, and would round a later 2.5 to 3 among whole numbers, for example.
    """
    is_csv, render = _CSV.search(path) is not None, engine.renderer.fragment
    asked = [(each.name, each.kind) for each in columns if each.kind == "integer"]
    if is_csv:
        asked += [(each.name, each.kind) for each in columns if each.kind == "text" or each.type == "DATE"]
    is_short = Path(path).is_file() and not _PACKED.search(path) and Path(path).stat().st_size < _SAMPLE
    if is_short or not asked:
        return {}, False
    as_json = [(name, "JSON") for name, _ in asked]
    rows = render("csv_as_texts", path, _has_header(columns)) if is_csv else render("json_with_types", path, as_json)
    changed = engine.query_macro("changed_by_types", rows, asked)[0]
    kinds = {name: kind for (name, kind), n in zip(asked, changed, strict=True) if n}
    quoted = "text" in kinds.values() and not engine.query_value("has_quotes", path)
    return {name: _WIDER[kind] for name, kind in kinds.items() if kind != "text" or quoted}, quoted


def _csv_with_texts(
    engine: Engine, path: str, types: Mapping[str, str], quoted: bool, columns: Sequence[Column], names: Sequence[str]
) -> Markup:
    """A CSV file with some columns as they are written."""
    known = {**types, **dict.fromkeys(names, "VARCHAR")}
    return engine.renderer.fragment("csv_with_types", path, [*known.items()], _has_header(columns), quoted)


def _json_with_texts(engine: Engine, path: str, columns: Sequence[Column], names: Sequence[str]) -> Markup:
    """A JSON file with some columns as they are written. A number or a Boolean of JSON is no text, and stays."""
    written = [column.name in names and column.kind in ("text", "temporal") for column in columns]
    types = ["VARCHAR" if is_written else column.type for column, is_written in zip(columns, written, strict=True)]
    names = [column.name for column in columns]
    return engine.renderer.fragment("json_with_types", path, list(zip(names, types, strict=True)))


def _has_header(columns: Sequence[Column]) -> bool:
    """Whether a CSV file begins with the names of its columns."""
    return not all(_UNNAMED.fullmatch(column.name) for column in columns)
