"""Translates the arguments in messages of the library into options of the command line: --replace for replace=True."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from nbsql.family import FAMILIES

# families={"x": "poisson", "y": nbsql.Text()}, exclude=["a", "b"], folds=10, method='naive', replace=True, like=...; or else
# nbsql.Gaussian(shared_variance=True), an instance of a family that is no value of an argument
_ARGUMENT = re.compile(
    r"""\b(?P<name>[a-z_]+)=(?P<value>\{(?:[^{}"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*\}"""
    r"""|\[(?:[^\[\]"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*\]|"[^"]*"|'[^']*'|\d+(?:\.\d+)?|True|None|\.\.\.)"""
    r"""|\b(?P<family>nbsql\.[A-Z]\w*\((?:[^()'"]|'[^']*'|"[^"]*")*\))"""
)

# weight=nbsql.HalfLife(...), features=nbsql.Best(...), method=nbsql.Mixture(2)
_OBJECT = re.compile(r"(?:\b[a-z_]+=)?nbsql\.(?P<class>HalfLife|Best|Mixture)\((?:\.\.\.|(?P<value>\d+))\)")
_OBJECT_OPTIONS = {"HalfLife": "half_life", "Best": "best", "Mixture": "components"}

# prefix='shop_', an argument of nbsql.Join
_PREFIX = re.compile(r"\bprefix='(?P<prefix>[^']*)'")

# quadratic(), nbsql.merge(con, [model], name=...), nbsql.from_tables
_VERB = re.compile(r"(?<![\w.])(?:nbsql\.)?(?P<call>[a-z_]+)\((?:con, [^()]*)?\)|\bnbsql\.(?P<name>[a-z_]+)\b(?!\()")

# leave out classes; goes with top_k, labelled and columns
_LIST = re.compile(
    r"\b(?P<before>leave out|go(?:es)? with|takes one of|does not support|without) "
    r"(?P<names>[a-z_]+(?:(?:, | and | or )[a-z_]+)*)\b(?! of\b)"
)

# families names 'x', which classes does not name; leave it out of families
_BARE = re.compile(
    r"(?<!the )\b(?:families|classes|features|exclude)\b(?= (?:names|does not name|has (?:a key )?'|must be)\b)"
    r"|(?:^|(?<=; ))[a-z]+(?= (?:names|must be|go(?:es)? with|is about|are (?:those|the rows|of the rows) of a source|says)\b)"
    r"|\bby(?=, which says\b)"
    r"|(?<=leave it out of )families\b|(?<=add it to )features\b"
    r"|\bcomponents\b(?= cannot be combined)|\bclasses\b(?= and segment_by cannot be combined)"
    r"|(?<![\w.'\"])[a-z]+(?:_[a-z]+)+\b(?![\w.'\"=(])"  # an argument: no word of a sentence has an underscore
)

# predict(--target), of predict(target=...)
_CALL = re.compile(r"\b[a-z_]+\((--[^()]*)\)")

_FAMILY_NAMES = {kind.__name__: name for name, kind in FAMILIES.items()}


def in_options(message: str) -> str:
    """A message of the library with options instead of keyword arguments, and commands instead of methods."""
    context = click.get_current_context()
    commands = getattr(context.find_root().command, "commands", {})
    said = [
        commands[name] for name in ("fit", context.invoked_subcommand) if name in commands
    ]  # the options of a fit and those of the running command
    options = [option for command in [*said, context.command] for option in command.params if isinstance(option, click.Option)]
    return with_options(message, {str(option.name): option for option in options}, commands)


def with_options(message: str, options: Mapping[str, click.Option], commands: Iterable[str] = ()) -> str:
    """A message in which options replace keyword arguments, and commands methods.

    >>> options = [click.Option(["--replace"], is_flag=True), click.Option(["--folds"]), click.Option(["--family", "families"])]
    >>> known = {option.name: option for option in options}
    >>> with_options("fit it again with replace=True, folds=10", known)
    'fit it again with --replace, --folds 10'
    >>> with_options('take it for a text: families={"the subject": nbsql.Text(), "soil_*": "bernoulli"}', known)
    "take it for a text: --family 'the subject=text' --family 'soil_*=bernoulli'"
    >>> with_options("of Python alone: columns=[...], min_count=2", known)
    'of Python alone: columns=[...], min_count=2'
    >>> with_options("families names 'z', which no feature is; leave it out of families", known)
    "--family names 'z', which no feature is; leave it out of --family"
    >>> with_options("weight=nbsql.HalfLife(...) and x", {"half_life": click.Option(["--half-life"])})
    '--half-life and x'
    >>> with_options("use quadratic(), or fit it with nbsql.Gaussian(shared_variance=True)", known, ["quadratic"])
    "use `nbsql quadratic`, or fit it with --family 'COLUMN=gaussian(shared_variance=true)'"
    >>> with_options("tell them apart with prefix='shop_'", {"joins": click.Option(["--join", "joins"])})
    'tell them apart with --join TABLE:KEY:shop_'
    """
    commands = set(commands)

    def option(name: str, otherwise: str) -> str:
        known = options.get(name)
        return otherwise if known is None else known.opts[0]

    def argument(found: re.Match[str]) -> str:
        name, value = found["name"], found["value"]
        if found["family"]:
            name, value = "families", f"{{'COLUMN': {found['family']}}}"
        if (name, value) == ("folds", "None"):
            return option("held_back", "--held-back")
        known = options.get(name)
        if known is None or value == "None" or known.is_flag != (value == "True"):
            return found[0]
        if known.is_flag or value == "...":
            return known.opts[0]
        if value in ("[...]", "{...}"):
            return f"{known.opts[0]} ..."
        try:
            given = _value(ast.parse(value, mode="eval").body)
        except (ValueError, SyntaxError):
            return found[0]
        words = [f"{key}={of}" for key, of in given.items()] if isinstance(given, dict) else given
        words = words if isinstance(words, list) else [words]
        return " ".join(f"{known.opts[0]} {shell_word(str(word))}" for word in words)

    def of_object(found: re.Match[str]) -> str:
        name = option(_OBJECT_OPTIONS[found["class"]], "")
        return f"{name} {found['value'] or ''}".rstrip() if name else found[0]

    def verb(found: re.Match[str]) -> str:
        name = (found["call"] or found["name"]).replace("_", "-")
        return f"`nbsql {name}`" if name in commands else found[0]

    def bare(found: re.Match[str]) -> str:
        command = found[0].replace("_", "-")
        return option(found[0], f"`nbsql {command}`" if "_" in found[0] and command in commands else found[0])

    replacements: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
        (_VERB, verb),
        (_OBJECT, of_object),
        (_ARGUMENT, argument),
        (_PREFIX, lambda found: f"{option('joins', found[0])} TABLE:KEY:{found['prefix']}" if "joins" in options else found[0]),
        (_LIST, lambda found: f"{found['before']} {re.sub('[a-z_]+', bare, found['names'])}"),
        (_BARE, bare),
        (_CALL, lambda found: found[1]),
    )
    for pattern, replacement in replacements:
        message = pattern.sub(replacement, message)
    return message


def shell_word(text: str) -> str:
    """A text as one word of a shell, in double quotes if it has single ones, which are easier to read so.

    >>> print(shell_word("x"), shell_word("two words"), shell_word("replace(x, '$', '')"))
    x 'two words' "replace(x, '\\$', '')"
    """
    if "'" not in text or set(text) & set('"!`\\'):
        return shlex.quote(text)
    return '"' + text.replace("$", r"\$") + '"'


def _value(node: ast.expr) -> Any:
    """The value of a literal, in which an instance of a family is a text as --family takes it; raises ValueError for others."""
    if isinstance(node, ast.Dict):
        return {_value(key): _value(of) for key, of in zip(node.keys, node.values, strict=True) if key is not None}
    if not isinstance(node, ast.Call):
        return ast.literal_eval(node)
    kind = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if kind not in _FAMILY_NAMES:
        raise ValueError(kind)
    given = [",".join(ast.literal_eval(each)) for each in node.args]  # the columns of a family over several
    given += [f"{each.arg}={_of_family(ast.literal_eval(each.value))}" for each in node.keywords]
    return _FAMILY_NAMES[kind] + (f"({','.join(given)})" if given else "")


def _of_family(value: Any) -> str:
    """The value of an option of a family as --family takes it."""
    if isinstance(value, list):
        return f"[{','.join(map(_of_family, value))}]"
    return "..." if value is ... else str(value).lower() if isinstance(value, bool) else str(value)
