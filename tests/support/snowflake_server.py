"""Snowflake's interface by fakesnow, which runs its statements on DuckDB: `snowflake_server.py` prints its port.

Each line of its input is a statement, as JSON, and a line of its output is the columns and rows that it returns.
"""

from __future__ import annotations

import json
import logging
import sys

import fakesnow
import snowflake.connector

logging.disable(logging.CRITICAL)
with fakesnow.server() as place, snowflake.connector.connect(**place) as connection:
    print(place["port"], flush=True)
    for line in sys.stdin:
        cursor = connection.cursor().execute(json.loads(line))
        print(json.dumps(([column.name for column in cursor.description], cursor.fetchall())), flush=True)
