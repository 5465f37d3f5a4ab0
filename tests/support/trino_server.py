"""Trino's REST interface on DuckDB, as far as dbt-trino needs it: `trino_server.py` prints its port.

Each line of its input is a statement of DuckDB, as JSON, and a line of its output is the columns and rows that it returns.
Every statement of dbt's is read by sqlglot as Trino's, must be the same after sqlglot has written and read it, and runs as
sqlglot writes it for DuckDB.
"""

import json
import math
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

import duckdb
import sqlglot
from sqlglot import ErrorLevel, exp

database = duckdb.connect()
database.execute('CREATE SCHEMA "default"')
database.execute("SET lambda_syntax = 'ENABLE_SINGLE_ARROW'")  # which sqlglot writes
database.execute("CREATE MACRO infinity() AS CAST('infinity' AS DOUBLE)")
database.execute("CREATE TABLE materialized_views (catalog_name TEXT, schema_name TEXT, name TEXT)")
one_at_a_time = Lock()


def composed(node: exp.Expression) -> exp.Expression:
    """DuckDB's name of the only normal form that it has."""
    if isinstance(node, exp.Normalize) and node.args["form"].name == "NFC":
        return exp.Anonymous(this="nfc_normalize", expressions=[node.this])
    return node


def translated(sql: str) -> str:
    read = sqlglot.parse_one(sql, read="trino")
    again = sqlglot.parse_one(read.sql("trino", unsupported_level=ErrorLevel.RAISE), read="trino")
    assert again == read, sql
    read = read.transform(composed)
    written = read.sql("duckdb", unsupported_level=ErrorLevel.RAISE)
    written = re.sub('"memory"[.]information_schema', "information_schema", written, flags=re.IGNORECASE)
    return written.replace("system.metadata.materialized_views", "main.materialized_views")


def answer(sql: str) -> tuple[list[tuple[str, str]], list[list[Any]]]:
    with one_at_a_time:
        found = database.execute(sql)
        columns = [(column[0], str(column[1]).lower()) for column in found.description or []]
        return columns, [[written(value) for value in row] for row in found.fetchall()] if columns else []


def written(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if isinstance(value, bool | int | float | str | None) else str(value)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        sql = self.rfile.read(int(self.headers["Content-Length"])).decode()
        try:
            columns, rows = answer(translated(sql))
        except Exception as error:  # the client raises it again
            failed = {"message": str(error), "errorCode": 1, "errorName": "SYNTAX_ERROR", "errorType": "USER_ERROR"}
            self._answer({"error": failed, "stats": {"state": "FAILED"}})
            return
        length = [{"kind": "LONG", "value": 2147483647}]
        described = [
            {"name": name, "type": kind, "typeSignature": {"rawType": kind, "arguments": length if kind == "varchar" else []}}
            for name, kind in columns
        ]
        self._answer({"columns": described, "data": rows, "stats": {"state": "FINISHED"}})

    def _answer(self, content: dict[str, Any]) -> None:
        body = json.dumps({"id": "query", "infoUri": "http://127.0.0.1/", **content}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the tests read the port alone."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    for line in sys.stdin:
        named, found = answer(json.loads(line))
        print(json.dumps(([name for name, _ in named], found)), flush=True)
