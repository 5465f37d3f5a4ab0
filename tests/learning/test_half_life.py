"""Rows that count less the older they are: as a fit of explicit weights, whenever one asks, and however the rows came."""

import math
from datetime import date, datetime, timedelta, timezone

import duckdb
import pandas as pd
import pytest

import nbsql
from nbsql.errors import InputError, ModelError

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

DAY = 86_400_000_000
# x in eighths is exact, so that rows of equal x tie in a ROC curve; in sevenths they would differ by how a double is rounded.
ROWS = """SELECT CASE WHEN hash(i) % 3 = 0 THEN 'a' ELSE 'b' END AS y, 'v' || hash(i + 7) % 4 AS v,
    CASE WHEN i % 9 <> 0 THEN hash(i * 3) % 100 / 8.0 + i % 2 END AS x, CASE WHEN i % 5 <> 0 THEN i % 3 = 0 END AS g,
    'to be ' || CASE WHEN i % 4 = 0 THEN 'or not' ELSE 'sure' END AS said, 1 + i % 3 AS w,
    TIMESTAMP '2025-01-01' + to_hours(CAST(i * 17 AS INTEGER)) AS sent, i // 2 AS number FROM range(400) AS r(i)"""
FAMILIES = {"said": nbsql.Text()}
MODEL = {"target": "y", "prior": "smoothed", "families": FAMILIES, "exclude": ["number"]}
AGED = nbsql.HalfLife("30 days", at="sent", weight="w")


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t AS {ROWS}")
        con.execute("CREATE TABLE later AS SELECT * REPLACE (sent + INTERVAL 200 DAY AS sent) FROM t LIMIT 150")
        yield con


def weighed(con, now, rows="FROM t", length=30 * DAY, **options):
    """A fit with the weights written out."""
    age = f"(epoch_us(sent) - {now!r}::DOUBLE) / {length!r}::DOUBLE"
    source = f"SELECT * EXCLUDE (w, sent), w * power(2, {age}) AS w FROM ({rows})"
    return nbsql.fit(con, source, weight="w", **{**MODEL, **options})


def written(con):
    """The rows with the weights that they have by now."""
    return f"SELECT * REPLACE (w * power(2, (epoch_us(sent) - {end(con)!r}::DOUBLE) / {30.0 * DAY!r}::DOUBLE) AS w) FROM t"


def end(con, rows="FROM t", length=30 * DAY):
    """The end of the newest half-life, since 1970."""
    newest = con.execute(f"SELECT epoch_us(max(sent)) FROM ({rows})").fetchall()[0][0]
    return float((math.floor(newest / length) + 1) * length)


def assert_same(found, expected):
    """That two models say the same, to 1e-9."""
    pairs = [(getattr(found, name), getattr(expected, name)) for name in ("priors", "likelihoods")]
    asked = "SELECT v, x, g, said FROM t"
    pairs.append((found.joint_log_likelihood(asked), expected.joint_log_likelihood(asked)))
    for query, other in pairs:
        assert_same_rows(query, other)


def assert_same_rows(query, other):
    rows, others = (sorted(each.fetchall(), key=lambda row: repr([x for x in row if not isinstance(x, float)]))
                    for each in (query, other))  # fmt: skip
    assert len(rows) == len(others) > 0
    for row, one in zip(rows, others, strict=True):
        assert row == pytest.approx(one, rel=1e-9, abs=1e-12)


