"""What editors, type checkers and a console's TAB know of the package."""

import inspect
import subprocess
import sys
from dataclasses import MISSING
from pathlib import Path

import duckdb
import pytest

import nbsql
from nbsql.evaluation.calibration import METHODS as CALIBRATIONS
from nbsql.plan import VERBS
from nbsql.spec.__main__ import PATH, keywords_py
from nbsql.spec.method import METHODS, MethodName
from nbsql.spec.options import model_fields


def test_a_console_offers_public_names_only():
    assert sorted(dir(nbsql)) == sorted(nbsql.__all__)
    assert not [name for name in dir(nbsql) if not hasattr(nbsql, name)]
    with pytest.raises(AttributeError, match=r"^module 'nbsql' has no attribute 'fitt'$"):
        _ = nbsql.fitt


def test_the_version_needs_neither_the_verbs_nor_duckdb():
    code = "import sys, nbsql.cli.app; assert nbsql.__version__; assert not {'duckdb', 'nbsql.family'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_typed_options_are_those_that_are_taken():
    assert keywords_py() == PATH.read_text(encoding="utf-8"), "run python -m nbsql.spec"


@pytest.mark.parametrize(
    "verb", [nbsql.fit, nbsql.fit_sql, nbsql.families, nbsql.cross_validate, nbsql.sweep, nbsql.auto, nbsql.classify]
)
def test_help_shows_every_option_of_a_fit_with_its_default(verb):
    shown = inspect.signature(verb).parameters
    for option in model_fields():
        default = None if option.default is MISSING else option.default
        assert (shown[option.name].default, shown[option.name].kind) == (default, inspect.Parameter.KEYWORD_ONLY)
        assert verb is not nbsql.fit or f"        {option.name}: " in str(verb.__doc__)


def test_the_words_that_are_taken_are_typed():
    from typing import get_args

    from nbsql.model.scoring import Verb

    assert get_args(MethodName) == tuple(METHODS)
    assert CALIBRATIONS == ("temperature", "platt", "isotonic", "conformal", "certain")
    assert get_args(Verb) == (*VERBS, "statistics")


RIGHT = """
import nbsql
model = nbsql.fit("a.duckdb", "t", target="y", method="lda", prior="uniform", nulls="skip")
nbsql.fit("a.duckdb", "t", target="y", method=nbsql.QDA(shrinkage="ledoit-wolf"), prior=nbsql.Smoothed(2))
nbsql.fit("a.duckdb", "t", target="y", method=nbsql.Mixture({"a": 2}), segment_by=nbsql.Segments("g", shrinkage=3))
nbsql.cross_validate("a.duckdb", "t", target="y", folds="loo", alpha=1, families={"x*": nbsql.Text(event="bernoulli")})
nbsql.sweep("a.duckdb", "t", target="y", alpha=[1, 2], prior=["uniform", nbsql.Smoothed(2), {"a": 1.0}], method="naive")
nbsql.families("a.duckdb", "t", target=nbsql.Target("y", ["a", "b"]), name="m", features=nbsql.Best(3))
nbsql.fit_sql("a.duckdb", "t", target="y", name="m", replace=True, weight="w")
model.calibrate("t", method="platt").parameters.head().df()
"""
WRONG = {
    'nbsql.cross_validate("a", "t", target="y", alfa=1)': 'Unexpected keyword argument "alfa"',
    'nbsql.sweep("a", "t", target="y", nulls="drop")': 'Argument "nulls" to "sweep" has incompatible type',
    'nbsql.fit("a", "t", target="y", method="bayes")': 'Argument "method" to "fit" has incompatible type',
    'nbsql.fit("a", "t", target="y", method=nbsql.LDA(shrinkage="auto"))': 'Argument "shrinkage" to "LDA"',
    'nbsql.fit("a", "t", target="y", penalty=2)': 'Unexpected keyword argument "penalty" for "fit"',
    'nbsql.fit("a", "t", target="y", prior="flat")': 'Argument "prior" to "fit" has incompatible type',
    'nbsql.Text(event="poisson")': 'Argument "event" to "Text" has incompatible type',
    'nbsql.load("a", "m").calibrate("t", method="sigmoid")': 'Argument "method" to "calibrate"',
    'nbsql.fit_sql("a", "t", target="y", database=3)': 'Argument "database" to "fit_sql" has incompatible type',
}


@pytest.mark.nightly
def test_mypy_knows_the_options_and_their_words(tmp_path):
    pytest.importorskip("mypy")
    for package in (nbsql, duckdb):  # to read what else is installed takes six times as long, and no line here is about it
        (tmp_path / package.__name__).symlink_to(Path(package.__file__).parent, target_is_directory=True)
    script = tmp_path / "script.py"
    lines = list(WRONG)
    script.write_text(RIGHT + "\n".join(lines) + "\n")
    options = ["--config-file=", "--no-site-packages", "--ignore-missing-imports", "--no-incremental"]
    command = [sys.executable, "-m", "mypy", *options, str(script)]
    said = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path).stdout.splitlines()
    errors = [line for line in said if line.startswith((str(script), "script.py"))]
    errors = [line for line in errors if ": error:" in line]
    first = RIGHT.count("\n") + 1
    for number, text in enumerate(WRONG.values(), start=first):
        assert any(f":{number}: " in line and text in line for line in errors), (text, errors)
    assert {int(line.split(":")[1]) for line in errors} == set(range(first, first + len(WRONG)))
