"""The table macros of a model, for engines that have them: the verbs over any relation, for use from SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from nbsql.plan.base import BINS
from nbsql.plan.classes import ClassColumn
from nbsql.plan.derived import derived_of, reading_texts, with_derived
from nbsql.plan.joins import needed_dimensions
from nbsql.plan.rows import Rows
from nbsql.plan.scoring import Scoring
from nbsql.plan.verbs import POSTERIORS, UNCALIBRATED, VERBS
from nbsql.rendering.dialect import folded, restore
from nbsql.spec.rules import checked_columns, checked_label


def create_table_macros(plan: Scoring, classes: Sequence[ClassColumn]) -> Iterator[tuple[str, str]]:
    """The statements that create the macros, by macro name (sql/macros/storage/table_macros.sql)."""
    render, rows = plan.renderer.fragment, _rows(plan)
    context, scores, parameters = plan.context(classes, rows), _name(plan, "scores"), _name(plan, "parameters")
    tables = (parameters, _name(plan, "lookups"))
    source = plan.prepare_source(context, rows.relation, *tables)
    judged, judged_rows = scores, _rows(plan, judged=True)
    if judged_rows != rows:  # the class is derived, too, so that what it is derived from is read
        judged_source = plan.prepare_source(context, judged_rows.relation, *tables)
        judged = render("subquery", render("scored", context, judged_source, *tables))

    def calibrated(scored: Markup, method: str | None) -> Markup:
        if method is None:
            return scored
        return render("subquery", render("calibrated_scores", context, scored, parameters, _name(plan, "calibration"), method))

    def answer(verb: str, calibration: str | None) -> Markup:
        scored = calibrated(judged if verb == "evaluate" else scores, calibration)
        if verb != "evaluate":
            return render(verb, context, scored)
        return render("metrics", render("judged_rows", context, scored, parameters, None, plan.labels_as_text), BINS)

    yield _macro(plan, "class_scores", render("scored", context, source, *tables))
    for verb in VERBS:
        if verb == "explain":
            yield _macro(plan, verb, plan.query(verb, rows, classes, tables=tables))
        else:
            yield _macro(plan, verb, answer(verb, plan.calibration if verb in POSTERIORS else None))
    yield _macro(plan, "reasons", render("reasons", context, _name(plan, "explained")))
    yield _macro(plan, "evaluate", answer("evaluate", plan.calibration))
    for name, verb in UNCALIBRATED.items() if plan.calibration is not None else ():
        yield _macro(plan, name, answer(verb, None))
    if plan.certain:
        scored, is_calibrated = calibrated(scores, plan.calibration), plan.calibration is not None
        arguments = (scored, parameters, _name(plan, "calibration"), None, None, is_calibrated)
        yield _macro(plan, "predict_certain", render("predict_certain", context, *arguments, checks_names=True))
    ratios, likelihoods = plan.query_likelihood_ratios(_name(plan, "likelihoods")), _relation(plan, "likelihoods")
    statement = ("create_table_macro_of_classes", plan.relations["likelihood_ratios"], ratios, likelihoods)
    yield "likelihood_ratios", plan.renderer.statement(*statement, *_where_model_is(plan))


def _macro(plan: Scoring, name: str, query: Markup) -> tuple[str, str]:
    """A macro over a relation. Its query has the names of `_name` for what it reads."""
    reads = {read: _relation(plan, read) for read in ("parameters", "lookups", "calibration")}
    calls = {"scores": "class_scores", "explained": "explain"}
    reads |= {read: plan.renderer.fragment("call_on_source", _relation(plan, macro)) for read, macro in calls.items()}
    for number, dimension in enumerate(needed_dimensions(plan.spec), start=1):
        reads[f"dimension_{number}"] = _literal(plan, *dimension.path)
    if promises := name == "predict_certain":
        reads["calibration"] = plan.renderer.fragment("promised_calibration_as_text", reads["calibration"])
    used = [(_name(plan, read), relation) for read, relation in reads.items() if _name(plan, read) in query]
    derived = derived_of(plan.spec, judged=name == "evaluate")
    read = checked_columns(plan.spec, derived) if _name(plan, "source") in query else []
    judged = checked_label(plan.spec) if name == "evaluate" else []
    conditions = [plan.renderer.fragment("has_learnt_types", columns) for columns in (read, judged)]
    texts = [_text(plan, each) for each in (query, *conditions)]
    where = _where_model_is(plan)
    all_text = "".join([*texts, *where, *(part for pair in used for part in pair)])
    marks = 1 + max(map(len, re.findall("\x01+", all_text)), default=0)
    arguments = (*texts, used, *where, marks)
    return name, plan.renderer.statement("create_table_macro", plan.relations[name], *arguments, promises=promises)


def _where_model_is(plan: Scoring) -> list[Markup]:
    """How a macro finds the database of its model, and checks that no other has one of its name, as literals."""
    schema = plan.relations.path[-1]
    return [_text(plan, plan.renderer.fragment(macro, schema)) for macro in ("database_probe", "is_only_model_of_name")]


def _text(plan: Scoring, sql: Markup) -> Markup:
    """SQL as a literal."""
    return plan.renderer.dialect.text(restore(sql))


def _rows(plan: Scoring, *, judged: bool = False) -> Rows:
    """The rows of a macro's argument, with the columns that the model derives; if they are judged, with the class."""
    derived = derived_of(plan.spec, judged=judged)
    relation = with_derived(plan.renderer, _name(plan, "source"), reading_texts(plan.renderer, derived), None)
    added = [each.name for each in derived if folded(each.name) not in each.read_names]
    return Rows(relation, joins=plan.joins(), added=added)


def _name(plan: Scoring, read: str) -> Markup:
    """The name by which the query of a macro reads its source, the scores, a dimension or a relation of the model."""
    return plan.renderer.dialect.word(f"nbsql_{read}")


def _relation(plan: Scoring, name: str) -> Markup:
    return _literal(plan, plan.relations.path[-1], name)


def _literal(plan: Scoring, *path: str) -> Markup:
    """The name of a relation without its database, which depends on how the file is attached, as a literal."""
    return plan.renderer.dialect.text(restore(plan.renderer.dialect.ident(*path)))
