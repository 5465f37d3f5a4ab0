"""The README, the pages and the docstrings say what is true: every block runs."""

import doctest
import importlib
import inspect
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zlib import crc32

import pytest
from click.testing import CliRunner
from engines.servers import private_postgres
from support.families import table_of_defaults
from support.pages import BLOCK, differences, run_blocks
from support.program import forked_program

import nbsql
import nbsql.report
from nbsql.cli import main
from nbsql.report.panels import PANELS

pytestmark = pytest.mark.look  # pages show what a user gets

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = re.findall(r"^((?:\w|-)+(?:/(?:\w|-)+)?)$", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
_OWN = ("tutorials/", "explanation/when", "how-to/serve", "how-to/dbt", "how-to/follow")
OF_THEIR_OWN = ["index", *(page for page in PAGES if page.startswith(_OWN))]
LONG = (  # which run in CI
    "how-to/dbt-and-python", "how-to/serve", "tutorials/dbt", "tutorials/first-model", "tutorials/flights",
    "tutorials/is-it-any-good", "tutorials/my-own-file", "tutorials/over-time", "tutorials/sql-alone",
    "nbsql.evaluation.evaluation", "nbsql.evaluation.validation", "nbsql.model.evaluating", "nbsql.model.learning",
    "nbsql.model.scoring", "nbsql.tuning.first_report", "nbsql.tuning.verbs",
)  # fmt: skip


def page_file(page):
    return ROOT / "docs" / f"{page}.md"


def page_text(page):
    return page_file(page).read_text(encoding="utf-8")


def run_page(file, names, *programs, update, postgres=None):
    """Run the blocks of a page, in this folder, and compare what they print with what the page shows, or write that anew."""
    text = file.read_text(encoding="utf-8")
    found = run_blocks(text, file.name, names, *programs, lines=12 if file == README else 24, postgres=postgres)
    if update:
        file.write_text(found, encoding="utf-8")
        return
    assert differences(found, text) == []


class Readme(NamedTuple):
    """What is there once the README's blocks have run: a folder and Python's names."""

    folder: Path
    names: dict[str, object]


@pytest.fixture
def update(request, monkeypatch):
    monkeypatch.setenv("COLUMNS", "88")
    return request.config.getoption("--update-golden")


@pytest.fixture(scope="module")
def readme(request, tmp_path_factory):
    folder, names = tmp_path_factory.mktemp("readme"), dict[str, object]()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "88")
        run_page(README, names, update=request.config.getoption("--update-golden"))
    return Readme(folder, names)


@pytest.fixture(scope="module")
def program():
    """The folder of a program `nbsql` that starts at once."""
    with TemporaryDirectory() as folder, forked_program(Path(folder)) as program:
        yield program


@pytest.mark.xdist_group("readme")
def test_every_block_of_the_readme_runs_in_order_and_prints_what_it_shows(readme):
    assert {"con", "model"} <= readme.names.keys()


GO_ON = [page for page in PAGES if page not in OF_THEIR_OWN]  # from where the README ends
SOME = [page for page in GO_ON if crc32(page.encode()) % 3 == 1]  # which CI runs by day, whatever others there are


@pytest.mark.slow
@pytest.mark.xdist_group("readme")
@pytest.mark.filterwarnings("ignore:'[a-z]+' holds numbers:nbsql.NbsqlWarning")  # which is what the page on messy columns shows
@pytest.mark.filterwarnings("ignore:'visit_id' is a key:nbsql.NbsqlWarning")  # and that on choosing families
@pytest.mark.parametrize("pages", [pytest.param(GO_ON, marks=pytest.mark.nightly, id="all"), pytest.param(SOME, id="a third")])
def test_every_block_of_the_pages_that_go_on_from_the_readme_runs_in_order(pages, readme, program, monkeypatch, update):
    monkeypatch.chdir(readme.folder)
    for page in pages:
        run_page(page_file(page), readme.names, program, update=update)


def each(names):
    """Parameters of tests, of which the long ones are slow."""
    return [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in names]


