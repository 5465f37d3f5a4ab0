"""The options of the methods of a fit, from the fields of their classifiers, and the classifier that some of them make."""

from collections.abc import Mapping
from dataclasses import fields
from functools import reduce
from operator import or_
from typing import Any, get_type_hints

import click

from nbsql.cli.arguments import COMPONENTS, RENAMED
from nbsql.cli.options import Decorator, option, option_of
from nbsql.spec.classifier import Classifier
from nbsql.spec.method import METHODS, Mixture

_KINDS: tuple[type[Classifier], ...] = (*METHODS.values(), Mixture)


def _arguments(kind: type[Classifier]) -> dict[str, Any]:
    """The defaults of the arguments of a classifier, by name."""
    return {field.name: field.default for field in fields(kind)}


def _methods_with(argument: str) -> list[str]:
    """The methods that have an argument; components make a mixture of naive."""
    return [name for name, kind in METHODS.items() if argument in _arguments(kind)] or ["naive"]


# The arguments of all classifiers, by the names of their options.
_ARGUMENTS = {RENAMED.get(argument, argument): argument for kind in _KINDS for argument in _arguments(kind)}


_TEXTS = {  # `nbsql help methods` says more; a default follows from a method that has one
    "backoff": "For joint: naive predicts a row that was never seen by naive Bayes, which else has no prediction.",
    "shrinkage": "For lda, qda: from 0, the default, to 1, how far covariances are drawn together; ledoit-wolf chooses. "
    "For tan, aode, kdb: how many rows an estimate without the (last) parent counts for; 20 for kdb.",
    "toward": "For qda: what covariances are drawn toward.  [default: identity]",
    "number_bins": "For tan, aode, kdb: cut numbers where the classes differ, mdl, or into N bins.  [default: mdl]",
    "weighted": "For tan, kdb: whether features also have weights; by default those of kdb have.",
    "k": "For kdb: the most parents of a feature, by default the best of 0 to 3. For clusters: how many; it must be given.",
    "least": "For aode: how often a value must occur to be a parent.  [default: 1]",
    "penalty": "For logistic, weighted: how much large weights cost; by default 0.5, and for weighted the best of 1, 10, 100.",
    "iterations": "For logistic, em, clusters: the most steps.  [default: 100]",
    "tolerance": "For logistic, em, clusters: the change at which the steps end.  [default: 1e-08 of logistic, else 1e-05]",
    "per": "For weighted: one weight for each feature, or one for each class, too, or whichever is better.  [default: feature]",
    "views": "For weighted: whether a number counts both as bins and as a density; by default if there are enough rows.",
    "pairs": "For weighted: at most so many pairs of columns become features, too.  [default: 0]",
    "triples": "For weighted: at most so many triples of columns become features, too.  [default: 0]",
    "parents": "For weighted: add features that depend on so many other columns, at most 3.  [default: 0]",
    "em_weight": "For em: what a row without a class counts, beside one with.  [default: 1]",
    "starts": "For clusters: how often the search starts anew.  [default: 5]",
    "seed": "For clusters: another whole number may find other clusters.  [default: 0]",
    "components": "For naive: split every class, or some (yes=3,no=2), into K parts, of which it is the mixture.",
}


def _option(name: str, argument: str) -> Decorator:
    if argument == "components":
        return option("--components", type=COMPONENTS, help=_TEXTS[name])
    annotations = [get_type_hints(kind)[argument] for kind in _KINDS if argument in _arguments(kind)]
    return option_of(name, reduce(or_, annotations), None, _TEXTS[name])


METHOD_OPTIONS = {name: _option(name, argument) for name, argument in _ARGUMENTS.items()}


def classifier_of(given: Mapping[str, Any]) -> str | Classifier:
    """The method of a command with its own options, which are separate options of the command."""
    name = given["method"]
    chosen = {option: given[option] for option in METHOD_OPTIONS if given.get(option) is not None}
    arguments = {_ARGUMENTS[option]: value for option, value in chosen.items()}
    kind: type[Classifier] = Mixture if name == "naive" and "components" in arguments else METHODS[name]
    for option_name, argument in zip(chosen, arguments, strict=True):
        if argument not in _arguments(kind):
            *others, last = _methods_with(argument)
            methods = f"{', '.join(others)} and {last}" if others else last
            raise click.UsageError(f"--{option_name.replace('_', '-')} is of --method {methods}, not of {name}")
    return kind(**arguments) if arguments else name
