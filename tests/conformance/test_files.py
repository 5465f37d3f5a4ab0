"""A model that goes through a file is the same model, on each engine; files that are none of a model are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conformance.places import Place, assert_same_rows
from conformance.test_agreement import COLUMNS, mail

import nbsql

OPTIONS: dict[str, Any] = {
    "target": "label",
    "id": "id",
    "families": {"links": "poisson", "day": "categorical"},
    "nulls": "category",
}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def told(model: nbsql.Model, **options: Any) -> list[tuple[Any, ...]]:
    queries = (model.predict_proba("later", **options), model.priors, model.likelihoods)
    return [row for query in queries for row in sorted(query.fetchall(), key=repr)]


@pytest.fixture
def inbox(place: Place) -> Place:
    place.table("inbox", COLUMNS, mail(200, 1))
    place.table("later", COLUMNS, mail(50, 2))
    return place


@pytest.mark.parametrize(
    "options", [{}, {"slice_by": "id % 3", "weight": "weight"}, {"target": "replied", "features": ["Sender"]}]
)
def test_a_model_comes_back_from_a_file(inbox: Place, tmp_path: Path, options: dict[str, Any]) -> None:
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


@pytest.mark.parametrize(("engine", "other"), [("postgres", "Spark"), ("spark", "PostgreSQL")])
def test_files_that_are_none(connect: Callable[[str], Place], engine: str, other: str, tmp_path: Path) -> None:
    place = connect(engine)
    title = {"postgres": "PostgreSQL", "spark": "Spark"}[engine]
    place.table("inbox", COLUMNS, mail(50, 1))
    nbsql.fit(place.con, "inbox", name="m", **OPTIONS).export(tmp_path / "m.json")
    good = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    hostile = json.loads(good["nbsql_spec"]) | {"target_type": "text); DROP TABLE inbox; --"}
    broken = tmp_path / "broken.json"
    lines = {
        "no model": f"{str(broken)!r} is no file that a model was exported to",
        json.dumps({"cells": []}): f"{str(broken)!r} is no file that a model was exported to",
        json.dumps(
            good | {"nbsql_engine": other}
        ): f"{str(broken)!r} was exported on {other}, whose types are others than those of {title}; import it there",
        json.dumps(
            good | {"nbsql_spec": json.dumps(hostile)}
        ): f"model {str(broken)!r} is damaged: it has a column of the type 'text); DROP TABLE inbox; --'; export it again",
    }
    for text, message in lines.items():
        broken.write_text(text, encoding="utf-8")
        with pytest.raises((nbsql.InputError, nbsql.ModelError)) as caught:
            nbsql.import_(place.con, broken, name="found")
        assert str(caught.value) == message
    with pytest.raises(nbsql.InputError, match=r"^no file "):
        nbsql.import_(place.con, tmp_path / "gone")
    assert nbsql.models(place.con) == ["m"]
    assert place.run("SELECT count(*) FROM inbox") == [(50,)]
