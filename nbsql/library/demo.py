"""The demonstration: will a flight arrive late, given what is known when it leaves the gate?"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Any

from nbsql.engines.duckdb.engine import DuckDB
from nbsql.evaluation.evaluation import Evaluation
from nbsql.library.verbs import fit
from nbsql.model import Model
from nbsql.plan import Statement

NAME = "punctuality"
TARGET = "arrival"

# Arguments of `nbsql.fit`: the flight number identifies a row, months and hours are categories, and the day splits the data.
OPTIONS: dict[str, Any] = {
    "target": TARGET,
    "id": "flight",
    "exclude": ["day"],
    "families": {"month": "categorical", "hour": "categorical"},
    "infer": "types",
}


@dataclass(frozen=True)
class Demonstration:
    """The result of the demonstration."""

    model: Model
    learnt: int  # the number of flights learnt from
    evaluation: Evaluation  # the evaluation on the held-out flights
    seconds: tuple[float, float]  # the time of the fit, and of the evaluation


def statements() -> Iterator[Statement]:
    """The statements that create the tables of the demonstration, with the parameter `file`."""
    for block in re.split(r"\n\n(?=-- )", (files("nbsql") / "data" / "flights.sql").read_text(encoding="utf-8")):
        sql = block[block.index("CREATE") :] if "CREATE" in block else ""
        if sql:
            yield Statement(block.splitlines()[0].removeprefix("-- "), sql.strip().rstrip(";"))


def load_flights(engine: DuckDB) -> None:
    """Create the tables of the demonstration."""
    with as_file(files("nbsql") / "data" / "flights.parquet") as file, engine.transaction():
        literal = engine.renderer.dialect.text(str(file))
        for statement in statements():
            engine.run(statement.name, statement.sql.replace("$file", literal))


def demonstrate(engine: DuckDB) -> Demonstration:
    """Fit on the first twenty days of every month, and evaluate on the others."""
    load_flights(engine)
    started = time.perf_counter()
    model = fit(engine, "learnt", name=NAME, **OPTIONS)
    fitted = time.perf_counter()
    evaluation = model.evaluate("held_back")
    seconds = (fitted - started, time.perf_counter() - fitted)
    return Demonstration(model, int(sum(row[1] for row in model.priors)), evaluation, seconds)
