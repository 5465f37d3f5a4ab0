"""`nbsql help` shows the pages, and every one of them."""

import io
import re
from dataclasses import fields

from click.testing import CliRunner
from rich.console import Console
from rich.text import Text

import nbsql
from nbsql.cli import main, tables
from nbsql.cli.commands import GROUPS
from nbsql.cli.help import _show, page_text, pages
from nbsql.report import PANELS


def helped(*topic):
    return CliRunner().invoke(main, ["help", *topic])


def test_the_list_has_every_page_with_its_title():
    done = helped()
    assert done.exit_code == 0
    files = set(pages()["families"].parents[1].rglob("*.md"))
    assert {path.name for path in files - set(pages().values())} == {"index.md"}  # two pages of one name are both there
    assert len(done.output.splitlines()) == len(pages())
    assert any(line.split(maxsplit=3)[2:] == ["conventions", "Conventions"] for line in done.output.splitlines())


def test_every_page_is_shown_as_plain_text():
    for name in pages():
        done = helped(name)
        assert done.exit_code == 0, name
        assert done.output.startswith("# "), name
        assert "```{" not in done.output, name


def test_names_of_python_are_listed_with_what_they_are():
    assert "- `nbsql.load`: The model of that name." in helped("python").output
    assert all(f"`nbsql.{name}`" in helped("python").output for name in nbsql.__all__)


def test_the_help_lists_each_command_once_below_what_it_is_for():
    text = CliRunner().invoke(main, ["--help"]).output
    headings = re.findall(r"^(\w[\w ]+):$", text, re.MULTILINE)
    assert headings == ["Options", *GROUPS, "Find help"]
    listed = re.findall(r"^  ([a-z][\w-]*)(?=  |$)", text, re.MULTILINE)
    assert sorted(listed) == sorted(main.commands)


def test_a_command_has_its_help():
    assert helped("fit").output == CliRunner().invoke(main, ["fit", "--help"]).output


def test_the_help_of_a_fit_says_each_option_in_few_plain_lines_below_what_it_is_for():
    text = helped("fit").output
    headings = ["Options", "Columns", "Weights, slices and segments", "Smoothing and priors", "Method, and options of some"]
    assert re.findall(r"^(\w[\w, ]+):$", text, re.MULTILINE) == headings
    assert max(map(len, text.split("Options:\n")[1].splitlines())) <= 80
    options = re.split(r"\n(?=  -)", text)[1:]
    assert max(len(" ".join(re.split(r"\n\n", each)[0].split())) for each in options) < 330
    for name in ("auto", "sweep", "cross-validate", "classify"):
        assert re.findall(r"^Smoothing and priors:$", CliRunner().invoke(main, [name, "--help"]).output, re.MULTILINE)
    assert headings[1] + ":" not in CliRunner().invoke(main, ["predict", "--help"]).output


def test_the_defaults_of_methods_in_the_help_are_those_of_python():
    text = " ".join(helped("fit").output.split())
    for option, method, argument in (
        ("toward", nbsql.QDA, "toward"), ("least", nbsql.AODE, "least"), ("starts", nbsql.Clusters, "starts"),
        ("seed", nbsql.Clusters, "seed"), ("pairs", nbsql.Weighted, "pairs"), ("em-weight", nbsql.EM, "weight"),
        ("iterations", nbsql.EM, "iterations"), ("number-bins", nbsql.TAN, "bins"), ("per", nbsql.Weighted, "per"),
    ):  # fmt: skip
        (default,) = (field.default for field in fields(method) if field.name == argument)
        shown = f"{default:g}" if isinstance(default, float) else str(default)
        assert re.search(rf"--{option} (?:(?! --).)*\[default: {shown}\]", text), option


def test_what_is_no_page_is_said_with_the_nearest():
    done = helped("famlies")
    assert done.exit_code == 1
    said = "error: no page and no command 'famlies'; did you mean 'families'? nbsql help lists the pages"
    assert done.stderr.splitlines() == [said]


def test_the_help_of_plot_names_every_panel():
    text = " ".join(helped("plot").output.split())
    assert [panel.name for panel in PANELS if not re.search(rf"PANEL is [^;]*\b{panel.name}\b", text)] == []


def test_in_a_terminal_nothing_of_a_table_is_cut_and_a_link_is_a_command(monkeypatch):
    out = Console(file=io.StringIO(), force_terminal=True, width=60)
    monkeypatch.setattr(tables, "console", lambda: out)
    _show(page_text(pages()["families"]))
    shown = Text.from_ansi(out.file.getvalue()).plain
    assert "…" not in shown
    assert ".md" not in shown
    assert "nbsql help choose-families" in " ".join(shown.split())
