"""Families inferred from a look at the values of columns, and keys that are left out."""

import json
import random
import re
import uuid
import warnings

import pyarrow
import pytest

import nbsql

pytestmark = pytest.mark.look

# Of each column of 3,000 rows: its expression, its family by a look, and why.
U = "(hash(i, {}) % 100003 + 1) / 100005"
COLUMNS = {
    "flag": ("hash(i) % 2", nbsql.Bernoulli(), "0 and 1"),
    "flag_as_float": ("(hash(i, 1) % 2)::DOUBLE", nbsql.Bernoulli(), "0 and 1"),
    "stars": ("1 + hash(i, 2) % 5", nbsql.Categorical(), "5 whole numbers"),
    "dose": ("0.1 + (hash(i, 20) % 4) / 2", nbsql.Categorical(), "4 different numbers"),
    "visits": (f"floor(-3 * ln({U.format(3)}))", nbsql.Geometric(), "whole numbers from 0, with a long tail"),
    "price": (f"exp(2 * {U.format(4)} + {U.format(5)} * {U.format(6)})", nbsql.LogNormal(), "above 0, with a long tail"),
    "share": (U.format(7), nbsql.Beta(), "between 0 and 1"),
    "rain": (
        f"CASE WHEN i % 3 = 0 THEN exp({U.format(8)}) ELSE 0 END",
        nbsql.ZeroInflated(of="lognormal"),
        "0 in 67% of the rows",
    ),
    "change": (
        f"CASE WHEN i % 3 = 0 THEN {U.format(9)} - 0.5 ELSE 0 END",
        nbsql.ZeroInflated(of="gaussian"),
        "0 in 67% of the rows",
    ),
    "fare": (
        f"CASE WHEN i % 50 = 0 THEN 0 ELSE exp(5 * {U.format(19)}) END",
        nbsql.ZeroInflated(of="gamma"),
        "from 0, with a long tail",
    ),
    "delay": (f"-10 + exp(5 * {U.format(10)})", nbsql.Gaussian(), None),
    "height": (f"{U.format(11)} + {U.format(12)} + {U.format(13)}", nbsql.Gaussian(), None),
    "year": ("1900 + hash(i, 14) % 90", nbsql.Gaussian(), None),
    "kind": ("'k' || hash(i, 15) % 40", nbsql.Categorical(), None),
    "answer": ("['I do not agree at all', 'I agree with this very much'][1 + i % 2]", nbsql.Categorical(), None),
    "note": ("'it was the number ' || hash(i, 16) % 2000", nbsql.Text(), "texts of several words"),
    "amount": ("'1,' || (1000 + i)", nbsql.Categorical(), None),
    "greeting": ("'こんにちは' || (100000 + i)", nbsql.Categorical(), None),
    "day_number": ("i", None, None),
    "code": ("'X-' || hash(i, 17)", None, None),
    "customer_id": ("hash(i, 18) % 700", None, None),
}


@pytest.fixture
def shop(con):
    columns = ", ".join(f"{expression} AS {name}" for name, (expression, *_) in COLUMNS.items())
    con.execute(f"CREATE TABLE shop AS SELECT {columns}, (hash(i, 99) % 3)::INT AS y FROM range(3000) AS r(i)")
    return con


def plain(families):
    return {name: f"{family.name}{getattr(family, 'of', '')}{getattr(family, 'bins', '')}" for name, family in families.items()}


KEYS = [name for name, (_, family, _) in COLUMNS.items() if family is None]
LEFT_OUT = (
    "'day_number', 'code', 'customer_id' are keys, which are left out; to keep them: "
    'families={"day_number": "gaussian", "code": "categorical", "customer_id": "categorical"}'
)


