"""Predictions of single rows: a statement that is prepared once, with the values of the row as its parameters."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, cast

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.rows import as_dict
from nbsql.errors import InputError, ModelError, closest_name
from nbsql.family import NUMBERS, Categorical
from nbsql.plan import VERBS, Plan, Rows
from nbsql.plan.classes import ClassColumn
from nbsql.plan.context import Context
from nbsql.plan.derived import derived_layers, derived_of
from nbsql.plan.facts import ScoredParameter
from nbsql.queries.decisions import Decision, check_calibrated
from nbsql.queries.literal_tables import Alone
from nbsql.queries.row_layout import Group, Item, Row
from nbsql.queries.row_values import NUMERIC, InputColumn
from nbsql.rendering.dialect import folded, restore
from nbsql.spec.column import value_kind
from nbsql.spec.derived import inputs, needed
from nbsql.spec.rules import learnt_texts
from nbsql.spec.spec import Feature
from nbsql.storage.state import ModelState

if TYPE_CHECKING:
    from typing_extensions import NotRequired

_KINDS = {"number": NUMBERS, "date": ("temporal",)}  # the kinds of columns of some kinds of values
_STATEMENTS = 16  # prepared statements kept for a model: one for each set of columns whose values are not of the column's type

Prepared = Callable[[Sequence[Any]], list[tuple[Any, ...]]]


class Answer(TypedDict):
    """The prediction of one row. NULL is None; all values are None if no class can explain the row."""

    prediction: Any
    probability: float | None
    probabilities: dict[Any, float | None]
    reason: NotRequired[str | None]  # with `certain`, why there is no prediction


class RowScorer:
    """Scores single rows by a model as it was when this object was made."""

    def __init__(self, state: ModelState, decision: Decision | None = None) -> None:
        if decision is not None:
            check_calibrated(state, decision)
        self._decision = decision
        self._engine, self._plan, self._title, self._classes = state.engine, state.plan, state.title, state.classes
        engine, plan, title = state.engine, state.plan, state.title
        self._labels = state.labels()
        context = plan.context(state.classes)
        self._row = _row(engine, context, plan)
        self._names = [name for name, _ in self._row.columns]
        self._input_columns = [*_input_columns(self._row.columns, engine, plan, title)]
        self._plain = [column.plain for column in self._input_columns]
        self._known = {name if engine.exact else folded(name) for name in self._names}
        self._is_compact = decision is None and has_compact_form(context, plan)
        self._temperature = _temperature(engine, plan)
        texts = [each.column for each in plan.spec.features if each.family.of_ascii is not each.family]
        are_given = not any(name in self._row.derived for name in texts)
        self._texts = [self._names.index(name) for name in texts] if are_given else []
        self._alone = Alone(state) if engine.plans_once and state.is_alike and not plan.spec.joins else None
        self._statements: dict[tuple[bool, tuple[str | None, ...]], Prepared] = {}
        self._own_types = (None,) * len(self._names)
        self._prepared(self._own_types, is_ascii=bool(self._texts))

    def _prepared(self, read_as: tuple[str | None, ...], *, is_ascii: bool) -> Prepared:
        """The prepared statement, for texts of ASCII or for any.

        Each column is read as a double, as a string or, for None, as its own type.
        """
        run = self._statements.get((is_ascii, read_as))
        if run is None:
            if len(self._statements) == _STATEMENTS:
                self._statements = {key: run for key, run in self._statements.items() if key[1] == self._own_types}
            render = self._engine.renderer
            columns = [
                (name, kind if other is None else render.fragment(other))
                for (name, kind), other in zip(self._row.columns, read_as, strict=True)
            ]
            plan = _for_ascii_texts(self._plan) if is_ascii else self._plan
            row = replace(self._row, columns=columns)
            if self._alone is not None:
                statement = self._alone.statement(self._query(replace(plan, relations=self._alone.relations), row))
                if statement is not None:
                    run = self._with_version(self._engine.plan_once(statement, [kind for _, kind in columns]))
            run = run or self._engine.prepare(restore(self._query(plan, row, plan.relations["spec"])))
            self._statements[is_ascii, read_as] = run
        return run

    def _with_version(self, run: Prepared | None) -> Prepared | None:
        """A statement that reads no relation, with the time of the model's last change, which is read after it."""
        if run is None:
            return None
        last_change = self._engine.prepare(self._engine.renderer.statement("last_change", self._plan.relations["spec"]))

        def rows(values: Sequence[Any]) -> list[tuple[Any, ...]]:
            found = run(values)
            (version,) = last_change(())
            return [(*row, *version) for row in found]

        return rows

    def _query(self, plan: Plan, row: Row, spec: Markup | None = None) -> Markup:
        """The query of the answer without columns of the source; with a spec, and with the time of the model's last change."""
        render, context = plan.renderer.fragment, plan.context(self._classes)
        if self._is_compact:
            row = replace(row, bags=[each for each in context.facts.features if each.family.bag])
            return render("row_joints", context, row, plan.relations["parameters"], plan.relations["lookups"], spec)
        query = self._answers(plan, row)
        return query if spec is None else render("with_updated_at", query, spec)

    def _answers(self, plan: Plan, row: Row) -> Markup:
        rows = _as_rows(plan, row, ())
        if self._decision is None:
            return plan.query("predict_proba", rows, self._classes, calibration=plan.calibration)
        context, scored = plan.scored(rows, self._classes, calibration=plan.calibration)
        relations = [plan.relations[name] for name in ("parameters", "calibration")]
        arguments = (*relations, *self._decision.arguments, plan.calibration is not None)
        return plan.renderer.fragment(self._decision.macro, context, scored, *arguments, classes=self._classes)

    def score(self, row: Mapping[str, Any]) -> tuple[Answer, Any]:
        """The answer for a row, and the time of the last change of the model that gave it.

        Raises InputError if the row lacks a column or has it twice, or if a value is of a kind that the model does not accept.
        """
        values, read_as = self._values(row)
        is_ascii = bool(self._texts) and all((text := values[place]) is None or text.isascii() for place in self._texts)
        rows = self._prepared(read_as, is_ascii=is_ascii)(values)
        return self._answer_from_joints(rows) if self._is_compact else self._answer_from_table(rows[0])

    def _answer_from_joints(self, rows: Sequence[Any]) -> tuple[Answer, Any]:
        """The answer from joint log-likelihoods: posteriors are their softmax; ties go to the class with the lower number."""
        joints, version = {number: joint for number, joint, _ in sorted(rows)}, rows[0][2]
        highest = max(joints.values())
        if highest > -math.inf:
            shares = {number: math.exp((joint - highest) / self._temperature) for number, joint in joints.items()}
            mass = math.fsum(shares.values())
            by_number: dict[int, float | None] = {number: share / mass for number, share in shares.items()}
        else:
            by_number = dict.fromkeys(joints)
        best = max(joints, key=joints.__getitem__)
        # The model may have changed by now, and a number may have no label; the caller then discards this answer.
        labels = dict(enumerate(self._labels, start=1))
        return {
            "prediction": None if by_number[best] is None else labels.get(best),
            "probability": by_number[best],
            "probabilities": {labels.get(number): share for number, share in by_number.items()},
        }, version

    def _answer_from_table(self, rows: Sequence[Any]) -> tuple[Answer, Any]:
        reason: dict[str, Any] = {}
        if self._decision is not None:
            reason["reason"], rows = rows[2], (*rows[:2], *rows[3:])
        prediction, probability, *posteriors, version = rows
        by_number = {column.number: posterior for column, posterior in zip(self._classes, posteriors, strict=True)}
        probabilities = {label: by_number[number] for number, label in enumerate(self._labels, start=1)}
        answer = {"prediction": prediction, "probability": probability, "probabilities": probabilities, **reason}
        return cast("Answer", answer), version

    def _values(self, row: Mapping[str, Any]) -> tuple[list[Any], tuple[str | None, ...]]:
        """The parameters, and the type as which each is read."""
        if not isinstance(row, Mapping):
            cure = f": pass {call}" if (call := as_dict(row)) else ""
            raise InputError(f"a row must be a dictionary, {{column: value}}, not {type(row).__name__}{cure}")
        try:
            values = [row[name] for name in self._names]
        except KeyError:
            values = self._folded(row)
        else:
            if len(row) > len(self._names):
                self._refuse_duplicates(row)
        if all(type(value) in plain for value, plain in zip(values, self._plain, strict=True)):
            return values, self._own_types
        given = [column.to_parameter(value) for column, value in zip(self._input_columns, values, strict=True)]
        return [value for value, _ in given], tuple(other for _, other in given)

    def _folded(self, row: Mapping[str, Any]) -> list[Any]:
        self._refuse_duplicates(row)
        value_by_name = {folded(name): value for name, value in row.items() if isinstance(name, str)}
        for name in self._names:
            if folded(name) not in value_by_name:
                others = [key for key in map(str, row) if folded(key) not in map(folded, self._names)]
                close = closest_name(name, others)
                cure = "; give None if it is not known" if close is None else f"; the row has {close!r}: rename it"
                use = "read by" if any(name in dict(each.reads) for each in self._plan.spec.derived) else "a feature of"
                raise InputError(f"no {name!r} in the row, {use} {self._title}{cure}")
        return [value_by_name[folded(name)] for name in self._names]

    def _refuse_duplicates(self, row: Mapping[str, Any]) -> None:
        """Raise InputError if a feature occurs twice in different case, on engines that ignore case."""
        seen: set[str] = set()
        for name in row:
            key = name if self._engine.exact or not isinstance(name, str) else folded(name)
            if key in seen:
                raise InputError(f"column {name!r} is given twice in the row; leave one of them out")
            if key in self._known:
                seen.add(key)