@pytest.mark.slow
def test_rows_age_as_by_weights_written_out(con):
    model = nbsql.fit(con, "t", weight=AGED, name="aged", replace=True, **MODEL)
    assert_same(model, weighed(con, end(con)))
    now = datetime(2026, 3, 5, 7, 8, 9, 10)
    expected = weighed(con, (now - datetime(1970, 1, 1)) / timedelta(microseconds=1))
    zoned = (now + timedelta(hours=2)).replace(tzinfo=timezone(timedelta(hours=2)))
    for when in (now, zoned):
        assert_same(model.as_of(when), expected)
    aged = nbsql.HalfLife("30 days", at="sent", weight="w", now=str(now))
    assert_same(nbsql.fit(con, "t", weight=aged, **MODEL), expected)
    con.execute("CREATE OR REPLACE VIEW numbered AS SELECT * REPLACE (epoch_us(sent) AS sent) FROM t")
    numbers = nbsql.HalfLife(30 * DAY, at="sent", weight="w", now=(now - datetime(1970, 1, 1)) // timedelta(microseconds=1))
    assert_same(nbsql.fit(con, "numbered", weight=numbers, **MODEL), expected)
    assert con.execute("SELECT count(*) FROM aged.predict('t')").fetchall() == [(400,)]
    assert model.relevance().fetchall()[0][0] == weighed(con, end(con)).relevance().fetchall()[0][0]
    con.execute(nbsql.fit_sql(con, "t", name="scripted", weight=AGED, **MODEL))
    assert_same(nbsql.load(con, "scripted"), model)
    con.execute("DROP SCHEMA scripted CASCADE")


@pytest.mark.slow
def test_whoever_reads_counts_reads_what_they_weigh(con):
    options = {"families": {}, "features": ["v", "g"], "nulls": "category", "exclude": []}
    model = nbsql.fit(con, "t", weight=AGED, **{**MODEL, **options})
    expected = weighed(con, end(con), **options)
    assert_same_rows(model.scorecard().lines, expected.scorecard().lines)
    for reference in (None, "t"):
        assert_same_rows(model.monitor("later", reference=reference), expected.monitor("later", reference=reference))


@pytest.mark.nightly
def test_counts_add_and_may_be_taken_away(con, tmp_path):
    model = nbsql.fit(con, "t", weight=AGED, name="kept", replace=True, **MODEL)
    model.update("later", batch="later")
    both = "FROM t UNION ALL FROM later"
    assert_same(model, weighed(con, end(con, both), both))
    assert_same(model.as_of("1"), weighed(con, end(con)))
    other = nbsql.fit(con, "later", weight=AGED, **MODEL)
    assert_same(nbsql.merge(con, [nbsql.fit(con, "t", weight=AGED, **MODEL), other]), model)
    model.export(tmp_path / "aged.parquet")
    read = nbsql.import_(con, tmp_path / "aged.parquet")
    assert_same(read, model)
    for each in (model, read):
        each.forget("later")
        assert_same(each, weighed(con, end(con)))  # now is the end of the newest half-life that is left
        with pytest.raises(InputError, match="cannot forget later: it has"):
            each.forget("later")
    model.rollback("later")
    model.forget(batch="later")
    assert_same(model, weighed(con, end(con)))
    model.compact()
    assert_same(model, weighed(con, end(con)))
    with pytest.raises(ModelError, match=r"one has the half-life HalfLife.* the other None"):
        nbsql.merge(con, [model, nbsql.fit(con, "t", weight="w", **{**MODEL, "exclude": ["number", "sent"]})])


@pytest.mark.slow
def test_thousands_of_half_lives_neither_overflow_nor_vanish(con):
    year = "SELECT * REPLACE (sent + to_hours(CAST(number * 40 AS INTEGER)) AS sent) FROM t"
    model = nbsql.fit(con, year, weight=nbsql.HalfLife("1 hour", at="sent", weight="w"), **MODEL)
    hour = 3_600e6
    assert len(model.slice_names) == 400  # a set of cells a half-life that has rows, 14,762 hours apart
    recent = f"{year} QUALIFY epoch_us(sent) > epoch_us(max(sent) OVER ()) - 500 * {hour}"
    assert_same(model, weighed(con, end(con, year, hour), recent, hour))
    with pytest.raises(
        InputError, match="2030-01-01T00:00:00 is over 500 half-lives from the newest rows of the model; take a nearer time"
    ):
        model.as_of(date(2030, 1, 1))
    with pytest.raises(InputError, match="1990-01-01T00:00:00 is over 500 half-lives from the newest rows of the model; take"):
        nbsql.fit(con, "t", weight=nbsql.HalfLife("1 hour", at="sent", now="1990-01-01"), **MODEL)
    with pytest.raises(InputError, match="now of a half-life at 'sent' must be a date or a time, not 1"):
        model.as_of(1)


@pytest.mark.slow
def test_a_row_far_in_the_future_is_refused_and_a_nearer_one_is_said(con):
    model = nbsql.fit(con, "t", weight=AGED, **MODEL)
    row = "SELECT * REPLACE (1 AS w, {} AS sent) FROM t LIMIT 1"
    never, none = row.format("TIMESTAMP '9999-12-31'"), row.format("TIMESTAMP 'infinity'")
    both = f"FROM t UNION ALL ({never})"
    for verb in (nbsql.fit, nbsql.cross_validate, nbsql.dependence, lambda *a, **o: nbsql.fit_sql(*a, name="never", **o)):
        with pytest.raises(
            InputError, match=r"^a weight of 1[.\d]* of .* is from 9999-.* half-lives after the rest, which would count"
        ):
            verb(con, both, weight=AGED, **MODEL)
        with pytest.raises(InputError, match=r"^1 value of column 'sent' is NULL or infinite, by which rows age; fill"):
            verb(con, f"FROM t UNION ALL ({none})", weight=AGED, **MODEL)
    before = model.priors.fetchall()
    with pytest.raises(InputError, match=r"^a weight of 1[.\d]* of .* in the model is from 9999-"):
        model.update(never)
    with pytest.raises(InputError, match=r"^1 value of column 'sent' is NULL or infinite"):
        model.update(none)
    with pytest.raises(InputError, match=r"^a weight of 1[.\d]* of .* in the merged models is from 9999-"):
        nbsql.merge(con, [model, nbsql.fit(con, never, weight=AGED, **MODEL)])
    assert model.priors.fetchall() == before
    with pytest.warns(
        nbsql.NbsqlWarning, match=r"from 2043-.* on, 21\d half-lives after the rest, which hardly counts beside it"
    ):
        model.update(row.format("TIMESTAMP '2043-05-05'"))
    numbers = {**MODEL, "exclude": ["sent"]}
    with pytest.raises(InputError, match="is from number = 4000 on, 951 half-lives after the rest"):
        nbsql.fit(con, "FROM t UNION ALL (SELECT * REPLACE (4000 AS number) FROM t LIMIT 1)",
                  weight=nbsql.HalfLife(4, at="number"), **numbers)  # fmt: skip


@pytest.mark.slow
@pytest.mark.forms("later")
@pytest.mark.parametrize("later", [20, 39, 200, 450])
def test_what_was_learnt_much_later_is_forgotten_without_a_trace(con, later):
    weight = nbsql.HalfLife("1 day", at="sent", weight="w")
    rows = f"SELECT * REPLACE (sent + INTERVAL {later} DAY AS sent, w + 0.1 AS w) FROM t"
    model = nbsql.fit(con, "t", weight=weight, **MODEL)
    expected = nbsql.fit(con, "t", weight=weight, **MODEL)
    model.update(f"{rows} LIMIT 50 OFFSET 350", batch="one")
    model.update(f"{rows} LIMIT 90 OFFSET 300", batch="two")
    model.forget(f"{rows} LIMIT 50 OFFSET 350")
    model.forget(batch="two")
    assert_same(model, expected)
    assert_same_rows(model.relevance(), expected.relevance())
    model.compact()
    assert_same(model, expected)


@pytest.mark.slow
def test_a_value_of_old_rows_stays_where_later_ones_of_it_are_forgotten(con):
    weight = nbsql.HalfLife("1 day", at="sent", weight="w")
    rows = "SELECT * REPLACE (sent + INTERVAL 40 DAY AS sent) FROM t LIMIT 90 OFFSET 300"
    model = nbsql.fit(con, "t", weight=weight, **MODEL)
    model.update(rows, batch="late")
    model.forget(f"FROM ({rows}) WHERE v = 'v1'")
    learnt = f"FROM t UNION ALL FROM ({rows}) WHERE v <> 'v1'"
    assert_same(model, nbsql.fit(con, learnt, weight=weight, **MODEL))


@pytest.mark.nightly
def test_what_reads_rows_at_one_time_weighs_them_now(con):
    families = {"x": nbsql.Binned(by="mdl")}
    options = {"target": "y", "features": ["v", "x", "g"], "families": families, "prior": "uniform"}
    found = nbsql.fit(con, "t", weight=AGED, **options)
    expected = weighed(con, end(con), **{**options, "exclude": []})
    assert found.families == expected.families
    assert_same(found, expected)
    tree = {"target": "y", "features": ["v", "g"], "method": "tan", "families": {}, "prior": "uniform"}
    assert_same(nbsql.fit(con, "t", weight=AGED, **tree), weighed(con, end(con), **{**tree, "exclude": []}))
    pairs = [row[3:6] for row in found.dependence("t")]
    assert pairs == [pytest.approx(row[3:6]) for row in expected.dependence(f"FROM ({written(con)})")]
    options = {"target": "y", "exclude": ["number", "said", "sent"], "prior": "uniform"}
    for folds in ({"fold": "fold"}, {"folds": "loo"}):
        rows = [f"SELECT *, number % 3 AS fold FROM ({source})" for source in ("FROM t", written(con))]
        exclude = [*options["exclude"], *(["fold"] if "folds" in folds else [])]
        aged, plain = (
            nbsql.cross_validate(con, source, weight=weight, **{**options, "exclude": exclude}, **folds)
            for source, weight in zip(rows, (AGED, "w"), strict=True)
        )
        assert (aged.accuracy, aged.log_loss) == pytest.approx((plain.accuracy, plain.log_loss), rel=1e-9)
        intervals = [sorted(each.evaluation.intervals.fetchall(), key=lambda row: repr(row[:2])) for each in (aged, plain)]
        assert all(row == pytest.approx(other) for row, other in zip(*intervals, strict=True))


def test_what_is_no_half_life(con):
    for arguments, message in [
        (
            ("30 fortnights", "sent"),
            "a half-life is a number of seconds, minutes, hours, days or weeks, such as '30 days', not",
        ),
        (("0 days", "sent"), "a half-life must be above 0, such as '30 days', not '0 days'"),
        ((True, "sent"), "a half-life is a number of seconds"),
        ((3, ""), "at of a half-life must be the name of a column, not ''"),
        (("30 days", "sent", "w", 1.5), "now of a half-life at 'sent' must be a date or a time, not 1.5"),
        (("30 days", "sent", "w", pd.NaT), "now of a half-life at 'sent' must be a date or a time, not NaT"),
        ((3, "number", "w", "noon"), "now of a half-life at 'number' must be a whole number, not 'noon'"),
        (("30 days", "number"), "column 'number' is BIGINT, and a half-life of 30 days takes a time; leave the unit out"),
        (("30 days", "v"), "column 'v' is VARCHAR, and a half-life of 30 days takes a time; cast it to a timestamp"),
        (
            (30, "sent"),
            "column 'sent' is TIMESTAMP, and a half-life without a unit takes a whole number; say its unit, '30 days'",
        ),
        (("30 days", "sent", "v"), "weight column 'v' is VARCHAR; weights must be numbers"),
        (("30 days", "when"), "no column 'when' in t"),
        (("30 days", "y"), "column 'y' is VARCHAR, and a half-life"),
    ]:
        with pytest.raises(InputError) as caught:
            nbsql.fit(con, "t", weight=nbsql.HalfLife(*arguments), target="y")
        assert str(caught.value).startswith(message)


def test_what_searches_or_was_counted_elsewhere_takes_no_half_life(con):
    with pytest.raises(InputError, match="counts from elsewhere have no age; leave out weight=nbsql"):
        nbsql.from_statistics(con, nbsql.fit(con, "t", target="y", features=["v"]).statistics, weight=AGED)
    with pytest.raises(InputError, match=r"^a search over settings does not support weight=nbsql.HalfLife"):
        nbsql.fit(con, "t", target="y", weight=AGED, families="auto")


def test_rows_without_a_time_or_a_weight_are_refused(con):
    for column, message in (
        ("sent", "1 value of column 'sent' is NULL or infinite, by which rows age; fill them, or leave such rows out"),
        ("w", "1 value of the weight column 'w' is negative, NULL or not finite; weights must be at least 0"),
    ):
        gap = f"CASE WHEN number <> 7 OR i % 2 = 0 THEN {column} END AS {column}"
        source = f"SELECT * REPLACE ({gap}) FROM (SELECT *, row_number() OVER () AS i FROM t)"
        with pytest.raises(InputError) as caught:
            nbsql.fit(con, source, weight=AGED, **{**MODEL, "exclude": ["number", "i"]})
        assert str(caught.value) == message
    model = nbsql.fit(con, "t", weight=AGED, **MODEL)
    with pytest.raises(InputError, match="no column 'sent' in the query"):
        model.update("SELECT * EXCLUDE sent FROM t")
    with pytest.raises(InputError, match="column 'y' cannot be both the target and the time or weight"):
        nbsql.fit(con, "SELECT number AS y, v FROM t", weight=nbsql.HalfLife(3, at="y"), target="y")
