"""Models as schemas: which there are, what they contain, how they are built from statistics, and dropped."""

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from itertools import groupby

from nbsql.engines.connect import lasting_relations, relations_in
from nbsql.engines.engine import Engine
from nbsql.engines.runner import FOLLOW
from nbsql.errors import DatabaseError, InputError, ModelError, listed, suggestion
from nbsql.plan import MACROS, PARTS, Entry, Plan, Statement
from nbsql.plan.classes import ClassColumn, check_told_apart, class_columns, scored_class_count
from nbsql.rendering.relations import Relations
from nbsql.version import __version__
from nbsql.warn import warn_user

# What nbsql creates in a model's schema, in an order in which it can be dropped.
CONTENTS: dict[str, str] = {name: part.kind for name, part in PARTS.items()}

# What only earlier versions created there.
_FORMER = {"scored": "macro", "predict_calibrated": "macro", "predict_proba_calibrated": "macro"}

_OPTIONAL = tuple(name for name, part in PARTS.items() if part.optional)


def model_names(engine: Engine, database: str) -> list[str]:
    """The schemas of a database that are models."""
    return [row[0] for row in engine.query_macro("model_schemas", database)]


def find(engine: Engine, database: str, name: str, *, complete: bool = True) -> str:
    """The schema of a model, as the catalogue spells it.

    Raises ModelError unless it is a model; if it is to be `complete`, also one that lacks a part, as those of earlier versions.
    """
    if not isinstance(name, str):
        raise InputError(f"a model's name must be text, not {name!r}")
    schema = engine.schema(database, name)
    models = model_names(engine, database)
    if schema is None:
        engine.database(database)  # which may be detached by now
        bare = name.rpartition(".")[2]  # of 'team.spam', a path, which is no name
        places = [(place, known) for place, known in engine.schemas_named(bare) if known in model_names(engine, place)]
        hint = f"; there is {places[0][1]!r} in {places[0][0]!r}" if places else suggestion(name, models)
        hint = hint or (f"; there are {listed(models)}" if models else "; there are none yet")
        raise ModelError(f"no model {name!r} in {database!r}{hint}")
    if schema not in models:
        raise ModelError(f"schema {schema!r} is not a model of nbsql: it has no table 'spec'")
    if not complete:
        engine.check_home(database)
        return schema
    optional = _OPTIONAL if engine.renderer.traits.table_macros else (*_OPTIONAL, *MACROS)
    missing = engine.missing(database, schema, {part: kind for part, kind in CONTENTS.items() if part not in optional})
    if missing:
        engine.check_home(database)
        raise unreadable(engine, lasting_relations(engine, database, schema), schema, f"{listed(missing)} is missing")
    return schema


def unreadable(engine: Engine, relations: Relations, name: str, fact: str) -> ModelError:
    """The error for a model that is damaged, or that another version of nbsql wrote."""
    try:
        version = str(engine.query_value("version_of_model", relations["spec"]))
    except (DatabaseError, IndexError):  # it has no table `spec`, or no row in it
        version = ""
    cause = (
        "is damaged, or of an earlier checkout" if version in ("", __version__) else f"cannot be read by nbsql {__version__}"
    )
    written = version and f", written by nbsql {version},"
    return ModelError(f"model {name!r}{written} {cause}: {fact}; fit it again with ⟨replace=True⟩, or drop it")


def is_calibrated(engine: Engine, relations: Relations) -> bool:
    """Whether a model has a table `calibration`."""
    try:
        engine.columns(relations["calibration"])
    except DatabaseError:
        return False
    return True


def followed(engine: Engine, relations: Relations) -> str | None:
    """The table that a model follows, by its name in the ledger; None if it follows none."""
    if relations.temporary or FOLLOW in engine.unsupported:
        return None
    rows = engine.query_macro("followed", relations["batches"])
    return next((str(table) for operation, table in rows if operation == "follow"), None)


def check_new_name(engine: Engine, database: str, name: str, *, replace: bool) -> None:
    """Raise InputError if the name of a new model is invalid, ModelError if it is taken and not to be replaced."""
    if not isinstance(name, str) or not name or "\x00" in name:
        raise InputError(f"a model's name must be a text of at least one character, not {name!r}")
    engine.check_name(name)
    schema = engine.schema(database, name)
    if schema is None:
        return
    if schema not in model_names(engine, database):
        raise ModelError(f"schema {schema!r} is there already and is not a model of nbsql; choose another name")
    if not replace:
        raise ModelError(taken(schema))


def taken(schema: str) -> str:
    """What a user reads if a model of that name is there."""
    return f"model {schema!r} is there already; replace it with ⟨replace=True⟩, or choose another name"


