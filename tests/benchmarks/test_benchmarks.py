"""The benchmark's contenders have the answers that nbsql has, on tables small enough to be no benchmark."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

pytest.importorskip("sklearn")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("benchmarks")]
HERE = Path(__file__).parents[1] / "benchmarks"
sys.path.append(str(HERE))

import report as reports  # noqa: E402
import run as benchmark  # noqa: E402
import tables  # noqa: E402
from contenders import CONTENDERS, load, missing  # noqa: E402

ROWS = 300
KINDS = ("numeric", "categorical", "text", "mixed", "lda")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, dict[str, Any]], Any]:
    """What a contender, by its name, answers on the table of a kind."""
    folder = tmp_path_factory.mktemp("benchmark")
    made: dict[str, Any] = {}

    def of(name: str, kind: str, options: dict[str, Any]) -> Any:
        case, database = tables.case_of(kind, ROWS), folder / f"{kind}.duckdb"
        if not database.exists():
            with duckdb.connect(str(database)) as con:
                tables.create(con, case)
        key = json.dumps([name, kind, options])
        if key not in made:
            contender = load(name)(str(database), case)
            contender.fit()
            contender.predict()
            made[key] = contender.answers(options)
            contender.stop()
        return made[key]

    return of


@pytest.mark.few
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["scan", "sql", "resident", "fetching", "polars", "e1071", "bornrule"])
@pytest.mark.filterwarnings("default")
def test_a_contender_of_the_same_model_has_the_same_answers(
    name: str, kind: str, answers: Callable[[str, str, dict[str, Any]], Any]
) -> None:
    absent = missing(name)
    if absent:
        pytest.skip(absent)
    case = tables.case_of(kind, ROWS)
    contender = load(name)
    if contender.declines(case):
        assert kind not in contender.rows
        assert contender.lacks
        return
    theirs = answers(name, kind, {})
    if name == "scan":
        assert theirs == {}
        return
    same = contender.same(case)
    found = benchmark.agreement(answers("nbsql", kind, same or {}), theirs, contender.precision)
    assert found["rows"] == ROWS
    if same is None:
        assert found["otherwise"] < ROWS
    else:
        assert found["otherwise"] == found["ties"]
        assert found["posterior"] < 1e-9


def environment() -> dict[str, str]:
    """Processes find the package as these tests do."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")])}


def measured(folder: Path, *arguments: str) -> dict[str, Any]:
    """The figures of a run in processes, which exits with an error where answers differ."""
    command = [sys.executable, str(HERE / "run.py"), "--quick", "--rows", str(ROWS), "--rounds", "2", "--into", str(folder)]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == (folder / "benchmark.md").read_text(encoding="utf-8").strip()
    return dict(json.loads((folder / "benchmark.json").read_text(encoding="utf-8")))


@pytest.mark.nightly  # it holds how the benchmarks drive what they measure
def test_a_run_measures_every_round_and_names_what_is_absent(tmp_path: Path) -> None:
    found = measured(tmp_path, "--only", "text", "--contenders", "scan", "clickhouse", "e1071")
    able = {"nbsql", "scan", *(name for name in ("clickhouse", "e1071") if not missing(name))}
    assert set(found["contenders"]) == able
    assert found["absent"] == {name: missing(name) for name in ("clickhouse", "e1071") if missing(name)}
    assert [result["case"]["classes"] for result in found["results"]] == [20, 2]
    for result in found["results"]:
        ran = able - {"e1071"}
        whole = {
            act: {name for name, spent in seconds.items() if len(spent) == 2} for act, seconds in result["seconds"].items()
        }
        assert whole == {"fit": ran, "predict": {*ran, "nbsql, all columns"}}
        assert set(result["out"]) == able - ran
        assert set(result["agreement"]) == able & {"clickhouse"}


@pytest.mark.nightly  # it holds how the benchmarks drive what they measure
def test_memory_measures_every_act_and_leaves_no_file(tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "memory.py"), "--share", "0.0001", "--memory", "500MB", "--folder", str(tmp_path)]
    command += ["--only", "texts", "folds"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 0, done.stderr
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if line.startswith("|")]
    assert [line[1] for line in lines[2:]] == ["fit", "predict", "folds"]
    assert "The noise" in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.nightly  # it holds how the benchmarks drive what they measure
def test_spark_has_the_same_answers(tmp_path: Path) -> None:
    absent = missing("spark")
    if absent:
        pytest.skip(absent)
    found = measured(tmp_path, "--only", "numeric", "categorical", "--contenders", "spark", "--rounds", "1")
    assert [result["agreement"]["spark"]["same model"] for result in found["results"]] == [True, True]


