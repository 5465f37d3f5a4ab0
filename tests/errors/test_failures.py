"""What cannot be is refused in one line of ours, and no message of DuckDB's comes through."""

from math import isfinite

import duckdb
import pytest

import nbsql
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.engines.duckdb.messages import one_line

ROWS = "SELECT i % 3 AS y, 'k' || i % 4 AS c, sin(i) AS x, i % 5 AS n FROM range(60) AS r(i)"
ONE = "SELECT 'a' AS class, 1 AS prior"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"priors": "SELECT 'a' AS class, 'x' AS prior"}, "column 'prior' of priors is VARCHAR; it must hold numbers: cast it"),
        (
            {"priors": "SELECT ['a'] AS class, 1 AS prior"},
            "column 'class' of priors is VARCHAR[]; a class is one scalar value: cast it, to text say",
        ),
        (
            {"priors": ONE, "likelihoods": "SELECT 'a' AS class, 'f' AS feature, 'v' AS value, 'oops' AS likelihood"},
            "column 'likelihood' of likelihoods is VARCHAR; it must hold numbers: cast it",
        ),
        (
            {"priors": ONE, "likelihoods": "SELECT 'a' AS class, 'f' AS feature, [1.5] AS rate"},
            "column 'rate' of likelihoods is DECIMAL(2,1)[]; it must hold numbers: cast it",
        ),
    ],
)
def test_given_tables_of_other_types(con, refused, options, message):
    with refused(nbsql.InputError, message):
        nbsql.from_tables(con, **options)


def test_columns_of_nothing_but_null_are_numbers(con):
    likelihoods = (
        "SELECT 'a' AS class, 'f' AS feature, NULL AS value, NULL AS likelihood, NULL AS mean, NULL AS variance, 2 AS rate"
    )
    assert list(nbsql.from_tables(con, priors=ONE, likelihoods=likelihoods).families) == ["f"]


def test_acts_of_a_model(con, refused):
    model = nbsql.fit(con, ROWS, target="y", name="m")
    for act, message in [
        (lambda model: model.sample(10**30), f"n must be a whole number below 2^62, not {10**30}"),
        (lambda model: model.sample(2**63 - 1), f"n must be a whole number below 2^62, not {2**63 - 1}"),
        (lambda model: model.drift([], ["1"]), "name at least one batch; model 'm' has '1'"),
    ]:
        with refused(nbsql.InputError, message):
            act(model)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (
            ROWS,
            {"method": [1]},
            "no method [1]; the methods are 'naive', 'joint', 'lda', 'qda', 'tan', 'kdb', 'aode', 'logistic', 'weighted', "
            "'em', 'clusters' and nbsql.Mixture(2)",
        ),
        (
            "SELECT i % 2 AS y, 5 AS x, 4 AS z FROM range(9) AS r(i)",
            {"method": nbsql.LDA(shrinkage=1)},
            "'x' does not vary within the classes, so the covariance matrix of 'lda' has no inverse; leave it out",
        ),
    ],
)
def test_fits(con, refused, source, options, message):
    with refused(nbsql.InputError, message):
        nbsql.fit(con, source, target="y", **options)


def test_the_shrinkage_of_ledoit_and_wolf_of_no_row(con):
    source = "SELECT i % 2 AS y, NULL::DOUBLE AS x, i AS n FROM range(8) AS r(i)"
    with pytest.warns(nbsql.NbsqlWarning, match="^no row has all the numbers of 'lda', which adds"):
        model = nbsql.fit(con, source, target="y", method=nbsql.LDA(shrinkage="ledoit-wolf"))
    assert model.predict("SELECT 1.5::DOUBLE AS x, 2 AS n").fetchall() == [(1.5, 2, 0, 0.5)]


@pytest.mark.filterwarnings("ignore:1 row of the query has no 'y':nbsql.NbsqlWarning")
def test_a_kernel_of_numbers_that_hardly_differ(con):
    source = "SELECT i % 2 AS y, i * 1e-320 AS x FROM range(8) AS r(i)"
    beside = f"{source} UNION ALL SELECT NULL, 1"  # without a number that has a square it is refused
    with pytest.warns(nbsql.NbsqlWarning, match="one value only in 'x'"):
        model = nbsql.fit(con, beside, target="y", families={"x": nbsql.Kernel()})
    assert all(isfinite(row[-1]) for row in model.predict(source))


def test_the_error_that_ends_a_connection_is_the_one_that_is_raised(con):
    engine = DuckDB(con)

    def act():
        with engine.transaction():
            con.close()
            engine.query_macro("row_count", engine.renderer.fragment("inline_name", "t"))

    with pytest.raises(nbsql.DatabaseError, match="the connection is closed"):
        act()


@pytest.mark.parametrize(
    "said",
    [
        'IO Error: Could not write file "o.csv": No space left on device',
        'TransactionContext Error: Failed to commit: Could not write file "o.csv": No space left on device',
        'IO Error: Async write failed for range [offset=0, size=30]: {"exception_type":"IO","exception_message":'
        '"Could not write file \\"o.csv\\": No space left on device","errno":"28"}',
    ],
)
def test_a_full_disk(said):
    assert (
        one_line(duckdb.IOException(said)) == "cannot write 'o.csv': no space is left on its disk; free some, or choose another"
    )


def test_a_folder_for_what_memory_does_not_hold():
    with duckdb.connect(config={"memory_limit": "40MB", "threads": 1}) as con:
        con.execute("SET temp_directory = '/dev/null/none'")
        with pytest.raises(
            nbsql.DatabaseError, match=r"^cannot make the folder '/dev/null/none', .*: SET temp_directory = 'path'$"
        ):
            nbsql.fit(con, "SELECT i % 2 AS y, 'w' || i AS m FROM range(400000) AS t(i)", target="y", families={"m": "text"})


def test_a_trace_of_the_engine_is_no_part_of_a_message():
    error = duckdb.InternalException("INTERNAL Error: what went wrong\n\nStack Trace:\n\n/lib/one.so(+0x1)\n/lib/two.so(+0x2)")
    assert one_line(error) == "INTERNAL Error: what went wrong"


def test_a_module_that_duckdb_needs_is_named_with_its_cure():
    """DuckDB 1.5 makes Python objects of times with a zone by pytz, which it does not bring."""
    error = duckdb.InvalidInputException("Invalid Input Error: Required module 'pytz' failed to import")
    assert one_line(error) == "DuckDB needs the module 'pytz' for these values; install it: pip install pytz"
