"""Model files in JSON, which earlier versions wrote on engines other than DuckDB; they can still be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from nbsql.errors import InputError, ModelError
from nbsql.storage.translation import ENGINES


class Stored(NamedTuple):
    """The contents of a model file: the text of its spec, the engine, the cells and the text of the calibration."""

    spec: str
    engine: str
    rows: list[list[Any]]
    calibration: str | None


def read(path: str) -> Stored:
    """The contents of a file. Raises InputError if it is not the file of a model, ModelError if the model is damaged."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        spec, engine, calibration = (content[f"nbsql_{part}"] for part in ("spec", "engine", "calibration"))
        cells, weights = content["cells"], content.get("weights") or []
        if engine not in ENGINES or not isinstance(spec, str):
            raise ValueError(engine)
    except (OSError, ValueError, TypeError, KeyError):
        raise InputError(f"{path!r} is no file that a model was exported to") from None
    try:
        rows = [[*_cell(cell), batch] for batch, listed in (("1", cells), ("weights", weights)) for cell in listed]
    except (TypeError, KeyError, ValueError):
        raise ModelError(f"model {path!r} is damaged: a cell is none; export it again") from None
    return Stored(spec, engine, rows, calibration)


def _cell(cell: Any) -> list[Any]:
    """A cell as a list. PostgreSQL wrote a list for each cell, Spark an object."""
    names = ("slice", "class", "feature", "value", "n", "mean", "m2")
    values = [cell[name] for name in names] if isinstance(cell, dict) else list(cell)
    if len(values) != len(names):
        raise ValueError(cell)
    return values
