"""How many of some rows a model has learnt: by their counts, or by a memory of the connection that has learnt them.

A connection remembers hashes of some rows of each batch that it has learnt. They are kept in this process, never in a model,
which so cannot be asked who is in it; another connection knows nothing of them. What the ledger has no longer, or forgets, does
not count.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose, sqrt
from typing import Any
from weakref import WeakKeyDictionary

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.rows import json_structure
from nbsql.engines.source import Source
from nbsql.errors import DatabaseError, InputError, ModelError, NotSupportedError
from nbsql.evaluation.evaluation import ALL
from nbsql.family import NUMBERS
from nbsql.learning import look
from nbsql.learning.count import counting_plan
from nbsql.learning.factorised import make_count
from nbsql.plan import Entry
from nbsql.plan.context import Context
from nbsql.rendering.dialect import folded
from nbsql.spec.rules import spec_for_recount
from nbsql.spec.spec import Spec
from nbsql.storage.state import ModelState
from nbsql.warn import warn_user

ROWS = 2_000
_BLOCK = 10  # rows of a table that are next to each other, so that few of its pages are read
_BATCHES = 50  # the most that a connection remembers, the newest ones
_MIN_PAIRS = 10
_STANDARD_ERRORS = 5
_MIN_SHARE = 0.05  # of the rows, below which the numbers are hardly better for it
_MIN_REPEATED = 20  # rows of a batch, below which other rows may well have the same counts

Key = tuple[str, Entry]  # a model, and a line of its ledger, which has its time

_memories: WeakKeyDictionary[Any, dict[Key, Sequence[int]]] = WeakKeyDictionary()


def remember(state: ModelState, source: Source, keys: Sequence[Key] | None = None) -> None:
    """Remember some of the rows that a model has just learnt, the newest of its live batches, from a source."""
    columns, renderer, relation = _columns(state, source), state.engine.renderer, source.relation
    if columns is None or state.spec.weight is not None or renderer.dialect.name == "spark":
        return  # rows do not count alike, or a statement takes a second
    keys = live_batches(state) if keys is None else keys
    count = keys[-1][1].rows if keys else 0
    if not count:
        return
    is_numbered = state.engine.numbers_rows(source)
    if not is_numbered:
        relation, count = renderer.fragment("first_rows_numbered", relation, look.FIRST_ROWS), min(count, look.FIRST_ROWS)
    share = None if count <= ROWS else round(1e6 * ROWS / count)
    block = _BLOCK if is_numbered and count > look.FIRST_ROWS else 1
    number = "rowid" if is_numbered else "nbsql_number"
    hashes = state.engine.query_macro("row_hashes", relation, *columns, number, block, share)
    memory = _memories.setdefault(state.engine.handle, {})
    memory[keys[-1]] = [row[0] for row in hashes]
    _keep(state, memory, keys)


def warn_of_repeated_batch(state: ModelState, keys: Sequence[Key]) -> None:
    """Warn if the newest of its live batches has the rows of an older one, as where a job has run again."""
    *older, newest = [entry for _, entry in keys]

    def cells(entry: Entry) -> Markup:
        return state.engine.renderer.subquery("cells_of_batch", state.relations["statistics"], entry.batch)

    alike = [each for each in older if each.rows == newest.rows >= _MIN_REPEATED]
    if len(alike) > 1:  # one statement leaves hardly any of them to compare
        weights = _weights_of_batches(state)
        alike = [each for each in alike if _are_same(weights[each.batch], weights[newest.batch])]
    for entry in alike:
        if have_same_counts(state.engine, (entry.rows, cells(entry)), (newest.rows, cells(newest))):
            warn_user(
                f"{newest.source} has the counts of batch {entry.batch!r} in each class and value: if it has the same rows, "
                f"{state.title} counts them twice now; take them back by ⟨forget⟩ with ⟨batch={newest.batch!r}⟩"
            )
            return


def have_same_counts(engine: Engine, one: tuple[int, Markup], other: tuple[int, Markup]) -> bool:
    """Whether the cells of two sets of rows are the same, which says that the rows are, unless there are few of them."""
    (rows, cells), (others, other_cells) = one, other
    return rows == others >= _MIN_REPEATED and not engine.query_value("differing_cells", cells, other_cells, _ROUNDING)


def forget_dead(state: ModelState) -> None:
    """Forget the rows of batches that the model has forgotten, or has no longer."""
    if memory := _memories.get(state.engine.handle):
        _keep(state, memory, live_batches(state))


def share_learnt(state: ModelState, source: Source, weight: str | None = None) -> float:
    """The share of the rows of a source that the model has learnt, as far as the connection remembers; 0 if it may be chance.

    Equal rows need not be the same ones, since few categories make equal rows. Of rows that were drawn at random, chance alone
    says which of two equal ones was learnt and which is evaluated. So pairs of one of each are as frequent among all pairs of
    equal rows as among all pairs of rows, whatever the rows; rows that occur more than twice are left out. (So Good, "The
    population frequencies of species and the estimation of population parameters", Biometrika 40, 1953, tells from what occurs
    once and twice what will occur again.)
    """
    memory, columns = _memories.get(state.engine.handle), _columns(state, source)
    if not memory or columns is None or weight is not None:
        return 0.0
    samples = [(entry.rows, memory[model, entry]) for model, entry in live_batches(state) if (model, entry) in memory]
    if not samples:
        return 0.0
    renderer = state.engine.renderer
    learnt = [{"batch": number, "hash": each} for number, (_, hashes) in enumerate(samples, start=1) for each in hashes]
    kinds = {"batch": "integer", "hash": "integer"}
    relation = renderer.fragment("rows_from_json", json.dumps(learnt), json_structure(kinds), list(kinds.items()))
    hashes = renderer.fragment("row_hashes", source.relation, *columns)
    found = {row[0]: row[1:] for row in state.engine.query_macro("equal_rows", relation, hashes)}
    own, others = len(learnt), sum(row[-1] for row in found.values())
    same, mixed = (sum(row[index] for row in found.values()) for index in (0, 1))
    if mixed < _MIN_PAIRS:
        return 0.0
    chance = 2 * own * others / ((own + others) * (own + others - 1))
    expected = (same + mixed) * chance
    if mixed < expected + _STANDARD_ERRORS * sqrt(expected * (1 - chance)):
        return 0.0
    by_chance = min(same * chance / (1 - chance), mixed)
    seen = sum(
        rows * found[number][1] / (found[number][1] + found[number][2])
        for number, (rows, _) in enumerate(samples, start=1)
        if number in found and found[number][1]
    )
    share = min(seen / others, 1.0) * (1 - by_chance / mixed)
    return share if share >= _MIN_SHARE else 0.0


def _keep(state: ModelState, memory: dict[Key, Sequence[int]], live: Sequence[Key]) -> None:
    """Forget the batches of a model that are not live, and the oldest of all that are too many."""
    dead = [key for key in memory if key[0] == _model(state) and key not in live]
    for key in dead or list(memory)[:-_BATCHES]:
        del memory[key]


def _model(state: ModelState) -> str:
    return state.name or str(state.relations["statistics"])


def live_batches(state: ModelState) -> list[Key]:
    """The batches that a model has learnt and not forgotten, oldest first; none from before it has forgotten single rows."""
    entries = [Entry(*row) for row in state.engine.query_macro("ledger", state.relations["batches"])]
    forgotten = {entry.source for entry in entries if entry.operation == "forget"}
    names = {f"batch {entry.batch!r}" for entry in entries}
    since = max((entry.number for entry in entries if entry.operation == "forget" and entry.source not in names), default=0)
    return [
        (_model(state), entry)
        for entry in entries
        if entry.operation in ("fit", "update") and entry.number > since and f"batch {entry.batch!r}" not in forgotten
    ]


def _columns(state: ModelState, source: Source) -> tuple[str, list[str], list[str]] | None:
    """The target, the columns of a row, and those of them that are numbers, as a source spells them; None if it lacks one."""
    columns = {folded(column.name): column for column in source.columns}
    names = dict.fromkeys(map(folded, (state.spec.target, *(name for each in state.spec.features for name in each.columns))))
    if not names.keys() <= columns.keys():
        return None
    target, *features = (columns[name] for name in names)
    numbers = [column.name for column in (target, *features) if column.kind in NUMBERS]
    return target.name, [column.name for column in (target, *features)], numbers


_ROUNDING = 1e-9

Weights = Mapping[str, float]  # the weight of the rows of each class, by its label


def learnt_rows(state: ModelState, source: Source, weight: str | None = None) -> tuple[str | None, float]:
    """The part of a model's rows that a source has, and the share of the rows of the source that the model has learnt.

    `weight` is the column of row weights, if the rows are weighted.
    """
    part = learnt_part(state, source)
    return part, 1.0 if part else share_learnt(state, source, weight)


def learnt_part(state: ModelState, source: Source) -> str | None:
    """The part of a model's rows that a source has: ALL, or the name of a batch; None for other rows, or if it cannot be told.

    Rows are told by their counts, which are those of the model or of a batch if the rows are: the number of rows of each class
    and value, and the sums and squares of the numbers. So nothing is stored for it, and updates, forgetting and merging are
    followed. Rows that the model has learnt only in part are other rows (see `share_learnt`). The number of rows of each class
    is compared first, so that rows that the model has not learnt are hardly ever counted.
    """
    engine, spec = state.engine, state.spec
    if spec.given or spec.is_soft or spec.half_life is not None or spec.shared:
        return None
    try:
        spec = spec_for_recount(spec, source.columns, source.label, "the model", exact=engine.exact)
        spec = replace(spec, slice_by=None, segment_by=None, components=None)
        counted = engine.renderer.fragment("counted_classes", Context.of(spec), source.relation)
        weights = {row[0]: float(row[3]) for row in engine.query_macro("classes_of_scan", counted)}
        parts = [part for part, of_part in _weights_of_parts(state).items() if _are_same(weights, of_part)]
        return _part_with_cells_of(state, spec, source, parts) if parts else None
    except (DatabaseError, InputError, ModelError, NotSupportedError):
        return None  # the rows lack the column of weights, say, or break a rule; a role may have no temporary tables


def _weights_of_parts(state: ModelState) -> dict[str, Weights]:
    """The weight of each class in all rows that the model has learnt, and in each batch that it has not forgotten."""
    total: dict[str, float] = defaultdict(float)
    by_batch = _weights_of_batches(state)
    for label, weight in (item for weights in by_batch.values() for item in weights.items()):
        total[label] += weight
    parts: dict[str, Weights] = {ALL: {label: weight for label, weight in total.items() if weight}}
    forgotten = [{label: -n for label, n in weights.items()} for weights in by_batch.values() if min(weights.values()) < 0]
    live = {batch: weights for batch, weights in by_batch.items() if min(weights.values()) > 0 and len(by_batch) > 1}
    return {**parts, **{batch: own for batch, own in live.items() if not any(_are_same(own, other) for other in forgotten)}}


def _weights_of_batches(state: ModelState) -> dict[str, dict[str, float]]:
    by_batch: dict[str, dict[str, float]] = defaultdict(dict)
    for batch, label, weight in state.engine.query_macro("class_weights_of_batches", state.relations["statistics"]):
        by_batch[batch][label] = float(weight)
    return by_batch


def _are_same(weights: Weights, others: Weights) -> bool:
    return weights.keys() == others.keys() and all(isclose(n, others[label], rel_tol=_ROUNDING) for label, n in weights.items())


def _part_with_cells_of(state: ModelState, spec: Spec, source: Source, parts: list[str]) -> str | None:
    """The first of some parts of a model whose cells are those of a source."""
    engine = state.engine
    counting = counting_plan(engine, spec)
    with engine.temporaries() as temporary:
        count = make_count(engine, source, counting, temporary)
        count.scan(quiet=True)
        cells = count.create_cells(temporary("cells"))
        for part in parts:
            of_part = state.relations["statistics"]
            if part != ALL:
                of_part = engine.renderer.subquery("cells_of_batch", of_part, part)
            if not engine.query_value("differing_cells", of_part, cells, _ROUNDING):
                return part
    return None
