"""Fit and predict, side by side: nbsql and whatever else one would take, on the same tables and the same two cores.

    python tests/benchmarks/run.py [--quick] [--only KIND ...] [--contenders NAME ...] [--rows N] [--rounds N]
        [--into FOLDER] [--against FILE]

Makes its tables in a temporary folder. Every contender has a process; they take turns, so that whatever else the machine
does meets all of them. Figures are medians of the rounds, with the least and the greatest, and ratios those of each round.
Whatever has the same model as nbsql must give the same answers. A contender that this machine lacks is named with what is
missing. Prints a report in Markdown, and writes it to FOLDER as benchmark.md, with every figure in benchmark.json.
Seconds differ by machine and by the hour; ratios less, and least those of what the processors spend, which are compared with
those of the last in FILE, a history that this run is added to. The contender `again` is nbsql itself: its ratio is the noise.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from contenders import CONTENDERS, THREADS, load, missing
from report import markdown, ratios_to_nbsql, remembered, slower
from tables import Case, case_of, cases, create

HERE = Path(__file__).parent
ENOUGH = 60.0  # a contender that has used so many seconds on one act sits the later rounds out, after two
KINDS = ("numeric", "categorical", "text", "vocabulary", "mixed", "lda", "wide_numbers", "wide_categories", "classes")


class StoppedError(Exception):
    """A contender ended with an error."""


class Worker:
    """A contender in its process, ready to act."""

    def __init__(self, contender: str, database: Path, case: Case) -> None:
        command = [sys.executable, str(HERE / "worker.py"), contender, str(database), json.dumps(asdict(case))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def answer(self) -> str:
        """The next line of the contender that is meant for us."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line or line.startswith("stopped: "):
            raise StoppedError(line.removeprefix("stopped: ") or "killed")
        return line

    def tell(self, act: str) -> str:
        assert self.process.stdin is not None
        print(act, file=self.process.stdin, flush=True)
        return self.answer()

    def stop(self) -> None:
        self.process.communicate()


class Race:
    """The contenders of one table, in their processes."""

    def __init__(self, database: Path, case: Case, names: list[str]) -> None:
        self.database, self.case = database, case
        self.workers: dict[str, Worker] = {}
        self.out: dict[str, str] = {}  # why a contender is not measured, or not to its end
        self.seconds: dict[str, dict[str, list[float]]] = {"fit": {}, "predict": {}}
        self.processors: dict[str, dict[str, list[float]]] = {"fit": {}, "predict": {}}  # the seconds of these
        for name in names:
            declined = load(name).declines(case)
            if declined:
                self.out[name] = declined
                continue
            self.workers[name] = Worker(name, database, case)
            self._ask(name, self.workers[name].answer)

    def _ask(self, name: str, question: Any, *arguments: Any) -> str | None:
        """What a contender answers; one that stops is out."""
        try:
            return str(question(*arguments))
        except StoppedError as error:
            self.workers.pop(name).stop()
            if name == "nbsql":
                raise SystemExit(f"nbsql stopped: {error}") from None
            self.out[name] = f"stopped: {error}"
            return None

    def run(self, rounds: int) -> None:
        for act, seconds in self.seconds.items():
            for number in range(rounds):
                for name in list(self.workers)[:: 1 if number % 2 == 0 else -1]:
                    spent = seconds.setdefault(name, [])
                    if len(spent) < 2 or sum(spent) < ENOUGH:
                        answer = self._ask(name, self.workers[name].tell, act)
                        if answer is not None:
                            clock, processors = map(float, answer.split())
                            spent.append(clock)
                            self.processors[act].setdefault(name, []).append(processors)

    def all_columns(self, rounds: int) -> None:
        tell = self.workers["nbsql"].tell
        answers = [tell("predict_all_columns").split() for _ in range(min(rounds, 3))]
        self.seconds["predict"]["nbsql, all columns"] = [float(clock) for clock, _ in answers]

    def agreements(self) -> dict[str, dict[str, Any]]:
        """How the answers of each contender are to those of nbsql, of the same model where there is one."""
        found: dict[str, dict[str, Any]] = {}
        ours: dict[str, dict[str, Any]] = {}
        for name in list(self.workers):
            if name in ("nbsql", "again", "scan", "fetching"):  # as nbsql or resident, but for the time
                continue
            same = load(name).same(self.case)
            options = json.dumps(same or {})
            if options not in ours:
                ours[options] = self._answers("nbsql", same or {}) or {}
            theirs = self._answers(name, {})
            if theirs is not None:
                found[name] = {"same model": same is not None, **agreement(ours[options], theirs, load(name).precision)}
        return found

    def _answers(self, name: str, options: dict[str, Any]) -> dict[str, Any] | None:
        file = self.database.with_suffix(".npz")
        if self._ask(name, self.workers[name].tell, f"answers {json.dumps([str(file), options])}") is None:
            return None
        with np.load(file) as saved:
            return dict(saved)

    def stop(self) -> None:
        for worker in self.workers.values():
            worker.stop()


