"""A faster Jinja for the macros, without the escaping for HTML, which would take most of the time of rendering."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jinja2 import Environment, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.runtime import Context

_LINE = re.compile(r"\n(?=[^\n])")  # the end of a line before a line that is not empty


def indent(text: str, width: int) -> str:
    """The text with all lines indented except the first and empty ones; line ends inside names are protected elsewhere."""
    return type(text)(_LINE.sub("\n" + " " * width, text))


class _Code(CodeGenerator):
    """Prints the result of `finalize` unchanged: it is SQL, in which nothing must be escaped."""

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:  # noqa: ARG002
        self.write(f"({finalize.src}")


class _Context(Context):
    """Calls macros and gates directly: none of them needs the context as an argument."""

    def call(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        options.pop("_loop_vars", None)
        options.pop("_block_vars", None)
        return function(*arguments, **options)


class SQLEnvironment(Environment):
    """An environment whose `finalize` returns texts and raises for anything that is not SQL."""

    code_generator_class = _Code
    context_class = _Context

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.filters["indent"] = indent
