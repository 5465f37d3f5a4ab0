"""The parts of dates and times are columns made by hand, on every engine, in every form in which a model is taken elsewhere."""

from datetime import datetime, timedelta, timezone

import pytest
from engines.places import assert_same_rows

import nbsql

TYPES = {
    "duckdb": {"day": "DATE", "called": "TIMESTAMP", "sent": "TIMESTAMPTZ"},
    "postgres": {"day": "DATE", "called": "TIMESTAMP", "sent": "TIMESTAMPTZ"},
    "spark": {"day": "DATE", "called": "TIMESTAMP_NTZ", "sent": "TIMESTAMP"},
}
START = datetime(2024, 2, 20, 1, 30)
BY_HAND = {
    "weekday of day": "%A", "month of day": "%m", "day of day": "%d", "year of day": "%Y",
    "hour of called": "%H", "weekday of called": "%A", "hour of sent": "%H", "weekday of sent": "%A",
}  # fmt: skip
CALENDARS = {
    "day": nbsql.Calendar(),
    "called": nbsql.Calendar(["hour", "weekday"]),
    "sent": nbsql.Calendar(["hour", "weekday"], zone="Europe/Berlin"),
}
OPTIONS = {"target": "fate", "id": "id"}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def moments():
    """Each quarter of an hour of the clocks' changes, too."""
    found = [START + timedelta(hours=31 * i, minutes=15 * i) for i in range(370)]
    found += [datetime(2024, 10, 27, 0, 0) + timedelta(minutes=15 * i) for i in range(16)]
    return [None if i % 17 == 0 else each for i, each in enumerate(found)]


def written(moment, part, column):
    """A part of a moment, of `sent` in Berlin, as it is made by hand."""
    if moment is None:
        return None
    if column == "sent":
        from zoneinfo import ZoneInfo

        moment = moment.replace(tzinfo=timezone.utc).astimezone(ZoneInfo("Europe/Berlin"))
    text = moment.strftime(part)
    return text if part == "%A" else int(text)


def rows_of(place):
    """The table `calls`, and on DuckDB `hand` with the parts made by Python."""
    given, hand = [], []
    for i, moment in enumerate(moments()):
        fate = "missed" if moment and (moment.hour > 15 or moment.weekday() > 4) else "taken"
        at = None if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}"
        given.append((i, fate, at and at[:10], at, at and f"{at}+00:00"))
        hand.append((i, fate, *(written(moment, part, name.split()[-1]) for name, part in BY_HAND.items())))
    types = {"id": "INTEGER", "fate": "VARCHAR"}
    place.table("texts", {**types, "day": "VARCHAR", "called": "VARCHAR", "sent": "VARCHAR"}, given)
    casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in TYPES[place.engine].items())
    place.run(f"CREATE TABLE calls AS SELECT id, fate, {casts} FROM texts")
    if place.engine == "duckdb":
        kinds = {name: "VARCHAR" if part == "%A" else "INTEGER" for name, part in BY_HAND.items()}
        place.table("hand", {**types, **kinds}, hand)


def answers(query):
    return sorted((row[0], *row[-3:]) for row in query.fetchall())


@pytest.fixture
def models(both):
    """On each place the model of the times, and that of the parts by hand, which is DuckDB's, as its rows are the same."""
    for place in both:
        rows_of(place)
    families = dict.fromkeys(BY_HAND, "categorical")
    hand = nbsql.fit(both[1].con, "hand", name="h", families=families, nulls="category", **OPTIONS)
    options = {"families": CALENDARS, "nulls": "category", **OPTIONS}
    return [(place, nbsql.fit(place.con, "calls", name="m", **options), hand) for place in both]