def row_sql(state: ModelState) -> str:
    """The query of one row whose columns are the parameters $1, $2, ..., for a model as it is in this state."""
    engine, plan, classes = state.engine, state.plan, state.classes
    context = plan.context(classes)
    row = _row(engine, context, plan)
    added = {folded(name) for name in VERBS["predict_proba"].all_added_columns(classes)}
    passed = [name for name, _ in row.columns if folded(name) not in added]
    passed_columns = None if len(passed) == len(row.columns) else passed
    query = _query(plan, context, classes, row, _temperature(engine, plan), passed_columns=passed_columns)
    if not row.listed and (plan.calibration is None or not has_compact_form(context, plan)):
        return restore(query)
    message = f"{state.title} has changed; prepare its predict_one_sql() anew"
    return engine.renderer.statement("with_change_guard", query, plan.relations["spec"], str(state.version[0][0]), message)


def _for_ascii_texts(plan: Plan) -> Plan:
    """The plan for rows whose texts are ASCII, which shorter regular expressions cut into the same words."""
    features = tuple(replace(each, family=each.family.of_ascii) for each in plan.spec.features)
    return replace(plan, spec=replace(plan.spec, features=features))


def _temperature(engine: Engine, plan: Plan) -> float:
    """The temperature by which the posteriors are calibrated; 1 if they are not."""
    if plan.calibration != "temperature":
        return 1.0
    temperature = engine.query_value("temperature_of", plan.relations["calibration"])
    if temperature is None or not 0 < temperature < math.inf:
        raise ModelError(f"the temperature of the model is {temperature!r}, and not a number above 0; calibrate it again")
    return float(temperature)


