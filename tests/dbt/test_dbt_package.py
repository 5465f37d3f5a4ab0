"""The dbt package as files, which can be looked at without dbt."""

import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from nbsql.cli import main
from nbsql.dbt import package, schema
from nbsql.dbt.__main__ import GENERATED
from nbsql.dbt.mirror import fill_mirror
from nbsql.rendering.renderer import macro_path


def test_dbt_path_prints_the_folder_of_the_package():
    done = CliRunner().invoke(main, ["dbt-path"])
    assert done.exit_code == 0
    assert done.output == f"{macro_path()}\n"
    assert (Path(done.output.strip()) / "dbt_project.yml").is_file()


def test_the_reader_of_dbt_finds_every_block_closed():
    """It does not know {%+, so an if that begins so must end so, too."""
    tag = re.compile(r"\{#.*?#\}|\{%(\+?)-?\s*(if|for|endif|endfor)\b", re.DOTALL)
    for file in macro_path().rglob("*.sql"):
        open_tags = []
        for match in tag.finditer(file.read_text(encoding="utf-8")):
            if match[2] in ("if", "for"):
                open_tags.append((match[1], match[2]))
            elif match[2]:
                assert open_tags.pop() == (match[1], match[2].removeprefix("end")), f"{file.name}: {match[0]}"


def test_names_of_macros_are_unique():
    texts = [file.read_text(encoding="utf-8") for file in macro_path().rglob("*.sql")]
    names = Counter(name for text in texts for name in re.findall(r"{%-? (?:macro|test) (\w+)\(", text))
    assert [name for name, count in names.items() if count > 1] == []
    assert names.keys() & set(dir(dict)) == set()  # dbt's namespace of a package is one


def test_engines_are_chosen_by_dispatch():
    """Each macro of which an engine has a form of its own is default__x, to which dispatch.sql leads."""
    known = package.macros()
    general = {name for name, macro in known.items() if "__" not in name and macro.path != package.DISPATCH}
    texts = [path.read_text("utf-8") for path in macro_path().rglob("*.sql") if path.name != package.DISPATCH.name]
    own = {name for text in texts for name in re.findall(r"{%-? macro (\w+__\w+)\(", text)}
    engines = {folder.name for folder in (macro_path() / "macros" / "engines").iterdir()} - {"standalone"}  # not for dbt
    forms = {name for name in own if name.split("__")[0] in engines}
    assert {name.split("__")[1] for name in forms} & general == {"check_engine"}
    for name in forms & known.keys():
        base = known.get(f"default__{name.split('__')[1]}")
        assert base is None or base.path == package.DISPATCH or known[name].arguments == base.arguments, name


def test_no_macro_uses_what_dbt_2_does_not_know():
    """Its Jinja has no escapes such as \\x0b, no defaults of numbers, no function beside the macro that it was handed to."""
    refused = {
        r"macro \w+\([^)]*\bloop\b": "a parameter named loop",
        r"float\([^)]": "a default of float",
        r"default\(none\)": "default(none), for which there is get",
        r"sort\(attribute=\d": "sorting by a place that is a number",
        r"\{[{%][^{}]*\\\\?x[0-9a-f]{2}": "an escape of two digits",
        r"\(caller|, caller\b": "a block handed on",
        r"nbsql\.update\(": "an edit of the package",
        r"\.encode\(": "bytes",
    }
    for path in package.shipped():
        text = re.sub(r"{#.*?#}", "", (macro_path() / path).read_text(encoding="utf-8"), flags=re.DOTALL)
        assert [why for pattern, why in refused.items() if re.search(pattern, text)] == [], path


def test_every_line_of_what_is_left_out_names_something():
    assert [line for line in package.ignored() if not (macro_path() / line).exists()] == []
    assert {"macros/engines/trino/", "macros/storage/schema.sql"} <= set(package.ignored())


def test_the_package_s_own_macros_find_what_they_call():
    known = package.macros().keys() | {"keys", "update", "get"}
    for file in (macro_path() / "dbt").glob("*.sql"):
        called = set(re.findall(r"nbsql\.(\w+)\(", re.sub(r"{#.*?#}", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)))
        assert called - known == set(), file.name


def test_what_is_called_by_a_name_put_together_is_named():
    named = set(re.findall(r"nbsql\.(\w+)\(\)", package.called_by_name_sql()))
    assert named <= package.macros().keys()
    assert {"metrics", "sliced_metrics", "predict", "prior_term", "breaks_whole"} <= named
    assert {
        "gaussian_density",
        "categorical_value",
        "gaussian_estimate",
        "complement_likelihoods",
        "poisson_divergence",
    } <= named


@pytest.mark.slow
def test_generated_files_are_those_of_the_classes_and_macros():
    for path, made in GENERATED.items():
        assert (macro_path() / path).read_text(encoding="utf-8") == made(), f"{path}: run python -m nbsql.dbt write"


# Those of arguments that dbt 1.12 knows (dbt/parser/schemas.py); it warns of others.
TYPES = {"any", "bool", "column", "dict", "float", "int", "integer", "list", "optional", "relation", "str", "string"}