@pytest.mark.few
@pytest.mark.parametrize("page", each(OF_THEIR_OWN))
def test_a_page_of_its_own_runs_from_an_empty_folder(page, tmp_path, monkeypatch, update, request):
    if page == "how-to/serve":
        pytest.importorskip("fastapi", reason="FastAPI is not installed: pip install '.[test]' to run the service")
    monkeypatch.chdir(tmp_path)
    programs = [] if page == "tutorials/first-model" else [request.getfixturevalue("program")]  # one is by the program itself
    run_page(page_file(page), {}, *programs, update=update)


@pytest.mark.postgres
def test_the_page_on_postgresql_runs_on_a_server(tmp_path, monkeypatch, update, program):
    pytest.importorskip("psycopg")
    monkeypatch.chdir(tmp_path)
    with private_postgres() as address:
        run_page(page_file("reference/postgresql"), {}, program, update=update, postgres=address)


def test_every_page_is_in_the_index():
    files = {str(path.relative_to(ROOT / "docs").with_suffix("")) for path in (ROOT / "docs").rglob("*.md")}
    assert files == {*PAGES, "index"}


def test_no_page_cites_the_files_of_tests():
    """Commands that measure are on one page."""
    assert [page for page in PAGES if re.search(r"\btests/(?!benchmarks)", prose(page))] == []
    assert [page for page in PAGES if "tests/benchmarks" in page_text(page)] == ["explanation/benchmarks"]


def prose(page):
    """A page without its blocks."""
    return re.sub(r"^```.*?^```$", "", page_text(page), flags=re.MULTILINE | re.DOTALL)


def test_every_link_between_the_pages_leads_somewhere():
    for path in (README, *(ROOT / "docs").rglob("*.md")):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            assert (path.parent / link).exists(), f"{path.relative_to(ROOT)} links to {link}"


def test_the_gallery_shows_every_picture_of_a_model():
    assert re.findall(r"^## .*`(\w+)\(", page_text("how-to/gallery"), re.MULTILINE) == [panel.name for panel in PANELS]


def test_the_page_on_a_new_family_shows_the_files_of_one():
    blocks = {language: block for language, _, block, _ in BLOCK.findall(page_text("explanation/adding-a-family"))}
    assert blocks["py"] == (ROOT / "nbsql" / "family" / "gamma.py").read_text(encoding="utf-8")
    assert blocks["jinja"] == (ROOT / "sql" / "macros" / "families" / "gamma.sql").read_text(encoding="utf-8")


def test_the_readme_is_an_entrance():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 270


def test_every_public_name_is_on_a_page_by_hand_and_every_command_by_click():
    text = "\n".join([README.read_text(encoding="utf-8"), *map(page_text, PAGES)])
    assert [name for name in nbsql.__all__ if not re.search(rf"\b{name}\b", text)] == []
    assert ".. click:: nbsql.cli.app:main" in page_text("reference/command-line")
    shown = CliRunner().invoke(main, ["help", "command-line"]).output
    assert [name for name in main.commands if f"- `nbsql {name}`: " not in shown] == []


def test_the_example_of_the_first_screen_is_fourteen_lines_at_most():
    first = next(block for language, _, block, _ in BLOCK.findall(README.read_text(encoding="utf-8")) if language == "python")
    assert len(first.splitlines()) <= 14


