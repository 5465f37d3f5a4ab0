"""The signatures of the functions that take options of a fit, and the texts of these options, from their one definition."""

import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import MISSING, Field
from functools import wraps
from typing import Any, TypeVar, cast

from nbsql.spec.options import Counting, Estimating, model_fields

# The keywords that say where a model is stored: their types and defaults.
PLACE: dict[str, tuple[str, Any]] = {"name": ("str | None", None), "replace": ("bool", False), "database": ("str | None", None)}

_OPTIONS = re.compile(r"^( *)options: .*\n", re.MULTILINE)
F = TypeVar("F", bound=Callable[..., Any])


def described_arguments(docstring: str | None) -> dict[str, str]:
    """The descriptions of arguments in a docstring, by name; empty ones where `python -OO` leaves docstrings out."""
    text = inspect.cleandoc(docstring or "")
    section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    found = re.findall(r"^ {4}(\w+): (.*?)(?=^ {4}\w+: |\Z)", section[1] if section else "", re.MULTILINE | re.DOTALL)
    texts = {name: said.rstrip() for name, said in found}
    return defaultdict(str, texts) if sys.flags.optimize > 1 else texts


def texts_of_options() -> dict[str, str]:
    """The description of each option of a fit, by name, in the order of its signature."""
    texts = described_arguments(Counting.__doc__) | described_arguments(Estimating.__doc__)
    return {each.name: texts[each.name] for each in model_fields()}


def keyword_type(option: Field[Any]) -> str:
    """The type of an option as a keyword, where None stands for a mapping without entries."""
    text = str(option.type).replace("'", '"')
    return text if option.default_factory is MISSING else f"{text} | None"


def shows_options(keywords: Any) -> Callable[[F], F]:
    """A decorator for a function with **options: help, editors and the documentation show each of the `keywords` of them.

    Those that the function names itself stay as they are. If its docstring says `options: each of them.`, their texts take the
    place of that line. A call that lacks an argument, or has too many, raises TypeError with the form of one.
    """

    def decorated(function: F) -> F:
        signature = inspect.signature(function)
        own = {name: each for name, each in signature.parameters.items() if each.kind is not each.VAR_KEYWORD}
        types = {each.name: keyword_type(each) for each in model_fields()} | {name: type_ for name, (type_, _) in PLACE.items()}
        defaults = {each.name: None if each.default is MISSING else each.default for each in model_fields()}
        defaults |= {name: default for name, (_, default) in PLACE.items()}
        shown = [
            own.get(name) or inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=type_)
            for name, type_ in types.items()
            if name in keywords.__optional_keys__ or (name in own and name not in PLACE)
        ]
        names = {each.name for each in shown}
        place = next((number for number, name in enumerate(own) if name in names), len(own))
        before, after = [*own.values()][:place], [each for each in [*own.values()][place:] if each.name not in names]
        function.__signature__ = signature.replace(parameters=[*before, *shown, *after])  # type: ignore[attr-defined]
        if function.__doc__ and (found := _OPTIONS.search(function.__doc__)) and "each of them" in found[0]:
            names -= described_arguments(function.__doc__).keys()
            texts = "".join(_entry(found[1], name, text) for name, text in texts_of_options().items() if name in names)
            function.__doc__ = function.__doc__.replace(found[0], texts)

        @wraps(function)
        def checked(*arguments: Any, **options: Any) -> Any:
            try:
                signature.bind(*arguments, **options)
            except TypeError as error:
                required = [each for each in signature.parameters.values() if each.default is each.empty]
                form = ", ".join(f"{each.name}=..." if each.kind is each.KEYWORD_ONLY else each.name for each in required[:-1])
                how = f"{function.__name__}({form}), where con is a connection, as of duckdb.connect(), or a path"
                raise TypeError(f"{error}; write {how}") from None
            return function(*arguments, **options)

        return cast("F", checked)

    return decorated


def _entry(indent: str, name: str, text: str) -> str:
    """The entry of an argument in a docstring; `text` has the indent of a docstring of its own."""
    return f"{indent}{name}: " + text.replace("\n    ", f"\n{indent}") + "\n"
