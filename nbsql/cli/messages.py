"""Translates the arguments in messages of the library into options of the command line: --replace for replace=True."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Mapping

import click

# families={"x": "poisson", "y": nbsql.Text()}, exclude=["a", "b"], folds=10, method='naive', replace=True
_ARGUMENT = re.compile(
    r"""\b(?P<name>[a-z_]+)=(?P<value>\{(?:[^{}"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*\}"""
    r"""|\[(?:[^\[\]"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*\]|"[^"]*"|'[^']*'|\d+(?:\.\d+)?|True)"""
)

# families names 'x', which classes does not name, leave it out of families
_BARE = re.compile(
    r"\b(?:families|classes|features|exclude)\b(?= (?:names|does not name|has (?:a key )?'|must be)\b)"
    r"|(?<=leave it out of )families\b|(?<=add it to )features\b|\b(?:segment_by|slice_by)\b"
    r"|(?<=leave out )classes\b|\bcomponents\b(?= cannot be combined)|(?<=does not support )components\b"
)

# weight=nbsql.HalfLife(...), features=nbsql.Best(...)
_OBJECT = re.compile(r"\b[a-z_]+=nbsql\.(?P<class>HalfLife|Best|Forward)\(\.\.\.\)")
_OBJECT_OPTIONS = {"HalfLife": "half_life", "Best": "best", "Forward": "forward"}


def in_options(message: str) -> str:
    """A message of the library with options instead of keyword arguments."""
    context = click.get_current_context()
    commands = getattr(context.find_root().command, "commands", {})
    said = [
        commands[name] for name in ("fit", context.invoked_subcommand) if name in commands
    ]  # the options of a fit and those of the running command
    options = [option for command in [*said, context.command] for option in command.params if isinstance(option, click.Option)]
    return with_options(message, {str(option.name): option for option in options})


def with_options(message: str, options: Mapping[str, click.Option]) -> str:
    """A message in which options replace keyword arguments.

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
    """

    def option(found: re.Match[str]) -> str:
        known = options.get(found["name"])
        if known is None or known.is_flag != (found["value"] == "True"):
            return found[0]
        if known.is_flag:
            return known.opts[0]
        if found["value"] in ("[...]", "{...}"):
            return f"{known.opts[0]} ..."
        try:
            value = ast.literal_eval(re.sub(r"nbsql\.(\w+)\(\)", lambda family: repr(family[1].lower()), found["value"]))
        except (ValueError, SyntaxError):
            return found[0]
        words = [f"{key}={of}" for key, of in value.items()] if isinstance(value, dict) else value
        words = words if isinstance(words, list) else [words]
        return " ".join(f"{known.opts[0]} {shlex.quote(str(word))}" for word in words)

    def bare(found: re.Match[str]) -> str:
        known = options.get(found[0])
        return found[0] if known is None else known.opts[0]

    def of_object(found: re.Match[str]) -> str:
        known = options.get(_OBJECT_OPTIONS[found["class"]])
        return found[0] if known is None else known.opts[0]

    return _BARE.sub(bare, _ARGUMENT.sub(option, _OBJECT.sub(of_object, message)))
