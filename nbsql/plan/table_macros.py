"""What a user of SQL calls: the table macros of a model over any relation or, of engines without them, functions of a row."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from markupsafe import Markup

from nbsql.plan.base import BINS
from nbsql.plan.classes import ClassColumn
from nbsql.plan.derived import columns_of_source, derived_of, reading_texts, with_derived
from nbsql.plan.expressions import columns_in_expression
from nbsql.plan.joins import needed_dimensions
from nbsql.plan.rows import Judgeable, Rows
from nbsql.plan.scoring import Scoring
from nbsql.plan.verbs import POSTERIORS, ROW_VERBS, UNCALIBRATED, VERBS
from nbsql.rendering.dialect import folded, restore
from nbsql.spec.derived import inputs
from nbsql.spec.rules import checked_columns, checked_label


def create_functions(plan: Scoring, classes: Sequence[ClassColumn]) -> Iterator[tuple[str, str]]:
    """The statements that create the functions, by function name (sql/macros/engines/postgres/functions.sql)."""
    dialect, render = plan.renderer.dialect, plan.renderer.fragment
    double = render("double")
    # The verb of each function, and the calibration of its posteriors.
    functions = {verb: (verb, plan.calibration if verb in POSTERIORS else None) for verb in ROW_VERBS}
    functions["evaluate"] = ("evaluate", plan.calibration)
    if plan.calibration is not None:
        functions |= {name: (verb, None) for name, verb in UNCALIBRATED.items()}
    for name, (verb, calibration) in functions.items():
        if verb == "evaluate":
            yield name, create_evaluate(plan, classes, name, calibration)
    yield "likelihood_ratios", create_likelihood_ratios(plan)
    joins = plan.joins()
    derived = derived_of(plan.spec)
    pairs = [pair for feature in plan.spec.features for pair in zip(feature.columns, feature.types, strict=True)]
    for dimension in (joining.dimension for joining in joins):  # the function looks up its columns by the key
        pairs += zip([key for key, _ in dimension.on], dimension.types, strict=True)
    pairs = [pair for pair in pairs if pair[0] not in {each.name for each in derived}] + list(inputs(derived).items())
    brought = {name for joining in joins for name in joining.dimension.names}
    # A day may come with a time of day, which a date would lose.
    read_as = {"": render("string"), "date": "timestamp without time zone"}
    types = {name: dialect.query(read_as.get(kind, kind)) for name, kind in pairs if name not in brought}
    if not types or plan.spec.segment_by is not None:  # a segment's expression may read any column
        return
    row = render("given_row", list(types.items()), checked_columns(plan.spec, derived))
    given = with_derived(plan.renderer, row, derived, list(types), exact=True)
    rows = Rows(given, joins=joins, passed_columns=())
    if plan.certain:
        functions["predict_certain"] = ("predict", plan.calibration)
    for name, (verb, calibration) in functions.items():
        if verb == "evaluate":
            continue
        if promises := name == "predict_certain":
            context, scored = plan.scored(rows, classes, calibration=calibration)
            promised = render("promised_calibration", plan.relations["calibration"])
            arguments = (plan.relations["parameters"], promised, None, None, calibration is not None)
            query = render("predict_certain", context, scored, *arguments)
        else:
            query = plan.query(verb, rows, classes, calibration=calibration)
        types_of_words = {"prediction": dialect.query(plan.spec.target_type), "reason": render("string")}
        added = [
            (dialect.output(column), types_of_words.get(column, double))
            for column in VERBS[verb].all_added_columns(classes, "certain" if promises else None)
        ]
        body = render("columns_of_answer", query, added)
        literal = dialect.text(restore(body)) if joins else None  # dimensions are dropped and made again
        statement = ("create_function", plan.relations[name], body, added, literal)
        yield name, plan.renderer.statement(*statement, promises=promises)


def create_evaluate(plan: Scoring, classes: Sequence[ClassColumn], name: str, calibration: str | None) -> str:
    """The statement that creates the function for evaluating the model on a relation whose class is known."""
    dialect, render = plan.renderer.dialect, plan.renderer.fragment
    target_type = render("string") if plan.labels_as_text else dialect.query(plan.spec.target_type)
    columns = [
        (dialect.ident("class"), target_type),
        (dialect.ident("metric"), render("string")),
        (dialect.ident("value"), render("double")),
    ]
    placeholder = dialect.ident("nbsql_source")
    derived = derived_of(plan.spec, judged=True)
    rows = Judgeable(placeholder, plan.spec.columns, plan.joins(), as_text=plan.labels_as_text)
    if derived or (not rows.joins and plan.spec.segment_by is None):  # otherwise all other columns would be copied, too
        read = _columns_of_relation(plan)
        relation = plan.renderer.subquery("selected_columns", placeholder, read)
        made = reading_texts(plan.renderer, derived)
        rows = replace(rows, relation=with_derived(plan.renderer, relation, made, read, exact=True))
    query = render(
        "columns_of_answer",
        render("metrics", plan.judged_rows(rows, classes, calibration=calibration), BINS),
        columns,
        cast=True,
    )
    text = dialect.text(restore(query))
    learnt = [*checked_columns(plan.spec, derived), *checked_label(plan.spec)]
    body = dialect.text(restore(render("run_on_relation", text, dialect.text(restore(placeholder)), learnt)))
    return plan.renderer.statement("create_function_of_relation", plan.relations[name], body, columns)


def _columns_of_relation(plan: Scoring) -> list[str]:
    """The columns that judged rows need from a relation, which has none of a dimension."""
    spec = plan.spec
    elsewhere = {*(each.name for each in spec.derived), *(name for dimension in spec.joins for name in dimension.names)}
    more = [key for dimension in spec.joins for key, _ in dimension.on]
    more += sorted(columns_in_expression(spec.segment_by, plan.renderer.dialect.name)) if spec.segment_by else []
    more = [name for name in more if name not in elsewhere]
    return list(dict.fromkeys([*columns_of_source(spec, judged=True), *more]))


def create_likelihood_ratios(plan: Scoring) -> str:
    """The statement that creates the function of likelihood ratios between two classes."""
    dialect = plan.renderer.dialect
    body = dialect.text(restore(plan.query_likelihood_ratios(plan.relations["likelihoods"])))
    statement = ("create_function_of_classes", plan.relations["likelihood_ratios"], body)
    return plan.renderer.statement(*statement, dialect.query(plan.spec.target_type))


def create_table_macros(plan: Scoring, classes: Sequence[ClassColumn]) -> Iterator[tuple[str, str]]:
    """The statements that create the macros, by macro name (sql/macros/storage/table_macros.sql)."""
    render, rows = plan.renderer.fragment, _rows(plan)
    context, scores, parameters = plan.context(classes, rows), _name(plan, "scores"), _name(plan, "parameters")
    tables = (parameters, _name(plan, "lookups"))
    source = plan.prepare_source(context, rows.relation, *tables)
    judged, judged_rows = scores, _rows(plan, judged=True)
    if judged_rows != rows:  # the class is derived, too, so that what it is derived from is read
        judged_source = plan.prepare_source(context, judged_rows.relation, *tables)
        judged = plan.renderer.subquery("scored", context, judged_source, *tables)

    def calibrated(scored: Markup, method: str | None) -> Markup:
        if method is None:
            return scored
        return plan.renderer.subquery("calibrated_scores", context, scored, parameters, _name(plan, "calibration"), method)

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
    """Literals: how a macro finds the database of its model, that no other has its name, and that SQL means the usual."""
    render, schema = plan.renderer.fragment, plan.relations.path[-1]
    found = [render("database_probe", schema), render("is_only_model_of_name", schema), render("has_usual_meaning")]
    return [_text(plan, each) for each in found]


def _text(plan: Scoring, sql: Markup) -> Markup:
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
