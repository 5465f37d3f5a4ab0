"""The options of the methods of a fit, from the fields of their classifiers, and the classifier that some of them make."""

import re
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
from nbsql.spec.signature import described_arguments

_KINDS: tuple[type[Classifier], ...] = (*METHODS.values(), Mixture)
_SENTENCE_END = re.compile(r"\.(?= [A-Z]|$)")
_CITATION = re.compile(r" \([A-Z][^()]* \d{4}\)")
_CLASS = re.compile(r"`nbsql\.(\w+)(?:\(\))?`")


def _arguments(kind: type[Classifier]) -> dict[str, Any]:
    """The defaults of the arguments of a classifier, by name."""
    return {field.name: field.default for field in fields(kind)}


def _methods_with(argument: str) -> list[str]:
    """The methods that have an argument; components make a mixture of naive."""
    return [name for name, kind in METHODS.items() if argument in _arguments(kind)] or ["naive"]


# The arguments of all classifiers, by the names of their options.
_ARGUMENTS = {RENAMED.get(argument, argument): argument for kind in _KINDS for argument in _arguments(kind)}


def _text(argument: str) -> str:
    """What the option of an argument says: of each method the first sentence of the docstring, and what says the default."""
    said: dict[str, list[str]] = {}
    for name, kind in METHODS.items():
        if argument in _arguments(kind):
            text = " ".join(described_arguments(kind.__doc__)[argument].split())
            first, *more = _SENTENCE_END.split(_CITATION.sub("", text))
            sentences = [first, *(each.lstrip().replace(" (None)", "", 1) for each in more if each.startswith(" By default"))]
            sentence = _CLASS.sub(lambda each: f"`{each[1].lower()}`", ". ".join(sentences))
            default = _arguments(kind)[argument]
            shown = f" [default: {default:g}]" if isinstance(default, float) else f" [default: {default}]" if default else ""
            said.setdefault(f"{sentence}{shown}.", []).append(name)
    return " ".join(f"For {' and '.join(names)}: {text}" for text, names in said.items())


def _option(name: str, argument: str) -> Decorator:
    if argument == "components":
        text = "Split every class, or some (yes=3,no=2), into K components by k-means on its numbers. A class is their mixture."
        return option("--components", type=COMPONENTS, help=text)
    annotations = [get_type_hints(kind)[argument] for kind in _KINDS if argument in _arguments(kind)]
    return option_of(name, reduce(or_, annotations), None, _text(argument))


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
