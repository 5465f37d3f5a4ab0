"""BigQuery's REST interface on ZetaSQL, its analyzer and reference implementation, as far as dbt-bigquery needs it.

`bigquery_server.py` prints its port. Each line of its input is a statement, as JSON, and a line of its output is the columns
and rows that it returns. What ZetaSQL is compiled to is kept, as it takes long. Tables hold numbers, texts and Booleans.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import wasmtime
from zetasql.core import wasm_client

_KEPT = Path(sys.prefix) / "zetasql.compiled"


class _Module:
    """wasmtime's Module, compiled once."""

    @staticmethod
    def from_file(engine: Any, path: str) -> Any:
        if not _KEPT.exists():
            _KEPT.write_bytes(wasmtime.Module.from_file(engine, path).serialize())
        return wasmtime.Module.deserialize_file(engine, str(_KEPT))


wasm_client.Module = _Module

from zetasql.api import CatalogBuilder, PreparedQuery, TableBuilder, create_table_content  # noqa: E402
from zetasql.types import AnalyzerOptions, LanguageOptions, ProductMode, TypeKind, ZetaSQLBuiltinFunctionOptions  # noqa: E402

_LANGUAGE = LanguageOptions.maximum_features()
_LANGUAGE.product_mode = ProductMode.PRODUCT_EXTERNAL  # BigQuery's, with its names of types
_OPTIONS = AnalyzerOptions(language_options=_LANGUAGE)
_FUNCTIONS = ZetaSQLBuiltinFunctionOptions(language_options=_LANGUAGE)
_TYPES = {
    "INT64": (TypeKind.TYPE_INT64, int),
    "FLOAT64": (TypeKind.TYPE_DOUBLE, float),
    "STRING": (TypeKind.TYPE_STRING, str),
    "BOOL": (TypeKind.TYPE_BOOL, bool),
}
_NAMES = {kind: name for name, (kind, _) in _TYPES.items()}
_CREATE = re.compile(
    r"create (?:or replace )?(table|view) `(\w+)`\.`(\w+)`\.`(\w+)`.*?\bas\s*\(?(?=\s*(?:SELECT|WITH|\())", re.I | re.S
)
_DEFINED = re.compile(r"create (?:or replace )?table `(\w+)`\.`(\w+)`\.`(\w+)` *\((.*)\)$", re.I | re.S)
_ADDED = re.compile(r"merge into `\w+`\.`\w+`\.`(\w+)` as .*?using \((.*)\) as DBT_INTERNAL_SOURCE\s+on \(FALSE\)", re.I | re.S)
_NAME = re.compile(r"`(\w+)`\.`(\w+)`\.`([\w$]+)`")


class Table(NamedTuple):
    columns: list[tuple[str, str]]
    rows: list[list[Any]]
    view: str | None = None


tables: dict[str, Table] = {}
jobs: dict[str, dict[str, Any]] = {}
numbers = count(1)
one_at_a_time = Lock()


def select(sql: str) -> Table:
    names = {found[3] for found in _NAME.finditer(sql)}
    catalog = CatalogBuilder("catalog").with_builtin_functions(_FUNCTIONS)
    contents = {}
    for name in names & tables.keys():
        table = tables[name]
        if table.view is not None:
            table = select(table.view)
        built = TableBuilder(name)
        for column, kind in table.columns:
            built = built.add_column(column, _TYPES[kind][0])
        catalog = catalog.add_table(built.build())
        contents[name] = create_table_content(table.rows)
    sql = re.sub(r"\bAS (?:INTEGER|BIGINT)\)", "AS INT64)", _NAME.sub(lambda found: f"`{found[3]}`", sql))  # BigQuery's aliases
    query = PreparedQuery.builder().set_sql(sql).set_analyzer_options(_OPTIONS).set_catalog(catalog.build())
    with query.set_table_content(contents).prepare() as prepared:
        columns = [(column.name or f"f{i}_", _NAMES[column.type.type_kind]) for i, column in enumerate(prepared.columns)]
        found = prepared.execute().content.table_data
        rows = (
            [[value(cell, kind) for cell, (_, kind) in zip(row.cell, columns, strict=True)] for row in found.row]
            if found
            else []
        )
    return Table(columns, rows)


def value(cell: Any, kind: str) -> Any:
    found = {"INT64": "int64_value", "FLOAT64": "double_value", "STRING": "string_value", "BOOL": "bool_value"}[kind]
    return getattr(cell, found, None)


