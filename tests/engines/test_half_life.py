"""Rows that count less the older they are agree with DuckDB, whichever type their times have."""

from datetime import date, datetime, timedelta
from operator import itemgetter

import pytest
from engines.places import assert_same_rows

import nbsql

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

START = datetime(2025, 1, 1, 3, 4, 5, 678901)
COLUMNS = {"sent": "TIMESTAMP", "day": "DATE", "number": "INTEGER", "w": "DOUBLE PRECISION", "y": "VARCHAR", "v": "VARCHAR",
           "x": "DOUBLE PRECISION"}  # fmt: skip


def rows(count, days):
    times = [START + timedelta(days=days, hours=11 * i) for i in range(count)]
    return [
        (time, time.date(), i // 3 + days, 1.0 + i % 3, "ab"[i * 7 % 5 % 2], f"v{i * 3 % 4}", float(i * 5 % 13))
        for i, time in enumerate(times)
    ]


@pytest.mark.nightly
def test_a_late_batch_is_forgotten_and_a_time_that_never_comes_is_refused(both):
    options = {"target": "y", "weight": nbsql.HalfLife("1 day", at="sent"), "features": ["v", "x"]}
    found = []
    for place in both:
        place.table("old", COLUMNS, rows(60, 0))
        place.table("new", COLUMNS, rows(30, 70))
        place.table("never", COLUMNS, [(datetime(9999, 12, 31), *rows(1, 0)[0][1:])])
        model = nbsql.fit(place.con, "old", **options)
        model.update("new", batch="new")
        model.forget(batch="new")
        with pytest.raises(nbsql.InputError, match=r"is from 9999-12-31 on, .* which would count for nothing; correct these"):
            model.update("never")
        if place.engine != "spark":  # which has no infinite times
            source = "SELECT y, v, x, CAST('infinity' AS TIMESTAMP) AS sent FROM old"
            with pytest.raises(nbsql.InputError, match=r"^60 values of column 'sent' are NULL or infinite, by which rows age"):
                nbsql.fit(place.con, source, **options)
        found.append([model.priors.fetchall(), model.joint_log_likelihood("SELECT v, x FROM new").fetchall()])
        assert_same_rows(found[-1][0], nbsql.fit(place.con, "old", **options).priors.fetchall())
    for answer, other in zip(*found, strict=True):
        assert_same_rows(answer, other)


@pytest.mark.parametrize("at", ["sent", "day", "number"])
def test_ages_agree(both, at):
    half_life = nbsql.HalfLife(4 if at == "number" else "4 days", at=at, weight="w")
    now = {"sent": START + timedelta(days=60), "day": date(2025, 3, 4), "number": 61}[at]
    found = []
    for place in both:
        place.table("old", COLUMNS, rows(60, 0))
        place.table("new", COLUMNS, rows(30, 40))
        exclude = [name for name in ("sent", "day", "number") if name != at]
        options = {"target": "y", "weight": half_life, "exclude": exclude, "prior": "smoothed"}
        model = nbsql.fit(place.con, "old", name="aged", **options)
        model.update("new")
        models = [model, model.as_of("1"), model.as_of(now)]
        model.forget("SELECT * FROM old WHERE number < 9")
        read = [nbsql.load(place.con, "aged"), nbsql.fit(place.con, "old", **options)]
        answers = [each.joint_log_likelihood("SELECT v, x FROM new").fetchall() for each in (*models, *read)]
        folds = nbsql.cross_validate(place.con, "old", fold="v", **options)
        found.append([*(sorted(set(answer), key=itemgetter(0, 1)) for answer in answers), sorted(model.priors)])
        found[-1].append(sorted(folds.folds))
    for answer, other in zip(*found, strict=True):
        assert_same_rows(answer, other)
