"""`nbsql help`, `dbt-path` and `ad-hoc`: what comes with nbsql, the pages of the documentation and its SQL."""

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.options import command
from nbsql.errors import InputError, suggestion
from nbsql.rendering.renderer import macro_path

_DIRECTIVES = re.compile(r"^```\{[\w-]+\}\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\((?:[\w./-]*/)?([\w-]+)\.md(?:#[\w-]*)?\)")  # to another page
_COMMANDS = ".. click:: nbsql.cli.app:main"
_DOCUMENTED = re.compile(r"^\.\. auto\w+:: nbsql\.(\w+)$", re.MULTILINE)


def pages() -> dict[str, Path]:
    """The paths of the pages by name, in the order of the index."""
    folder = macro_path().parent / "docs"
    index = (folder / "index.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([\w/-]+)\.md\)", index)
    short = [link.rpartition("/")[2] for link in links]
    return {
        link if name in short[place:] else name: folder / f"{link}.md"
        for place, (link, name) in enumerate(zip(links, short, strict=True), 1)
    }


def page_text(path: Path, commands: Mapping[str, click.Command] = MappingProxyType({})) -> str:
    """A page as plain Markdown: what Sphinx would generate from docstrings and commands becomes a list of their first lines."""

    def summarised(directive: re.Match[str]) -> str:
        if _COMMANDS in directive[1]:
            return "".join(f"- `nbsql {name}`: {command.short_help}\n" for name, command in commands.items())
        names = _DOCUMENTED.findall(directive[1])
        lines = [f"- `nbsql.{name}`: {(inspect.getdoc(getattr(nbsql, name)) or '').splitlines()[0]}" for name in names]
        return "".join(f"{line}\n" for line in lines)

    return _DIRECTIVES.sub(summarised, path.read_text(encoding="utf-8"))


@command("Show a page of the documentation, or of a command.", "topic?", name="help")
@click.pass_context
def help_(context: click.Context, topic: str | None) -> None:
    """Show the page TOPIC of the documentation, or the help of the command TOPIC; without TOPIC, list the pages.

    \b
      nbsql help
      nbsql help families
      nbsql help over-time | less
    """
    found = pages()
    group = context.find_root().command
    commands = group.commands if isinstance(group, click.Group) else {}
    if topic is None:
        titles = {name: path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ") for name, path in found.items()}
        width = max(map(len, titles))
        tables.echo(*(f"nbsql help {name:{width}}  {title}" for name, title in titles.items()))
    elif topic in found:
        _show(page_text(found[topic], commands))
    elif topic in commands:
        shown = commands[topic]
        tables.echo(shown.get_help(click.Context(shown, info_name=topic, parent=context.parent)))
    else:
        hint = suggestion(topic, [*found, *commands]) or ";"
        raise InputError(f"no page and no command {topic!r}{hint} nbsql help lists the pages")


def _show(text: str) -> None:
    """Print Markdown, formatted if stdout is a terminal."""
    out = tables.console()
    if not out.is_terminal:
        click.echo(text, nl=False)
        return
    from rich.markdown import Markdown, TableElement

    class Folded(TableElement):
        def __rich_console__(self, *given: Any) -> Any:
            for table in super().__rich_console__(*given):
                for column in getattr(table, "columns", ()):
                    column.overflow = "fold"  # a long word goes on in the next line
                yield table

    class Page(Markdown):
        elements: ClassVar = {**Markdown.elements, "table_open": Folded}

    out.print(Page(_LINK.sub(r"\1 (`nbsql help \2`)", text)))


@command("Print the folder of the dbt package.")
def dbt_path() -> None:
    """Print the folder of the dbt package that is installed with nbsql, for the packages.yml of a dbt project.

    \b
      nbsql dbt-path
      echo "packages: [{local: '$( nbsql dbt-path )'}]" > packages.yml
    """
    tables.echo(str(macro_path()))


@command("Print the classifier as one page of plain SQL.")
def ad_hoc() -> None:
    """Print naive Bayes as one page of plain DuckDB SQL, for use without Python: table macros for any table by its name.

    \b
      nbsql ad-hoc > ad_hoc.sql
      duckdb shop.duckdb -init ad_hoc.sql
    """
    tables.echo((macro_path() / "ad_hoc.sql").read_text(encoding="utf-8").rstrip())
