"""Rows that break a rule are refused with the same line on every engine."""

from contextlib import nullcontext

import pytest

import nbsql

COLUMNS = {"y": "VARCHAR", "x": "DOUBLE PRECISION", "k": "INTEGER", "w": "DOUBLE PRECISION", "c": "VARCHAR"}
ROWS = [("a", 1.0, 0, 1.0, "u"), ("a", 0.0, -1, float("nan"), None), ("b", 2.5, 3, -1.0, "v"), ("b", -2.0, 2, None, "v")]

RULES = {
    "negative": (
        {"features": ["k"], "families": {"k": "poisson"}},
        "1 value of column 'k' is negative; poisson counts must be at least 0",
    ),
    "whole": (
        {"features": ["x"], "families": {"x": nbsql.Geometric()}},
        "1 value of column 'x' is negative; geometric counts must be at least 0",
    ),
    "positive": (
        {"features": ["x"], "families": {"x": "lognormal"}},
        "2 values of column 'x' are 0 or negative; lognormal numbers must be above 0",
    ),
    "binary": (
        {"features": ["k"], "families": {"k": "bernoulli"}},
        "3 values of column 'k' are neither 0 nor 1; bernoulli takes a BOOLEAN or 0/1 column",
    ),
    "missing": (
        {"features": ["c"], "nulls": "error"},
        "1 value of column 'c' is NULL, and nulls='error'; fill them, or use nulls='skip'",
    ),
    "weight": (
        {"features": ["c"], "weight": "w"},
        "3 values of the weight column 'w' are negative, NULL or not finite; weights must be at least 0",
    ),
    "prior": ({"features": ["c"], "prior": {"a": 1.0}}, "prior has no probability for class 'b'; name every class"),
}


@pytest.mark.daily
@pytest.mark.parametrize("rule", RULES)
def test_rows_that_break_a_rule_are_refused(place, rule):
    options, message = RULES[rule]
    place.table("t", COLUMNS, ROWS)
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(place.con, "t", target="y", name="m", **options)
    assert str(caught.value) == message
    assert nbsql.models(place.con) == []


def test_warnings_are_the_same(place):
    rows = [("a", 1.0, 1, 1.0, None), ("b", 1.0, 2, 1.0, None), (None, 1.0, 3, 1.0, None)]
    place.table("t", COLUMNS, rows)
    with pytest.warns(nbsql.NbsqlWarning) as caught:
        nbsql.fit(place.con, "t", target="y", exclude=["w"])
    assert sorted(str(warning.message) for warning in caught) == [
        "1 row of t has no 'y' and is left out",
        "nothing but NULL in 'c'; left out of the score",
        "one value only in 'x'; such a column tells no class from another",
    ]


def test_numbers_and_weights_that_no_sum_of_squares_holds_are_refused(both):
    columns = {"y": "VARCHAR", "x": "DOUBLE PRECISION", "w": "DOUBLE PRECISION"}
    for place in both:
        for name, unit, weight in (("plain", 1.0, 1.0), ("tiny", 1e-200, 1.0), ("heavy", 1.0, 1e200), ("light", 1.0, 1e-200)):
            rows = [("ab"[i % 2], (i * 7 % 13 + 3 * (i % 2) - 6) * unit, weight) for i in range(60)]
            place.table(name, columns, rows)
        options = {"target": "y", "exclude": ["w"]}
        line = "every number of column 'x' is within 1e-140 of 0, and their squares vanish; take another unit"
        for more in ({}, {"method": "lda"}, {"families": {"x": nbsql.Kernel(cells=16)}}):
            with pytest.raises(nbsql.InputError, match=line):
                nbsql.fit(place.con, "tiny", **options, **more)
        with pytest.raises(nbsql.InputError, match=line):
            nbsql.cross_validate(place.con, "tiny", folds=2, **options)
        tiny = "SELECT y, 1e-100 + abs(x) * 1e100 AS x FROM tiny"
        beta = r"every number of column 'x' is within 1e-08 of 0, and a beta density has no digits left there; take families="
        with pytest.raises(nbsql.InputError, match=beta):
            nbsql.fit(place.con, tiny, target="y", families={"x": "beta"})
        assert nbsql.fit(place.con, tiny, target="y", families={"x": "gamma"}).families["x"].name == "gamma"
        mixed = "SELECT * FROM plain UNION ALL SELECT * FROM tiny"  # beside others they are 0
        assert nbsql.fit(place.con, mixed, **options).families["x"].name == "gaussian"
        for name, total in (("heavy", r"3e\+201"), ("light", "3e-199")):
            with pytest.raises(nbsql.InputError, match=f"the weights 'w' of a class sum to {total}, and must sum to 1e-150 to"):
                nbsql.fit(place.con, name, target="y", weight="w")
            with pytest.raises(nbsql.InputError, match=f"the weights 'w' of a class sum to {total}"):
                nbsql.fit(place.con, "plain", target="y", weight="w").update(name)


@pytest.mark.slow
def test_labels_of_another_type_of_numbers_are_learnt_where_none_changes(place):
    rows = [(float(i % 2), "ab"[i % 2]) for i in range(20)]
    place.table("whole", {"y": "INTEGER", "x": "VARCHAR"}, [(int(y), x) for y, x in rows])
    model = nbsql.fit(place.con, "whole", target="y", name="m")
    for number, kind in enumerate(("DOUBLE PRECISION", "REAL", "DECIMAL(5, 2)")):
        place.table(f"other_{number}", {"y": kind, "x": "VARCHAR"}, rows)
        with (
            nullcontext() if number else pytest.warns(nbsql.NbsqlWarning, match="^other_0 has the counts of batch '1' in each")
        ):
            model.update(f"other_{number}")
        model.forget("whole")
        assert [row[:2] for row in model.priors] == [(0, 10), (1, 10)]
    assert model.evaluate("whole", folds=2).accuracy == 1
    for number, value in enumerate((0.5, 1e9 * 1e9, float("nan"))):
        place.table(f"broken_{number}", {"y": "DOUBLE PRECISION", "x": "VARCHAR"}, [*rows, (value, "a")])
        with pytest.raises(nbsql.InputError, match=r"the classes of model 'm' are (\w+); round its values to \1, or fit anew"):
            model.update(f"broken_{number}")
    for act in (model.update, model.forget):
        with pytest.raises(nbsql.InputError, match=r"^every row of the query has a NULL 'y'; a model needs"):
            act("SELECT NULL AS y, x FROM whole")
