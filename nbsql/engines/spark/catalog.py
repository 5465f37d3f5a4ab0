"""Models in a Spark catalog.

A model is published as immutable tables with a number, such as statistics_3, and a view of each, such as statistics, which
readers use. The table of the spec is created last: a number with a spec is a complete model, and a number without one is the
remains of a fit that was stopped.
"""

from collections.abc import Callable, Mapping
from typing import Any

from nbsql.engines.spark.driver import SparkDriver
from nbsql.engines.spark.gateway import PUBLISHED_TABLE
from nbsql.errors import DatabaseError
from nbsql.plan.parts import PARTS, PUBLISHED

ANOTHER_WRITER = "another session is changing the same model at this moment; try again when it is done"


def is_blank(engine: SparkDriver, schema: str) -> bool:
    """Whether a schema is empty, or contains only the remains of a fit that was stopped."""
    found = _names(engine, schema)
    return newest_complete(found) is None and all(PUBLISHED_TABLE.fullmatch(name) for name in found)


def newest_complete(names: list[str]) -> int | None:
    """The number of the newest complete model among the relations of a schema; None if there is none."""
    numbers = [int(match[2]) for match in map(PUBLISHED_TABLE.fullmatch, names) if match and match[1] == "spec"]
    return max(numbers, default=None)


def next_number(engine: SparkDriver, schema: str) -> int:
    """A number that no relation of a model has."""
    return 1 + max((int(match[2]) for match in map(PUBLISHED_TABLE.fullmatch, _names(engine, schema)) if match), default=0)


def switch(engine: SparkDriver, schema: str, number: int) -> None:
    """Point the views of a model to the tables of this number, the spec last, and drop all older ones but the previous model.

    Raises DatabaseError if another writer has completed a newer model. Tables of higher numbers are those of a writer at work.
    """
    render, ident = engine.renderer.statement, engine.renderer.dialect.ident
    names = _names(engine, schema)
    if (newest_complete(names) or 0) > number:
        raise DatabaseError(ANOTHER_WRITER)
    if "spec" in names and not _published(engine, schema):  # the statements of `fit_sql` created tables with these names
        for part in set(PUBLISHED) & set(names):
            engine.run(f"drop {part}", render("drop_part", ident(schema, part), _kind(engine, schema, part)))
    for part in PUBLISHED:
        if f"{part}_{number}" in names:
            view = render(
                "create_part_view", ident(schema, part), ident(schema, f"{part}_{number}"), number, PARTS[part].comment
            )
            engine.run(f"publish {part}", view)
        elif part in names:
            engine.run(f"drop {part}", render("drop_part", ident(schema, part), "view"))
    kept = (number, newest_complete([name for name in names if name.startswith("spec_") and name != f"spec_{number}"]))
    for name in names:
        match = PUBLISHED_TABLE.fullmatch(name)
        if match and int(match[2]) < number and int(match[2]) not in kept:
            engine.run(f"drop {name}", render("drop_part", ident(schema, name), _kind(engine, schema, name)))


def _kind(engine: SparkDriver, schema: str, name: str) -> str:
    """The type of a relation: the likelihoods are a view, and so are the parameters, unless they are too many for one."""
    if not name.startswith(("likelihoods", "parameters")):
        return "table"
    with engine.errors():
        table = engine.session.catalog.getTable(str(engine.renderer.dialect.ident(schema, name)))
    return "view" if table.tableType == "VIEW" else "table"


def finish_switch(engine: SparkDriver, schema: str) -> None:
    """Complete a switch that was stopped after the last table of a model and before its views."""
    number = newest_complete(_names(engine, schema))
    if number is not None and _published(engine, schema) < number:
        switch(engine, schema, number)


def _published(engine: SparkDriver, schema: str) -> int:
    try:
        rows = engine.query_macro("part_number", engine.renderer.dialect.ident(schema, "spec"))
    except DatabaseError:
        return 0
    return int(rows[0][1]) if str(rows[0][1]).isdigit() else 0


def _names(engine: SparkDriver, schema: str) -> list[str]:
    """The relations of a schema that are not temporary."""
    return [
        name for _, name, temporary in engine.query_macro("tables_in", engine.renderer.dialect.ident(schema)) if not temporary
    ]


def _relations(engine: SparkDriver) -> list[tuple[Any, ...]]:
    catalog, schema = engine.current()
    rows = engine.query_macro("tables_in", engine.renderer.dialect.ident(schema))
    return [(catalog, schema, name, "view" if temporary else "table") for _, name, temporary in rows]


def _contents(engine: SparkDriver, database: str, schema: str) -> list[tuple[Any, ...]]:  # noqa: ARG001 - there is one catalog
    finish_switch(engine, schema)
    found = [name for name in _names(engine, schema) if not PUBLISHED_TABLE.fullmatch(name)]
    views = ("priors", "components", "likelihoods", "features")  # views on other engines
    return [(name, "view" if name in views else "table") for name in found]


def _model_schemas(engine: SparkDriver, database: str) -> list[tuple[Any, ...]]:  # noqa: ARG001
    held = ((schema, _names(engine, schema)) for (schema,) in engine.query_macro("schemas"))
    return [(schema,) for schema, names in held if "spec" in names or newest_complete(names) is not None]


ANSWERS: Mapping[str, Callable[..., list[tuple[Any, ...]]]] = {
    "relations": _relations,
    "contents": _contents,
    "model_schemas": _model_schemas,
}
