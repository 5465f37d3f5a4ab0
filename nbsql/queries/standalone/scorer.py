"""Scorers for engines that no model lives in: the query of a verb, or of points, in their dialect, with the model's numbers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import column_names
from nbsql.errors import InputError, listed, suggestion
from nbsql.plan import ROW_VERBS, VERBS, Plan
from nbsql.plan.classes import ClassColumn
from nbsql.plan.context import Context, QueryOptions
from nbsql.plan.derived import columns_of_source
from nbsql.plan.facts import Facts
from nbsql.plan.form import Form
from nbsql.queries.standalone.foreign import comparison_kind, scored_elsewhere, source_relation
from nbsql.queries.standalone.terms import IMPOSSIBLE, Term, Terms, is_held, literal
from nbsql.rendering.dialect import DIALECTS, Traits, folded
from nbsql.rendering.renderer import Renderer
from nbsql.spec.spec import Feature, Spec
from nbsql.storage.state import ModelState


@dataclass(frozen=True)
class Calibration:
    """The calibration of posteriors, as numbers: of the classes by their number, from 1 (sql/macros/scoring/calibrated.sql)."""

    method: str
    temperature: float
    lines: Mapping[int, tuple[float, float]]  # Platt's slope and intercept
    knots: Mapping[int, Sequence[tuple[float, float]]]  # the isotonic function: its knots, log-odds and probability, in order


@dataclass(frozen=True, eq=False)
class _Form(Form):
    """The form of a scorer, whose numbers are not in tables: those of its terms that are joined, and those that are not."""

    terms: Sequence[Term] = ()
    has_common: bool = False  # whether the part that all classes share matters: where the likelihood itself is returned

    @cached_property
    def inputs(self) -> list[Feature]:
        """The terms that read what was made of the source: the codes of lists."""
        return [term for term in self.terms if term.shape == "lists"]

    @property
    def star_categories(self) -> list[Feature]:
        return [term for term in self.terms if term.joined or (term.shape == "pairs" and term.parts)]

    @cached_property
    def joint_features(self) -> list[Feature]:
        return [term for term in self.terms if term not in self.star_categories]

    @cached_property
    def features_with_common_term(self) -> list[Feature]:
        return [term for term in self.terms if self.has_common and (term.is_shared or "base" in term.family.macros)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Scorer(Context):
    """The context from which the macros render a scorer: the form has its terms, and the facts no feature."""

    form: _Form
    verb: str
    labels: Sequence[Markup] = ()  # the literals of the labels, in the order of the numbers of the classes
    log_priors: Sequence[float]
    coded: Sequence[Term] = ()  # the columns of codes that terms of several columns read
    traits: Traits = field(repr=False)  # the traits of the dialect
    infinity: Markup | None = None  # the engine's own infinity
    names: Sequence[str] = ()  # the features of a scorecard, in order
    reasons: int = 0  # the number of features to name that cost a row most points
    calibration: Calibration | None = None  # how the posteriors are calibrated
    helpers: Sequence[str] = ()  # the columns of the last step that do not come from the source

    @property
    def read_terms(self) -> list[Term]:
        """The terms that read columns of the source, and the columns of codes."""
        return [*(term for term in self.form.terms if not term.parts and term.shape != "pairs"), *self.coded]

    @property
    def temperature(self) -> float:
        return 1.0 if self.calibration is None else self.calibration.temperature

    @property
    def has_evidence(self) -> bool:
        """Whether the verb needs more than the joint log-likelihoods."""
        return self.verb not in ("joint_log_likelihood", "points")

    @property
    def has_shares(self) -> bool:
        """Whether a calibration has a probability of each class against the rest."""
        return self.calibration is not None and self.calibration.method != "temperature"

    @cached_property
    def terms(self) -> list[tuple[str, Any]]:
        return [("prior_term", self), *([("sum_of_terms", self.form.terms)] if self.form.terms else [])]

    def with_helpers(self, queries: Sequence[Markup]) -> "Scorer":
        """The scorer with the columns that some queries add to those of the source, which is what the first one reads."""
        text = " ".join([queries[0].partition("\nFROM ")[0], *queries[1:]])
        return replace(self, helpers=[*self.options.derived, *dict.fromkeys(re.findall(r"\bAS (nbsql_\w+)", text))])


def _scorer(
    terms: Terms,
    classes: Sequence[ClassColumn],
    verb: str,
    passed: Sequence[str] | None,
    derived: Sequence[str],
    **options: Any,
) -> Scorer:
    facts = Facts(replace(terms.plan.spec, features=()), scoring=False)
    form = _Form(facts, classes, terms=terms.make_terms(), has_common=verb.startswith(("joint", "log")))
    query = QueryOptions(passed_columns=passed, derived=derived)
    coded, traits = [*terms.coded.values()], terms.renderer.traits
    return Scorer(facts=facts, form=form, options=query, verb=verb, coded=coded, traits=traits, **options)


def standalone_query(
    state: ModelState, verb: str, source: Any, dialect: str, columns: Sequence[str] | None, calibration: str | None = None
) -> str:
    """The query of a verb over a source of another engine, a table or a SELECT (sql/macros/scoring/standalone/scorer.sql).

    The verb returns one row for each row of the source, with the columns of the source that are named. None returns all, or the
    model's columns on engines that cannot select all columns but some. Raises InputError if the dialect is unknown, the verb
    has no such query or the source is neither, and NotSupportedError if the model has a feature that cannot be scored this way.
    """
    engine, plan, classes = state.engine, state.plan, state.classes
    traits = check_dialect(dialect)
    if verb not in ROW_VERBS:
        raise InputError(f"{verb} has no query in another dialect, only {listed(ROW_VERBS)}; DuckDB has one with ⟨inline=True⟩")
    renderer = Renderer(dialect, "standalone")
    relation = source_relation(source, renderer)
    context = plan.context(classes)
    rows = sorted(engine.query_macro("parameters_by_class", context, plan.relations["parameters"]))
    spec, relation, derived = scored_elsewhere(plan.spec, relation, renderer, engine.renderer.dialect.name)
    kind = comparison_kind(engine, plan.spec.target_type)
    kind = kind if all(is_held(c.label, kind) for c in classes) else "text"  # which no engine rounds
    passed = passed_columns_elsewhere(plan, traits, columns, VERBS[verb].all_added_columns(classes), verb)
    scorer = _scorer(
        Terms(engine, plan, context, renderer, rows, spec),
        classes,
        verb,
        passed,
        derived,
        labels=[literal(renderer, c.label, kind) for c in classes],
        log_priors=[max(float(row[2]), IMPOSSIBLE) for row in rows],
        infinity=Renderer(dialect).fragment("infinity"),
        calibration=None if calibration is None else _calibration(engine, plan, calibration),
    )
    return renderer.statement("standalone_scorer", scorer, relation)


def _calibration(engine: Engine, plan: Plan, method: str) -> Calibration:
    columns = ["method", "class_no", "temperature", "slope", "intercept", "score", "probability"]
    rows = engine.query_macro("selected_columns", plan.relations["calibration"], columns)
    rows = [row for row in rows if row[0] == method]
    knots: dict[int, list[tuple[float, float]]] = {}
    for _, number, _, _, _, score, probability in rows:
        if score is not None:
            knots.setdefault(number, []).append((score, probability))
    return Calibration(
        method,
        next((row[2] for row in rows if row[2] is not None), 1.0),
        {row[1]: (row[3], row[4]) for row in rows if row[3] is not None},
        {number: sorted(points) for number, points in knots.items()},
    )


def check_dialect(name: str) -> Traits:
    """The traits of a dialect; InputError if it is unknown."""
    if not isinstance(name, str) or name not in DIALECTS:
        meant = "tsql" if name in ("mssql", "sqlserver") else str(name)
        hint = suggestion(meant, DIALECTS) or f"; the dialects are {listed(sorted(DIALECTS), limit=20)}"
        raise InputError(f"no dialect {name!r}{hint}")
    return DIALECTS[name]


def passed_columns_elsewhere(
    plan: Plan, traits: Traits, columns: Sequence[str] | None, added: Sequence[str], verb: str
) -> Sequence[str] | None:
    """The columns of a source of another engine that are returned along with those that a verb adds; None for all.

    Raises InputError if the verb adds one of them, or if they are not a list of names.
    """
    if columns is None:
        if traits.all_but is not None:
            return None
        columns = [*plan.spec.id, *columns_of_source(plan.spec)]
    else:
        columns = column_names(columns)
    added_names = {*map(folded, added)}
    for name in columns:
        if folded(name) in added_names:
            raise InputError(f"the source has a column {name!r}, which {verb} adds; leave it out with ⟨columns=[...]⟩")
    return list({folded(name): name for name in columns}.values())


_DIGITS = 9  # digits by which lost points are compared: ties by rounding alone go to the earlier feature


class _Points(Terms):
    """The terms of a scorecard. The points of a value and the points lost against the reference are treated as two classes.

    A line is of a feature: feature, kind, value, points and points lost.
    """

    def __init__(
        self, engine: Engine, plan: Plan, context: Context, renderer: Renderer, lines: Sequence[Sequence[Any]], spec: Spec
    ) -> None:
        super().__init__(engine, plan, context, renderer, (), spec)
        features = {feature.name: feature for feature in self.features}
        for name, kind, value, points, lost in lines:
            feature, numbers = features[name], [float(points), round(float(lost), _DIGITS)]
            if kind == "value":
                self.lookups.setdefault(name, {})[value] = numbers
            if kind != "value" or feature.family.cell == "boolean":
                of = self.parameters[feature.index] = self.parameters[feature.index] or [{}, {}]
                for k, number in enumerate(numbers):
                    of[k][value if kind == "value" else kind] = number

    def _read_lookups(self) -> None:
        """The values are known already."""

    def _missing_and_unseen(self, feature: Any, of: Sequence[Any]) -> dict[str, list[float]]:  # noqa: ARG002
        return {"missing": [p["missing"] for p in of], "unseen": [p.get("unseen", 0.0) for p in of]}


def standalone_points(
    state: ModelState,
    lines: Sequence[Sequence[Any]],
    relation: Markup,
    dialect: str,
    passed: Sequence[str] | None,
    reasons: int,
    *,
    is_derived: bool = False,
) -> str:
    """The query of the points of the rows of a relation of another engine (sql/macros/scoring/standalone/points.sql).

    The lines of the scorecard (feature, kind, value, points, points lost) have the base points first. The result has the
    columns `passed`, None for all if the dialect can express that, and the names of as many features as `reasons` that cost
    most points. `is_derived` says whether the relation has the columns that the model derives. Raises NotSupportedError if a
    feature cannot be scored in other dialects.
    """
    engine, plan, renderer = state.engine, state.plan, Renderer(dialect, "standalone")
    base, *others = lines
    spec, derived = plan.spec, list[str]()
    if not is_derived:
        spec, relation, derived = scored_elsewhere(spec, relation, renderer, engine.renderer.dialect.name)
    terms = _Points(engine, plan, plan.context(state.classes), renderer, others, spec)
    names, whole = [feature.name for feature in plan.spec.features], [ClassColumn(1, "", "", "")]
    scorer = _scorer(terms, whole, "points", passed, derived, names=names, reasons=reasons, log_priors=[float(base[3])])
    return renderer.statement("standalone_scorer", scorer, relation)
