"""The cases on Spark and PostgreSQL that CI runs, in lists, and how few of them are chosen to render what all do.

A statement takes Spark longer than a database, however few the rows, and what DuckDB and PostgreSQL are both asked is asked
twice. The lists are written anew by

    pytest -n 0 -m spark --record-macros=macros.jsonl
    python tests/engines/spark_cases.py macros.jsonl
    pytest -n 0 -m postgres --record-macros=macros.jsonl
    python tests/engines/spark_cases.py macros.jsonl postgres

so that every macro of the engine's and every branch of a family is rendered by a case, in as little time as a greedy choice
finds; on PostgreSQL, where a case takes a second, each test that has cases there has one in the list, too.
The record of some cases may be added to that of others, and the last one of a case counts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

# What is run on PostgreSQL without being asked for: that answers agree, what is refused, and what transactions promise.
ON_POSTGRES = {
    "test_agreement.py",
    "test_golden.py",
    "test_hostile.py",
    "test_models_over_time.py",
    "test_refusals.py",
    "test_rules.py",
    "test_threads.py",
    "test_transactions.py",
}
LISTS = {engine: Path(__file__).with_name(f"{engine}_cases.txt") for engine in ("spark", "postgres")}
_HEADERS = {
    "spark": """\
# The cases on Spark that are run without being asked for: the quick ones by everybody, the others by CI. Those that are kept
# are run whatever they render; spark_cases.py chooses the rest.
""",
    "postgres": """\
# The cases on PostgreSQL that CI runs beside the files that everybody runs, as spark_cases.py has chosen them.
""",
}


def listed(engine: str = "spark") -> dict[str, str]:
    """Why each case of an engine's list is run (quick, kept or chosen), by file::name."""
    lines = LISTS[engine].read_text(encoding="utf-8").splitlines()
    pairs = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    return {case: why for why, case in pairs}


def choose(rendered: Mapping[str, Iterable[str]], seconds: Mapping[str, float], kept: Iterable[str]) -> list[str]:
    """Cases that together with those that are kept render all that any case does; the next one adds most for its time."""
    left = {case: set(names) for case, names in rendered.items()}
    covered: set[str] = set().union(*(left.pop(case, set()) for case in kept))
    chosen: list[str] = []
    while left:
        best = max(sorted(left), key=lambda case: len(left[case] - covered) / (seconds[case] + 1))
        if left[best] <= covered:
            break
        covered |= left.pop(best)
        chosen.append(best)
    for case in list(chosen):  # one that later ones made needless
        others = set().union(*(rendered.get(other, ()) for other in [*chosen, *kept] if other != case))
        if set(rendered[case]) <= others:
            chosen.remove(case)
    return sorted(chosen)


def write(path: str, engine: str = "spark") -> None:
    """Choose by a record, and say what that comes to."""
    records = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    records = [record for record in records if record.get("engine", "spark") == engine]
    rendered: dict[str, list[str]] = {record["case"]: record["rendered"] for record in records}
    seconds: dict[str, float] = {record["case"]: record["seconds"] for record in records}
    kept = {case: why for case, why in listed(engine).items() if why != "chosen"}
    beside: list[str] = []
    if engine == "postgres":
        rendered = {case: [*names, case.partition("[")[0]] for case, names in rendered.items()}
        beside = [case for case in rendered if case.partition("::")[0] in ON_POSTGRES]
    chosen = choose(rendered, seconds, [*kept, *beside])
    lines = [f"{why:<6} {case}" for why in ("quick", "kept") for case in sorted(kept) if kept[case] == why]
    LISTS[engine].write_text(
        _HEADERS[engine] + "\n".join([*lines, *(f"chosen {case}" for case in chosen)]) + "\n", encoding="utf-8"
    )
    names = set().union(*rendered.values())
    took = sum(seconds.get(case, 0) for case in [*kept, *beside, *chosen])
    print(
        f"{len(kept)} cases are kept and {len(chosen)} chosen, of {len(rendered)} that render {len(names)} macros and branches"
    )
    print(f"they took {took:.0f} of {sum(seconds.values()):.0f} s")


if __name__ == "__main__":
    write(*sys.argv[1:])
