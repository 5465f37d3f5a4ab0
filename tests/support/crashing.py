"""A process that changes a model until it is killed, and the states that it may leave behind."""

import random
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

import duckdb

import nbsql

KINDS = ("fit", "replace", "update", "forget", "forget batch", "rollback", "compact", "compact through", "drop")
PARTS = ("may", "june", "july")
ALPHAS = (1.0, 0.25)
FAMILIES: dict[str, str | nbsql.Family] = {"note": nbsql.Text(), "calls": "poisson"}

TABLES = """
CREATE TABLE may AS FROM (VALUES ('sun', 1.5::DOUBLE, 2, TRUE, 'lunch at noon', 'no'),
  ('sun', 2.0, 0, FALSE, 'a free prize', 'yes'), ('rain', 3.0, 1, NULL, 'tea', 'yes'),
  (NULL, 4.5, 3, TRUE, 'free lunch', 'no')) AS t(sky, wind, calls, warm, note, play);
CREATE TABLE june AS FROM (VALUES ('snow', 9.0::DOUBLE, 0, FALSE, 'ice', 'maybe'), ('rain', 4.0, 5, TRUE, 'tea at noon', 'yes'),
  ('hail', NULL, 1, TRUE, NULL, 'maybe')) AS t(sky, wind, calls, warm, note, play);
CREATE TABLE july AS FROM (VALUES ('sun', 0.5::DOUBLE, 1, TRUE, 'lunch', 'no'),
  ('fog', 1.0, 1, TRUE, 'a prize for you', 'never')) AS t(sky, wind, calls, warm, note, play);
CREATE TABLE probe AS FROM may UNION ALL FROM june UNION ALL FROM july;
"""


@dataclass(frozen=True)
class Line:
    """A line of the ledger: its name, and how often it adds each part."""

    batch: str
    adds: tuple[int, ...]


@dataclass(frozen=True)
class State:
    """What is in the database.

    Args:
        ledger: of the model "days".
        alpha: that it was fitted with.
        other: the part that the model "other" was fitted to; None if there is no such model.
    """

    ledger: tuple[Line, ...]
    alpha: float
    other: str | None = None

    @property
    def parts(self) -> tuple[int, ...]:
        """How often the model has learnt each part."""
        return tuple(sum(line.adds[position] for line in self.ledger) for position in range(len(PARTS)))


@dataclass(frozen=True)
class Act:
    """A change: its kind, the part or batch that it is about, and the state that follows."""

    kind: str
    what: str | None
    after: State


def fitted(part: str, alpha: float) -> State:
    return State((Line("1", _adds(part)),), alpha)


def _adds(part: str, n: int = 1) -> tuple[int, ...]:
    return tuple(n * (name == part) for name in PARTS)


def choose(state: State, chance: random.Random, number: int) -> Act:
    """Any change that is possible in a state."""
    acts: list[Act] = []
    learnt = Counter(dict(zip(PARTS, state.parts, strict=True)))
    ledger = state.ledger
    for part in PARTS:
        if learnt[part] < 2:
            acts.append(Act("update", part, replace(state, ledger=(*ledger, Line(f"b{number}", _adds(part))))))
        if learnt[part] and sum(learnt.values()) > 1:
            acts.append(Act("forget", part, replace(state, ledger=(*ledger, Line("", _adds(part, -1))))))
        alpha = chance.choice(ALPHAS)
        acts.append(Act("replace", part, replace(fitted(part, alpha), other=state.other)))
        if state.other is None:
            acts.append(Act("fit", part, replace(state, other=part)))
    if state.other is not None:
        acts.append(Act("drop", None, replace(state, other=None)))
    for position, line in enumerate(ledger):
        gone = tuple(-n for n in line.adds)
        rest = [n + m for n, m in zip(state.parts, gone, strict=True)]
        if line.batch.startswith("b") and min(rest) >= 0 and any(rest) and Line(f"-{line.batch}", gone) not in ledger:
            acts.append(Act("forget batch", line.batch, replace(state, ledger=(*ledger, Line(f"-{line.batch}", gone)))))
        acts.append(Act("rollback", str(position), replace(state, ledger=ledger[: position + 1])))
        old, new = ledger[: position + 1], ledger[position + 1 :]
        folded = Line(line.batch, State(old, 1).parts)
        kind = "compact through" if new else "compact"
        acts.append(Act(kind, str(position), replace(state, ledger=(folded, *new))))
    kind = chance.choice(sorted({act.kind for act in acts}))
    return chance.choice([act for act in acts if act.kind == kind])


def perform(con: duckdb.DuckDBPyConnection, act: Act) -> None:
    """Make a change as a user would."""
    model = nbsql.load(con, "days")
    if act.kind in ("fit", "replace"):
        alpha = 1.0 if act.kind == "fit" else act.after.alpha
        name = "other" if act.kind == "fit" else "days"
        fit(con, str(act.what), name, alpha)
    elif act.kind == "update":
        model.update(act.what, batch=act.after.ledger[-1].batch)
    elif act.kind == "forget":
        model.forget(act.what)
    elif act.kind == "forget batch":
        model.forget(batch=act.what)
    elif act.kind == "drop":
        nbsql.load(con, "other").drop()
    else:
        batch = model.batches.fetchall()[int(str(act.what))][0]
        if act.kind == "rollback":
            model.rollback(batch)
        else:
            model.compact(batch if act.kind == "compact through" else None)


def fit(con: duckdb.DuckDBPyConnection, source: str, name: str | None, alpha: float) -> nbsql.Model:
    return nbsql.fit(con, source, target="play", name=name, alpha=alpha, families=FAMILIES, unseen="smooth", replace=True)


def work(path: str, state: State, seed: int, said: Connection) -> None:
    """Change the model for ever. Says what it begins, and when it is done, to whom survives it."""
    warnings.simplefilter("ignore", nbsql.NbsqlWarning)
    chance = random.Random(seed)  # noqa: S311
    con = duckdb.connect(path)
    if seed % 2:
        con.execute("SET wal_autocheckpoint = '20kB'")  # so that some are killed as DuckDB moves its log into the file
    said.send(None)
    number = seed * 1000
    while True:
        number += 1
        act = choose(state, chance, number)
        said.send(act)
        perform(con, act)
        state = act.after
        said.send(state)
