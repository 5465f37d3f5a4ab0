"""A process killed at any moment of any change leaves the old model or the new one, whole."""

import multiprocessing
import os
import random
import sys
import time
import warnings
from collections import Counter
from functools import cache

import duckdb
import pytest
from support.algebra import same
from support.crashing import KINDS, PARTS, TABLES, Act, fit, fitted, work

import nbsql


# The most are run by `pytest -m nightly`, when what a change of a model writes, or in which order, has changed.
@pytest.mark.slow
@pytest.mark.parametrize("kills", [5, pytest.param(220, marks=pytest.mark.nightly)])
def test_a_killed_process_leaves_the_old_model_or_the_new_one(tmp_path, monkeypatch, kills):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # where the server of forks finds what it imports beforehand
    path = tmp_path / "crash.duckdb"
    chance = random.Random(kills)  # noqa: S311
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nbsql.NbsqlWarning)
        with duckdb.connect(path) as con:
            con.execute(TABLES)
            fit(con, "may", "days", 1.0)
        state = fitted("may", 1.0)
        interrupted = Counter()
        outcomes = Counter()
        for seed in range(kills):
            before, act = killed(path, state, seed, chance.randint(1, 6), chance.uniform(0, 1.5))
            legal = {"old": before} if act is None else {"old": before, "new": act.after}
            with duckdb.connect(path) as con:
                outcome = found(con, legal)
                state = legal[outcome]
                whole(con, state)
            if act is not None:
                interrupted[act.kind] += 1
                outcomes[outcome] += 1
    print(f"{kills} kills; amid {dict(interrupted)}; the model was then {dict(outcomes)}")
    assert sum(interrupted.values()) >= kills / 2
    if kills > 200:
        assert set(interrupted) == set(KINDS)
        assert set(outcomes) == {"old", "new"}


def killed(path, state, seed, acts, share):
    """Let a process work, and kill it amid a change of some number: the last state it came to, and what it was at, if anything.

    `share`: of the time that the change before took, so that a slow machine kills where a fast one does.
    """
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        context.set_forkserver_preload(["pytest", "support.crashing_compiled"])
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(str(path), state, seed, there), daemon=True)
    process.start()
    there.close()
    assert here.poll(60), "the process does not begin"
    assert here.recv() is None
    act, taken = None, 0.05
    while acts:
        begun = time.monotonic()
        assert here.poll(60), "the process does not go on"
        message = here.recv()
        if isinstance(message, Act):
            act, acts = message, acts - 1
        else:
            state, act, taken = message, None, time.monotonic() - begun
    time.sleep(taken * share)
    assert process.is_alive(), "the process failed by itself"
    process.kill()
    process.join()
    while True:
        try:
            message = here.recv()
        except EOFError:
            break
        if isinstance(message, Act):
            act = message
        else:
            state, act = message, None
    here.close()
    return state, act


def found(con, legal):
    """Which of the legal states the database is in, by what it says of itself."""
    ledger = [(row[0], row[1], row[3]) for row in nbsql.load(con, "days").batches]
    models = nbsql.models(con)
    spec = nbsql.load(con, "days").families["sky"].alpha
    for name, state in reversed(legal.items()):
        lines = [line.batch for line in state.ledger]
        if (
            len(ledger) == len(lines)
            and all(line == batch for (batch, *_), line in zip(ledger, lines, strict=True) if line[:1] in ("1", "b"))
            and sum(row[2] * (-1 if row[1] == "forget" else 1) for row in ledger) == rows(state.parts)
            and spec == state.alpha
            and models == (["days", "other"] if state.other else ["days"])
        ):
            return name
    raise AssertionError(f"the model is in no state that it may be in: {ledger}, {models}, {legal}")


def whole(con, state):
    """Every part of each model is that of a fit to the rows that its state names."""
    learnt = {"days": (state.parts, state.alpha)}
    if state.other is not None:
        learnt["other"] = (tuple(int(part == state.other) for part in PARTS), 1.0)
    for name, (parts, alpha) in learnt.items():
        for part, expected in zip(asked(con, name), afresh(parts, alpha), strict=True):
            same(part, expected)
    schemas = con.execute("SELECT DISTINCT schema_name FROM duckdb_tables() WHERE NOT internal ORDER BY ALL").fetchall()
    assert [name for (name,) in schemas] == sorted(["main", *learnt])


def asked(con, name):
    """What a model answers from its statistics, its parameters, its lookups and its macros."""
    model = nbsql.load(con, name)
    shown = [model.predict_proba("probe").fetchall(), model.explain("probe").fetchall()]
    assert shown[0] == con.execute(f"FROM \"{name}\".predict_proba('probe')").fetchall()
    assert shown[1] == con.execute(f"FROM \"{name}\".explain('probe')").fetchall()
    counts = con.execute(
        f"""SELECT class, feature, value, sum(n) AS n FROM "{name}".statistics GROUP BY ALL HAVING sum(n) <> 0 ORDER BY ALL"""
    ).fetchall()
    return (*map(sorted_rows, shown), model.priors.fetchall(), model.likelihoods.fetchall(), counts)


def sorted_rows(found):
    return sorted(found, key=lambda row: [str(value) for value in row[:6]])


@cache
def afresh(parts, alpha):
    """The answers of a fit to so many copies of each part."""
    with duckdb.connect() as con:
        con.execute(TABLES)
        copies = [part for part, n in zip(PARTS, parts, strict=True) for _ in range(n)]
        con.execute(f"CREATE TABLE learnt AS {' UNION ALL '.join(f'FROM {part}' for part in copies)}")
        fit(con, "learnt", "m", alpha)
        return asked(con, "m")


@cache
def rows(parts):
    with duckdb.connect() as con:
        con.execute(TABLES)
        return sum(n * con.table(part).shape[0] for part, n in zip(PARTS, parts, strict=True))