def has_compact_form(context: Context, plan: Plan) -> bool:
    """Whether the query for one row has a compact form: every feature is a sum over its columns, or over looked-up values.

    Of the calibrations a temperature has it, too.
    """
    if context.facts.has_components or context.facts.backoffs or plan.calibration not in (None, "temperature"):
        return False
    return all(_is_number(f) or _is_looked_up(f) for f in context.facts.features)


def _is_number(feature: Feature) -> bool:
    family = feature.family
    by_column = family.cell == "column" or not (family.over_columns or feature.columns[1:])  # not of a matrix, even of one
    return not family.has_lookups and not family.shared and by_column


def _is_looked_up(feature: Feature) -> bool:
    family = feature.family
    more = family.parameters or family.has_parameter_term or family.norm
    return family.has_lookups and family.kind != "pairs" and not more


def _row(engine: Engine, context: Context, plan: Plan) -> Row:
    columns: dict[str, Markup] = {}
    double = engine.renderer.fragment("double")
    derived = derived_of(plan.spec)
    made = {each.name for each in derived}
    for feature in plan.spec.features:
        for number, name in enumerate(feature.columns):
            if name in made:  # what it is derived from has the type of the fit, and takes its place
                read = inputs(needed(derived, [name])).items()
                columns |= {each: engine.renderer.dialect.query(engine.parameter_type(kind)) for each, kind in read}
            elif columns.get(name, double) == double:  # a joint feature needs the exact type; a number by itself does not
                columns[name] = _type(feature, number, engine)
    layers = derived_layers(engine.renderer, derived, list(columns), exact=engine.exact)
    row = Row(list(columns.items()), layers=layers, derived=made)
    if not has_compact_form(context, plan):
        return row
    levels = [feature for feature in context.facts.features if feature.family.level]
    bags = [feature for feature in context.facts.features if feature.family.bag]
    row = replace(row, groups=list(_groups(context, plan)), levels=levels, bags=bags)
    return _with_numbers(engine, context, plan, row) if context.form.class_numbers else row


def _type(feature: Feature, number: int, engine: Engine) -> Markup:
    """The type as which a value is read. A number that is scored as one keeps its fraction, whatever its column's type."""
    family, render = feature.family, engine.renderer.fragment
    if set(family.accepts) <= NUMERIC or family.is_cut(number):
        return render("double")
    if family.bag:
        kinds = {"tokens": f"{render('string')}[]", "token counts": "MAP(VARCHAR, DOUBLE)"}
        return engine.renderer.dialect.query(kinds.get(family.accepts[0], render("string")))
    kind = engine.parameter_type(feature.types[number]) if feature.types and feature.types[number] else render("string")
    return engine.renderer.dialect.query(kind)


