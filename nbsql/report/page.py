"""The report: one page with all panels, which needs no network and is readable without scripts."""

import datetime
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbsql.engines.output import check_output, output_file
from nbsql.errors import InputError, ModelError, NotSupportedError, counted, path_text
from nbsql.evaluation.gain import best_gain_over_model
from nbsql.family.checks import whole_number
from nbsql.queries.query import priors_query
from nbsql.queries.table import number, share
from nbsql.report.document import RenderedFigure, Section, render_figure, render_page, vl_convert
from nbsql.report.model_panels import by_information
from nbsql.report.panel import Figure, Panel, Request, class_name, distinct_names, plain, records, shown
from nbsql.report.panels import PANELS
from nbsql.report.scored_source import ScoredSource, files_read, score_source
from nbsql.storage.state import ModelState
from nbsql.version import __version__

LARGEST = 1_500_000  # the most bytes of a page
PROFILES = 12  # the number of features, the most informative ones, that the report shows one by one


def write_report(
    state: ModelState, path: str | os.PathLike[str], source: Any, *, rows: int | Sequence[int], least: int,
    folds: int | str | None, by: str | None, gain: bool, made: str = "", warned: Sequence[str] = (),
) -> None:  # fmt: skip
    """Write the report of a model; see `Model.report`. `made` says how the model was made, for readers, `warned` of what."""
    check_request(path, rows, least)
    if rows and source is None:
        raise InputError("⟨rows⟩ are those of a source; give it, or leave out ⟨rows⟩")
    if by is not None and source is None:
        raise InputError("⟨by⟩ says the period of the rows of a source; give it, or leave out ⟨by⟩")
    if gain and source is None:
        raise InputError("⟨gain⟩ tries other methods on the rows of a source; give it, or leave out ⟨gain⟩")
    with (
        distinct_names(),
        score_source(state, source, folds) as (state, found),
        output_file(path, files_read(state, None if found is None else found.source)) as draft,
    ):
        if found is not None and folds != "auto":
            _ = found.held_out  # raise an error for impossible folds, instead of leaving panels out
        gained = best_gain_over_model(state, found.source, None) if gain and found is not None else ""
        sections, left_out = _sections(state, found, rows, least, by, gained, warned)
        text = page(state, found, sections, left_out, least, made)
        if len(text.encode()) > LARGEST:
            for section in sections:
                section.figures[:] = [item.shortened() for item in section.figures]
            text = page(state, found, sections, left_out, least, made)
        while len(text.encode()) > LARGEST and (crowded := [section for section in sections if len(section.figures) > 1]):
            crowd = max(crowded, key=lambda section: len(section.figures))
            last = crowd.figures.pop()  # the least informative one
            name = f"{crowd.panel.name} of {last.figure.name}"
            left_out.append((name, "left out to keep the page below 1.5 MB; model.plot draws it"))
            text = page(state, found, sections, left_out, least, made)
        draft.write_bytes(text.encode())


def check_request(path: str | os.PathLike[str], rows: int | Sequence[int], least: int) -> None:
    """Raise an error before any work, if the report cannot be drawn or written, or shows no such rows or counts."""
    vl_convert()
    whole_number(least, "least")
    _check_rows(rows)
    check_output(path)
    if Path(path_text(path)).suffix.lower() not in (".html", ".htm"):  # such as a source, given for the path
        raise InputError(f"a report is a page of HTML; end the path {str(path)!r} with .html")


def _check_rows(rows: Any) -> None:
    """Raise InputError unless it is a number of rows, or a list of the numbers of rows."""
    for row in rows if isinstance(rows, (list, tuple, range)) else ():
        whole_number(row, "a row of rows")
    if not isinstance(rows, (list, tuple, range)):
        whole_number(rows, "rows", 0)


def page(
    state: ModelState, found: ScoredSource | None, sections: list[Section], left_out: list[tuple[str, str]], least: int,
    made: str,
) -> str:  # fmt: skip
    title = f"Model {shown(state.name)}" if state.name else f"A model of {shown(state.spec.target)}"
    told = f"nbsql {__version__}, {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC"
    source = None if found is None or state.spec.describes_rows else shown(found.label)
    is_said = found is None or state.spec.describes_rows or found.is_optimistic  # of which the summary speaks
    how = ". ".join(filter(None, [made, "" if found is None or is_said else found.how]))
    return render_page(
        title=title, told=told, source=source, how=how, summary=summary(state, found, sections, least), sections=sections,
        left_out=left_out, least=least,
    )  # fmt: skip


