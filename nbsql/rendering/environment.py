"""Jinja as the macros need it: what it does for pages of HTML takes most of the time of rendering, and no macro needs it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jinja2 import Environment, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.runtime import Context

_LINE = re.compile(r"\n(?=[^\n])")  # the end of one before another that is not empty


def indent(text: str, width: int) -> str:
    """A text whose lines, but for the first and empty ones, are moved to the right; the other line ends are kept in names."""
    return type(text)(_LINE.sub("\n" + " " * width, text))


class _Code(CodeGenerator):
    """Prints what `finalize` lets through as it is: that is a text of SQL, in which nothing is to be escaped."""

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:  # noqa: ARG002
        self.write(f"({finalize.src}")


class _Context(Context):
    """Calls macros and gates as they are: none of them asks for the context."""

    def call(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        options.pop("_loop_vars", None)
        options.pop("_block_vars", None)
        return function(*arguments, **options)


class SQLEnvironment(Environment):
    """An environment whose `finalize` returns texts, and raises on what is not SQL."""

    code_generator_class = _Code
    context_class = _Context

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.filters["indent"] = indent