def drop_replaced(engine: Engine, database: str, schema: str) -> None:
    """Drop a model that is replaced. Some engines drop it at the end, so that it can be read until then.

    Raises ModelError if the schema contains something that nbsql did not create.
    """
    table = followed(engine, relations_in(engine, database, schema))
    if table is not None:
        warn_user(f"model {schema!r} followed {table}, and the one in its place does not; let it follow {table} again")
    aside = engine.set_aside(database, schema, lambda name: drop_schema(engine, database, name))
    if aside is None:
        drop_schema(engine, database, schema)
    else:
        check_contents(engine, database, aside, schema)


def check_contents(engine: Engine, database: str, schema: str, title: str) -> dict[str, str]:
    """The contents of a model's schema, by name; ModelError if something is not nbsql's."""
    contents = engine.query_macro("contents", database, schema)
    foreign = [name for name, kind in contents if kind not in (CONTENTS.get(name), _FORMER.get(name))]
    if foreign:
        raise ModelError(f"schema {title!r} holds {listed(foreign)}, which nbsql did not make; move it elsewhere first")
    return dict(contents)


def drop_schema(engine: Engine, database: str, schema: str) -> None:
    """Drop a model, and nothing that is not nbsql's. Raises ModelError if the schema contains something else."""
    present = check_contents(engine, database, schema, schema)
    relations = relations_in(engine, database, schema)
    names = [] if engine.renderer.traits.drops_cascade else [name for name in {**_FORMER, **CONTENTS} if name in present]
    last = Statement("drop schema", engine.renderer.statement("drop_schema", relations.schema))
    engine.drop(schema, [*_drops(engine, relations, names), last])


def drop_parts(engine: Engine, relations: Relations, names: Iterable[str]) -> None:
    """Drop those of a model's relations that are there."""
    engine.drop(relations.path[-1] if relations.path else "", _drops(engine, relations, names, if_exists=True))


def drop_transient(engine: Engine, relations: Relations) -> None:
    """Drop a model without a name before the connection closes."""
    drop_parts(engine, relations, [name for name, kind in CONTENTS.items() if kind != "macro"])


def _drops(engine: Engine, relations: Relations, names: Iterable[str], *, if_exists: bool = False) -> list[Statement]:
    render = engine.renderer.statement
    statements = []
    for name in names:
        if name == "changes":  # with the triggers that write them
            statements.append(Statement("drop changes", render("drop_changes", relations[name])))
            continue
        kind = {**_FORMER, **CONTENTS}[name]
        statements.append(Statement(f"drop {name}", render("drop_relation", kind, relations[name], if_exists=if_exists)))
    return statements


def build(
    engine: Engine,
    plan: Plan,
    entries: Sequence[Entry] = (),
    *,
    wide: bool | None = None,
    single: bool = False,
    classes: list[ClassColumn] | None = None,
) -> tuple[Plan, list[ClassColumn]]:
    """The plan of a new model, in the form in which it is written, and its classes: builds what it reads from its statistics.

    The ledger has `entries`; a model without any is one of a search, and has but what scores rows. `wide` is the form of the
    tables that scoring reads, None to choose it by their size; `single` says whether each class, feature and value has only one
    cell. `classes` are read from the priors unless they are given.
    """
    if entries:
        described = [*plan.describe_model(__version__, entries[0], has_unique_cells=single)]
        described += map(plan.add_ledger_line, entries[1:])
    else:
        described = [*plan.create_estimates(has_unique_cells=single)]
    views = [statement for statement in described if statement.small and statement.name in ("likelihoods", "components")]
    run_statements(engine, plan, [statement for statement in described if statement not in views])
    classes = class_columns(engine.rows(plan.class_order())) if classes is None else classes
    check_told_apart(classes, plan.spec.target_type, "the model")
    wide = plan.is_wide(scored_class_count(classes)) if wide is None else wide
    plan = Plan(engine.renderer, plan.spec, plan.relations, wide=wide)
    statements = [*plan.create_scoring_tables(classes, has_unique_cells=single), *(views if entries else ())]
    if not plan.relations.temporary:
        statements.extend([*plan.create_macros(classes), *plan.create_user_views()])
        statements.extend(plan.add_comments([*described, *statements], ["weights"] if plan.spec.has_weights else []))
    run_statements(engine, plan, statements)
    return plan, classes


def run_statements(engine: Engine, plan: Plan, statements: Iterable[Statement]) -> None:
    """Run statements, some of which may create macros of a model."""
    statements = [*statements]
    makes_macros = any(statement.name.startswith(("macro ", "function ")) for statement in statements)
    with engine.creating_macros(plan.relations.path) if makes_macros else nullcontext():
        for small, run in groupby(statements, key=lambda statement: statement.small):
            if small:
                first, *others = run
                engine.run_script(first.name, [first.sql, *(statement.sql for statement in others)])
            else:
                engine.run_all(run)