def test_parts_are_those_by_hand(models, tmp_path):
    for place, model, hand in models:
        assert set(model.families) == {*BY_HAND}
        cells = [sorted((row[1:7] for row in of.statistics), key=lambda row: str(row[:3])) for of in (model, hand)]
        assert_same_rows(*cells)
        expected = answers(hand.predict_proba("hand"))
        assert_same_rows(answers(model.predict_proba("calls")), expected)
        assert model.evaluate("calls").log_loss == pytest.approx(hand.evaluate("hand").log_loss, rel=1e-12)
        values = {row[3:5] for row in model.explain("SELECT * FROM calls WHERE id = 1").fetchall()}
        assert {("weekday of day", "Wednesday"), ("hour of called", "8"), ("hour of sent", "9")} <= values
        model.export(path := str(tmp_path / f"{place.engine}.nbsql"))
        for other, *_ in models:
            scorer = model.sql("predict_proba", "calls", dialect=other.engine)
            assert_same_rows(sorted((row[0], *row[-3:]) for row in other.run(scorer)), expected)
            moved = nbsql.import_(other.con, path, name=f"from_{place.engine}")
            assert_same_rows(answers(moved.predict_proba("calls")), expected)
            moved.drop()


def test_times_of_another_kind_are_refused(both):
    for place in both:
        rows_of(place)
        default = nbsql.fit(place.con, "SELECT id, fate, day, called FROM calls", name="d", **OPTIONS)
        assert [name for name in default.families if name.endswith("of called")] == [
            "year of called", "month of called", "day of called", "weekday of called", "hour of called",
        ]  # fmt: skip
        assert "hour of day" not in default.families
        for wrong in ("sent AS called", "day AS called", "'2024-03-01' AS called"):
            with pytest.raises(
                nbsql.InputError, match=r"column 'called' of the query is .*, and model 'd' has learnt .* there"
            ):
                default.predict(f"SELECT id, day, {wrong} FROM calls")
        default.predict("SELECT id, called AS day, NULL AS called FROM calls").fetchall()
        with pytest.raises(nbsql.InputError, match=r"'day' is .*, which has no hour; leave it out of parts"):
            nbsql.fit(place.con, "calls", families={"day": nbsql.Calendar(["hour"])}, **OPTIONS)
        with pytest.raises(nbsql.InputError, match=r"'called' is .*, which has no time zone; leave out zone"):
            nbsql.fit(place.con, "calls", families={"called": nbsql.Calendar(zone="UTC")}, **OPTIONS)


def test_rows_at_hand_and_infinite_dates(models):
    for place, model, hand in models:
        if place.engine == "spark":
            continue
        moment = datetime(2024, 10, 27, 1, 30, tzinfo=timezone.utc)
        one = model.predict_one({"day": "2024-10-27", "called": "2024-10-27 01:30", "sent": moment})
        row = {name: written(moment.replace(tzinfo=None), part, name.split()[-1]) for name, part in BY_HAND.items()}
        assert one["probabilities"] == pytest.approx(hand.predict_one(row)["probabilities"], rel=1e-12)
        for column, value in (("called", "noon"), ("called", moment), ("sent", moment.replace(tzinfo=None)), ("day", 5)):
            with pytest.raises(nbsql.InputError, match=f"'{column}' of the row is the .*, and a .* in model 'm'"):
                model.predict_one({"day": None, "called": None, "sent": None, column: value})
        row = "SELECT 1 AS id, DATE 'infinity' AS day, TIMESTAMP '-infinity' AS called, NULL AS sent"
        infinite = model.predict_proba(row, columns=["id"])
        missing = hand.predict_proba("SELECT * FROM hand WHERE id = 0")
        assert_same_rows([row[1:] for row in answers(infinite)], [row[1:] for row in answers(missing)])
        macro = {
            "duckdb": "SELECT id, prediction, probability FROM m.predict('calls')",
            "postgres": "SELECT id, answer.* FROM calls, m.predict(to_jsonb(calls)) AS answer",
        }[place.engine]
        found = [row for row in sorted(place.run(macro)) if row[0] % 17]  # a NULL of JSON is no time
        assert_same_rows(found, [(row[0], *row[-2:]) for row in sorted(hand.predict("hand").fetchall()) if row[0] % 17])
