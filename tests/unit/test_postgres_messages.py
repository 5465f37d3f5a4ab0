"""What is said of PostgreSQL's errors, by their states and constraints, which servers of any language send alike."""

import psycopg
import pytest
from psycopg import errors

from nbsql.engines.postgres.messages import one_line

BUSY = "another connection is changing the same model or table at this moment; try again when it is done"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (errors.LockNotAvailable("Sperre nicht verfügbar"), BUSY),
        (errors.UniqueViolation("doppelter Schlüsselwert verletzt »pg_namespace_nspname_index«"), BUSY),
        (errors.UniqueViolation("doppelter Schlüsselwert verletzt »t« {0}"), "doppelter Schlüsselwert verletzt »t« {0}"),
        (errors.InsufficientPrivilege("must be owner of function m.predict"), "must be owner of model m; connect as its owner"),
        (psycopg.DataError("date too large (after year 10K): '12000-01-01'"), "date too large (after year 10K): '12000-01-01'; "
            "Python has no such date: cast the column to text, or leave it out with columns=[...]"),
    ],
)  # fmt: skip
def test_an_error_is_one_line_with_what_to_do(error, line):
    assert one_line(error) == line