def run(sql: str) -> Table:
    """Run a statement; what it returns is none where it creates something."""
    sql = re.sub(r"/\*.*?\*/", "", sql, flags=re.S).strip().rstrip(";").strip()
    if found := _CREATE.match(sql):
        query = sql[found.end() :].strip()
        query = query[:-1] if sql[found.start() : found.end()].rstrip().endswith("(") else query
        made = select(query)
        tables[found[4]] = Table(made.columns, made.rows, query if found[1].lower() == "view" else None)
        return Table([], [])
    if found := _ADDED.match(sql):
        tables[found[1]].rows.extend(select(found[2]).rows)
        return Table([], [])
    if found := _DEFINED.match(sql):
        columns = [tuple(column.split()) for column in found[4].split(",")]
        tables[found[3]] = Table([(name.strip("`"), kind) for name, kind in columns], [])
        return Table([], [])
    return select(sql)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = urlsplit(self.path).path.split("/projects/")[-1].split("/")
        match path[1:]:
            case ["datasets"]:
                self._answer({"datasets": [{"datasetReference": {"projectId": path[0], "datasetId": "d"}}]})
            case ["datasets", dataset]:
                self._answer({"datasetReference": {"projectId": path[0], "datasetId": dataset}, "location": "US"})
            case ["datasets", dataset, "tables"]:
                self._answer(
                    {
                        "tables": [resource(path[0], dataset, name, table) for name, table in tables.items()],
                        "totalItems": len(tables),
                    }
                )
            case ["datasets", dataset, "tables", name] if name in tables or name in jobs:
                self._answer(resource(path[0], dataset, name, tables[name] if name in tables else jobs[name]["found"]))
            case ["jobs", job]:
                self._answer(jobs[job])
            case ["queries", job]:
                found = jobs[job]["found"]
                schema, rows = (
                    {"fields": fields(found)},
                    [{"f": [{"v": written(value)} for value in row]} for row in found.rows],
                )
                answer = {"jobReference": jobs[job]["jobReference"], "jobComplete": True, "totalRows": str(len(rows))}
                self._answer({**answer, "schema": schema, "rows": rows})
            case _:
                self._answer(
                    {
                        "error": {
                            "code": 404,
                            "message": f"Not found: {self.path}",
                            "errors": [{"reason": "notFound", "message": "not found"}],
                        }
                    },
                    404,
                )

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        job = f"job{next(numbers)}"
        try:
            with one_at_a_time:
                found = run(asked["configuration"]["query"]["query"])
        except Exception as error:  # the client raises it again
            message = {"reason": "invalidQuery", "message": str(error)}
            self._answer({"error": {"code": 400, "message": str(error), "errors": [message]}}, 400)
            return
        place = {"projectId": "project", "datasetId": "anonymous", "tableId": job}
        jobs[job] = {
            "jobReference": {"projectId": "project", "jobId": job, "location": "US"},
            "status": {"state": "DONE"},
            "configuration": {"jobType": "QUERY", "query": {**asked["configuration"]["query"], "destinationTable": place}},
            "statistics": {
                "query": {"statementType": "SELECT" if found.columns else "CREATE_TABLE", "totalBytesProcessed": "0"}
            },
            "found": found,
        }
        self._answer({name: value for name, value in jobs[job].items() if name != "found"})

    def do_DELETE(self) -> None:
        tables.pop(urlsplit(self.path).path.split("/")[-1], None)
        self._answer({})

    def _answer(self, content: Any, status: int = 200) -> None:
        body = json.dumps({name: value for name, value in content.items() if name != "found"}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the tests read the port alone."""


def resource(project: str, dataset: str, name: str, table: Table) -> dict[str, Any]:
    return {
        "tableReference": {"projectId": project, "datasetId": dataset, "tableId": name},
        "type": "TABLE" if table.view is None else "VIEW",
        "schema": {"fields": fields(table)},
        "numRows": str(len(table.rows)),
        "numBytes": "0",
    }


def fields(table: Table) -> list[dict[str, str]]:
    return [{"name": name, "type": kind, "mode": "NULLABLE"} for name, kind in table.columns]


def written(found: Any) -> str | None:
    if found is None:
        return None
    return str(found).lower() if isinstance(found, bool) else repr(found) if isinstance(found, float) else str(found)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    for line in sys.stdin:
        with one_at_a_time:
            answered = run(json.loads(line))
        print(json.dumps(([name for name, _ in answered.columns], answered.rows)), flush=True)
