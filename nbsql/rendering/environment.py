"""A faster Jinja for the macros, without the escaping for HTML, which would take most of the time of rendering."""

import ast
import re
from bisect import bisect
from collections.abc import Callable
from functools import cache
from types import CodeType
from typing import Any

from jinja2 import Environment, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.runtime import Macro
from jinja2.utils import missing
from markupsafe import Markup

_LINE = re.compile(r"\n(?=[^\n])")  # the end of a line before a line that is not empty


def indent(text: str, width: int) -> str:
    """The text with all lines indented except the first and empty ones; line ends inside names are protected elsewhere."""
    return type(text)(_LINE.sub("\n" + " " * width, text))


def direct(macro: Macro) -> Callable[..., Any]:
    """A macro as a function: the same, but without what Jinja asks at each call. One without arguments is rendered once."""
    if macro.caller or macro.catch_kwargs or macro.catch_varargs:
        return macro
    if not macro.arguments:
        return cache(macro)
    function, lacking = macro._func, [(missing,) * left for left in range(len(macro.arguments), -1, -1)]

    def call(*arguments: Any, **options: Any) -> Any:
        if options or len(arguments) >= len(lacking):
            return macro(*arguments, **options)
        return str.__new__(Markup, function(*arguments, *lacking[len(arguments)]))  # which Markup() takes twice as long for

    return call


class _Code(CodeGenerator):
    """Prints the result of `finalize` unchanged: it is SQL, in which nothing must be escaped; calls macros directly."""

    def visit_Call(self, node: nodes.Call, frame: Frame, forward_caller: bool = False) -> None:  # noqa: N802 - Jinja's name
        self.visit(node.node, frame)
        self.write("(")
        arguments = [("", each) for each in (*node.args, *node.kwargs)]
        for star, argument in [*arguments, ("*", node.dyn_args), ("**", node.dyn_kwargs)]:
            if argument is not None:
                self.write(star)
                self.visit(argument, frame)
                self.write(", ")
        self.write("caller=caller)" if forward_caller else ")")

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:  # noqa: N802
        if not (isinstance(node.node, nodes.Name) and node.node.name == "nbsql"):
            super().visit_Getattr(node, frame)
            return
        self.visit(node.node, frame)
        self.write(f".{node.attr}")

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:  # noqa: ARG002
        self.write(f"({finalize.src}")


class SQLEnvironment(Environment):
    """An environment whose `finalize` returns texts and raises for anything that is not SQL."""

    code_generator_class = _Code

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.filters["indent"] = indent

    def code(self, text: str, path: str) -> CodeType:
        """The code of a macro, with the lines of its file in tracebacks, where Jinja has those of the Python that it writes."""
        written = self.compile(text, raw=True)
        pairs = [pair.split("=") for pair in written.rsplit("debug_info = '", 1)[1].rstrip().rstrip("'").split("&")]
        lines, starts = [0, *(int(line) for line, _ in pairs)], [int(start) for _, start in pairs]
        tree = ast.parse(written)
        for node in ast.walk(tree):
            if isinstance(node, (ast.stmt, ast.expr, ast.excepthandler, ast.arg, ast.keyword, ast.alias)):
                node.lineno = node.end_lineno = lines[bisect(starts, node.lineno)] or 1
                node.col_offset = node.end_col_offset = 0
        return compile(tree, path, "exec")
