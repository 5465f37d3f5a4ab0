"""How many of some rows a model has learnt, by a memory of the connection that has learnt them.

A connection remembers hashes of some rows of each batch that it has learnt. They are kept in this process, never in a model,
which so cannot be asked who is in it; another connection knows nothing of them. What the ledger has no longer, or forgets, does
not count.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Any
from weakref import WeakKeyDictionary

from nbsql.engines.rows import json_structure
from nbsql.engines.source import Source
from nbsql.family import NUMBERS
from nbsql.learning import look
from nbsql.plan import Entry
from nbsql.rendering.dialect import folded
from nbsql.storage.state import ModelState

ROWS = 2_000
_BLOCK = 10  # rows of a table that are next to each other, so that few of its pages are read
_BATCHES = 50  # the most that a connection remembers, the newest ones
_MIN_PAIRS = 10
_STANDARD_ERRORS = 5
_MIN_SHARE = 0.05  # of the rows, below which the numbers are hardly better for it

Key = tuple[str, Entry]  # a model, and a line of its ledger, which has its time

_memories: WeakKeyDictionary[Any, dict[Key, Sequence[int]]] = WeakKeyDictionary()


def remember(state: ModelState, source: Source) -> None:
    """Remember some of the rows that a model has just learnt, as its newest batch, from a source."""
    columns, renderer, relation = _columns(state, source), state.engine.renderer, source.relation
    if columns is None or state.spec.weight is not None or renderer.dialect.name == "spark":
        return  # rows do not count alike, or a statement takes a second
    keys = list(_live(state))
    count = keys[-1][1].rows if keys else 0
    if not count:
        return
    is_numbered = source.is_table and renderer.dialect.traits.row_numbers and "rowid" not in map(folded, source.kinds)
    if not is_numbered:
        relation, count = renderer.fragment("first_rows_numbered", relation, look.FIRST_ROWS), min(count, look.FIRST_ROWS)
    share = None if count <= ROWS else round(1e6 * ROWS / count)
    block = _BLOCK if is_numbered and count > look.FIRST_ROWS else 1
    number = "rowid" if is_numbered else "nbsql_number"
    hashes = state.engine.query_macro("row_hashes", relation, *columns, number, block, share)
    memory = _memories.setdefault(state.engine.handle, {})
    memory[keys[-1]] = [row[0] for row in hashes]
    _keep(state, memory, keys)


def forget_dead(state: ModelState) -> None:
    """Forget the rows of batches that the model has forgotten, or has no longer."""
    if memory := _memories.get(state.engine.handle):
        _keep(state, memory, list(_live(state)))


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
    samples = [(entry.rows, memory[model, entry]) for model, entry in _live(state) if (model, entry) in memory]
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


def _live(state: ModelState) -> Iterator[Key]:
    """The batches that a model has learnt and not forgotten, oldest first; none from before it has forgotten single rows."""
    entries = [Entry(*row) for row in state.engine.query_macro("ledger", state.relations["batches"])]
    forgotten = {entry.source for entry in entries if entry.operation == "forget"}
    names = {f"batch {entry.batch!r}" for entry in entries}
    since = max((entry.number for entry in entries if entry.operation == "forget" and entry.source not in names), default=0)
    for entry in entries:
        if entry.operation in ("fit", "update") and entry.number > since and f"batch {entry.batch!r}" not in forgotten:
            yield _model(state), entry


def _columns(state: ModelState, source: Source) -> tuple[str, list[str], list[str]] | None:
    """The target, the columns of a row, and those of them that are numbers, as a source spells them; None if it lacks one."""
    columns = {folded(column.name): column for column in source.columns}
    names = dict.fromkeys(map(folded, (state.spec.target, *(name for each in state.spec.features for name in each.columns))))
    if not names.keys() <= columns.keys():
        return None
    target, *features = (columns[name] for name in names)
    numbers = [column.name for column in (target, *features) if column.kind in NUMBERS]
    return target.name, [column.name for column in (target, *features)], numbers
