"""The panel of the data that a model has learnt: what is missing, how many values there are, and what looks odd."""

import re
from collections.abc import Iterator

from nbsql.errors import ModelError, counted, listed
from nbsql.learning.family_warnings import NEARLY_UNIQUE
from nbsql.learning.spelling_advice import spellings
from nbsql.queries.query import Query, priors_query
from nbsql.queries.table import number, share
from nbsql.report.panel import Figure, Request, records, shown
from nbsql.spec.spec import Feature

_BARS = 48
_SPELT = 200  # the most frequent values of a category that are compared
_SHOWN = 3
_SAID = re.compile(r"differ only by case or blanks|has [\d,]+ values in [\d,]+ rows")  # which it says itself
_WRITTEN = re.compile(r", written as '.*'(?=,)")  # an example of how a number is written


def data(request: Request) -> Iterator[Figure]:
    """The features with the share of rows that have a value, the number of distinct values, and notes on odd values."""
    state = request.state
    state.require("drift")
    own = dict[str, Feature]()  # of a column that is several features with a weight each, the first
    for feature in state.spec.features:
        if not feature.family.over_columns:
            own.setdefault(feature.column, feature)
    features = [*own.values()]
    if not features:
        raise ModelError(f"{state.title} has no feature of a single column")
    query = Query(
        state.engine,
        state.engine.renderer.statement("feature_data", state.plan.current_cells(), state.relations["priors"], features),
    )
    rows = records(query)
    binned = {feature.name for feature in features if feature.family.cell == "bin" or feature.family.edges is not None}
    bars = []
    for row in rows[:_BARS]:
        values = "" if row["levels"] is None else counted(row["levels"], "bin" if row["feature"] in binned else "value")
        missing = f"{share(row['missing'])} missing" if row["missing"] else ""
        words = f"{number(row['n'])} words" if row["missing"] is None else ""
        known = 1 if row["missing"] is None else 1 - row["missing"]
        label = ", ".join(filter(None, (values, words, missing)))
        bars.append({**row, "feature": shown(row["feature"]), "known": known, "label": label})
    gaps = [row for row in rows if row["missing"]]
    read = len({column for feature in state.spec.features for column in feature.columns})
    several, without = len(features), len(gaps)
    finding = f"{counted(without, 'column')} of {several:,} {'has' if without == 1 else 'have'} missing values"
    finding += f", most of all {shown(gaps[0]['feature'])} ({share(gaps[0]['missing'])})" if gaps else ""
    if not gaps:
        finding = f"No value is missing in {'the column' if several == 1 else f'any of the {several:,} columns'}"
    unique = [row["feature"] for row in rows if row["missing"] is not None and (row["levels"] or 0) > NEARLY_UNIQUE * row["n"]]
    learnt = sum(row["n"] or 0 for row in records(priors_query(state)))
    notes = [
        f"{counted(int(learnt), 'row')} of {counted(read, 'column')}." if learnt == int(learnt) else None,
        f"{listed(unique, _SHOWN)}: hardly any value occurs twice, so that new rows have others." if unique else None,
        *_warned(request),
        *_alike(request, [feature.name for feature in features if feature.family.cell == "level"]),
        f"{_BARS} of {len(rows):,} columns{', those with most missing values' if gaps else ''}." if len(rows) > _BARS else None,
    ]
    yield Figure(finding, {"rows": bars}, query.sql, "data", notes=notes)


def _warned(request: Request) -> Iterator[str]:
    """What the fit has warned of, without the cure for its user, and without values, which may be of a single row."""
    for message in request.warned:
        if _SAID.search(str(message)):
            continue
        fact, _, _ = str(message).partition("; ")
        yield f"{fact[0].upper()}{re.sub(_WRITTEN, '', fact[1:])}."


def _alike(request: Request, categories: list[str]) -> Iterator[str]:
    """Notes on classes, and on values of categories, that differ only by case or blanks; rare ones are not named."""
    state, values = request.state, dict[str, list[str]]()
    found = (
        state.engine.query_macro("most_frequent_values", state.plan.current_cells(), categories, _SPELT) if categories else []
    )
    for name, value, n in found:
        if n >= request.least:
            values.setdefault(f"Values of {shown(name)}", []).append(value)
    priors = records(priors_query(state), digits=None)
    classes = [row["class"] for row in priors if isinstance(row["class"], str) and (row["n"] or 0) >= request.least]
    for subject, spelt in {f"Classes of {shown(state.spec.target)}": classes, **values}.items():
        groups = [" and ".join(map(repr, group)) for group in spellings(spelt)]
        if groups:
            yield f"{subject} differ only by case or blanks: {'; '.join(groups[:_SHOWN])}."
