"""Data that cannot be used is refused in one line; what a user should know of it is a warning."""

import re
import warnings

import pytest

import nbsql
from nbsql import DatabaseError, InputError, NbsqlWarning


def fit(con, source="golf", **options):
    return nbsql.fit(con, source, **{"target": "play", **options})


STAMPED = "SELECT *, TIMESTAMP '2026-01-01' AS at, INTERVAL '1 day' AS t, 'x'::BLOB AS raw FROM golf"
LEFT_OUT = "leave it out with exclude="
CAST = "cast it, to text say"


def test_data_that_cannot_be_used(golf, refused):
    """Beside the rules that tests/engines/test_rules.py breaks on every engine."""
    for source, options, message in [
        ("SELECT * FROM golf LIMIT 0", {}, "the query is empty; a model needs at least one row"),
        (
            "SELECT * REPLACE (NULL::VARCHAR AS play) FROM golf",
            {},
            "every row of the query has a NULL 'play'; a model needs rows with a class",
        ),
        (
            STAMPED,
            {"exclude": ["at"]},
            f"column 't' is INTERVAL, which has no family (and neither have 'raw'); {LEFT_OUT}['t', 'raw'], or "
            "families={'t': 'categorical'}",
        ),
        (STAMPED, {"exclude": ["at", "t"]}, f"column 'raw' is BLOB, which has no family; {LEFT_OUT}['raw'], or {CAST}"),
        (
            "SELECT *, n / 2 AS c FROM golf",
            {"families": {"c": "poisson"}},
            "3 values of column 'c' are not whole; poisson counts must be whole numbers",
        ),
        (
            "SELECT *, n - 2 AS c FROM golf",
            {"families": {"w": nbsql.Multinomial(["c", "n"])}},
            "2 values of column 'c' are negative; multinomial counts must be at least 0",
        ),
        (
            "SELECT *, MAP {'a': n - 2} AS bag FROM golf",
            {},
            "2 values of column 'bag' hold a negative count; counts must be at least 0",
        ),
        (
            "SELECT *, CASE n WHEN 3 THEN 'inf'::DOUBLE ELSE 1 END AS w FROM golf",
            {"weight": "w"},
            "1 value of the weight column 'w' is negative, NULL or not finite; weights must be at least 0",
        ),
        (
            "SELECT *, CASE n WHEN 3 THEN 'inf'::DOUBLE ELSE 1 END AS w FROM golf",
            {"weight": "w", "method": "weighted"},
            "1 value of the weight column 'w' is negative, NULL or not finite; weights must be at least 0",
        ),
        (
            "SELECT *, 0 AS w FROM golf",
            {"weight": "w"},
            "every row of the query has a weight of 0; a model needs rows that count",
        ),
    ]:
        with refused(InputError, message):
            fit(golf, source, name="m", **options)


def test_an_error_of_the_engine_leaves_nothing(golf, state):
    before = state()
    with pytest.raises(DatabaseError) as caught:
        fit(golf, "SELECT * REPLACE (CAST(note AS INTEGER) AS n) FROM golf", name="m")
    assert str(caught.value).startswith("Conversion Error: Could not convert string")
    assert str(caught.value).endswith("; TRY_CAST makes NULL of such values")
    assert "\n" not in str(caught.value)
    assert state() == before


def warned(con, source, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(con, source, **options)
    assert all(issubclass(warning.category, NbsqlWarning) for warning in caught)
    assert {warning.filename for warning in caught} <= {__file__}  # a warning points at the caller
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("source", "options", "messages"),
    [
        ("golf", {}, []),
        (
            "SELECT * REPLACE (nullif(play, 'no') AS play) FROM golf",
            {"features": ["n"]},
            [
                "1 row of the query has no 'play' and is left out",
                "'play' has one class only, 'yes'; every prediction will be that class",
            ],
        ),
        (
            "SELECT *, 7 AS seven, 'a' AS a, NULL::DOUBLE AS nothing, NULL::VARCHAR AS blank FROM golf",
            {},
            [
                "nothing but NULL in 'nothing', 'blank' (NaN and infinities count as such); left out of the score",
                "one value only in 'seven', 'a'; such a column tells no class from another",
            ],
        ),
        ("golf", {"features": []}, ["the model has no features; it predicts the most frequent class"]),
        (
            "SELECT * REPLACE (CASE WHEN outlook <> 'sunny' THEN play END AS play) FROM golf",
            {"features": ["n"]},
            [
                "2 rows of the query have no 'play' and are left out",
                "'play' has one class only, 'yes'; every prediction will be that class",
            ],
        ),
    ],
)
def test_a_fit_goes_on_with_a_warning(golf, source, options, messages):
    assert warned(golf, source, **options) == messages


