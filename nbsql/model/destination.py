"""Places for new models: where a model goes, what it replaces, and how it is created as a whole or not at all."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from nbsql.engines.connect import Connection, lasting_relations, opened, relations_in, transient_relations
from nbsql.engines.engine import Engine
from nbsql.errors import DatabaseError, InputError
from nbsql.learning.derive import derive
from nbsql.learning.joins import refuse_temporary
from nbsql.model import Model
from nbsql.plan import Entry, Plan
from nbsql.plan.classes import ClassColumn
from nbsql.rendering.relations import Relations
from nbsql.spec.spec import Spec
from nbsql.storage import schema as schemas
from nbsql.storage.drafts import draft_relations, publish
from nbsql.storage.state import ModelState


@dataclass(frozen=True)
class Destination:
    """The place of a new model."""

    engine: Engine
    name: str | None  # None for a transient model
    final: Relations  # its relations when it is complete
    relations: Relations  # those in which it is built: the final ones, or a draft on engines without transactions
    replaces: tuple[str, str] | None = None  # the database and schema of the model that it replaces
    lasting: Relations | None = None  # the final relations as a handle names them; None if they are the same

    def derive(self, spec: Spec, cells: Markup, entries: Sequence[Entry], **more: Any) -> tuple[Plan, list[ClassColumn]]:
        """Build a model from cells in this place, without publishing it; the arguments are those of `derive`."""
        if not isinstance(spec.target, str) or not spec.target:
            raise InputError(f"⟨target⟩ must be the name of the column that is predicted, not {spec.target!r}")
        refuse_temporary(spec.joins, self.final)
        return derive(self.engine, spec, cells, entries, self.relations, self.replaces, **more)

    def publish(self, plan: Plan, classes: list[ClassColumn]) -> Model:
        """The model that was built here, in the same transaction, so that it belongs to its version."""
        plan = publish(self.engine, plan, self.final)
        if self.lasting is not None:
            plan = replace(plan, relations=self.lasting)
        return Model(ModelState(self.engine, plan, classes, self.name))


@contextmanager
def open_place(con: Connection, name: str | None, database: str | None, *, replace: bool) -> Iterator[Destination]:
    """The place for a model that is built from the arguments, in a transaction of its own or inside the caller's."""
    with opened(con, create=True) as engine, engine.transaction(name):
        yield destination_for(engine, name, database, replace=replace)


def key_columns(id: Any) -> tuple[str, ...]:
    """The key columns that an argument `id` names, one or several."""
    names = [id] if isinstance(id, str) else id
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InputError(f"⟨id⟩ must be a column or a list of columns, not {id!r}")
    return tuple(names)


def destination_for(engine: Engine, name: str | None, database: str | None, *, replace: bool) -> Destination:
    """The place for a model of that name.

    Raises DatabaseError if the database is read-only, InputError for an invalid name, ModelError for one that is taken.
    """
    if name is None:
        transient = transient_relations(engine)
        return Destination(engine, None, transient, transient)
    where = engine.database(database)
    engine.check_home(where)
    if engine.is_read_only(where):
        raise DatabaseError(
            f"database {where!r} is open read-only; open it for writing, or leave the name out for a transient model"
        )
    schemas.check_new_name(engine, where, name, replace=replace)
    if not replace:
        engine.check_in_script(where, name, schemas.taken(name))
    existing = engine.schema(where, name)
    final = relations_in(engine, where, name)
    replaces = (where, existing) if existing is not None else None
    return Destination(engine, name, final, draft_relations(engine, final), replaces, lasting_relations(engine, where, name))