def _input_columns(columns: Sequence[tuple[str, Markup]], engine: Engine, plan: Plan, title: str) -> Iterator[InputColumn]:
    """The values that the model accepts for each column of the row, given the features that read it."""
    derived = derived_of(plan.spec)
    read, texts = inputs(derived), {column: kinds for column, kinds, _ in learnt_texts(plan.spec, derived)}
    reading = defaultdict[str, list[Feature]](list)
    for feature in plan.spec.features:
        for name in {*feature.columns} - read.keys():
            reading[name].append(feature)
    kinds = {str(kind): engine.kind(str(kind)) for kind in {kind for _, kind in columns}}
    for name, kind in columns:
        features = reading[name]
        families = [feature.family for feature in features]
        if name in texts:
            accepts = frozenset().union(*(_KINDS.get(each, (each,)) for each in texts[name]))
        elif name in read:  # any value that its type can be read from
            accepts = NUMERIC if kinds[str(kind)] in NUMERIC else frozenset(Categorical.accepts)
        else:
            accepts = frozenset.intersection(*(frozenset(family.accepts) for family in families))
        bags = [family.accepts[0] for family in families if family.bag]
        is_integer = any(name in family.integers for family in families)
        learnt = {value_kind(f.types[f.columns.index(name)]) for f in features if f.is_category and f.types}
        place = next((place for place, each in enumerate(plan.spec.derived) if folded(each.name) == folded(name)), None)
        given = plan.spec.derived[:place]  # those after it read what it becomes
        parts = {value_kind(dict(each.reads)[name]) for each in given if each.part and name in dict(each.reads)}
        known = next(iter((learnt | parts) - {None}), None)
        of_row = bags[0] if bags else kinds[str(kind)]
        yield InputColumn(name, str(kind), of_row, accepts, title, known, is_integer, bool(parts))


def _groups(context: Context, plan: Plan) -> Iterator[Group]:
    """The numbers, grouped by the expression that scores them: one group for each family and set of options."""
    render = plan.renderer.fragment
    groups: dict[tuple[Any, ...], Group] = {}
    parameters_of = defaultdict[tuple[int, int | None], list[ScoredParameter]](list)
    for each in context.facts.parameters:
        parameters_of[each.feature.index, each.parameter.column].append(each)
    for feature in filter(_is_number, context.facts.features):
        stand_in = replace(feature, index=0, columns=("nbsql_given",))
        term = render("computed_term", stand_in, None)  # of the parameters beside the number, as it has no index
        inputs = render("inputs", stand_in, None, True, False)
        for number, name in enumerate(feature.columns, start=1):
            column = number if feature.family.over_columns else None
            wanted = parameters_of[feature.index, column]
            own = (replace(w, feature=stand_in, parameter=replace(w.parameter, column=column and 1)) for w in wanted)
            parameters = tuple(render("parameter_name", w) for w in own)
            item = Item(name, tuple(render("parameter_name", w) for w in wanted))
            group = groups.get((term, inputs, parameters)) or Group(stand_in, term, parameters, ())
            groups[term, inputs, parameters] = replace(group, items=(*group.items, item))
    yield from groups.values()


def _with_numbers(engine: Engine, context: Context, plan: Plan, row: Row) -> Row:
    query = engine.renderer.statement("parameters_by_class", context, plan.relations["parameters"])
    names = engine.names(query)
    parameters = [dict(zip(names, values, strict=True)) for values in engine.rows(query)]
    numbers = [by_class["class_no"] for by_class in parameters]
    groups = []
    for group in row.groups:
        lists: list[list[Any]] = [[number for number in numbers for _ in group.items]]
        lists += [
            [by_class[str(item.parameters[place])] for by_class in parameters for item in group.items]
            for place in range(len(group.parameters))
        ]
        groups.append(replace(group, numbers=tuple(map(_list_text, lists))))
    return replace(
        row, groups=groups, numbers=(_list_text(numbers), _list_text([by_class["log_prior"] for by_class in parameters]))
    )


def _list_text(numbers: Sequence[float | None]) -> str:
    """A list as DuckDB reads it from text, with all digits; one_row.sql converts it for PostgreSQL."""
    return "[" + ", ".join("NULL" if number is None else repr(number) for number in numbers) + "]"


def _query(
    plan: Plan,
    context: Context,
    classes: Sequence[ClassColumn],
    row: Row,
    temperature: float,
    *,
    passed_columns: Sequence[str] | None,
) -> Markup:
    render = plan.renderer.fragment
    if has_compact_form(context, plan):
        return render("row_scores", context, row, plan.relations["parameters"], plan.relations["lookups"], temperature)
    return plan.query("predict_proba", _as_rows(plan, row, passed_columns), classes, calibration=plan.calibration)


def _as_rows(plan: Plan, row: Row, passed_columns: Sequence[str] | None) -> Rows:
    names = [name for name, _ in row.columns]
    added = [name for name in row.derived if name not in names]
    relation = plan.renderer.fragment("row_as_source", row)
    return Rows(relation, [*names, *added], passed_columns=passed_columns, added=added)
