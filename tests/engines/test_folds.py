"""Models are cross-validated and swept as on DuckDB: over folds of a column alike, over folds that are dealt as good."""

import random

import pytest
from engines.places import assert_same_rows
from engines.test_agreement import COLUMNS, mail
from engines.test_evaluation import in_order_of

import nbsql
from nbsql.evaluation.evaluation import TABLES

OPTIONS = {"target": "label", "id": "id", "exclude": ["day"]}
WORDS = ["offer", "lunch", "monday", "the", "free", "report"]

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.fixture
def inboxes(both):
    chance = random.Random(3)  # noqa: S311
    rows = []
    for row in mail(240, 1):
        fold = None if row[0] % 37 == 36 else "rare" if row[1] == "Spam" and row[0] < 60 else chance.choice("xyz")
        body = None if row[0] % 19 == 18 else " ".join(chance.choices(WORDS, k=row[0] % 5))
        rows.append((*row, body, chance.randrange(5), chance.randrange(5), fold))
    columns = {**COLUMNS, "body": "VARCHAR", "plain": "INTEGER", "html": "INTEGER", "part": "VARCHAR"}
    for place in both:
        place.table("inbox", columns, rows)
        place.table(
            "golf", {"sky": "VARCHAR", "wind": "INTEGER", "play": "BOOLEAN"}, [("sun", 1, True), ("rain", 2, False)] * 9
        )
    return both


CASES = {
    "inferred": {},
    "weights": {"weight": "weight"},
    "bags": {
        "exclude": ["day", "weight", "share", "plain", "html"],
        "families": {
            "body": nbsql.Text(min_count=2),
            "parts": nbsql.Multinomial(["plain", "html"]),
            "links": nbsql.Poisson(a=1, b=1),
        },
    },
    "missing as a category": {
        "exclude": ["day", "weight", "body"],
        "nulls": "category",
        "unseen": "smooth",
        "prior": "uniform",
    },
    "a yes or no": {"target": "replied", "features": ["Sender", "length"], "prior": "smoothed"},
    "shared variance": {"features": ["length"], "families": {"length": nbsql.Gaussian(shared_variance=True)}},
    "the best features": {"features": nbsql.Best(3, among=["Sender", "replied", "length", "flag", "links"])},
}


def assert_same_judgement(found):
    for name in ("rows", "accuracy", "log_loss"):
        assert_same_rows(*([(getattr(each, name),)] for each in found))
    assert_same_rows(*(each.folds.fetchall() for each in found))
    evaluations = [each.evaluation for each in found]
    numbers = [[(name, value) for name, value in each.to_dict().items() if name != "classes"] for each in evaluations]
    assert_same_rows(*numbers)
    for table in TABLES:
        assert_same_rows(*(sorted(getattr(each, table).fetchall(), key=in_order_of(table)) for each in evaluations))


@pytest.mark.parametrize("case", CASES)
def test_folds_of_a_column_agree(inboxes, case):
    options = {**OPTIONS, **CASES[case]}
    found = [nbsql.cross_validate(place.con, "inbox", fold="part", **options) for place in inboxes]
    assert_same_judgement(found)
    assert [fold for fold, *_ in found[0].folds] == ["rare", "x", "y", "z"]


def test_folds_are_those_of_refits(inboxes):
    """Each fold by the fit of the others, on the engine itself."""
    ours = inboxes[0].con
    options = {**OPTIONS, "exclude": ["day", "part"], "weight": "weight"}
    found = nbsql.cross_validate(ours, "inbox", fold="part", **{**options, "exclude": ["day"]}).folds.fetchall()
    for fold, _, _, accuracy, log_loss in found:
        model = nbsql.fit(ours, f"SELECT * FROM inbox WHERE part <> '{fold}'", **options)
        refit = model.evaluate(f"SELECT * FROM inbox WHERE part = '{fold}'", weight="weight")
        assert_same_rows([(accuracy, log_loss)], [(refit.accuracy, refit.log_loss)])


@pytest.mark.parametrize("source", ["inbox", "SELECT * FROM inbox WHERE id < 200"])
def test_folds_that_are_dealt_are_even_and_come_again(inboxes, source):
    ours = inboxes[0].con
    options = {**OPTIONS, "exclude": ["day", "part"]}
    first, again = (nbsql.cross_validate(ours, source, folds=6, **options).folds.fetchall() for _ in range(2))
    assert first == again
    rows = [count for _, count, *_ in first]
    assert [fold for fold, *_ in first] == list("012345")
    assert max(rows) - min(rows) <= 2
    fit = nbsql.fit(ours, source, **options)
    assert sum(rows) == sum(n for _, n, *_ in fit.priors)


def test_sweeps_agree(inboxes):
    settings = {
        "alpha": [0.1, 1, 5],
        "prior": ["empirical", "uniform"],
        "families": [{}, {"links": "poisson"}, {"links": "categorical"}],
    }
    found = [
        nbsql.sweep(place.con, "inbox", target="label", features=["Sender", "links", "length"], fold="part", **settings)
        for place in inboxes
    ]
    assert_same_rows(*(each.ranking.fetchall() for each in found))
    for place in inboxes:
        nbsql.fit(place.con, "inbox", target="flag", features=["links"], name="winner")
    with pytest.raises(nbsql.ModelError, match="model 'winner' is there already"):
        found[0].best(name="winner")
    best = [each.best(name="winner", replace=True) for each in found]
    assert_same_rows(*(sorted(model.predict_proba("inbox").fetchall()) for model in best))


def test_folds_that_are_none(place):
    place.table("golf", {"wind": "INTEGER", "play": "VARCHAR", "f": "VARCHAR"}, [(1, "no", "a"), (2, "yes", "a")])
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.cross_validate(place.con, "golf", target="play", fold="f")
    assert str(caught.value) == "cross-validation needs at least two folds, and golf has 1"
    assert place.run("SELECT count(*) FROM golf") == [(2,)]
