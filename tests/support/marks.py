"""What is run when, by marks.

What starts an engine has its mark, and is not run unless asked for. By day CI runs each case in one form of scoring, or on
one engine that runs what is written for others, a project of dbt on one engine, a test with the mark `forms` with one value
of the parameters that the mark names, and one of a test's cases on PostgreSQL, all chosen by a hash. Of what Spark is asked
as well as other engines, where a statement takes a second, it runs the first case of tests with the mark `daily`. Of a test
with the mark `few`, a plain run tries one case, and CI a fourth of them. The rest is `nightly`.
"""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

import pytest

# The limits of nbsql/rendering/layout.py that bring every model, whatever its size, into one form of scoring.
FORMS: dict[str, dict[str, int]] = {
    "wide": {"star_joins": 10**9, "wide_classes": 10**9, "wide_terms": 10**9},
    "blocks": {"star_joins": 0, "few_values": -1, "block_joins": 2, "wide_classes": 10**9, "wide_terms": 10**9},
    "listed": {"star_joins": 0, "few_values": 10**9, "wide_classes": 10**9, "wide_terms": 10**9},
    "long": {"wide_classes": 0},
    "long, listed": {"star_joins": 0, "few_values": 4, "wide_classes": 0},
}
ELSEWHERE = ("sqlite", "clickhouse", "duckdb")  # the engines that run what is written for others
_VARIANTS = {"form": FORMS, "elsewhere": ELSEWHERE}  # by the name of the parameter
_ENGINES = Path(__file__).parents[1] / "engines"


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark what starts an engine, and what is left to the night."""
    variants: dict[str, dict[str, list[pytest.Item]]] = defaultdict(lambda: defaultdict(list))
    on_spark: set[str] = set()
    for item in items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        values = {name: value for name, value in params.items() if isinstance(value, str)}
        names = {*values.values(), *getattr(item, "fixturenames", ())} if item.path.is_relative_to(_ENGINES) else set()
        test, _, case = item.nodeid.partition("[")
        if names & {"postgres", "server"}:
            item.add_marker("postgres")
            if "postgres" in values.values():
                variants[f"{test} on PostgreSQL"][case].append(item)
        if "spark" in names or item.get_closest_marker("spark") is not None:
            if "spark" in values.values():
                if item.get_closest_marker("daily") is None or test in on_spark:
                    item.add_marker("nightly")
                on_spark.add(test)
            item.add_marker("spark")
            item.add_marker(pytest.mark.xdist_group("spark"))  # to start and warm a session takes as long as some ten cases
        variant = [values[name] for name, known in _VARIANTS.items() if values.get(name) in known]
        if (forms := item.get_closest_marker("forms")) is not None:
            variant += [str(params[name]) for name in forms.args]  # as pytest writes texts, numbers, booleans and None
        family = f"-{case[:-1]}-"
        for value in variant:
            family = family.replace(f"-{value}-", "-", 1)
        family = test + family
        if item.get_closest_marker("dbt") is not None:
            if item.get_closest_marker("spark") is None:  # whose tests share the virtual machine of the others there
                item.add_marker(
                    pytest.mark.xdist_group("-".join([item.path.stem, *map(str, params.values())]))
                )  # is built once
            variant = [engine for engine in values.values() if engine in ("duckdb", "postgres")]
            family = item.path.stem
        if variant:
            variants[family]["-".join(variant)].append(item)
    for family, cases in variants.items():
        chosen = sorted(cases)[crc32(family.encode()) % len(cases)]
        for item in (item for name, others in cases.items() if name != chosen for item in others):
            item.add_marker("nightly")
    few: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("few") is not None and item.get_closest_marker("nightly") is None:
            engine = next((name for name in ("postgres", "spark", "dbt") if item.get_closest_marker(name) is not None), "")
            few[item.nodeid.partition("[")[0], engine].append(item)
    for alike in few.values():
        alike.sort(key=lambda item: crc32(item.nodeid.encode()))  # so that a new case moves at most one of the others
        for item in alike[1:]:
            item.add_marker("slow")
        for item in alike[-(-len(alike) // 4) :]:
            item.add_marker("nightly")
