"""A model as one JSON file, for engines that write no Parquet: its spec, cells and, if it has some, weights and calibration."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.errors import DatabaseError, InputError, ModelError
from nbsql.judging.calibration import calibration_text
from nbsql.plan import Plan
from nbsql.spec import Spec
from nbsql.version import __version__

# The types that a file may bring into a statement: names and numbers, and of Spark array<string> and map<string,int>.
_WIDTH = r"(\(\d+(, ?\d+)?\))?"
TYPE = re.compile(rf'[A-Za-z_][\w ."]*({_WIDTH}(\[\])?|<\w+{_WIDTH}(, ?\w+{_WIDTH})?>)')


def write(engine: Engine, plan: Plan, path: str) -> None:
    """Write a model to a file.

    Raises:
        DatabaseError: the file cannot be written.
    """
    statistics = plan.relations["statistics"]
    cells = engine.renderer.fragment(*(["cells_of", statistics] if plan.spec.given else ["folded", statistics, "1"]))
    ((text,),) = engine.ask("cells_as_json", cells)
    weights = None
    if plan.spec.logistic is not None:
        query = engine.renderer.fragment("weights_as_cells", plan.relations["weights"])
        weights = json.loads(engine.ask("cells_as_json", query)[0][0])
    calibration = calibration_text(engine, plan)
    model = {
        "nbsql_version": __version__,
        "nbsql_engine": engine.title,
        "nbsql_spec": plan.spec.to_json(),
        "nbsql_calibration": calibration,
        "cells": json.loads(text),
        "weights": weights,
    }
    try:
        Path(path).write_text(json.dumps(model, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise DatabaseError(f"cannot write {path!r}: {error.strerror}") from None


def read(engine: Engine, path: str) -> tuple[Spec, Markup, Markup | None, str | None]:
    """The spec in a file, the queries of its cells and of its weights, and the text of its calibration.

    Raises:
        InputError: it is no file of a model, or one of another engine.
        ModelError: the model is damaged, or of a newer version of nbsql.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        spec_text, title, calibration = (found[f"nbsql_{part}"] for part in ("spec", "engine", "calibration"))
        cells, weights = found["cells"], found.get("weights")
    except (OSError, ValueError, TypeError, KeyError):
        raise InputError(f"{path!r} is no file that a model was exported to") from None
    if title != engine.title:
        raise InputError(
            f"{path!r} was exported on {title}, whose types are others than those of {engine.title}; import it there"
        )
    spec = Spec.from_json(spec_text, path)
    for kind in (spec.target_type, *(kind for feature in spec.features for kind in feature.types)):
        if kind is None or not TYPE.fullmatch(kind):
            raise ModelError(f"model {path!r} is damaged: it has a column of the type {kind!r}; export it again")
    class_type = engine.renderer.dialect.query(spec.target_type)
    render = engine.renderer.fragment

    def cells_of(listed: Any) -> Markup:
        return render("cells_of_json", json.dumps(listed, ensure_ascii=False), class_type)

    if spec.logistic is None:
        return spec, cells_of(cells), None, calibration
    if weights is None:
        raise ModelError(f"model {path!r} is damaged: it has no weights; export it again")
    return spec, cells_of(cells), render("weights_of_cells", cells_of(weights)), calibration