def test_a_project_s_docs_show_what_it_calls_and_nothing_else():
    yaml = pytest.importorskip("yaml")
    described = yaml.safe_load((macro_path() / "dbt" / "macros.yml").read_text(encoding="utf-8"))["macros"]
    found = package.macros()
    texts = "".join(path.read_text(encoding="utf-8") for path in (macro_path() / "dbt").glob("*.sql"))
    for macro in described:
        if not macro["name"].startswith("test_"):  # which refuse with a list of their arguments
            assert f"{{% do nbsql.refuse_unknown('nbsql.{macro['name']}', kwargs) %}}" in texts, macro["name"]
        assert macro["description"].strip(), macro["name"]
        assert [argument["name"] for argument in macro["arguments"]] == found[macro["name"]].arguments, macro["name"]
        assert all(argument["description"] for argument in macro["arguments"])
        types = {word for argument in macro["arguments"] for word in re.findall("[a-z]+", argument["type"]) or ["none"]}
        assert types <= TYPES, macro["name"]


def test_the_schema_has_the_options_of_the_package():
    assert set(schema.properties_schema()["$defs"]["nbsql"]["properties"]) == set(schema.default_options())


NO_FAMILY = "{'family': 'poisson', 'floor': 1} is not valid under any of the given schemas"
OPTIONS = [
    ({"target": "y"}, None),
    ({"target": "y", "families": {"x": "poisson", "soil_*": {"family": "gaussian", "prior": {"mean": -2, "kappa": 1}}}}, None),
    ({"target": "y", "families": {"w": {"family": "multinomial", "columns": ["w1", "w2"], "alpha": {"w1": 2}}}}, None),
    ({"target": "y", "id": ["a", "b"], "prior": {"yes": 0.5, "no": 0.5}, "lookback": 2, "classes": ["no", "yes"]}, None),
    ({"alpha": 1}, "'target' is a required property"),
    ({"target": "y", "alpha": -1}, "-1 is less than the minimum of 0"),
    ({"target": "y", "smooth": 1}, "Additional properties are not allowed ('smooth' was unexpected)"),
    ({"target": "y", "method": "lda"}, "Additional properties are not allowed ('method' was unexpected)"),
    ({"target": "y", "families": {"x": "poison"}}, "'poison' is not valid under any of the given schemas"),
    ({"target": "y", "families": {"x": "multinomial"}}, "'multinomial' is not valid under any of the given schemas"),
    ({"target": "y", "families": {"x": {"family": "poisson", "floor": 1}}}, NO_FAMILY),
]


@cache
def editor():
    """What an editor checks a file of properties by."""
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft7Validator.check_schema(schema.properties_schema())
    return jsonschema.Draft7Validator(schema.properties_schema())


@pytest.mark.parametrize(("options", "error"), OPTIONS)
def test_an_editor_finds_what_is_no_option(options, error):
    properties = {"models": [{"name": "m", "config": {"materialized": "table", "meta": {"owner": "us", "nbsql": options}}}]}
    assert [found.message for found in editor().iter_errors(properties)] == ([] if error is None else [error])


def test_the_properties_of_the_example_and_of_the_page_keep_to_the_schema():
    jsonschema, yaml = pytest.importorskip("jsonschema"), pytest.importorskip("yaml")
    root = Path(__file__).parents[2]
    page = (root / "docs" / "reference" / "dbt.md").read_text(encoding="utf-8")
    texts = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    texts += [path.read_text(encoding="utf-8") for path in (root / "examples" / "dbt_project" / "models").rglob("*.yml")]
    assert sum("nbsql:" in text for text in texts) >= 4
    checks = jsonschema.Draft7Validator(schema.properties_schema())
    assert [error.message for text in texts for error in checks.iter_errors(yaml.safe_load(text) or {})] == []


def test_a_mirror_has_the_package_at_its_root(tmp_path):
    (tmp_path / ".git").mkdir()
    files = fill_mirror(tmp_path)
    found = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == set(files)
    assert {Path("dbt_project.yml"), Path("LICENSE"), Path("README.md"), Path("dbt/dispatch.sql")} <= found
    of_package = {path for path in found if path.parts[0] != "integration_tests"}
    assert {path for path in of_package if path.suffix == ".sql"} == set(package.shipped())
    for path in (path for path in of_package if path.suffix == ".md"):  # neither folders nor pages that are not there
        text = (tmp_path / path).read_text(encoding="utf-8")
        assert not re.search(r"\]\((?!https?:)", text), path
        named = re.findall(r"`((?:macros|dbt|integration_tests)/[\w./]*)`", text) if path.name == "README.md" else []
        assert all((tmp_path / name).exists() for name in named), path
    (tmp_path / "macros" / "gone.sql").write_text("", encoding="utf-8")
    assert fill_mirror(tmp_path) == files
    assert not (tmp_path / "macros" / "gone.sql").exists()
    assert (tmp_path / ".git").is_dir()


def test_a_folder_of_something_else_is_no_mirror(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    command = [sys.executable, "-m", "nbsql.dbt", "mirror", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"error: {tmp_path} is neither empty nor filled by this command before; name another folder\n"
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
