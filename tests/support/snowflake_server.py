"""Snowflake's interface by fakesnow, which runs its statements on DuckDB: `snowflake_server.py` prints its port.

A temporary table is one that stays, as DuckDB has none in a schema; dbt drops those that it makes. The type of an expression is
that of DuckDB.

Each line of its input is a statement, as JSON, and a line of its output is the columns and rows that it returns.
"""

import json
import logging
import sys
from typing import Any

import fakesnow
import snowflake.connector
from fakesnow import transforms
from fakesnow.cursor import FakeSnowflakeCursor
from sqlglot import exp

logging.disable(logging.CRITICAL)
_transformed = FakeSnowflakeCursor._transform


def _as_duckdb_has_it(cursor: Any, expression: Any, params: Any) -> Any:
    found = _transformed(cursor, expression, params)
    for call in found.find_all(exp.Anonymous):
        if call.name.upper() == "SYSTEM$TYPEOF":
            call.set("this", "typeof")
    for temporary in list(found.find_all(exp.TemporaryProperty)):
        temporary.pop()
    return found


FakeSnowflakeCursor._transform = _as_duckdb_has_it
_raw_value = transforms.flatten_value_cast_as_varchar
# fakesnow takes every cast of a column `value` around a FLATTEN for one of what FLATTEN returns.
transforms.flatten_value_cast_as_varchar = lambda cast: (
    _raw_value(cast) if getattr(cast.this, "table", "").lower() == "tokens" else cast
)
with fakesnow.server() as place, snowflake.connector.connect(**place) as connection:
    print(place["port"], flush=True)
    for line in sys.stdin:
        cursor = connection.cursor().execute(json.loads(line))
        print(json.dumps(([column.name for column in cursor.description], cursor.fetchall())), flush=True)
