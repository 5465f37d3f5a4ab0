"""A fit is a list of steps, from one draft to the next: `fit` runs their statements, and `fit_statements` lists them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.learning.clusters import find_clusters
from nbsql.learning.collinear import check_matrices
from nbsql.learning.count import total_rows
from nbsql.learning.declared import declare, give_priors
from nbsql.learning.depth import choose_depth
from nbsql.learning.draft import Draft
from nbsql.learning.em import count_softly
from nbsql.learning.factorised import make_count
from nbsql.learning.feature_weights import weigh_features
from nbsql.learning.fit_warnings import mark_features, warn_of_classes, warn_of_features
from nbsql.learning.half_life import check_time_of_fit
from nbsql.learning.joins import name_dimensions
from nbsql.learning.kmeans import split
from nbsql.learning.logistic import learn_weights
from nbsql.learning.prepare import check_use, prepare, resolve_expressions
from nbsql.learning.script import add_relations, check_script, drop_scans, scan_in_script
from nbsql.learning.selection import accept_candidates, keep_best
from nbsql.plan import Entry, Plan, Statement
from nbsql.plan.classes import ClassColumn
from nbsql.plan.derived import with_derived_columns
from nbsql.rendering.relations import Relations
from nbsql.spec.options import Options, candidate_options
from nbsql.spec.resolve import resolve
from nbsql.storage.schema import build, drop_replaced


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


Step = Callable[[Draft], Draft]


def _in_fit(step: Step) -> Step:
    """A step that reads tables which were written."""
    return lambda draft: draft if draft.is_script else step(draft)


def _in_script(step: Step) -> Step:
    """A step that takes the place of such a one where the statements are printed."""
    return lambda draft: step(draft) if draft.is_script else draft


# In the order in which they are taken. A step that the spec does not ask for returns the draft as it is.
STEPS: tuple[Step, ...] = (
    # What must be known before the rows are counted.
    name_dimensions,
    accept_candidates,
    resolve_expressions,
    declare,
    prepare,
    choose_depth,
    check_use,
    _in_script(check_script),
    # The rows are counted. Nothing is written before all of them have been checked against the rules.
    split,
    _in_fit(scan),
    _in_script(scan_in_script),
    _in_fit(warn_of_classes),
    give_priors,
    _in_fit(check_matrices),
    learn_weights,
    weigh_features,
    count_softly,
    find_clusters,
    # The model is written.
    make_room,
    write_cells,
    _in_fit(check_time_of_fit),
    keep_best,
    _in_fit(mark_features),
    _in_fit(build_relations),
    _in_script(add_relations),
    _in_script(drop_scans),
    _in_fit(warn_of_features),
)


def fit(
    engine: Engine,
    source: Source,
    options: Options,
    relations: Relations,
    *,
    replaces: tuple[str, str] | None = None,
    asked: Options | None = None,
) -> tuple[Plan, list[ClassColumn]]:
    """The plan and the classes of a new model at `relations`: all of it, or nothing if the source breaks a rule.

    `replaces` is the database and schema of the model that this one replaces; `asked` are the options of the user, who is
    warned of those that change nothing.
    """
    with engine.temporaries() as temporary:
        facts = {"write": engine.run_all, "temporary": temporary, "replaces": replaces, "asked": asked}
        built = _last_draft(engine, source, options, relations, **facts).built
    if built is None:
        raise RuntimeError("the last steps build the model")
    return built


def fit_statements(engine: Engine, source: Source, options: Options, relations: Relations) -> list[Statement]:
    """The statements that `fit` would execute, as if any number might be missing. Reads the rows and writes nothing."""
    statements: list[Statement] = []
    dialect = engine.renderer.dialect
    _last_draft(
        engine, source, options, relations, write=statements.extend, is_script=True, asked=options,
        temporary=lambda name: dialect.ident(*dialect.traits.temporary, f"nbsql {name}"),
    )  # fmt: skip
    return statements


def _last_draft(engine: Engine, source: Source, options: Options, relations: Relations, **facts: Any) -> Draft:
    """The draft after all steps, from the first, which follows from the options and the columns of the source alone."""
    candidates, best = candidate_options(options)
    spec = with_derived_columns(resolve(source.columns, candidates, source.label), source.derived)
    draft = Draft(engine, source, candidates, relations, spec, best=best, **facts)
    for step in STEPS:
        draft = step(draft)
    return draft
