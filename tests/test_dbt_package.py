"""The dbt package as files, which can be looked at without dbt."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from click.testing import CliRunner

from nbsql.cli import main
from nbsql.dialect import DIALECTS
from nbsql.family.stop_words import STOP_WORDS
from nbsql.render import macro_path


def test_dbt_path_prints_the_folder_of_the_package() -> None:
    done = CliRunner().invoke(main, ["dbt-path"])
    assert done.exit_code == 0
    assert done.output == f"{macro_path()}\n"
    assert (Path(done.output.strip()) / "dbt_project.yml").is_file()


def test_the_reader_of_dbt_finds_every_block_closed() -> None:
    """It does not know {%+, so an if that begins so must end so, too."""
    tag = re.compile(r"\{#.*?#\}|\{%(\+?)-?\s*(if|for|endif|endfor)\b", re.DOTALL)
    for file in macro_path().rglob("*.sql"):
        open_tags: list[tuple[str, str]] = []
        for match in tag.finditer(file.read_text(encoding="utf-8")):
            if match[2] in ("if", "for"):
                open_tags.append((match[1], match[2]))
            elif match[2]:
                assert open_tags.pop() == (match[1], match[2].removeprefix("end")), f"{file.name}: {match[0]}"


def test_names_of_macros_are_unique_and_stop_words_the_same() -> None:
    texts = [file.read_text(encoding="utf-8") for file in macro_path().rglob("*.sql")]
    names = Counter(name for text in texts for name in re.findall(r"{%-? (?:macro|test) (\w+)\(", text))
    assert [name for name, count in names.items() if count > 1] == []
    assert names.keys() & set(dir(dict)) == set()  # dbt's namespace of a package is one
    words = (macro_path() / "dbt" / "stop_words.sql").read_text(encoding="utf-8").split("return('")[1].split("'")[0].split()
    assert tuple(words) == STOP_WORDS["english"]


def test_an_engine_speaks_the_same_in_dbt_and_in_python() -> None:
    engines = (macro_path() / "dbt" / "engines.sql").read_text(encoding="utf-8")
    macros = re.findall(r"{% macro (\w+)__check_engine\(\)(.*?){%-? endmacro", engines, re.DOTALL)
    spoken = {name: re.findall(r"nbsql\.speak\(\['(.*?)'\]\)", body) for name, body in macros if name != "default"}
    assert spoken == {name: ["', '".join(DIALECTS[name].speaks)] if DIALECTS[name].speaks else [] for name in spoken}