def test_a_warning_made_an_error_undoes_the_fit(golf, state):
    before = state()
    with pytest.raises(NbsqlWarning, match="no features"):  # the tests run with warnings as errors
        fit(golf, name="m", features=[])
    assert state() == before


HUGE = (10**400, 10**5000, -(10**5000), float("inf"), float("nan"))


@pytest.mark.parametrize(
    "use",
    [
        lambda x: nbsql.Categorical(alpha=x),
        lambda x: nbsql.Binned(by=[1, x]),
        lambda x: nbsql.Binned(edges=[1, x]) if x in HUGE[:3] else nbsql.Binned(bins=x),
        lambda x: nbsql.LDA(shrinkage=x),
        lambda x: nbsql.Logistic(penalty=x),
        lambda x: nbsql.Logistic(iterations=x),
        lambda x: nbsql.Smoothed(x),
        lambda x: nbsql.HalfLife(x, at="day"),
        lambda x: nbsql.Best(x),
    ],
)
def test_a_number_that_no_double_holds_is_refused_in_one_line(use):
    for number in HUGE:
        with pytest.raises(InputError) as caught:
            use(number)
        assert "\n" not in str(caught.value)


def test_a_number_of_a_call_that_no_double_holds_is_refused_in_one_line(con):
    rows = "SELECT i % 2 AS y, i AS x FROM range(20) AS t(i)"
    model = nbsql.fit(con, rows, target="y")
    for number in HUGE[:3]:
        for use in (
            lambda x: model.predict(rows, costs={(0, 1): x}),
            lambda x: model.predict(rows, thresholds={0: x}),
            lambda x: model.predict(rows, coverage=x),
            lambda x: model.predict(rows, top_k=x),
            lambda x: model.predict(rows).limit(x),
            lambda x: model.evaluate(rows, bins=x),
            lambda x: model.sample(x),
            lambda x: model.predict({"x": [x]}),
            lambda x: model.predict_one({"x": x}),
            lambda x: model.rollback(x),
        ):
            with pytest.raises(InputError) as caught:
                use(number)
            assert "\n" not in str(caught.value)
            assert "Error:" not in str(caught.value)


@pytest.mark.parametrize(("type_", "shown"), [("BIGINT", "INT64"), ("TINYINT", "INT8"), ("DECIMAL(38, 0)", "DECIMAL(38)")])
def test_a_product_beyond_its_type_names_the_cast(con, type_, shown):
    x = {"BIGINT": 2**62, "TINYINT": 100}.get(type_, 10**37 * 9)
    message = f"{x} * {x} is beyond the type {shown}; make a double of one of them: CAST(... AS DOUBLE)"
    rows = f"SELECT i % 2 AS y, {x}::{type_} AS x, (1 + i % 3)::{type_} AS small FROM range(20) AS t(i)"
    with pytest.raises(DatabaseError) as caught:
        fit(con, rows, target="y", derive={"square": "x * x"}, features=["square"])
    assert str(caught.value) == message
    model = fit(con, rows, target="y", derive={"square": "small * small"}, features=["square"])
    large = f"SELECT {x}::{type_} AS small, 1 AS y"
    for act in (lambda: model.predict(large).fetchall(), lambda: model.evaluate(large), lambda: model.update(large)):
        with pytest.raises(DatabaseError) as caught:
            act()
        assert str(caught.value) == message


def test_an_expression_of_wrong_types_is_refused_without_a_list_of_all_functions(con):
    fact = "No function matches the given name and argument types '+(DATE, DATE)'. You might need to add explicit type casts."
    rows = "SELECT i % 2 AS y, DATE '2026-01-01' + i % 9 AS d FROM range(60) AS t(i)"
    with pytest.raises(nbsql.NbsqlError, match=re.escape(fact) + "$"):
        nbsql.fit(con, rows.replace("i % 9 AS d", "DATE '2026-01-01' AS d"), target="y")
    with pytest.raises(nbsql.NbsqlError, match=re.escape(fact) + "$"):
        nbsql.fit(con, rows.replace("+ i % 9", "+ CAST(i % 9 AS INTEGER)"), target="y", derive={"e": "d + d"})
