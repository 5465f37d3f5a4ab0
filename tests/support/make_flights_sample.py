"""Makes nbsql/data/flights.parquet, the sample that `nbsql demo` reads, from the whole table of 2013.

    NBSQL_DATA=folder python tests/support/make_flights_sample.py [OUTPUT]

Which flights are in it hangs on a hash of what names a flight, so that the same flights come out on every machine.

Source: the table `flights` of the R package nycflights13 (H. Wickham, CC0), after the US Bureau of Transportation
Statistics: every flight that left New York City in 2013.
"""

import os
import sys
from pathlib import Path

import duckdb

SAMPLE = Path(__file__).parents[2] / "nbsql" / "data" / "flights.parquet"

QUERY = """
COPY (
  SELECT
    CAST(month AS UTINYINT) AS month,
    CAST(day AS UTINYINT) AS day,
    CAST(dep_time AS SMALLINT) AS dep_time,
    CAST(dep_delay AS SMALLINT) AS dep_delay,
    CAST(arr_time AS SMALLINT) AS arr_time,
    CAST(arr_delay AS SMALLINT) AS arr_delay,
    carrier,
    CAST(flight AS SMALLINT) AS flight,
    origin,
    dest,
    CAST(air_time AS SMALLINT) AS air_time,
    CAST(distance AS SMALLINT) AS distance,
    CAST(hour AS UTINYINT) AS hour
  FROM read_parquet($source)
  WHERE md5(concat_ws('|', month, day, carrier, flight, origin, dest, dep_time)) < '1e'
  ORDER BY month, day, dep_time, carrier, flight, origin, dest
) TO $sample (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 19)
"""


def make(source: Path, sample: Path) -> None:
    """Write the sample of the table at `source`."""
    with duckdb.connect() as con:
        text = QUERY.replace("$source", "'" + str(source).replace("'", "''") + "'")
        con.execute(text.replace("$sample", "'" + str(sample).replace("'", "''") + "'"))


if __name__ == "__main__":
    make(Path(os.environ["NBSQL_DATA"]) / "nycflights13_flights.parquet", Path(sys.argv[1]) if sys.argv[1:] else SAMPLE)
