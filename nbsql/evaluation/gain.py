"""The method that would gain most over that of a cross-validation, measured on folds."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, cast

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, ModelError, NotSupportedError
from nbsql.evaluation.validation import CrossValidation, cross_validate, cross_validate_spec
from nbsql.spec.classifier import Classifier
from nbsql.spec.dependence import FoundParents
from nbsql.spec.method import Method
from nbsql.spec.options import Options
from nbsql.spec.rules import spec_for_recount
from nbsql.storage.state import ModelState

_METHODS = ("naive", "weighted", "tan", "aode", "lda", "qda")
_FOLDS = 5
_MIN_STANDARD_ERRORS = 2.0
_MIN_GAIN = 1e-3  # nats
_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five"}


def best_gain(engine: Engine, source: Source, options: Options, fold: str | None) -> str:
    """What would gain most, in one line, inside the caller's transaction; see `CrossValidation.gain`."""
    own = cross_validate(engine, source, options, folds=_FOLDS, fold=fold, bins=10)
    return _best_gain_over(own, _name_of(options.classifier), engine, source, options, fold)


def best_gain_over_model(state: ModelState, source: Source, weight: str | None) -> str:
    """What would gain most over the fit of a model on rows whose class is known, in one line; see `Evaluation.gain`.

    Raises NotSupportedError if the model cannot be fitted anew to folds of these rows.
    """
    engine, spec = state.engine, state.spec
    try:
        state.require("calibrate_by_folds")
    except ModelError:
        cure = "cross-validate a fit instead"
        raise NotSupportedError(f"{state.title} cannot be fitted anew to folds of these rows; {cure}") from None
    own = replace(spec.without_fitted(), weight=weight, slice_by=None)
    own = spec_for_recount(own, source.columns, source.label, state.title, exact=engine.exact)
    columns = [*dict.fromkeys(column for feature in spec.features for column in feature.columns)]
    options = Options(spec.target, features=columns, weight=weight)
    is_naive = spec.logistic is None and not any(f.family.over_columns or f.family.parent for f in spec.features)
    with engine.transaction():
        found = cross_validate_spec(engine, source, own, folds=_FOLDS, fold=None, bins=10)
        found_by = "" if spec.found_dependence is None else _name_of(spec.found_dependence)
        own_method = found_by or ("weighted" if spec.weighted is not None else "naive" if is_naive else "")
        return _best_gain_over(found, own_method, engine, source, options, None)


def _name_of(method: Classifier) -> str:
    """The name of a method, by which it is not tried again; a tree with weights is none of those that are tried."""
    return str(method) if isinstance(method, FoundParents) and method.has_weights() else method.name


def _best_gain_over(
    own: CrossValidation, own_method: str, engine: Engine, source: Source, options: Options, fold: str | None
) -> str:
    """The method that gains most over a cross-validation of the same rows."""
    folds = own.folds.fetchall()
    on = f"on {_COUNTS.get(len(folds), len(folds))} folds"
    gains, tried = [], []
    for name in _METHODS:
        if name == own_method:
            continue
        start = perf_counter()
        try:
            method = replace(options, method=cast("Method", name))
            found = cross_validate(engine, source, method, folds=_FOLDS, fold=fold, bins=10)
        except InputError:
            continue  # which the columns or other options do not allow
        tried.append(f"⟨method={name!r}⟩")
        if _is_sure(list(_differences(folds, found.folds.fetchall()))):
            gains.append((own.log_loss - found.log_loss, name, perf_counter() - start))
    if gains:
        gain, name, seconds = max(gains)
        took = f"{seconds:.0f}" if seconds >= 1 else f"{seconds:.1f}"
        return engine.in_words(f"⟨method={name!r}⟩ gains {gain:.2g} of log loss {on} ({took} s)")
    if not tried:
        return "no other method takes these columns and options"
    return engine.in_words(f"none of {', '.join(tried)} gains {on}")


def _differences(one: Sequence[tuple[Any, ...]], other: Sequence[tuple[Any, ...]]) -> Iterator[float]:
    """How much lower the log loss of the other is in each fold."""
    losses = {row[0]: row[-1] for row in other}
    return (row[-1] - losses[row[0]] for row in one if row[0] in losses)


def _is_sure(gains: Sequence[float]) -> bool:
    """Whether the mean of the folds' gains exceeds two standard errors, and is worth a word."""
    mean = sum(gains) / len(gains)
    variance = sum((gain - mean) ** 2 for gain in gains) / max(len(gains) - 1, 1)
    return mean > max(_MIN_GAIN, _MIN_STANDARD_ERRORS * math.sqrt(variance / len(gains)))