def test_a_contender_that_cannot_run_here_has_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(CONTENDERS, "bornrule", "no_such_module.Bornrule")
    assert missing("e1071") == "R is not installed"
    assert missing("bornrule") == "contenders.no_such_module is not installed"


REPORT: dict[str, Any] = {
    "date": "2026-01-02",
    "machine": "a machine",
    "threads": 2,
    "python": "3.11",
    "rounds": 3,
    "contenders": {
        "nbsql": {"title": "nbsql", "version": "nbsql 1 on DuckDB 2"},
        "scan": {"title": "bare scan", "version": "bare scan"},
        "bornrule": {"title": "bornrule on SQLite", "version": "bornrule 1"},
        "spark": {"title": "Spark MLlib", "version": "Spark 4"},
    },
    "absent": {"e1071": "R is not installed"},
    "results": [
        {
            "title": "a table",
            "case": {"name": "numeric", "rows": 5_000_000},
            "seconds": {
                "fit": {"nbsql": [1.0, 2.0, 3.0], "scan": [1.0, 1.0, 1.0], "bornrule": [4.0, 40.0]},
                "predict": {"nbsql": [1.0, 1.0, 1.0], "scan": [1.0, 1.0, 1.0], "bornrule": [2.0, 2.0]},
            },
            "out": {"spark": "stopped: no memory"},
            "agreement": {
                "bornrule": {"same model": False, "rows": 10, "otherwise": 3, "ties": 0, "posterior": None, "precision": 1e-9}
            },
        }
    ],
}


def test_a_report_names_figures_ratios_by_round_and_whatever_is_not_measured() -> None:
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in reports.markdown(REPORT).splitlines() if "|" in line]
    assert lines[0] == ["contender", "fit", "to nbsql", "predict", "to nbsql", "answers"]
    assert lines[2:7] == [
        ["nbsql", "2.000 (1.000 to 3.000)", "1", "1.000 (1.000 to 1.000)", "1", ""],
        ["bare scan", "1.000 (1.000 to 1.000)", "0.50 (0.33 to 1.00)", "1.000 (1.000 to 1.000)", "1.00 (1.00 to 1.00)", ""],
        [
            "bornrule on SQLite",
            "22.000 (4.000 to 40.000)",
            "12 (4.00 to 20)",
            "2.000 (2.000 to 2.000)",
            "2.00 (2.00 to 2.00)",
            "another model: 70.0% predicted the same",
        ],
        ["Spark MLlib", "", "", "", "", "stopped: no memory"],
        ["e1071", "", "", "", "", "absent: R is not installed"],
    ]
    assert lines[9:] == [["a table", "fit, nbsql : bare scan, at most 1.6", "2.00", "missed"]]


def test_ratios_are_those_of_the_rounds() -> None:
    found = reports.ratios_to_nbsql(REPORT["results"][0]["seconds"])
    assert found["fit"]["bornrule"] == {"median": 12, "least": 4, "greatest": 20}
    assert found["predict"]["nbsql"] == {"median": 1, "least": 1, "greatest": 1}


def test_a_run_is_compared_with_the_last_of_a_history(tmp_path: Path) -> None:
    def run(*ratios: float) -> dict[str, Any]:
        seconds = {"fit": {"nbsql": [1.0] * len(ratios), "scan": list(ratios)}, "predict": {"nbsql": [1.0]}}
        return reports.remembered(
            REPORT | {"results": [{"title": "a table", "ratios of processors": reports.ratios_to_nbsql(seconds)}]}
        )

    history = tmp_path / "history.jsonl"
    assert benchmark.compare(history, run(0.5, 0.6, 0.7)) == []
    assert benchmark.compare(history, run(0.3, 0.4, 0.45)) == []  # not far from the slowest of its rounds then
    line = "a table, fit: scan spent 0.40 times the seconds of nbsql on 2026-01-02, and now 0.20"
    assert benchmark.compare(history, run(0.1, 0.2, 0.23)) == [line]
    assert len(history.read_text(encoding="utf-8").splitlines()) == 3


def test_a_run_fails_when_a_contender_stopped_or_answers_otherwise() -> None:
    result = REPORT["results"][0]
    assert benchmark.faults(result) == ["a table: spark stopped: no memory"]
    differs = {"same model": True, "rows": 10, "otherwise": 3, "ties": 2, "posterior": 1e-12, "precision": 1e-9}
    assert benchmark.faults({**result, "out": {}, "agreement": {"polars": differs}}) == [
        "a table: the answers of nbsql and polars differ"
    ]
