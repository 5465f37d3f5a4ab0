"""ClickHouse's HTTP interface on chdb, which is ClickHouse in a process, as far as dbt-clickhouse needs it.

`clickhouse_server.py FOLDER` prints its port. It runs one statement at a time, and takes no data after a query.
"""

import gzip
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from chdb import session

_sessions: Any = session  # chdb says no types
_session = _sessions.Session(sys.argv[1])
_one_at_a_time = threading.Lock()
_FORMAT = re.compile(r"\s+FORMAT\s+(\w+)\s*;?\s*$")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(200, b"Ok.\n")

    def do_POST(self) -> None:
        body = self._body()
        asked = parse_qs(urlsplit(self.path).query)
        sql = asked["query"][0] if "query" in asked else body.decode()
        found = _FORMAT.search(sql)
        format_name = found[1] if found else self.headers.get("X-ClickHouse-Format") or "TabSeparated"
        database = asked.get("database", ["default"])[0]
        try:
            with _one_at_a_time:
                if database != "__default__":
                    _session.query(f"USE `{database}`")
                answer = _session.query(_FORMAT.sub("", sql), format_name)
        except Exception as error:  # the client raises it again
            self._answer(500, str(error).encode(), "TabSeparated")
        else:
            self._answer(200, answer.bytes() if answer is not None else b"", format_name)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def _answer(self, status: int, content: bytes, format_name: str = "TabSeparated") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-ClickHouse-Format", format_name)
        self.send_header("X-ClickHouse-Summary", '{"read_rows": "0", "written_rows": "0"}')
        if status != 200:
            self.send_header("X-ClickHouse-Exception-Code", "1")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing: the tests read the port alone."""


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