@pytest.mark.slow
def test_the_first_script_runs_twice(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first = next(block for language, _, block, _ in BLOCK.findall(README.read_text(encoding="utf-8")) if language == "python")
    for _ in range(2):
        names = {}
        exec(compile(first, "README.md", "exec"), names)  # noqa: S102
        names["con"].close()
    assert capsys.readouterr().out.count("a free lunch") == 2


def spellings(*pages):
    """What the tables of pages call, where α and β are numbers and [...] columns."""
    rows = [line for page in pages for line in page_text(page).splitlines() if line.startswith("|")]
    return [span for row in rows for span in re.findall(r"`([^`]+)`", row) if re.match(r"nbsql\.[A-Z]", span)]


@pytest.mark.parametrize("spelling", sorted(set(spellings(*PAGES))))
def test_what_the_tables_of_the_pages_spell_is_a_call_that_works(spelling):
    found = eval(spelling.replace("[...]", "['a', 'b']"), {"nbsql": nbsql, "α": 1.0, "β": 2.0, "a": 1.0, "b": 2.0})  # noqa: S307
    assert isinstance(found, nbsql.Family) or inspect.isclass(found)


def test_the_page_of_families_has_the_defaults_of_the_classes():
    (defaults,) = re.findall(r"^## Defaults\n\n((?:\|.*\n)+)", page_text("reference/families"), re.MULTILINE)
    assert defaults.rstrip() == table_of_defaults()


def test_the_page_of_families_has_every_one_in_a_table():
    families = {
        name for name in nbsql.__all__ if inspect.isclass(thing := getattr(nbsql, name)) and issubclass(thing, nbsql.Family)
    }
    assert families - {"Family"} <= {
        re.match(r"nbsql\.(\w+)", spelling)[1] for spelling in spellings("reference/families") if "(" in spelling
    }


def modules():
    """The modules with examples."""
    files = [path for path in sorted((ROOT / "nbsql").rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    return [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in files]


@pytest.mark.few
@pytest.mark.parametrize("name", each(modules()))
def test_the_examples_in_docstrings_run(name):
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder().find(module):
        for example in examples_of_class(module, test):
            exec(example, test.globs)  # noqa: S102
        assert doctest.DocTestRunner().run(test).failed == 0


def examples_of_class(module, test):
    """What the examples of a method need of those of its class or, of what the model inherits, of the model."""
    owner = getattr(module, test.name.split(".")[-2], None)
    if not inspect.isclass(owner):
        return []
    owner = nbsql.Model if issubclass(nbsql.Model, owner) else owner
    needed, text = [], "".join(example.source for example in test.examples)
    for example in reversed(doctest.DocTestParser().get_examples(inspect.getdoc(owner) or "")):
        made = re.match(r"(?:import|_|(\w+)) ", example.source)
        if text and made and (made[1] is None or re.search(rf"\b{made[1]}\b", text)):
            needed.insert(0, example.source)
            text += example.source
    return needed


def test_every_public_name_and_every_act_of_a_model_has_an_example():
    names = [
        name for name in nbsql.__all__ if name != "__version__" and ">>> " not in (inspect.getdoc(getattr(nbsql, name)) or "")
    ]
    acts = [
        name
        for name in dir(nbsql.Model)
        if not name.startswith("_")
        and callable(act := getattr(nbsql.Model, name))
        and name not in ("close", "show")  # which answer nothing
        and ">>> " not in (inspect.getdoc(act) or "")
    ]
    assert (names, acts) == ([], [])


def test_every_public_name_has_a_docstring():
    for name in nbsql.__all__:
        thing = getattr(nbsql, name)
        assert name == "__version__" or inspect.getdoc(thing), name
        for attribute, member in vars(thing).items() if inspect.isclass(thing) else ():
            if not attribute.startswith("_") and (callable(member) or isinstance(member, property)):
                assert inspect.getdoc(member) or inspect.getdoc(getattr(thing, attribute)), f"{name}.{attribute}"


def test_no_docstring_of_a_property_begins_with_what_sphinx_takes_for_a_type():
    """What stands before a colon in the first line would be shown as the type of the property."""
    kinds = [kind for name in nbsql.__all__ if inspect.isclass(kind := getattr(nbsql, name))]
    shown = [kind for kind in kinds if not issubclass(kind, nbsql.Family)]
    for kind in (*shown, nbsql.report.Plots, nbsql.report.Picture):
        for name, member in inspect.getmembers(kind, lambda member: isinstance(member, property)):
            first = (member.__doc__ or "").strip().split("\n")[0]
            assert not re.search(r": \S", first), (kind, name)


@pytest.mark.slow
def test_every_object_that_a_sentence_writes_out_can_be_made():
    """What stands in backquotes within a sentence, such as `nbsql.Binned(10)`; names of a single letter are a number."""
    numbers = dict.fromkeys("abksαβ", 1)
    files = [README, ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "nbsql").rglob("*.py")]
    made = 0
    for file in files:
        for code in re.findall(r"`(nbsql\.[A-Z]\w*\([^`]*\))`", file.read_text(encoding="utf-8")):
            if "..." not in code:
                eval(code, {"nbsql": nbsql, **numbers})  # noqa: S307
                made += 1
    assert made > 80
