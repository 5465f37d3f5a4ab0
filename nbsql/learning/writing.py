"""Steps of a fit that count the rows, and write the relations of the model."""

from __future__ import annotations

from dataclasses import replace

from nbsql.learning.count import total_rows
from nbsql.learning.draft import Draft
from nbsql.learning.factorised import make_count
from nbsql.plan import Entry
from nbsql.storage.build import build
from nbsql.storage.schema import drop_replaced


def scan(draft: Draft) -> Draft:
    """The step that scans the source, which gives its classes. Raises InputError if a row breaks a rule."""
    count = make_count(draft.engine, draft.source, draft.plan, draft.temporary)
    labels = count.scan(quiet=draft.spec.is_soft)
    count.check_magnitudes()
    entry = Entry(1, "1", "fit", draft.source.label, total_rows(labels))
    return replace(draft, counting=count, labels=labels, entries=(entry,))


def make_room(draft: Draft) -> Draft:
    """The step that removes the model which this one replaces, and creates the schema."""
    if draft.replaces is not None:
        drop_replaced(draft.engine, *draft.replaces)
    if not draft.relations.temporary:
        draft.write([draft.plan.create_schema()])
    return draft


def write_cells(draft: Draft) -> Draft:
    """The step that writes the table of cells, and what else a search has learnt."""
    if draft.learnt:
        draft.write(draft.plan.create_from_temporary(name, relation) for name, relation in draft.learnt.items())
    else:
        draft.write(draft.count.cells(draft.statistics, "1", temporary=draft.relations.temporary))
    return draft


def build_relations(draft: Draft) -> Draft:
    """The step that builds the model from its cells: estimates, tables for scoring, macros and the ledger."""
    return replace(
        draft, built=build(draft.engine, draft.plan, draft.entries, single=draft.has_unique_cells, classes=draft.classes)
    )
