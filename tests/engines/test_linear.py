"""The weights of a model are DuckDB's, in its linear and its quadratic form, and a model of them says what it says."""

import pytest
from engines.places import assert_same_rows
from engines.test_agreement import COLUMNS, mail

import nbsql

SHARED = nbsql.Gaussian(shared_variance=True)
BAG = nbsql.Multinomial(["plain", "html"])
CASES = {
    "two classes": (
        "linear",
        {"target": "replied", "features": ["Sender", "length", "flag"], "families": {"length": SHARED, "flag": "categorical"},
         "nulls": "category", "unseen": "smooth"},
    ),
    "several classes": ("linear", {"target": "label", "features": ["Sender", "length"], "families": {"length": SHARED}}),
    "counts": ("linear", {"target": "label", "features": ["links"], "families": {"links": "poisson", "bag": BAG}}),
    "numbers": ("quadratic", {"target": "label", "features": ["Sender", "length", "share"]}),
    "a covariance matrix": ("quadratic", {"target": "label", "features": ["length", "share"], "method": "qda"}),
    "two classes of numbers": ("quadratic", {"target": "replied", "features": ["length", "flag"]}),
}  # fmt: skip


def rows_of(model):
    """The posteriors of rows that lack no number."""
    source = "SELECT * FROM inbox WHERE length BETWEEN 0 AND 1e6 AND share + links + flag IS NOT NULL"
    return sorted(model.predict_proba(source).fetchall(), key=repr)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_weights_agree(both, case):
    form, options = CASES[case]
    found = []
    for place in both:
        rows = [(*row, row[0] % 4, row[0] % 3) for row in mail(200, 1)]
        place.table("inbox", {**COLUMNS, "plain": "INTEGER", "html": "INTEGER"}, rows)
        model = nbsql.fit(place.con, "inbox", name="m", **options)
        query = getattr(model, form)()
        found.append((query.columns, sorted(query.fetchall(), key=repr)))
        again = nbsql.from_weights(place.con, query, classes=model.classes, target=options["target"], name="again")
        assert_same_rows(rows_of(again), rows_of(model))
    (names, ours), (others, theirs) = found
    assert names == others
    assert_same_rows(ours, theirs)
    assert len(ours) > 2
