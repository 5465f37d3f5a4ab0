"""A model that follows a table: triggers write its changed rows, and whatever reads the model next learns them."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

from nbsql.engines.source import Source
from nbsql.errors import DatabaseError, InputError, ModelError
from nbsql.learning.change import Change, changing
from nbsql.learning.model_source import read_source
from nbsql.plan import Entry
from nbsql.rendering.dialect import folded, restore
from nbsql.spec.capabilities import check
from nbsql.spec.spec import Spec
from nbsql.storage.schema import drop_parts, run_statements
from nbsql.storage.state import ModelState
from nbsql.warn import warn_user

Present = Literal["learnt", "new"]  # whether a model has learnt the rows that its table has when it begins to follow it

_EVENTS = ("insert", "delete", "update", "truncate")
_ATTEMPTS = 5  # to learn changes that another connection is learning at the same time
_learning = threading.RLock()  # two connections of a process would conflict


def follow(change: Change, table: Source, rows: Callable[[], Source], present: Present | None) -> None:
    """Let a model learn the changes of a table from now on. `rows` reads those that it has now as the model reads them."""
    draft, engine, title = change.draft, change.engine, change.title
    if draft.name is None:
        raise ModelError("a model without a name ends with the connection, and cannot follow a table; fit it with ⟨name⟩")
    if draft.follows is not None:
        raise ModelError(f"{title} follows {draft.follows} already; ⟨unfollow⟩ it first")
    check(draft.spec, "change", title)
    if not table.is_table:
        raise InputError(f"{table.label} is no table, and only a table tells what changes in it; name the table itself")
    if engine.query_value("is_partitioned", engine.renderer.dialect.text(restore(table.relation))):
        raise InputError(
            f"{table.label} is partitioned, or a partition, whose rows can be written past its triggers; "
            "follow a table by itself"
        )
    database = draft.relations.database
    own = None if database is None else engine.query_value("name_of_file", database)
    if own is not None and str(database).removesuffix("_db") != own.removesuffix("_db"):
        raise InputError(
            f"triggers would know the file of {table.label} as {database!r}, and nobody could insert rows where it has its own "
            f"name, {own!r}; DETACH it, and ATTACH it without AS"
        )
    of_target = table.column(draft.spec.target)
    target = None if of_target is None else of_target.name
    if engine.query_value("row_count", table.relation, target):
        _learn_present_rows(change, rows(), present)
    render, changes = engine.renderer, draft.relations["changes"]
    columns = _columns_read(draft.spec, table)
    engine.create("changes", changes, render.fragment("no_changes", table.relation, columns), temporary=False)
    given = (table.relation, changes, columns, target)
    if body := render.fragment("recorder", *given):
        engine.run("recorder", render.statement("create_recorder", changes, render.dialect.text(restore(body))))
        engine.run("share", render.statement("share_changes", changes))
    for event in _EVENTS:
        if trigger := render.statement("create_trigger", event, _trigger_name(draft, event), *given):
            try:
                engine.run(f"trigger for {event}", trigger)
            except DatabaseError as error:
                if "different catalog" not in str(error):
                    raise
                raise InputError(
                    f"{table.label} is in another database than {title}, where its triggers reach no model"
                ) from None
    run_statements(engine, change.plan, change.plan.add_comments([], ["changes"]))
    change.write("follow", table.label)
    change.finish()


def unfollow(change: Change) -> None:
    """Let a model follow its table no longer."""
    table = change.draft.follows
    if table is None:
        raise ModelError(f"{change.title} follows no table")
    drop_parts(change.engine, change.draft.relations, ["changes"])
    change.write("unfollow", table)
    change.finish()


def discard_changes(state: ModelState) -> None:
    """Leave the changes of the followed table out."""
    for macro in ("take_changes", "drop_taken"):
        state.engine.run("discard the changes", state.engine.renderer.statement(macro, state.relations["changes"]))


def learn_changes(state: ModelState) -> ModelState:
    """The model after it has learnt what has changed in the table that it follows, if it follows one."""
    if state.follows is None:
        return state
    engine = state.engine
    for attempt in range(1, _ATTEMPTS + 1):
        pending, follows, may_learn = _state_of_changes(state)
        if not follows:
            warn_user(
                f"{state.title} no longer follows {state.follows}, whose triggers are gone, as it was dropped, made anew or "
                "copied; ⟨unfollow⟩ it"
            )
        if not pending:
            return state
        if not may_learn:
            warn_user(
                f"{state.title} has not learnt the last changes of {state.follows}, since it cannot be written here; "
                "⟨refresh⟩ it where it can"
            )
            return state
        try:
            with engine.turn(), _learning, state.guard(), engine.transaction(state.name):
                state = state.refreshed()  # another connection may have learnt them meanwhile
                if state.follows is not None and _state_of_changes(state)[0]:
                    with changing(state) as change:
                        _learn(change)
                    state = change.result
        except InputError as error:
            raise InputError(
                f"{state.title} cannot learn the changes of {state.follows}: {error.marked}; put that right in {state.follows}"
            ) from None
        except DatabaseError:  # a conflict with another connection that learns them
            if attempt == _ATTEMPTS:
                raise
            time.sleep(0.02 * attempt)
        else:
            return state
    return state


def _learn(change: Change) -> None:
    """Learn the changes that are there now, and add them to the lines of the ledger for the rows that came and went."""
    draft, engine = change.draft, change.engine
    render, changes = engine.renderer, draft.relations["changes"]
    columns = [column.name for column in engine.columns(changes) if not column.name.startswith("nbsql_")]
    lines = _lines(change)
    with engine.temporaries() as temporary:
        engine.run("take the changes", render.statement("take_changes", changes))
        for name, is_gone in (("come", False), ("gone", True)):
            net = engine.create(name, temporary(name), render.fragment("net_changes", changes, columns, is_gone))
            if not engine.query_value("row_count", net):
                continue
            source = Source(net, str(draft.follows), engine.columns(net), is_table=True)
            _, rows = read_source(draft, source, reads_target=True, weighted=True)
            (change.subtract if is_gone else change.add)(rows)
            operation = "forget" if is_gone else "follow"
            if operation in lines:
                change.join(lines[operation], change.ledger.entries[-1])
        engine.run("drop the changes", render.statement("drop_taken", changes))
    change.finish()


def _lines(change: Change) -> dict[str, Entry]:
    """The lines of the ledger since the model follows its table, by operation."""
    lines: dict[str, Entry] = {}
    for entry in change.ledger.entries:
        if entry.operation == "follow":
            lines = {"follow": entry}
        elif entry.operation == "forget" and entry.source == change.draft.follows and lines:
            lines["forget"] = entry
    return lines


def _learn_present_rows(change: Change, rows: Source, present: Present | None) -> None:
    """Check that the model has learnt the rows of a table, or learn them."""
    if present is None:
        count = change.engine.query_value("row_count", rows.relation, change.plan.spec.target)
        entries = [e for e in change.ledger.entries if e.operation in ("fit", "update") and e.source == rows.label]
        if count not in [entry.rows for entry in entries]:
            has = f"{entries[-1].rows} rows of it" if entries else "no rows of it"
            raise InputError(
                f"{rows.label} has {count} rows, and the ledger of {change.title} {has}; say ⟨present='learnt'⟩ if it has "
                "learnt them, or ⟨present='new'⟩ to learn them now"
            )
    if present == "new":
        change.add(rows)
    else:
        change.check_learnt(rows)


def _columns_read(spec: Spec, table: Source) -> Sequence[str]:
    """The columns of a table that a model reads: all, if it reads some by expressions or keys."""
    if spec.derived or spec.joins or spec.slice_expression or spec.half_life is not None:
        return table.names
    read = {folded(name) for name in spec.columns}
    return [column.name for column in table.columns if folded(column.name) in read]


def _trigger_name(state: ModelState, event: str) -> str:
    return f"nbsql {event} {state.name}"


def _state_of_changes(state: ModelState) -> tuple[Any, ...]:
    """Whether changes are to be learnt, whether triggers still write them, and whether this connection may learn them."""
    engine, changes = state.engine, state.relations["changes"]
    database = state.relations.database or engine.current()[0]
    literal = engine.renderer.dialect.text(restore(changes))
    return engine.query_macro("state_of_changes", changes, _trigger_name(state, "insert"), database, literal)[0]