@pytest.mark.slow
def test_each_kind_of_values_has_its_family_and_the_reason(shop, capsys):
    with pytest.warns(nbsql.NbsqlWarning) as said:
        found = nbsql.families(shop, "shop", target="y")
    assert [str(each.message) for each in said] == [LEFT_OUT]
    assert plain(found) == plain({name: family for name, (_, family, _) in COLUMNS.items() if family is not None})
    assert found.why == {name: why for name, (*_, why) in COLUMNS.items() if why is not None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nbsql.NbsqlWarning)
        model = nbsql.fit(shop, "shop", target="y", name="m")
        again = nbsql.fit(shop, shop.table("shop").df().sample(frac=1, random_state=3), target="y")
    assert plain(dict(model.families)) == plain(dict(again.families)) == plain(found)
    nbsql.load(shop, "m").show()
    text = capsys.readouterr().out
    assert "whole numbers from 0, with a long tail" in text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nbsql.NbsqlWarning)
        by_types = nbsql.fit(shop, "shop", target="y", infer="types")
    assert {family.name for family in by_types.families.values()} == {"categorical", "gaussian"}
    assert {*KEYS} < {*by_types.families}
    by_types.show()
    assert "why" not in capsys.readouterr().out


@pytest.mark.parametrize("n", [30, 120])
def test_whole_numbers_of_small_tables_that_differ_by_chance_are_kept_and_keys_are_not(con, n):
    """Ages, prices and measures are drawn without repetition, so that no value is twice in a table."""
    for seed in range(8):
        draw = random.Random(seed)  # noqa: S311
        columns = {
            "age": draw.sample(range(18, 90), n) if n < 100 else [draw.randint(18, 90) for _ in range(n)],
            "price": draw.sample(range(5, 1000), n),
            "millimetres": draw.sample(range(900, 10_000), n),
            "population": draw.sample(range(200, 5_000_000), n),
            "built_in": draw.sample(range(1850, 2025), n),
            "year": list(range(1900, 1900 + n)),
            "visits": [int(draw.expovariate(0.1)) for _ in range(n)],
            "seat": [f"{row}{letter}" for row in range(1, 35) for letter in "ABCD"][:n]
            if n < 100
            else ["1A"] * (n - 1) + ["2B"],
            "surname": draw.sample(
                [a + b for a in "ABCDEFGHIJKLMNOPQRST" for b in ("ander", "eck", "ill", "oor", "utter", "yl")], n
            ),
        }
        keys = {
            "number": draw.sample(range(1, n + 1), n),
            "order_number": [10_248 + each for each in draw.sample(range(n + n // 10), n)],
            "uuid": [str(uuid.UUID(int=draw.getrandbits(128), version=4)) for _ in range(n)],
            "session": [f"{draw.getrandbits(128):032x}" for _ in range(n)],
            "customerId": draw.sample(range(100_000), n),
        }
        con.register("small", pyarrow.table({**columns, **keys, "y": [i % 2 for i in range(n)]}))
        with pytest.warns(nbsql.NbsqlWarning, match="are keys, which are left out"):
            assert {*nbsql.families(con, "small", target="y")} == {*columns}


def test_times_in_texts_that_never_repeat_are_named_with_the_line_that_reads_them(con):
    con.execute("""CREATE TABLE calls AS
        SELECT strftime(TIMESTAMP '2024-01-01' + to_minutes(i * 77), '%Y-%m-%dT%H:%M:%SZ') AS at, 'C-' || hash(i) AS code,
            i // 12 % 2 AS late FROM range(500) AS r(i)""")
    with pytest.warns(nbsql.NbsqlWarning) as caught:
        model = nbsql.fit(con, "calls", target="late")
    assert [str(each.message) for each in caught][:2] == [
        "'at' holds dates, written as '2024-01-01T00:00:00Z', and is left out as a key; "
        'read them as such: derive={"at": "CAST(\\"at\\" AS TIMESTAMP)"}',
        '\'code\' is a key, which is left out; to keep it: families={"code": "categorical"}',
    ]
    assert not model.families
    with pytest.warns(nbsql.NbsqlWarning, match="^'code' is a key"):
        model = nbsql.fit(con, "calls", target="late", derive={"at": 'CAST("at" AS TIMESTAMP)'}, replace=True)
    assert "hour of at" in model.families


def test_a_rank_that_is_taken_for_a_key_is_kept_as_a_number(con):
    con.execute("""CREATE TABLE departments AS SELECT i // 43 AS poor, 1 + i * 37 % 86 AS "wealth", i + 1000 AS dept_id
        FROM range(86) AS r(i)""")
    with pytest.warns(nbsql.NbsqlWarning) as caught:
        nbsql.families(con, "departments", target="poor")
    cure = {"wealth": "gaussian", "dept_id": "categorical"}  # a category that never repeats says nothing of new rows
    assert f"'wealth', 'dept_id' are keys, which are left out; to keep them: families={json.dumps(cure)}" in {
        str(each.message) for each in caught
    }
    assert plain(nbsql.families(con, "departments", target="poor", families=cure)) == cure


def test_what_was_asked_for_wins(shop):
    with warnings.catch_warnings():
        warnings.simplefilter("error", nbsql.NbsqlWarning)
        kept = nbsql.families(shop, "shop", target="y", features=["code", "stars", "day_number"])
        assert plain(kept) == {"code": "categorical", "stars": "categorical", "day_number": "gaussian"}
        families = {"*": "categorical", "stars": "poisson"}
        assert plain(nbsql.families(shop, "shop", target="y", families=families)) == {
            name: "poisson" if name == "stars" else "categorical" for name in COLUMNS
        }
        few = "SELECT * EXCLUDE (day_number, code, customer_id) FROM shop LIMIT"
        found = {name: nbsql.families(shop, f"{few} {name}", target="y") for name in (99, 20, 19)}
        assert {name: {family.name for family in each.values()} for name, each in found.items()} == {
            99: {"categorical", "gaussian", "bernoulli"},
            20: {"categorical", "gaussian", "bernoulli"},
            19: {"categorical", "gaussian"},
        }
        assert nbsql.families(shop, "shop", target="y", method="tan")["day_number"].name == "binned"
    with pytest.raises(nbsql.InputError, match="infer must be one of 'values', 'types', not 'looks'"):
        nbsql.fit(shop, "shop", target="y", infer="looks")


def test_the_look_at_a_large_table_is_the_same_in_every_run_and_its_families_take_all_rows(con):
    """The table is sorted by its numbers; the last row alone has what lognormal, bernoulli and beta do not take."""
    con.execute(f"""CREATE TABLE large AS SELECT i // 2000 AS sorted, exp(3 * {U.format(1)} * {U.format(2)}) AS price,
        {U.format(3)} AS share, hash(i) % 2 AS flag, (i % 1000 = 7)::INT AS rare, 'k' || i % 7 AS k, i % 3 AS y,
        exp(3 * {U.format(4)} * {U.format(5)}) AS cost FROM range(120000) AS r(i)""")
    rare = {
        "sorted": "gaussian",
        "flag": "bernoulli",
        "rare": "bernoulli",
        "price": "lognormal",
        "share": "beta",
        "cost": "lognormal",
    }
    found = [plain(nbsql.families(con, "large", target="y")) for _ in range(2)]
    assert found == [{name: {**rare, "k": "categorical"}[name] for name in found[0]}] * 2
    con.execute("INSERT INTO large SELECT 60, 0, 1, 2, 2, 'k1', 1, 1.5")
    left = plain(nbsql.families(con, "large", target="y"))
    assert left == {name: family if name in ("k", "cost") else "gaussian" for name, family in found[0].items()}
    nbsql.fit(con, "large", target="y")


def test_an_update_infers_nothing_anew_and_names_the_cure(shop):
    model = nbsql.fit(shop, "shop", target="y", features=["flag", "price"])
    with pytest.raises(nbsql.InputError) as refusal:
        model.update("SELECT 2 AS flag, 1.5 AS price, 1 AS y")
    assert str(refusal.value).endswith('BOOLEAN or 0/1 column; fit anew with families={"flag": "categorical"}')
    with pytest.raises(nbsql.InputError, match=r'must be above 0; fit anew with families=\{"price": "gaussian"\}$'):
        model.update("SELECT 1 AS flag, 0.0 AS price, 1 AS y")
    before = dict(model.families)
    model.update("SELECT 1 AS flag, 5e5 + i AS price, 1 AS y FROM range(5000) AS r(i)")
    assert dict(model.families) == before


@pytest.mark.slow
def test_batches_equal_one_fit_whatever_families_a_fit_infers(shop):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nbsql.NbsqlWarning)
        whole = nbsql.fit(shop, "shop", target="y")
        batches = nbsql.fit(shop, "FROM shop WHERE day_number < 2000", target="y")
    batches.update("FROM shop WHERE day_number >= 2000")
    assert plain(dict(batches.families)) == plain(dict(whole.families))
    one, other = (each.predict_proba("FROM shop ORDER BY day_number").df() for each in (batches, whole))
    for name in ("probability_0", "probability_1", "probability_2"):
        assert list(one[name]) == pytest.approx(list(other[name]), rel=1e-9)


@pytest.mark.slow
def test_statements_have_the_families_of_the_types_and_say_what_a_look_suggests(shop, tmp_path):
    with pytest.warns(nbsql.NbsqlWarning) as said:
        sql = nbsql.fit_sql(shop, "shop", target="y", name="by_sql")
    (line,) = [str(each.message) for each in said if "by a look" in str(each.message)]
    shop.execute(sql)
    assert {family.name for family in nbsql.load(shop, "by_sql").families.values()} == {"categorical", "gaussian"}
    families = eval(re.findall(r"families=(\{.*\})", line)[0], {"nbsql": nbsql})  # noqa: S307
    exclude = eval(re.findall(r"exclude=(\[.*\])", line)[0])  # noqa: S307
    assert exclude == KEYS
    with pytest.warns(nbsql.NbsqlWarning):
        expected = plain(nbsql.families(shop, "shop", target="y"))
    told = {"families": families, "exclude": exclude, "infer": "types"}
    assert plain(nbsql.families(shop, "shop", target="y", **told)) == expected
    with pytest.warns(nbsql.NbsqlWarning):
        looked, given = (nbsql.cross_validate(shop, "shop", target="y", **each).log_loss for each in ({}, told))
    assert looked == pytest.approx(given, rel=1e-9)


@pytest.mark.parametrize("kind", ["BIGINT", "HUGEINT", "DECIMAL(30, 2)"])
def test_whole_numbers_that_no_double_tells_apart_are_counted_as_they_are(con, kind):
    con.execute(
        f"CREATE TABLE t AS SELECT (1000000000000000000 + i)::{kind} AS x, i % 7 AS z, i % 2 AS y FROM range(1000) AS r(i)"
    )
    with pytest.warns(
        nbsql.NbsqlWarning, match=r"^'x' is a key, which is left out; to keep it: families=\{\"x\": \"gaussian\"\}$"
    ):
        assert [*nbsql.fit(con, "t", target="y").families] == ["z"]  # not one of nine categories


@pytest.mark.parametrize(("kind", "number"), [("INTEGER", "day"), ("DOUBLE", "CAST(day AS BIGINT)")])
def test_days_that_are_whole_numbers_are_said_with_what_reads_them(con, kind, number):
    days = f"strftime(DATE '2023-06-01' + i::INTEGER, '%Y%m%d')::{kind}"
    con.execute(f"CREATE TABLE t AS SELECT {days} AS day, 20240000 + i AS id, (i // 7) % 2 AS y FROM range(600) AS r(i)")
    expression = f"CAST(strptime(CAST({number} AS VARCHAR), '%Y%m%d') AS DATE)"
    line = (
        "'day' holds days, written as whole numbers, and is taken for a number; read them as dates: "
        f'derive={{"day": "{expression}"}}'
    )
    with pytest.warns(nbsql.NbsqlWarning) as said:
        assert [*nbsql.fit(con, "t", target="y").families] == ["day"]
    assert line in [str(each.message) for each in said]  # and not a key, as the id is
    assert "'id' is a key, which is left out" in str(said[-1].message)
    read = nbsql.fit(con, "t", target="y", derive={"day": expression}, exclude=["id"])
    assert [*read.families] == ["year of day", "month of day", "day of day", "weekday of day"]
