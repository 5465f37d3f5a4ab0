"""Commands made from the verbs of a model: arguments and options from the signature, their help from the docstring."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

import nbsql
from nbsql.cli.answers import Form, answer, with_formats
from nbsql.cli.arguments import COST, THRESHOLD, costs_of
from nbsql.cli.options import (
    Command,
    Decorator,
    by_name,
    calibrated,
    columns,
    limited,
    option,
    option_of,
    reads_model,
    weighted,
)
from nbsql.cli.session import show_warnings
from nbsql.spec.signature import described_arguments

_SECTION = re.compile(r"\n\n(?:Args:\n|Raises:\n|>>> )")
_NAME = re.compile(r"`(\w+)`")
_SENTENCE_PART = re.compile(r"[.,:;](?= |$)", re.MULTILINE)

_THRESHOLD = "Predict a class if its probability reaches P. Repeatable."
_COVERAGE = "Add the smallest set of classes that contains the true one this often; needs `nbsql calibrate --method conformal`."
_CERTAIN = "Predict only rows so certain that this share is right; needs `nbsql calibrate --method certain`."

# Parameters that are more than their type and the text of the docstring say.
_PARAMETERS: dict[str, Decorator] = {
    "calibrated": calibrated,
    "columns": columns,
    "costs": by_name("--cost", "costs", type=COST, help="The cost of a mistake, if not 1. Repeatable."),
    "coverage": option("--coverage", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="P", help=_COVERAGE),
    "thresholds": by_name("--threshold", "thresholds", type=THRESHOLD, help=_THRESHOLD),
    "certain": option("--certain", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="P", help=_CERTAIN),
    "weight": weighted,
}
_FLAGS = {"costs": "--cost", "thresholds": "--threshold"}  # repeatable, one at a time

# Why a public name of `nbsql.Model` is no command.
NOT_COMMANDS = {
    **dict.fromkeys(("as_of", "slices", "window"), "returns a model that the connection keeps, and a command ends it"),
    **dict.fromkeys(("classes", "families", "target", "slice_names"), "a line of `nbsql show`"),
    **dict.fromkeys(("evaluate_sql", "log_likelihood_sql"), "the option --sql of a command"),
    **dict.fromkeys(("predict_one", "predict_one_sql"), "a source may have one row: nbsql predict shop.duckdb spam row.csv"),
    "close": "a command closes the connection",
    "state": "what the rooms of the package read of a model",
}


def method_of(verb: str) -> Callable[..., Any]:
    """The function of a verb of `nbsql.Model`; that of a property returns its value."""
    found: Any = inspect.getattr_static(nbsql.Model, verb)
    return getattr(found, "fget", found)  # type: ignore[no-any-return]


def documented(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The description of a function, and those of its arguments by name, in the words of the command line.

    >>> documented(nbsql.Model.relevance)[1]["values"][:44]
    'return a row for each value or token, or for'
    """
    word = spelled(function)
    text = _NAME.sub(lambda found: word(found[1]), inspect.getdoc(function) or "")
    described = described_arguments(text)
    described.update({name: " ".join(part.split()) for name, part in described.items()})
    return _SECTION.split(text)[0], described


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters of a verb by name, without the model itself."""
    return {name: each for name, each in inspect.signature(function, eval_str=True).parameters.items() if name != "self"}


def is_argument(parameter: inspect.Parameter) -> bool:
    """Whether a parameter is an argument of the command, and no option: a source, or what a call must give."""
    required = parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY
    return required or parameter.name == "source"


def spelled(function: Callable[..., Any]) -> Callable[[str], str]:
    """How the command line spells a name of a docstring: the argument SOURCE, the option --by, the command `nbsql show`."""
    own = {name: is_argument(each) for name, each in parameters(function).items()}

    def word(name: str) -> str:
        if name in own:
            return name.upper() if own[name] else _FLAGS.get(name, f"--{name.replace('_', '-')}")
        is_command = hasattr(nbsql.Model, name) and name not in (*NOT_COMMANDS, function.__name__)
        return f"`nbsql {name.replace('_', '-')}`" if is_command else f"`{name}`"

    return word


def parameter_decorator(parameter: inspect.Parameter, text: str) -> Decorator:
    if is_argument(parameter):
        required, is_number = parameter.default is parameter.empty, parameter.annotation is int
        return click.argument(parameter.name, required=required, type=click.IntRange(min=0) if is_number else None)
    if parameter.name in _PARAMETERS:
        return _PARAMETERS[parameter.name]
    return option_of(parameter.name, parameter.annotation, parameter.default, text)


def verb_command(
    verb: str, examples: Sequence[str], body: Callable[..., None], *shared: Decorator,
    more: Sequence[Callable[..., Any]] = (), left_out: Sequence[str] = (), **changed: Decorator,
) -> click.Command:  # fmt: skip
    """The command of a verb: `body` gets database and model, the values of the parameters, and those of the `shared` options.

    The help is the docstring; each example is what follows `nbsql VERB shop.duckdb`. The parameters of `more` functions are
    added; some are `left_out`, and some `changed`.
    """
    function, name = method_of(verb), verb.replace("_", "-")
    text, arguments = documented(function)
    of_arguments = [each for each, parameter in parameters(function).items() if is_argument(parameter) and each in arguments]
    text += "".join(f"\n\n{each.upper()}: {arguments[each]}" for each in of_arguments)
    decorators: dict[str, Decorator] = {}
    for each in (function, *more):
        _, described = documented(each)
        for parameter in parameters(each).values():
            decorators.setdefault(parameter.name, parameter_decorator(parameter, described.get(parameter.name, "")))
    ordered = [decorator for name, decorator in {**decorators, **changed}.items() if name not in left_out]
    made: Any = body
    for decorator in reversed([click.argument("database"), click.argument("model"), *ordered, *shared]):
        made = decorator(made)
    lines = "\n".join(f"  nbsql {name} shop.duckdb {example}" for example in examples)
    short = _SENTENCE_PART.split(" ".join(text.split()), maxsplit=1)[0]
    return click.command(name, Command, help=f"{text}\n\n\b\n{lines}", short_help=f"{short}.")(made)


def values_of(model: nbsql.Model, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a method takes: costs and thresholds by class, and another model."""
    values = dict(given)
    if "costs" in given:
        values["costs"] = costs_of(given["costs"])
    if "thresholds" in given:
        values["thresholds"] = dict(given["thresholds"]) or None
    if "other" in given:
        values["other"] = nbsql.load(model.state.engine, given["other"])
    return values


def query_command(verb: str, *examples: str, **shown: Any) -> click.Command:
    """The command of a verb that returns a query: its first rows as a table, all as JSON or CSV, or its SQL.

    `shown` are options of `answer`.
    """
    function = method_of(verb)
    names = parameters(function)

    def run(model: nbsql.Model, *, form: Form, limit: int | None = None, **given: Any) -> None:
        if "source" in names:
            model.state.engine.announce("score")
        with show_warnings(model.state.engine):
            query = function(model, **values_of(model, given))
        answer(query, form, limit=limit or given["n"], **shown)

    return verb_command(verb, examples, with_formats(reads_model(run)), *([] if "n" in names else [limited]))
