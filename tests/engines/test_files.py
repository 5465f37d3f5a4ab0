"""A model that goes through a file is the same model, on each engine; from one to another: test_model_files.py."""

import pytest
from engines.places import assert_same_rows
from engines.test_agreement import COLUMNS, mail

import nbsql

OPTIONS = {"target": "label", "id": "id", "families": {"links": "poisson", "day": "categorical"}, "nulls": "category"}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def told(model, **options):
    queries = (model.predict_proba("later", **options), model.priors, model.likelihoods)
    return [row for query in queries for row in sorted(query.fetchall(), key=repr)]


@pytest.fixture
def inbox(place):
    place.table("inbox", COLUMNS, mail(200, 1))
    place.table("later", COLUMNS, mail(50, 2))
    return place


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"slice_by": "id % 3", "weight": "weight"}, {"target": "replied", "features": ["Sender"]}]
)
def test_a_model_comes_back_from_a_file(inbox, tmp_path, options):
    model = nbsql.fit(inbox.con, "inbox", name="m", **{**OPTIONS, "families": {}, "exclude": ["day"], **options})
    model.update("SELECT * FROM inbox WHERE id < 50")
    kept = "slice_by" not in options
    if kept:
        model.calibrate("later", folds=None)
    path = tmp_path / "model.nbsql"
    model.export(path)
    with pytest.raises(nbsql.InputError, match=r"is there already; choose another path, or overwrite=True$"):
        model.export(path)
    model.export(path, overwrite=True)
    found = nbsql.import_(inbox.con, path, name="found")
    for ours in (found, nbsql.load(inbox.con, "found")):
        calibrated = {"calibrated": True} if kept else {}
        assert_same_rows(told(ours, **calibrated), told(model, **calibrated))
    if "slice_by" in options:
        assert found.slice_names == model.slice_names
    assert [(operation, source) for _, operation, source, *_ in found.batches] == [("import", str(path))]
    found.update("later")
    model.update("later")
    assert_same_rows(told(found), told(model))


def test_labels_and_categories_beyond_what_a_double_holds_come_back_from_a_file(place, tmp_path):
    values = [2**53, 2**53 + 1, -(10**38 - 1), 10**38 - 1]
    rows = (f"SELECT CAST('{value}' AS DECIMAL(38, 0)) AS c, CAST('{value}' AS DECIMAL(38, 0)) AS k" for value in values)
    place.run(f"CREATE TABLE large AS {' UNION ALL '.join(row for row in rows for _ in range(3))}")
    model = nbsql.fit(place.con, "large", target="c", families={"k": "categorical"})
    model.export(tmp_path / "model.nbsql")
    found = nbsql.import_(place.con, tmp_path / "model.nbsql", name="found")
    assert [int(label) for label in found.classes] == sorted(values)
    assert sorted(found.priors.fetchall()) == sorted(model.priors.fetchall())
    for one in (model, found):
        assert all(row[0] == row[1] == row[2] for row in one.predict("large").fetchall())
