"""A model as plain values, for --json and --csv of the commands that make, change or show a model."""

from __future__ import annotations

from typing import Any

import nbsql
from nbsql.cli.answers import Form, objects, print_value, with_formats
from nbsql.engines.engine import Engine
from nbsql.engines.postgres.address import without_passwords

FEATURES = "Print CSV, one row per feature: feature, family, columns, types, options."

# The formats of commands that make or change a model.
describing = with_formats(csv=FEATURES, sql="Print the statements; they run in a transaction that is rolled back.")


def whole(count: float) -> float:
    """A number of rows as an integer, unless weights add up to a fraction."""
    return int(count) if count == int(count) else count


def feature_rows(model: nbsql.Model) -> list[dict[str, Any]]:
    """One row for each feature: feature, family, columns, types, options."""
    rows = []
    for feature in model.state.spec.features:
        options = feature.family.to_dict()
        family = options.pop("family")
        options.pop("columns", None)
        of_columns = {"columns": list(feature.columns), "types": list(feature.types)}
        rows.append({"feature": feature.name, "family": family, **of_columns, "options": options})
    return rows


def described(engine: Engine, database: str, model: nbsql.Model, **more: Any) -> dict[str, Any]:
    """The model as one object."""
    _, version, created_at, updated_at, *_ = engine.query_macro("all_rows", model.state.relations["spec"])[0]
    classes = objects(engine, model.priors.sql)
    return {
        "model": str(model.name),
        "database": without_passwords(database),
        **more,
        "target": model.target,
        "rows": whole(sum(line["n"] or 0 for line in classes)),
        "nbsql_version": version,
        "created_at": created_at,
        "updated_at": updated_at,
        "features": feature_rows(model),
        "classes": classes,
        "batches": objects(engine, model.batches.sql),
    }


def describe(engine: Engine, form: Form, database: str, model: nbsql.Model, **more: Any) -> None:
    """Print the model: all of it as JSON, or its features as CSV, one row each."""
    print_value(engine, form, described(engine, database, model, **more), feature_rows(model))
