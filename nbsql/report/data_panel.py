"""The panel of the data that a model has learnt: what is missing, how many values there are, and what looks odd."""

from __future__ import annotations

from collections.abc import Iterator

from nbsql.answers.query import Query, relation_query
from nbsql.answers.table import counted, number, share
from nbsql.errors import ModelError, listed
from nbsql.learning.spelling_advice import spellings
from nbsql.report.panel import Figure, Request, records, shown
from nbsql.storage.state import ModelState

_BARS = 48
_SPELT = 200  # the most frequent values of a category that are compared
_NEARLY_UNIQUE = 0.5  # values per row, above which hardly any value occurs again
_SHOWN = 3


def data(request: Request) -> Iterator[Figure]:
    """The features with the share of rows that have a value, the number of distinct values, and notes on odd values."""
    state = request.state
    state.require("drift")
    features = [feature for feature in state.spec.features if not feature.family.over_columns]
    if not features:
        raise ModelError(f"{state.title} has no feature of a single column")
    query = Query(
        state.engine,
        state.engine.renderer.statement("feature_data", state.plan.current_cells(), state.relations["priors"], features),
    )
    rows = records(query)
    bars = []
    for row in rows[:_BARS]:
        values = "" if row["levels"] is None else counted(row["levels"], "value")
        missing = f"{share(row['missing'])} missing" if row["missing"] else ""
        words = f"{number(row['n'])} words" if row["missing"] is None else ""
        known = 1 if row["missing"] is None else 1 - row["missing"]
        label = ", ".join(filter(None, (values, words, missing)))
        bars.append({**row, "feature": shown(row["feature"]), "known": known, "label": label})
    gaps = [row for row in rows if row["missing"]]
    finding = f"{counted(len(gaps), 'column')} of {len(rows)} {'has' if len(gaps) == 1 else 'have'} missing values"
    finding += f", most of all {shown(gaps[0]['feature'])} ({share(gaps[0]['missing'])})" if gaps else ""
    if not gaps:
        finding = f"No value is missing in {'the column' if len(rows) == 1 else f'any of the {len(rows)} columns'}"
    unique = [row["feature"] for row in rows if row["missing"] is not None and (row["levels"] or 0) > _NEARLY_UNIQUE * row["n"]]
    notes = [
        f"{listed(unique, _SHOWN)}: hardly any value occurs twice, so that new rows have others." if unique else None,
        *_alike(state, [feature.name for feature in features if feature.family.cell == "level"]),
        f"The {_BARS} columns of {len(rows)} with most missing values." if len(rows) > _BARS else None,
    ]
    yield Figure(finding, {"rows": bars}, query.sql, "data", notes=notes)


def _alike(state: ModelState, categories: list[str]) -> Iterator[str]:
    """Notes on classes, and on values of categories, that differ only by case or blanks."""
    values: dict[str, list[str]] = {}
    counts = state.relations["statistics"]
    found = state.engine.query_macro("most_frequent_values", counts, categories, _SPELT) if categories else []
    for name, value, _ in found:
        values.setdefault(f"Values of {shown(name)}", []).append(value)
    classes = [row[0] for row in relation_query(state, "priors", "class") if isinstance(row[0], str)]
    for subject, spelt in {f"Classes of {shown(state.spec.target)}": classes, **values}.items():
        groups = [" and ".join(map(repr, group)) for group in spellings(spelt)]
        if groups:
            yield f"{subject} differ only by case or blanks: {'; '.join(groups[:_SHOWN])}."