def measure(case: Case, names: list[str], rounds: int) -> dict[str, Any]:
    """Seconds of every act and contender, a list with one number a round, and how the answers agree."""
    with tempfile.TemporaryDirectory(prefix="nbsql_benchmark_") as folder:
        database = Path(folder) / "table.duckdb"
        with duckdb.connect(str(database)) as con:
            create(con, case)
        race = Race(database, case, names)
        try:
            race.run(rounds)
            race.all_columns(rounds)
            agreements = race.agreements()
        finally:
            race.stop()
    return {
        "case": asdict(case),
        "title": case.title,
        "seconds": race.seconds,
        "ratios to nbsql": ratios_to_nbsql(race.seconds),
        "ratios of processors": ratios_to_nbsql(race.processors),
        "out": race.out,
        "agreement": agreements,
    }


def agreement(ours: dict[str, Any], theirs: dict[str, Any], precision: float) -> dict[str, Any]:
    """Rows that are predicted otherwise, those of them that are ties, and how far the posteriors of the sample are apart.

    Classes whose joint log-likelihoods are nearer to each other than `precision` are a tie.
    """
    differ = ours["predictions"] != theirs["predictions"]
    apart = np.abs(ours["posterior"] - theirs["posterior"]).max() if "posterior" in theirs else None
    return {
        "rows": len(differ),
        "otherwise": int(differ.sum()),
        "ties": int((differ & (ours["margin"] < precision)).sum()),
        "posterior": None if apart is None else float(apart),
        "precision": precision,
    }


def faults(result: dict[str, Any]) -> list[str]:
    """What went wrong on a table: contenders that stopped, and answers that differ though the models are the same."""
    found = [f"{name} {why}" for name, why in result["out"].items() if why.startswith("stopped")]
    for name, answers in result["agreement"].items():
        apart = answers["otherwise"] > answers["ties"] or (answers["posterior"] or 0) > max(1e-6, answers["precision"])
        if answers["same model"] and apart:
            found.append(f"the answers of nbsql and {name} differ")
    return [f"{result['title']}: {fault}" for fault in found]


def compare(history: Path, run: dict[str, Any]) -> list[str]:
    """What is slower than in the last run of a history, to which this one is added."""
    lines = history.read_text(encoding="utf-8").splitlines() if history.exists() else []
    with history.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run) + "\n")
    return slower(run, json.loads(lines[-1])) if lines else []


def machine() -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB",
        "threads": THREADS,
        "python": platform.python_version(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smallest table of each kind, three rounds")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS, metavar="KIND", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--contenders", nargs="+", choices=[*CONTENDERS], metavar="NAME", help=f"of {', '.join(CONTENDERS)}")
    parser.add_argument("--rows", type=int, help="tables of so many rows instead")
    parser.add_argument("--rounds", type=int, help="how often each contender takes its turn (default 5, with --quick 3)")
    parser.add_argument("--into", type=Path, default=Path(), help="the folder of benchmark.md and benchmark.json (default .)")
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="a history of runs: warn of what is slower than in the last"
    )
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    rounds = options.rounds or (3 if options.quick else 5)
    wanted = [name for name in CONTENDERS if name == "nbsql" or name in (options.contenders or CONTENDERS)]
    absent = {name: why for name in wanted if (why := missing(name))}
    if "nbsql" in absent:
        raise SystemExit(f"{absent['nbsql']}: pip install '.[bench]'")
    able = [name for name in wanted if name not in absent]
    report: dict[str, Any] = {
        **machine(),
        "rounds": rounds,
        "contenders": {name: {"title": load(name).title, "version": load(name).version()} for name in able},
        "absent": absent,
        "results": [],
    }
    tables = [case for case in cases(quick=options.quick) if case.name in options.only]
    if options.rows:
        tables = [case_of(case.name, options.rows, case.classes) for case in tables]
        tables = list(dict.fromkeys(tables))
    for case in tables:
        print(f"{case.title} ...", file=sys.stderr, flush=True)
        report["results"].append(measure(case, able, rounds))
        (options.into / "benchmark.json").write_text(json.dumps(report, indent=2), encoding="utf-8")
        (options.into / "benchmark.md").write_text(markdown(report), encoding="utf-8")
    print(markdown(report))
    if options.against is not None:
        for line in compare(options.against, remembered(report)):
            print(f"warning: {line}", file=sys.stderr)
    found = [fault for result in report["results"] for fault in faults(result)]
    if found:
        raise SystemExit("\n".join(found))


if __name__ == "__main__":
    main()
