"""PostgreSQL's error messages, shortened for nbsql's errors."""

import re

import psycopg

LOCKED = "55P03"  # a lock is not available
AGAIN = "try again when it is done"
_BUSY = f"another connection is changing the same model or table at this moment; {AGAIN}"
_TEMPORARY = "the owner can GRANT it (TEMPORARY on the database, which everything that learns needs)"
_SAID = (  # the states, what PostgreSQL says (a pattern) -> what is said of it, {0} being the whole
    (f"40001|40P01|{LOCKED}", "", _BUSY),  # serialization failure, deadlock
    ("", "^tuple concurrently updated$|pg_namespace_nspname_index", _BUSY),
    ("42501", "^(must be owner .*)function (.+)[.]", "{1}model {2}; connect as its owner"),  # insufficient privilege
    ("42501", "^must be owner", "{0}; connect as its owner"),
    ("42501", "row-level security", "{0}; SET row_security = on, and a model learns the rows that your role may see"),
    ("42501", r"\bnbsql \d", "another role of this session has fitted this model, which ends with the session; "
     "SET ROLE to that role"),  # a temporary relation
    ("42501", r"(.*)for schema pg_temp_\d+$", f"{{1}}to create temporary tables; {_TEMPORARY}"),
    ("42501", "temporary", f"{{0}}; {_TEMPORARY}"),
    ("42501", "database", "{0}; the owner can GRANT it (a model needs CREATE on the database; without a name it needs "
     "TEMPORARY only)"),
    ("42501", "", "{0}; the owner can GRANT it"),
    ("25P02", "", "an earlier statement of this transaction has failed; roll it back first"),
    ("54000|54011", "", "so many features do not fit into a row of PostgreSQL's tables ({0}); take fewer"),
    ("22012", "", "{0} in a row of the source; divide by nullif(x, 0), say"),  # division by zero
    ("22003", " out of range$", "{0} in a row of the source; make a double of one number: CAST(... AS double precision)"),
    ("22003", " for type double precision$", "a number in a row of the source is out of range for type double precision; "
     "make it NULL there: CASE WHEN abs(x) < 1e300 THEN x END, or round(x, 300) if it is nearly 0"),
    ("42883", "equality operator for type", "{0}; cast the column to text"),
    ("None", r"\((?:after|before) year", "{0}; Python has no such date: cast the column to text, or leave it out with "
     "columns=[...]"),  # of psycopg, which has no state
    ("42P16", "temporary", "a view cannot read what ends with this session, a temporary table or a transient model; use "
     "create_table"),
    ("", 'server encoding is UTF8|for encoding "', "{0}; nbsql needs a database with the encoding UTF8"),
    ("57014", "statement timeout", "{0}; SET statement_timeout = 0, or a longer time than this statement needs"),
    ("55000", "^materialized view .* has not been populated", "{0}; REFRESH MATERIALIZED VIEW comes first"),
    ("25006", "", "{0}; connect to a server that can be written, with neither read_only nor default_transaction_read_only"),
)  # fmt: skip


def one_line(error: psycopg.Error) -> str:
    """PostgreSQL's message in one line, without the excerpt of the statement."""
    state, context = str(error.sqlstate), error.diag.context or ""
    said = " ".join((error.diag.message_primary or str(error)).split())
    if state == "2BP01":  # dependent objects still exist
        who = (error.diag.message_detail or "something").split(" depends on ")[0]
        return f"{who} reads what is to be made anew; drop it first, and make it again afterwards"
    for states, pattern, message in _SAID:
        if re.match(states, state) and (found := re.search(pattern, said)):
            return message.format(said, *found.groups())
    if state in ("42883", "42P01", "42704") and "function" in context:  # a name that is nowhere
        where = re.sub(r"( line \d+| statement \d+| during).*", "", context.split("\n")[0])
        return f"{said}, in {where}, which looks it up on the path of its caller; ALTER FUNCTION ... SET search_path"
    return said