def _sections(
    state: ModelState, found: ScoredSource | None, rows: int | Sequence[int], least: int, by: str | None, gained: str,
    warned: Sequence[str],
) -> tuple[list[Section], list[tuple[str, str]]]:  # fmt: skip
    number, chosen = (rows, ()) if isinstance(rows, int) else (len(rows), rows)
    watched = None if found is None else found.source
    request = Request(state, found, least, least, number, chosen, watched=watched, by=by, gained=gained, warned=warned)
    sections: list[Section] = []
    left_out: dict[str, list[str]] = {}  # the names of panels by the reason
    for panel in PANELS:
        if (panel.needs_source and found is None) or (panel.shows_rows and not rows) or (panel.of_periods and by is None):
            continue
        if state.engine.watch is not None:
            state.engine.watch(panel.name)
        figures: list[RenderedFigure] = []
        for one in _each(panel, request):
            found_figures, reason = _figures(panel, one)
            figures += [
                render_figure(f"{panel.name}-{at}", each) for at, each in enumerate(found_figures, start=len(figures) + 1)
            ]
            if reason:
                name = panel.name if one.feature is None else f"{panel.name} of {shown(one.feature)}"
                left_out.setdefault(reason, []).append(name)
        if figures:
            sections.append(Section(panel, figures))
    return sections, [(", ".join(names), reason) for reason, names in left_out.items()]


def _figures(panel: Panel, request: Request) -> tuple[list[Figure], str]:
    """The figures of a panel, or the reason why there are none."""
    try:
        return list(panel.drawn(request)), ""
    except (InputError, ModelError, NotSupportedError) as error:
        return [], str(error)


def _each(panel: Panel, request: Request) -> Iterator[Request]:
    """The requests to a panel: one for each feature, if it shows a single feature."""
    if not panel.of_feature:
        yield request
        return
    for name in by_information(request.state, [feature.name for feature in request.state.spec.features])[:PROFILES]:
        yield replace(request, feature=name)


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
    tied = state.spec.has_weights or any(feature.family.kind == "pairs" for feature in state.spec.features)
    dependence = None if tied else figures.get("dependence")  # such a model does not count the evidence of both in full
    if state.spec.describes_rows and found is not None:
        caveat = f"Bars of numbers and the dependence are of the rows of {shown(found.label)}; all else is of the counts."
        return Summary(_subject(state, least), _verdict(state, None), told, caveat)
    return Summary(_subject(state, least), _verdict(state, found), told, _caveat(found, dependence))


def _subject(state: ModelState, least: int) -> str:
    priors = sorted(records(priors_query(state)), key=lambda row: -(row["prior"] or 0))
    rows = sum(row["n"] or 0 for row in priors)
    target = shown(state.spec.target)
    named = f", one of {len(priors)} classes"
    if len(priors) < _FEW and all(row["n"] is None or row["n"] >= least for row in priors):
        *others, last = (shown(row["class"]) for row in priors)
        named = f", which is {', '.join(others)}{' or ' if others else ''}{last}"
    sources = [shown(row[2]) for row in state.engine.query_macro("all_rows", state.relations["batches"])]
    of = f" of {sources[0]}" if len(sources) == 1 and not sources[0].startswith("the ") else ""
    learnt = f" It was learnt from {number(rows)} rows{of}." if rows else ""
    columns = {column for feature in state.spec.features for column in feature.columns}
    from_columns = counted(len(columns), "column")
    if state.spec.describes_rows:
        return f"The model describes rows by {from_columns}, without a target.{learnt}"
    return f"The model predicts {target}{named}, from {from_columns}.{learnt}"


def _verdict(state: ModelState, found: ScoredSource | None) -> str:
    if state.spec.describes_rows:
        return "It says how unusual a row is: model.unusual(source) begins with the least likely one."
    if found is None:
        return "It was not tried on rows whose class is known, so this page cannot say how good it is."
    judged = found.evaluation
    usual = class_name(state.spec.target, plain(max(judged.classes, key=lambda each: each.support).label))
    which = " that it has learnt" if judged.learnt else " that it had not learnt"
    if judged.share_learnt and not judged.learnt:
        which = f", about {judged.share_learnt:.0%} of which it has learnt"
    right = f"Of {judged.rows:,} rows{which}, it predicts {share(judged.accuracy)} right"
    if found.held_out is not None:
        right = f"Of {judged.rows:,} rows, each predicted by a model that has not learnt it, {share(judged.accuracy)} are right"
    if judged.accuracy <= judged.majority:
        return f"{right}. Always predicting {usual} is right for {share(judged.majority)}: as a decision it is of no use."
    if judged.accuracy == 1:
        return f"{right}. Always predicting {usual} is right for {share(judged.majority)}."
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
        cure = "" if judged.calibrated_by else ", or calibrate the model"
        return f"Its probabilities are {off} off on average: take them as an order{cure}."
    if dependence is not None and dependence.finding.startswith("Within"):
        return f"It counts some evidence twice: {dependence.finding[0].lower()}{dependence.finding[1:]}."
    return "The figures hold for rows like those it was tried on."
