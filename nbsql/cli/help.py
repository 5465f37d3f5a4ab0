"""`nbsql help`: shows the pages of the documentation, which come with nbsql, in the terminal."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import click

import nbsql
from nbsql.cli import tables
from nbsql.errors import InputError, suggestion
from nbsql.rendering.renderer import macro_path

_DIRECTIVES = re.compile(r"^```\{[\w-]+\}\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_DOCUMENTED = re.compile(r"^\.\. auto\w+:: nbsql\.(\w+)$", re.MULTILINE)


def pages() -> dict[str, Path]:
    """The paths of the pages by name, in the order of the index."""
    folder = macro_path().parent / "docs"
    index = (folder / "index.md").read_text(encoding="utf-8")
    return {link.split("/")[-1]: folder / f"{link}.md" for link in re.findall(r"\]\(([\w/-]+)\.md\)", index)}


def page_text(path: Path) -> str:
    """A page as plain Markdown: what Sphinx would generate from docstrings becomes a list of their first lines."""

    def summarised(directive: re.Match[str]) -> str:
        names = _DOCUMENTED.findall(directive[1])
        lines = [f"- `nbsql.{name}`: {(inspect.getdoc(getattr(nbsql, name)) or '').splitlines()[0]}" for name in names]
        return "".join(f"{line}\n" for line in lines)

    return _DIRECTIVES.sub(summarised, path.read_text(encoding="utf-8"))


@click.command("help", short_help="Show a page of the documentation, or of a command.")
@click.argument("topic", required=False)
@click.pass_context
def help_(context: click.Context, topic: str | None) -> None:
    """Show the page TOPIC of the documentation, or the help of the command TOPIC; without TOPIC, list the pages.

    \b
      nbsql help
      nbsql help families
      nbsql help over-time | less
    """  # noqa: D301 - \b keeps the lines
    found = pages()
    group = context.find_root().command
    commands = group.commands if isinstance(group, click.Group) else {}
    if topic is None:
        titles = {name: path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ") for name, path in found.items()}
        width = max(map(len, titles))
        tables.echo(*(f"nbsql help {name:{width}}  {title}" for name, title in titles.items()))
    elif topic in found:
        _show(page_text(found[topic]))
    elif topic in commands:
        command = commands[topic]
        tables.echo(command.get_help(click.Context(command, info_name=topic, parent=context.parent)))
    else:
        hint = suggestion(topic, [*found, *commands]) or ";"
        raise InputError(f"no page and no command {topic!r}{hint} nbsql help lists the pages")


def _show(text: str) -> None:
    """Print Markdown, formatted if stdout is a terminal."""
    out = tables.console()
    if not out.is_terminal:
        click.echo(text, nl=False)
        return
    from rich.markdown import Markdown

    out.print(Markdown(text))
