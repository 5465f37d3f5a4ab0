"""Leave-one-out is DuckDB's, of every family that it takes."""

import random

import pytest
from engines.places import assert_same_rows
from engines.test_agreement import COLUMNS, mail

import nbsql

WORDS = ["offer", "lunch", "monday", "the", "free", "report"]
TYPES = {"id": "INTEGER", "y": "VARCHAR", "body": "VARCHAR", "x": "DOUBLE PRECISION", "k": "INTEGER", "c": "VARCHAR",
         "w1": "INTEGER", "w2": "INTEGER", "w": "DOUBLE PRECISION", "e": "DOUBLE PRECISION",
         "s": "DOUBLE PRECISION"}  # fmt: skip
CASES = {
    "inferred": {},
    "rates": {"families": {"k": "poisson", "e": "exponential", "w1": "geometric"}, "weight": "w"},
    "shares": {"features": ["s"], "families": {"s": "beta"}},
    "amounts": {"features": ["s"], "families": {"s": "gamma"}},
    "zeros": {
        "features": ["k", "w1"],
        "families": {"k": nbsql.ZeroInflated(of="gamma"), "w1": nbsql.ZeroInflated()},
        "weight": "w",
    },
    "shared variance": {"features": ["x", "e"], "families": {"x": nbsql.Gaussian(shared_variance=True)}, "prior": "uniform"},
}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.fixture
def tables(both):
    chance = random.Random(3)  # noqa: S311
    rows = []
    for i in range(90):
        body = None if i % 19 == 18 else " ".join(chance.choices(WORDS[: 3 + 3 * (i % 2)], k=i % 6))
        numbers = (i % 3, i % 4, chance.choice([0.5, 1.0, 2.0]), chance.random() * 3 + 0.1)
        rows.append((i, "abc"[i % 3], body, chance.gauss(i % 2 * 2, 1), i % 5, "xyz"[i % 3], *numbers, numbers[-1] / 4))
    for place in both:
        place.table("t", TYPES, rows)
        place.table("inbox", COLUMNS, mail(120, 1))
    return both


def assert_alike(tables, source, **options):
    found = [nbsql.cross_validate(place.con, source, folds="loo", **options) for place in tables]
    assert_same_rows(*(each.folds.fetchall() for each in found))
    judged = [each.evaluation.to_dict() for each in found]
    # Rows of the same words have one posterior but for its rounding, which says whether they count as ties there.
    ranked = {key for key in judged[0] if key.startswith(("roc_auc", "average_precision"))}
    assert_same_rows(*([(key, value) for key, value in each.items() if key not in {"classes", *ranked}] for each in judged))


@pytest.mark.parametrize("case", CASES)
def test_rows_left_out_agree(tables, case):
    options = {"target": "y", **CASES[case]}
    if "features" not in options:
        options["exclude"] = ["id", *options.get("exclude", [])]
    assert_alike(tables, "t", **options)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_rows_with_gaps_left_out_agree(tables, weight):
    options = {"exclude": ["day", "id"], "nulls": "category", "unseen": "smooth", "prior": "smoothed"}
    assert_alike(tables, "inbox", target="label", weight=weight, **options)


def test_a_model_for_each_row_agrees(tables):
    families = {"body": nbsql.Text(min_count=2, unseen="smooth"), "words": nbsql.Multinomial(["w1", "w2"])}
    assert_alike(tables, "SELECT * FROM t WHERE id < 9", target="y", features=["body", "x", "w1", "w2"], families=families)


def test_settings_by_it_agree(tables):
    settings = {"alpha": [0.5, 1], "families": [{}, {"k": "categorical"}]}
    swept = [nbsql.sweep(place.con, "t", target="y", features=["x", "c", "k"], folds="loo", **settings) for place in tables]
    assert_same_rows(*(each.ranking.fetchall() for each in swept))


def test_calibrations_by_it_agree(tables):
    models = [nbsql.fit(place.con, "t", target="y", features=["x", "c", "k"]) for place in tables]
    found = [model.calibrate("t", folds="loo") for model in models]
    assert_same_rows(*([(each.temperature, each.log_loss, each.calibrated_log_loss)] for each in found))
