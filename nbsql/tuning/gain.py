"""The method that would gain most over that of a cross-validation, measured on folds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, cast

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.spec.method import Method
from nbsql.spec.options import Options
from nbsql.tuning.validation import CrossValidation, cross_validate

_METHODS = ("naive", "tan", "aode", "lda", "qda")
_FOLDS = 5
_MIN_STANDARD_ERRORS = 2.0
_MIN_GAIN = 1e-3  # nats
_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five"}


def best_gain(engine: Engine, source: Source, options: Options, fold: str | None) -> str:
    """What would gain most, in one line, inside the caller's transaction; see `CrossValidation.gain`."""

    def judged(method: Method) -> tuple[CrossValidation, float]:
        start = perf_counter()
        found = cross_validate(engine, source, replace(options, method=method), folds=_FOLDS, fold=fold, bins=10)
        return found, perf_counter() - start

    own, _ = judged(options.method)
    folds = own.folds.fetchall()
    on = f"on {_COUNTS.get(len(folds), len(folds))} folds"
    gains, tried = [], []
    for name in _METHODS:
        if name == options.classifier.name:
            continue
        try:
            found, seconds = judged(cast("Method", name))
        except InputError:
            continue  # which the columns or other options do not allow
        tried.append(f"method={name!r}")
        if _is_sure(list(_differences(folds, found.folds.fetchall()))):
            gains.append((own.log_loss - found.log_loss, name, seconds))
    if gains:
        gain, name, seconds = max(gains)
        took = f"{seconds:.0f}" if seconds >= 1 else f"{seconds:.1f}"
        return f"method={name!r} gains {gain:.2g} of log loss {on} ({took} s)"
    return f"none of {', '.join(tried)} gains {on}" if tried else "no other method takes these columns and options"


def _differences(one: Sequence[tuple[Any, ...]], other: Sequence[tuple[Any, ...]]) -> Iterator[float]:
    """How much lower the log loss of the other is in each fold."""
    losses = {row[0]: row[-1] for row in other}
    return (row[-1] - losses[row[0]] for row in one if row[0] in losses)


def _is_sure(gains: Sequence[float]) -> bool:
    """Whether the mean of the folds' gains exceeds two standard errors, and is worth a word."""
    mean = sum(gains) / len(gains)
    variance = sum((gain - mean) ** 2 for gain in gains) / max(len(gains) - 1, 1)
    return mean > max(_MIN_GAIN, _MIN_STANDARD_ERRORS * math.sqrt(variance / len(gains)))
