"""Every script in examples/ runs by itself, as a user runs it, and comes to the result it prints."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import nbsql

EXAMPLES = Path(__file__).parents[2] / "examples"
# The script, its data set, and a line that it must print.
RUNS = [
    ("tennis.py", None, "P(outlook = sunny | yes) = 2/9 = 0.2222"),
    ("probabilities.py", None, "hot and weak: 0.12 for yes against 0.07 for no, so yes"),
    ("flights.py", None, "9777 flights of the last quarter: accuracy 71.5%, of always saying 'in time' 59.1%"),
    (
        "flights.py",
        "nycflights13_flights.parquet",
        "82609 flights of the last quarter: accuracy 71.2%, of always saying 'in time' 59.0%",
    ),
    ("months.py", None, "up to month 11: 35488 flights learnt, accuracy in December 85.4%"),
    ("watched.py", None, "renewed after the months [6, 10, 11]: mean log loss 0.409, and 0.444 without that"),
    ("discriminant.py", None, "logistic accuracy 91.1%, log loss 0.2394, ROC AUC 0.9338"),
    ("census.py", "adult.csv.gz", "accuracy with nulls='skip':      85.4%, of the 966 without an occupation 91.5%"),
    ("spam.py", "sms_spam.csv.gz", "1478 messages never seen: accuracy 98.58%, precision of spam 96.74%, recall 92.23%"),
    ("facilities.py", "nmis_niger_state.csv.gz", "accuracy with poisson staff:        73.5%"),
]
LONG = ("months.py", "watched.py", "discriminant.py")


def run(script, *arguments, folder):
    """A script in a process of its own, in an empty folder, with the nbsql that is tested here."""
    paths = [str(Path(nbsql.__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, str(EXAMPLES / script), *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "data_set", "line"),
    [
        pytest.param(*run, id="-".join(filter(None, run[:2])), marks=[pytest.mark.slow] if run[0] in LONG or run[1] else [])
        for run in RUNS
    ],
)
def test_example_comes_to_its_result(script, data_set, line, tmp_path, request):
    arguments = [] if data_set is None else [str(request.getfixturevalue("data") / data_set)]
    done = run(script, *arguments, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert line in done.stdout.splitlines()
    assert "NbsqlWarning" not in done.stderr
    assert list(tmp_path.iterdir()) == [], "an example leaves files behind"


@pytest.mark.parametrize("script", sorted({script for script, data_set, _ in RUNS if data_set} - {"flights.py"}))
def test_example_without_its_data_says_how_to_run_it(script, monkeypatch):
    monkeypatch.setattr("sys.argv", [script])
    with pytest.raises(SystemExit, match=f"Run: python examples/{script} PATH/"):
        runpy.run_path(str(EXAMPLES / script), run_name="__main__")


def test_every_example_is_run():
    assert {path.name for path in EXAMPLES.glob("*.py")} == {script for script, _, _ in RUNS}


def test_examples_stay_short():
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in EXAMPLES.glob("*.py")}
    assert {name: length for name, length in lengths.items() if length >= 90} == {}
