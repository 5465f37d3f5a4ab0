"""A model over time: what is learnt in parts, forgotten, rolled back and folded is the model of the rows that remain."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.algebra import cells, connect, few, fit, same, same_cells, tables, unweighted

import nbsql
from nbsql import InputError

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def agree(left, right):
    """Without regard to batches, counts are equal to the bit, moments but for rounding; and so are the answers."""
    left.compact()
    same_cells(cells(left), cells(right))
    same(left.predict_proba("rows").fetchall(), right.predict_proba("rows").fetchall())
    same(left.priors.fetchall(), right.priors.fetchall())
    assert left.classes == right.classes


@pytest.mark.slow
@given(unweighted, st.randoms(use_true_random=False))
@few
def test_learning_in_parts_is_learning_at_once(rows, chance):
    parts = [[], [], []]
    for row in rows:
        chance.choice(parts).append(row)
    parts = [part for part in parts if part]
    con = connect(rows=rows, **{f"part{number}": part for number, part in enumerate(parts)})
    model = fit(con, "part0", name="parts")
    for number in chance.sample(range(1, len(parts)), len(parts) - 1):
        model.update(f"part{number}")
    assert con.execute("SELECT prediction FROM parts.predict('rows')").fetchall() == [
        row[-2:-1] for row in model.predict("rows")
    ]
    agree(model, fit(con, "rows"))


@pytest.mark.slow
@given(tables, tables)
@few
def test_weights_are_learnt_in_parts_too(rows, others):
    con = connect(a=rows, b=others, rows=rows + others)
    model = fit(con, "a", weight="times", exclude=[])
    model.update("b")
    agree(model, fit(con, "rows", weight="times", exclude=[]))


@pytest.mark.slow
@given(unweighted, unweighted)
@few
def test_what_is_forgotten_was_never_there(rows, others):
    con = connect(kept=rows, gone=others, rows=rows + others)
    model = fit(con, "rows", name="m")
    model.forget("gone")
    agree(model, fit(con, "kept"))
    again = fit(con, "kept", name="n")
    again.update("gone", batch="gone")
    again.forget(batch="gone")
    agree(again, fit(con, "kept"))


@pytest.mark.parametrize("rest", [0.0, 0.1, -7.0, 1e9 + 0.25])
@pytest.mark.forms("rest")
def test_a_number_that_no_longer_varies_says_nothing(con, rest):
    table = "SELECT x: CAST(? AS DOUBLE) + i / 3 * ?, y: i % 5, play: ['no', 'yes', 'maybe'][i % ? + 1] FROM range(?) AS t(i)"
    con.execute(f"CREATE TABLE kept AS {table}", [rest, 0, 3, 24])
    con.execute(f"CREATE TABLE gone AS {table}", [rest, 1, 2, 14])
    model = nbsql.fit(con, "FROM kept UNION ALL FROM gone", target="play")
    model.forget("gone")
    of_kept = nbsql.fit(con, "kept", target="play")
    for _ in ("a batch and its forgetting", "one batch"):
        same(model.joint_log_likelihood("kept").fetchall(), of_kept.joint_log_likelihood("kept").fetchall())
        assert {row[2] for row in model.explain("kept").fetchall() if row[4]} == {None, "y"}
        model.compact()


@pytest.mark.slow
@given(unweighted, unweighted)
@few
def test_a_rollback_undoes_whatever_came_after(rows, others):
    con = connect(rows=rows, others=others)
    model = fit(con, "rows", name="m")
    before = cells(model)
    model.update("others", batch="two")
    model.forget("rows")
    model.rollback("1")
    assert cells(model) == before
    assert [row[0] for row in model.batches] == ["1"]
    same(model.predict_proba("rows").fetchall(), fit(con, "rows").predict_proba("rows").fetchall())


@pytest.mark.slow
@given(unweighted, unweighted)
@few
def test_folding_changes_nothing_that_is_asked(rows, others):
    con = connect(rows=rows, others=others)
    model = fit(con, "rows", name="m", unseen="smooth")
    model.update("others")
    model.forget("rows")
    before = [model.predict_proba("rows").fetchall(), model.likelihoods.fetchall()]
    model.compact()
    for old, new in zip(before, [model.predict_proba("rows").fetchall(), model.likelihoods.fetchall()], strict=True):
        same(old, new)
    assert all(row[4] > 0 for row in model.statistics)


# The ledger --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def golf(con):
    con.execute(
        "CREATE TABLE may AS FROM (VALUES ('sun', 1.0, 'no'), ('sun', 2.0, 'yes'), ('rain', 3.0, 'yes')) AS t(sky, wind, play)"
    )
    con.execute("CREATE TABLE june AS FROM (VALUES ('snow', 9.0, 'maybe'), ('rain', 4.0, 'yes')) AS t(sky, wind, play)")
    return nbsql.fit(con, "may", target="play", name="golf")


def lines(model):
    return [(row[5], *row[:4]) for row in model.batches]


@pytest.mark.slow
def test_the_ledger_says_who_did_what(golf):
    golf.update("june", batch="2026-06")
    golf.update("SELECT 'sun' AS sky, 2.0 AS wind, 'no' AS play")
    golf.forget("SELECT 'sun' AS sky, 2.0 AS wind, 'no' AS play")
    golf.forget(batch="2026-06")
    assert lines(golf) == [
        (1, "1", "fit", "may", 3),
        (2, "2026-06", "update", "june", 2),
        (3, "3", "update", "the query", 1),
        (4, "4", "forget", "the query", 1),
        (5, "5", "forget", "batch '2026-06'", 2),
    ]
    golf.compact(through="3")
    assert lines(golf)[0] == (3, "3", "compact", "3 batches", 6)
    golf.compact()
    assert lines(golf) == [(5, "5", "compact", "3 batches", 3)]
    golf.update("june")
    assert lines(golf)[1] == (6, "6", "update", "june", 2)


def test_new_classes_and_values_are_learnt_and_forgotten(con, golf):
    columns = [row[0] for row in con.execute("DESCRIBE FROM golf.predict_proba('may')").fetchall()]
    golf.update("june", batch="june")
    assert golf.classes == ["yes", "maybe", "no"]
    assert golf.predict("SELECT 'snow' AS sky, 9.0 AS wind").fetchall()[0][2] == "maybe"
    assert "probability_maybe" in golf.predict_proba("may").columns
    assert "probability_maybe" in [row[0] for row in con.execute("DESCRIBE FROM golf.predict_proba('may')").fetchall()]
    golf.forget(batch="june")
    assert [row[0] for row in con.execute("DESCRIBE FROM golf.predict_proba('may')").fetchall()] == columns
    assert {row[2] for row in golf.likelihoods} == {"sun", "rain", None}


def test_another_handle_takes_notice(con, golf):
    other = nbsql.load(con, "golf")
    golf.update("june")
    assert "probability_maybe" in other.predict_proba("may").columns
    other.rollback("1")
    assert "probability_maybe" not in golf.predict_proba("may").columns


def test_a_transient_model_changes_too(con, golf):
    model = nbsql.fit(con, "may", target="play")
    model.update("june")
    model.forget("may")
    assert model.predict("june").fetchall() == nbsql.fit(con, "june", target="play").predict("june").fetchall()


def test_a_change_within_a_transaction_can_be_undone(con, golf):
    before = golf.predict_proba("may").fetchall()
    con.begin()
    golf.update("june")
    assert len(golf.classes) == 3
    con.rollback()
    assert golf.predict_proba("may").fetchall() == before
    assert lines(golf) == [(1, "1", "fit", "may", 3)]


@pytest.mark.parametrize("far", [1e6, 1e9, -1e12])
@pytest.mark.forms("far")
def test_a_batch_that_is_forgotten_takes_no_digits_with_it(con, golf, far):
    golf.update("june")
    expected = golf.likelihoods.fetchall()
    golf.update(f"SELECT 'sun' AS sky, unnest([{far}, {far} + 1, {far} * 2]) AS wind, 'yes' AS play", batch="broken sensor")
    golf.forget(batch="broken sensor")
    same(golf.likelihoods.fetchall(), expected)
    golf.compact()
    same(golf.likelihoods.fetchall(), expected)


def test_an_outlier_that_is_forgotten_with_the_digits_of_the_rest_is_named(con):
    """Of the 100 others, whose squares sum to 825 about their mean, 1e8 leaves no digit, and 1e3 leaves eleven."""
    rows = "SELECT 'a' AS y, CAST(i % 10 AS DOUBLE) AS x FROM range(100) AS r(i) UNION ALL SELECT 'b', 5"
    for far in (1e3, 1e8):
        model = nbsql.fit(con, f"{rows} UNION ALL SELECT 'a', {far}", target="y", name="m", replace=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.forget(f"SELECT 'a' AS y, {far} AS x")
        lost = (
            "the values of 'x' that are left in class 'a' hardly vary beside those of the query, and their variance is lost in "
            "rounding; fit model 'm' again"
        )
        assert [str(warning.message) for warning in caught] == ([lost] if far == 1e8 else [])


@pytest.mark.parametrize(("size", "digits"), [(1e9, 9), (1e12, 6), (1e15, 2)])
def test_parts_of_a_distant_column_lose_the_digits_of_their_means(con, size, digits):
    """A mean is a double, and so its distance from another is off by 2^-52 of it. A fit reads the values, and loses none."""
    rows = f"SELECT i % 2 AS y, {size}::DOUBLE + i * 7 % 11 AS x FROM range(1000) AS r(i) WHERE i BETWEEN "
    exact = con.execute("SELECT var_pop(i * 7 % 11) FROM range(1000) AS r(i) WHERE i % 2 = 0").fetchone()
    families = {"x": "gaussian"}
    whole = nbsql.fit(con, rows + "0 AND 999", target="y", families=families)
    parts = nbsql.fit(con, rows + "0 AND 333", target="y", families=families, name="parts")
    parts.update(rows + "334 AND 999")
    assert [row[6] for row in whole.likelihoods][:1] == pytest.approx(exact, rel=1e-13)
    assert [row[6] for row in parts.likelihoods] == pytest.approx([row[6] for row in whole.likelihoods], rel=10.0**-digits)


# What is refused -----------------------------------------------------------------------------------------------------------

REFUSED = [
    (lambda m: m.forget("june"), "cannot forget june: it has 1 of class 'maybe', of which model 'golf' has learnt 0"),
    (
        lambda m: m.forget("SELECT 'rain' AS sky, 1.0 AS wind, 'no' AS play"),
        "cannot forget the query: it has 1 of class 'no' with 'rain' in 'sky', of which model 'golf' has learnt 0",
    ),
    (
        lambda m: m.forget("SELECT 'rain' AS sky, 900.0 AS wind, 'yes' AS play"),
        "cannot forget the query: model 'golf' has not learnt its values of 'wind' in class 'yes'; "
        "its variance would be negative",
    ),
    (lambda m: m.forget("may"), "cannot forget may: nothing would be left of model 'golf'; drop it instead"),
    (lambda m: m.forget(batch="7"), "no batch '7' in model 'golf'; it has '1'"),
    (lambda m: m.forget(), "forget takes a source or a batch, one of them"),
    (lambda m: m.update("june", batch="1"), "batch '1' is in model 'golf' already; choose another name"),
    (lambda m: m.update("june", batch=""), "a batch's name must be a text of at least one character, not ''"),
    (
        lambda m: m.update("SELECT sky, play FROM june"),
        "no column 'wind' in the query, a feature of model 'golf'; its columns are 'sky', 'play'; if it is not known there, "
        "add it: SELECT *, NULL AS wind FROM ...",
    ),
    (
        lambda m: m.update("SELECT sky, wind FROM june"),
        "no column 'play' in the query, the target of model 'golf'; its columns are 'sky', 'wind'",
    ),
    (
        lambda m: m.update("SELECT sky, wind, 1 AS play FROM june"),
        "column 'play' of the query is INTEGER, but the classes of model 'golf' are VARCHAR; cast it",
    ),
    (lambda m: m.update("SELECT * FROM june WHERE FALSE"), "the query is empty; a model needs at least one row"),
    (lambda m: m.rollback("9"), "no batch '9' in model 'golf'; it has '1'"),
]


@pytest.mark.slow
def test_labels_of_one_integer_type_are_those_of_another(con):
    con.execute(
        "CREATE TABLE long AS SELECT CAST(i % 2 AS BIGINT) AS y, i * 1.0 AS x, 'v' || i % 3 AS v FROM range(12) AS t(i)"
    )
    model = nbsql.fit(con, "long", target="y", name="long_model")
    before = cells(model)
    for kind in ("TINYINT", "SMALLINT", "INTEGER"):
        model.update(f"SELECT CAST(y AS {kind}) AS y, x, v FROM long", batch=kind)
    assert model.evaluate("long").rows == 12
    assert {row[0]: row[1] for row in model.priors.fetchall()} == {0: 24.0, 1: 24.0}
    for kind in ("TINYINT", "SMALLINT"):
        model.forget(f"SELECT CAST(y AS {kind}) AS y, x, v FROM long")
    model.forget(batch="INTEGER")
    model.compact()
    assert [row[:4] for row in cells(model)] == [row[:4] for row in before]
    model.update("SELECT CAST(y AS HUGEINT) AS y, x, v FROM long", batch="huge")
    model.forget(batch="huge")
    with pytest.raises(nbsql.InputError, match="has the class 170141183460469231731687303715884105727, which BIGINT, "):
        model.update("SELECT 170141183460469231731687303715884105727::HUGEINT AS y, 1.0 AS x, 'v1' AS v")
    model.compact()
    assert [row[:4] for row in cells(model)] == [row[:4] for row in before]


@pytest.mark.nightly
def test_labels_of_one_kind_are_learnt_whatever_their_types(con):
    kinds = {
        "CAST(i % 2 AS {}) AS y": ("INTEGER", "DOUBLE", "FLOAT", "DECIMAL(5,2)", "HUGEINT", "DECIMAL(12,6)"),
        "CAST(DATE '2024-01-01' + CAST(i % 2 AS INTEGER) AS {}) AS y": ("DATE", "TIMESTAMP", "TIMESTAMP_NS"),
    }
    for label, types in kinds.items():
        for learnt in types:
            model = nbsql.fit(con, f"SELECT {label.format(learnt)}, i % 3 AS x FROM range(12) AS t(i)", target="y")
            before = model.classes
            for other in types:
                model.update(f"SELECT {label.format(other)}, i % 3 AS x FROM range(12) AS t(i)")
            assert model.classes == before
            assert [n for _, n, *_ in model.priors] == [6 + 6 * len(types)] * 2
    with pytest.raises(InputError, match="is TIMESTAMP_NS, but the classes of the model are DATE; round its values to DATE"):
        nbsql.fit(
            con, "SELECT DATE '2024-01-01' + CAST(i % 2 AS INTEGER) AS y, i AS x FROM range(9) AS t(i)", target="y"
        ).update("SELECT '2024-01-01 10:00:00'::TIMESTAMP_NS AS y, 1 AS x")


@pytest.mark.slow
def test_what_cannot_be_changed_is_refused_and_nothing_changes(con, golf):
    before = (cells(golf), lines(golf), golf.predict_proba("may").fetchall())
    for act, message in REFUSED:
        with pytest.raises(InputError) as refused:
            act(golf)
        assert str(refused.value) == message
        assert (cells(golf), lines(golf), golf.predict_proba("may").fetchall()) == before
        assert con.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall() == []


def test_what_is_forgotten_twice_is_refused(golf):
    golf.update("june", batch="june")
    golf.forget(batch="june")
    with pytest.raises(InputError, match="batch 'june' of model 'golf' is forgotten already"):
        golf.forget(batch="june")
    with pytest.raises(InputError, match="batch '3' of model 'golf' is itself a forgetting; use rollback to undo it"):
        golf.forget(batch="3")


def test_given_priors_need_every_class(con, golf):
    model = nbsql.fit(con, "may", target="play", prior={"no": 0.5, "yes": 0.5})
    with pytest.raises(InputError, match="the prior of the model has no probability for class 'maybe'; fit it anew with one"):
        model.update("june")
    assert len(model.classes) == 2


@pytest.mark.parametrize("family", ["poisson", "geometric", "exponential"])
def test_a_sum_does_not_turn_negative(con, family):
    con.execute("CREATE TABLE visits AS SELECT ['a', 'b'][1 + i % 2] AS y, i % 5 + 1 AS x FROM range(20) AS r(i)")
    model = nbsql.fit(con, "visits", target="y", families={"x": family})
    before = sorted(model.statistics.fetchall(), key=repr)
    with pytest.raises(InputError) as refused:
        model.forget("SELECT 'a' AS y, 99 AS x")
    assert str(refused.value) == (
        "cannot forget the query: the model has not learnt its values of 'x' in class 'a'; their sum would be negative"
    )
    assert sorted(model.statistics.fetchall(), key=repr) == before
    model.forget("FROM visits LIMIT 19")
    assert model.classes == ["b"]


@pytest.mark.parametrize("family", ["gaussian", "poisson", "categorical", "bernoulli", nbsql.Categorical(nulls="category")])
def test_missing_values_that_were_not_learnt_are_not_forgotten(con, family):
    gap = "CASE WHEN i % 5 > 1 OR i = 1 THEN i % 2 END"
    con.execute(f"CREATE TABLE gaps AS SELECT ['a', 'b'][1 + i % 2] AS y, {gap} AS x FROM range(20) AS r(i)")
    model = nbsql.fit(con, "gaps", target="y", families={"x": family})
    before = sorted(model.statistics.fetchall(), key=repr)
    with pytest.raises(InputError) as refused:
        model.forget("SELECT 'b' AS y, NULL::BIGINT AS x FROM range(4)")
    without = "with 'x'" if isinstance(family, nbsql.Family) else "without 'x'"
    assert str(refused.value) == (f"cannot forget the query: it has 4 of class 'b' {without}, of which the model has learnt 3")
    assert sorted(model.statistics.fetchall(), key=repr) == before
    model.forget("SELECT 'b' AS y, NULL::BIGINT AS x FROM range(3)")
    left = nbsql.fit(con, "FROM gaps WHERE y = 'a' OR x IS NOT NULL", target="y", families={"x": family})
    found = model.predict_proba("gaps").fetchall()
    for one, other in zip(found, left.predict_proba("gaps").fetchall(), strict=True):
        assert one[:-2] == other[:-2]
        assert one[-2:] == pytest.approx(other[-2:], rel=1e-12)


@pytest.mark.slow
def test_estimates_of_a_first_fit_are_those_of_sums_of_its_cells(con):
    """Which a first fit does not make: it has one cell a class, feature and value, of whichever family."""
    con.execute("""CREATE TABLE t AS
            SELECT if(hash(i) % 3 = 0, 'a', 'b') AS y, if(i % 11 = 0, NULL, hash(i + 1) % 90 / 10 + 0.5) AS number,
                hash(i + 2) % 7 AS count, if(i % 3 = 0, 'x', 'y') AS side, i % 5 > 1 AS half,
                hash(i + 3) % 4 AS one, hash(i + 4) % 3 AS two, if(i % 7 = 0, NULL, 'v' || (i % 5)) AS level, i % 2 = 0 AS flag,
                (hash(i + 5) % 98 + 1) / 100 AS share, 'w' || (i % 6) || ' foo' AS body, ['t' || (i % 4)] AS tokens,
                hash(i + 6) % 50 * 1.0 AS scale, hash(i + 7) % 50 + 1.0 AS size, hash(i + 8) % 60 * 1.0 AS spread, 7.0 AS same
            FROM range(300) AS rows(i)""")
    families = {
        "count": nbsql.Poisson(), "sums": nbsql.Multinomial(["one", "two"]), "level": nbsql.Categorical(nulls="category"),
        "share": nbsql.Beta(), "body": nbsql.Text(), "tokens": nbsql.Tokens(), "scale": nbsql.Binned(bins=4),
        "size": nbsql.LogNormal(), "pair": nbsql.Joint(["side", "half"]), "spread": nbsql.Kernel(),
        "number": nbsql.Gamma(),
    }  # fmt: skip
    model = nbsql.fit(con, "t", target="y", name="m", families=families)
    cells(model)  # none comes twice
    columns = "class, feature, value, unseen, likelihood, log_likelihood, score, mean, variance, rate"

    def estimates():
        rows = con.execute(f"SELECT {columns} FROM m.estimates").fetchall()
        return {row[:4]: row[4:] for row in rows}

    first = estimates()
    assert {feature for _, feature, *_ in first} >= {*families, "same", "flag"} - {"body", "tokens"}
    model.update("SELECT * FROM t LIMIT 20")
    model.forget("SELECT * FROM t LIMIT 20")
    again = estimates()
    assert first.keys() == again.keys()
    for key, values in first.items():
        assert again[key] == pytest.approx(values, rel=1e-9, nan_ok=True), key


def test_classes_that_differ_by_nanoseconds_come_by_no_other_way(con):
    moments = [f"TIMESTAMP_NS '2026-01-01 00:00:00{more}'" for more in ("", ".000000001")]
    parts = [nbsql.fit(con, f"SELECT {each} AS y, unnest([1, 2]) AS x", target="y") for each in moments]
    line = "classes '2026-01-01 00:00:00' and '2026-01-01 00:00:00.000000001' of the model would differ only by nanoseconds"
    with pytest.raises(nbsql.InputError, match=line):
        nbsql.merge(con, parts)
    declared = nbsql.Target("y", classes=["2026-01-01", "2026-01-01 00:00:00.000000001"])
    with pytest.raises(nbsql.InputError, match=line):
        nbsql.fit(con, f"SELECT {moments[0]} AS y, unnest([1, 2]) AS x", target=declared, prior="uniform")


def test_classes_that_an_update_makes_differ_by_nanoseconds(con):
    con.execute("CREATE TABLE t AS SELECT make_timestamp_ns(i % 2 * 100000) AS y, i % 3 AS x FROM range(20) AS r(i)")
    model = nbsql.fit(con, "t", target="y", name="m")
    before = model.priors.fetchall()
    line = "classes '1970-01-01 00:00:00' and '1970-01-01 00:00:00.000000001' of model 'm' would differ only by nanoseconds"
    with pytest.raises(nbsql.InputError, match=line):
        model.update("SELECT make_timestamp_ns(1) AS y, 1 AS x")
    assert model.priors.fetchall() == before
    model.update("SELECT make_timestamp_ns(1000) AS y, 1 AS x")
    assert len(model.classes) == 3
