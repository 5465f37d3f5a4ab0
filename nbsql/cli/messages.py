"""Writes the cures of messages as options and commands of the command line: --replace for replace=True."""

import ast
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

import click

from nbsql.cli.arguments import RENAMED
from nbsql.errors import Cure, in_words
from nbsql.family import FAMILIES

# What is an object of Python is an option: weight=nbsql.HalfLife(...), features=nbsql.Best(...), method=nbsql.Mixture(2).
_OBJECTS = {"HalfLife": "half_life", "Best": "best", "Mixture": "components", "Clusters": "k"}
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
    >>> with_options("fit it again with ⟨replace=True⟩ or ⟨folds=10⟩", known)
    'fit it again with --replace or --folds 10'
    >>> with_options('read them as such: ⟨replace=True, folds=10⟩', known)  # as one pastes them
    'read them as such: --replace --folds 10'
    >>> with_options('take it for a text: ⟨families={"the subject": nbsql.Text(), "soil_*": "bernoulli"}⟩', known)
    "take it for a text: --family 'the subject=text' --family 'soil_*=bernoulli'"
    >>> with_options("of Python alone: ⟨columns=[...]⟩, min_count=2", known)
    'of Python alone: columns=[...], min_count=2'
    >>> with_options("⟨families⟩ names 'z', which no feature is; leave it out of ⟨families⟩", known)
    "--family names 'z', which no feature is; leave it out of --family"
    >>> with_options("⟨weight=nbsql.HalfLife(...)⟩ and x", {"half_life": click.Option(["--half-life"])})
    '--half-life and x'
    >>> with_options("use ⟨quadratic()⟩, or fit it with ⟨nbsql.Gaussian(shared_variance=True)⟩", known, ["quadratic"])
    "use `nbsql quadratic`, or fit it with --family 'COLUMN=gaussian(shared_variance=true)'"
    >>> options = {name: click.Option([f"--{name}"]) for name in ("method", "k")}
    >>> with_options("fit it with ⟨method=nbsql.KDB(k=2)⟩, or ⟨method=nbsql.TAN(x=1)⟩", options)
    'fit it with --method kdb --k 2, or method=nbsql.TAN(x=1)'
    >>> with_options("tell them apart with ⟨prefix='shop_'⟩", {"joins": click.Option(["--join", "joins"])})
    'tell them apart with --join TABLE:KEY:shop_'
    >>> with_options("evaluate others with ⟨folds=None⟩", known)
    'evaluate others with no --folds'
    >>> print(with_options("read them as such: ⟨derive={'a=b': 'x'}⟩", {"derive": click.Option(["--derive"])}))
    read them as such: --derive '"a=b"=x'
    """
    commands = set(commands)

    def spelled(cure: Cure) -> str:
        words = [_spelled(each, options, commands) for each in cure.codes]
        return " ".join(map(str, words)) if words and None not in words else cure.text

    return in_words(message, spelled)


def _spelled(code: ast.AST, options: Mapping[str, click.Option], commands: set[str]) -> str | None:
    """Some code as options, or as a command; None if the command line has no word for it."""
    match code:
        case ast.keyword(value=ast.Call(func=ast.Attribute(attr=kind)) as made) if kind in _OBJECTS:
            return _spelled(made, options, commands)
        case ast.keyword(arg="method", value=ast.Call(func=ast.Attribute(attr="JointBayes"), keywords=[backoff])):
            return _spelled(backoff, options, commands)
        case ast.keyword(arg="method", value=ast.Call(func=ast.Attribute(attr=kind), keywords=chosen)) if "method" in options:
            words = [_argument(RENAMED.get(str(each.arg), str(each.arg)), each.value, options) for each in chosen]
            return None if None in words else " ".join([f"{options['method'].opts[0]} {kind.lower()}", *map(str, words)])
        case ast.keyword(arg=str(name), value=value):
            return _argument(name, value, options)
        case ast.Call(func=ast.Name(), keywords=[argument]):
            return _spelled(argument, options, commands)
        case ast.Call(func=ast.Attribute(attr=kind), args=values) if (option := _OBJECTS.get(kind)) in options:
            given = [shell_word(str(each.value)) for each in values if isinstance(each, ast.Constant) and each.value is not ...]
            words = [_argument(str(each.arg), each.value, options) for each in code.keywords if each.arg in options]
            return " ".join([options[str(option)].opts[0], *given, *map(str, words)])
        case ast.Call(func=ast.Attribute(attr=kind)) if kind in _FAMILY_NAMES and "families" in options:
            return f"{options['families'].opts[0]} {shell_word(f'COLUMN={_value(code)}')}"
        case ast.Name(id=name) if name in options:
            return options[name].opts[0]
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Call(func=ast.Name(id=name)):
            command = name.replace("_", "-")
            return f"`nbsql {command}`" if command in commands else None
    return None


def _argument(name: str, value: ast.expr, options: Mapping[str, click.Option]) -> str | None:
    """The option of a keyword argument with its value, or one for each of its values."""
    text = ast.unparse(value)
    if text == "None" and (flag := {"folds": "held_back", "target": "no_target"}.get(name)) in options:
        return options[str(flag)].opts[0]
    if name == "prefix" and "joins" in options:
        return f"{options['joins'].opts[0]} TABLE:KEY:{ast.literal_eval(value)}"
    option = options.get(name)
    if option is not None and name == "folds" and text == "None":
        return f"no {option.opts[0]}"
    if option is not None and option.secondary_opts and text == "False":
        return option.secondary_opts[0]
    if option is None or text == "None" or option.is_flag != (text == "True"):
        return None
    flag = option.opts[0]
    if option.is_flag or text == "...":
        return flag
    if text in ("[...]", "{...}"):
        return f"{flag} ..."
    try:
        given = _value(value)
    except ValueError:
        return None
    words = [f"{_key(key, name)}={of}" for key, of in given.items()] if isinstance(given, dict) else given
    return " ".join(f"{flag} {shell_word(str(word))}" for word in (words if isinstance(words, list) else [words]))


def _key(key: str, option: str) -> str:
    """A name before an equals sign; that of a derived column in quotes if it would end elsewhere otherwise."""
    ends_elsewhere = option == "derive" and ("=" in key or key != key.strip() or key.startswith('"'))
    doubled = key.replace('"', '""')
    return f'"{doubled}"' if ends_elsewhere else key


def shell_word(text: str) -> str:
    r"""A text as one word of a shell, in double quotes if it has single ones, which are easier to read so.

    >>> print(shell_word("x"), shell_word("two words"), shell_word("replace(x, '$', '')"))
    x 'two words' "replace(x, '\$', '')"
    >>> print(shell_word('replace("a b", 1)'), shell_word('f("a", \'%\')'))
    'replace("a b", 1)' "f(\"a\", '%')"
    """
    if "'" not in text or "!" in text:  # a ! is the history of an interactive shell even in double quotes
        return shlex.quote(text)
    return '"' + re.sub(r'(["$`\\])', r"\\\1", text) + '"'


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
