"""The first paragraph of the report, for a reader who reads nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from nbsql.queries.query import relation_query
from nbsql.queries.table import counted, number, share
from nbsql.report.document import Section
from nbsql.report.panel import Figure, class_name, plain, records, shown
from nbsql.report.scored_source import ScoredSource
from nbsql.report.source_panels import DEPENDENT
from nbsql.storage.state import ModelState

_FINDINGS = ("ranking", "discrimination", "slices", "drift", "monitor")  # the panels whose findings it repeats, at most three
_FEW = 5  # classes that are named
_OFF = 0.05  # the calibration error above which probabilities are not to be taken as they are


@dataclass(frozen=True)
class Summary:
    """What the model is, how good it is, what it found, and what to keep in mind."""

    subject: str
    verdict: str
    findings: list[str]
    caveat: str


def summary(state: ModelState, found: ScoredSource | None, sections: list[Section], least: int) -> Summary:
    """The summary of a report, from the findings of its panels."""
    figures = {section.panel.name: section.figures[0].figure for section in sections}
    findings = {name: figure.finding for name, figure in figures.items()}
    if found is not None and found.held_out is not None:
        findings.pop("slices", None)  # its accuracy is that of the model itself, on rows that it has learnt
    told = [findings[name] for name in _FINDINGS if name in findings][:3]
    return Summary(_subject(state, least), _verdict(state, found), told, _caveat(found, figures.get("dependence")))


def _subject(state: ModelState, least: int) -> str:
    priors = sorted(records(relation_query(state, "priors", "class")), key=lambda row: -(row["prior"] or 0))
    rows = sum(row["n"] or 0 for row in priors)
    target = shown(state.spec.target)
    named = f", one of {len(priors)} classes"
    if len(priors) < _FEW and all(row["n"] is None or row["n"] >= least for row in priors):
        named = f", which is {' or '.join(shown(row['class']) for row in priors)}"
    learnt = f" It was learnt from {number(rows)} rows." if rows else ""
    return f"The model predicts {target}{named}, from {counted(len(state.spec.features), 'column')}.{learnt}"


def _verdict(state: ModelState, found: ScoredSource | None) -> str:
    if found is None:
        return "It was not tried on rows whose class is known, so this page cannot say how good it is."
    judged = found.evaluation
    usual = class_name(state.spec.target, plain(max(judged.classes, key=lambda each: each.support).label))
    which = "has" if judged.learnt else "had not"
    right = f"Of {judged.rows:,} rows that it {which} learnt, it predicts {share(judged.accuracy)} right"
    if found.held_out is not None:
        right = f"Of {judged.rows:,} rows, each predicted by a model that has not learnt it, {share(judged.accuracy)} are right"
    if judged.accuracy <= judged.majority:
        return f"{right}. Always predicting {usual} is right for {share(judged.majority)}: as a decision it is of no use."
    fewer = (judged.accuracy - judged.majority) / (1 - judged.majority)
    return (
        f"{right}: {share(fewer)} fewer errors than by always predicting {usual}, which is right for {share(judged.majority)}."
    )


def _caveat(found: ScoredSource | None, dependence: Figure | None) -> str:
    if found is None:
        return "The numbers below follow from the counts alone."
    judged = found.evaluation
    if found.is_optimistic:
        return f"{found.how}."
    if cautions := judged.cautions():
        return f"{cautions[0][0].upper()}{cautions[0][1:]}."
    if judged.calibration_error > _OFF:
        off = share(judged.calibration_error)
        return f"Its probabilities are {off} off on average: take them as an order, or calibrate the model."
    if dependence is not None and max(row["excess"] for row in dependence.tables["rows"]) > DEPENDENT:
        return f"It counts some evidence twice: {dependence.finding}."
    return "The figures hold for rows like those it was tried on."
