"""The messages of the library on the command line: the cure is an option, or a command, that the user can type."""

import ast
import pickle
import re
from dataclasses import fields
from pathlib import Path

import click
import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main
from nbsql.cli.messages import with_options
from nbsql.errors import in_words
from nbsql.family import FAMILIES

PACKAGE = Path(nbsql.__file__).parent
# The rooms with messages of their own, and the beginnings of what a command cannot meet.
OTHER_ROOMS = ("cli", "sklearn", "dbt")
OF_PYTHON = (
    "nbsql.NormalInverseGamma",
    "nbsql.Query",
    "nbsql.load",
    "nbsql.Join,",
    "logarithms=True",
    "the class nbsql.",
    "other_alpha",
    "per='class and feature'",  # the name of a use, which is marked where it is said
    "Datetime(time_unit=",  # the name of a type of Polars
    "'X': nbsql.Binned(",  # a part of ⟨families={...}⟩
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A folder with a database of the tables days and skies, and the model golf of days."""
    folder = tmp_path_factory.mktemp("shop")
    with duckdb.connect(folder / "shop.duckdb") as con:
        con.execute("""CREATE TABLE days AS FROM (VALUES
            ('sun', 1.0, 2, 'no'), ('sun', 2.5, 3, 'yes'), ('rain', 3.0, 1, 'yes'), ('rain', 0.5, 2, 'no')
        ) AS t(sky, wind, k, play)""")
        con.execute("CREATE TABLE skies AS FROM (VALUES ('sun', 7.0), ('rain', 8.0)) AS t(sky, wind)")
        nbsql.fit(con, "days", target="play", name="golf")
    (folder / "empty.csv").touch()
    (folder / "latin.csv").write_bytes("x,y\ncafé,a\nthé,b\n".encode("latin-1"))
    (folder / "folder").mkdir()
    return folder


def run(shop, monkeypatch, words, code=1, given=None):
    """What a command says, without the word error; one line of it."""
    monkeypatch.chdir(shop)
    result = CliRunner().invoke(main, words.split(), input=given, prog_name="nbsql")
    assert result.exit_code == code, result.output
    line = result.stderr.splitlines()[-1]
    assert code != 1 or result.stderr == f"{line}\n"
    return line.split(": ", 1)[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("linear shop.duckdb golf", "use `nbsql quadratic`, or fit it with --family 'COLUMN=gaussian(shared_variance=true)'"),
        (
            "scorecard shop.duckdb golf",
            "fit it with --family 'wind=binned(by=mdl,monotone=true)' --family 'k=binned(by=mdl,monotone=true)'",
        ),
        (
            "fit shop.duckdb days --target play --name m --join skies:sky",
            "tell them apart with --join TABLE:KEY:skies_, or join fewer of its columns",
        ),
        ("monitor shop.duckdb golf days --by month", "--by must be one SQL expression"),
        (
            "predict shop.duckdb golf days --target sky --cost yes:no=2",
            "--target of a feature goes with --top-k, --labelled and --columns; leave out the others",
        ),
        ("review shop.duckdb golf days --cost yes:no=2", "--cost go with --by 'expected cost', not with --by margin"),
        (
            "fit shop.duckdb days --target play --name m --family w=multinomial",
            "needs at least one column: --family 'COLUMN=multinomial(w1,w2)'",
        ),
        (
            "from-statistics shop.duckdb days --like golf --name m --alpha 2 --family k=poisson",
            "--like brings the options of its model; leave out --alpha, --family",
        ),
        (
            "cross-validate shop.duckdb days --target play --folds 99999999",
            "99,999,999 folds are more than the 4 rows of days; use --folds 10, say",
        ),
        ("report shop.duckdb golf --rows 2", "--rows are those of a source; give it, or leave out --rows"),
        ("plot shop.duckdb golf profile", "a profile is of one feature; say which: --feature message, say"),
        ("merge shop.duckdb golf GOLF --name m", "merge would count the rows of model 'golf' twice; name each model once"),
    ],
)
def test_a_cure_is_an_option_or_a_command(shop, monkeypatch, words, message):
    said = run(shop, monkeypatch, words)
    assert said.startswith(message) or said.endswith(message), said


@pytest.mark.parametrize(
    ("words", "option", "name"),
    [
        ("fit shop.duckdb days --target play --name m --family wind=poisson --family wind=gaussian", "--family", "wind"),
        ("sweep shop.duckdb days --target play --family wind=poisson --family wind=gamma", "--family", "wind"),
        ("predict shop.duckdb golf days --threshold yes=0.2 --threshold yes=0.8", "--threshold", "yes"),
        ("predict shop.duckdb golf days --cost yes:no=2 --cost yes:no=3", "--cost", "yes:no"),
    ],
)
def test_a_name_comes_once(shop, monkeypatch, words, option, name):
    said = run(shop, monkeypatch, words, code=2)
    assert said == f"Invalid value for '{option}': '{name}' is given twice; give it once"


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("fit shop.duckdb days --target play --name m --alpha 1 --alpha 2", "--alpha"),
        ("sweep shop.duckdb days --target play --alphas 1 --alphas 2", "--alphas"),  # not 1,2
        ("sql shop.duckdb fit days --target play --target sky --name m", "--target"),
        ("evaluate shop.duckdb golf days --folds 2 --folds 3", "--folds"),
        ("dependence shop.duckdb golf days --features sky --features wind", "--features"),
    ],
)
def test_an_option_of_one_value_is_given_once(shop, monkeypatch, words, option):
    assert run(shop, monkeypatch, words, code=2) == f"{option} is given twice; give it once"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("export shop.duckdb golf out.txt", "a model is exported as Parquet; end the path 'out.txt' with .parquet"),
        ("export shop.duckdb golf folder --overwrite", "'folder' is a folder; name a file in it, such as 'folder/output'"),
        ("fit new.duckdb empty.csv --target y --name m", "file 'empty.csv' is empty; write a header and rows into it"),
        (
            "fit new.duckdb latin.csv --target y --name m",
            """'latin.csv' is encoded in LATIN1 and not in UTF-8; read it with encoding='latin-1': """
            """"FROM read_csv('latin.csv', encoding='latin-1')", or convert it first: iconv -f LATIN1 -t UTF-8""",
        ),
        (
            "fit new.duckdb - --target y --name m",
            """standard input is encoded in LATIN1 and not in UTF-8; save it as a file and read it with encoding='latin-1': """
            """"FROM read_csv('saved.csv', encoding='latin-1')", or convert it first: iconv -f LATIN1 -t UTF-8""",
        ),
    ],
)
def test_a_file_of_no_use_is_one_line(shop, monkeypatch, words, message):
    assert run(shop, monkeypatch, words, given=(shop / "latin.csv").read_bytes()) == message


def messages():
    """The texts in the package that are several words, with X for what is filled in, unless that is an argument itself."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] in OTHER_ROOMS:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inner = {id(part) for text in ast.walk(tree) if isinstance(text, ast.JoinedStr) for part in text.values}
        inner |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if id(node) in inner:
                continue
            text = node.value if isinstance(node, ast.Constant) else ""
            if isinstance(node, ast.JoinedStr):
                parts = [part.value if isinstance(part, ast.Constant) else _filled(part) for part in node.values]
                text = "".join(map(str, parts))
            if isinstance(text, str) and " " in text[1:] and not re.search(r"[\n<`]|[=\[{.]X|^ ", text):
                yield text


def _filled(part):
    return "'X'" if isinstance(part, ast.FormattedValue) and part.conversion == ord("r") else "X"


@pytest.mark.slow
def test_every_message_is_said_in_options():
    """What a message names stands between marks; what is left in Python's words are the options of families."""
    commands = main.commands
    options = {
        str(option.name): option
        for command in [*commands.values(), commands["fit"]]
        for option in command.params
        if isinstance(option, click.Option)
    }
    of_families = {field.name for kind in FAMILIES.values() for field in fields(kind)}
    left = []
    for message in messages():
        said = with_options(message, options, commands)
        named = set(re.findall(r"(?<![-\w(,])([a-z_]+)=(?=['\"\dTNFX\[])", said)) - of_families - {"nullstr", "encoding"}
        if (named or re.search(r"\bnbsql\.\w", said)) and not any(part in said for part in OF_PYTHON):
            left.append(said)
    assert left == []


def test_a_value_with_a_minus_is_told_from_an_option(shop, monkeypatch):
    said = run(shop, monkeypatch, "discrimination shop.duckdb golf -1 1", code=2)
    assert said == "-1 is no option; if it begins a value, put -- before it, and the options before that"
    said = run(shop, monkeypatch, "discrimination shop.duckdb golf --json -- -1 1")
    assert said == "model 'golf' has no class '-1'; it has 'no', 'yes'"


def test_a_cure_is_data_that_python_shows_as_code(shop):
    with pytest.raises(nbsql.ModelError) as caught:
        nbsql.fit(str(shop / "shop.duckdb"), "days", target="play", name="golf")
    assert str(caught.value) == "model 'golf' is there already; replace it with replace=True, or choose another name"
    cures = []
    in_words(caught.value.marked, lambda cure: cures.append(cure) or "")
    assert [(code.arg, code.value.value) for code in cures[0].codes] == [("replace", True)]
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args  # noqa: S301 - our own
