"""Scorers for engines that no model lives in: the query of a verb, or of points, in their dialect, with the model's numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import column_names
from nbsql.errors import InputError, listed, suggestion
from nbsql.plan import ROW_VERBS, VERBS, Plan
from nbsql.plan.context import Context
from nbsql.plan.derived import columns_of_source
from nbsql.queries.standalone.foreign import comparison_kind, scored_elsewhere, source_relation
from nbsql.queries.standalone.terms import IMPOSSIBLE, Term, Terms, literal
from nbsql.rendering.dialect import DIALECTS, Traits, folded
from nbsql.rendering.renderer import Renderer
from nbsql.spec.spec import Spec
from nbsql.storage.state import ModelState


@dataclass(frozen=True)
class Class:
    """A class of the scorer: its number, the literal of its label, its log prior, and the names of its columns."""

    number: int
    literal: Markup
    log_prior: float
    probability: str
    joint: str


@dataclass(frozen=True)
class Calibration:
    """The calibration of posteriors, as numbers: of the classes by their number, from 1 (sql/macros/scoring/calibrated.sql)."""

    method: str
    temperature: float
    lines: Mapping[int, tuple[float, float]]  # Platt's slope and intercept
    knots: Mapping[int, Sequence[tuple[float, float]]]  # the isotonic function: its knots, log-odds and probability, in order


@dataclass(frozen=True)
class Scorer:
    """The data from which the macros render a scorer."""

    verb: str
    classes: Sequence[Class]  # the classes in the order of their numbers
    terms: Sequence[Term]  # the terms of the features
    coded: Sequence[Term]  # the columns of codes that terms of several columns read
    passed: Sequence[str] | None  # the columns of the source to return; None returns all
    traits: Traits = field(repr=False)  # the traits of the dialect
    infinity: Markup | None = None  # the engine's own infinity
    names: Sequence[str] = ()  # the features of a scorecard, in order
    reasons: int = 0  # the number of features to name that cost a row most points
    calibration: Calibration | None = None  # how the posteriors are calibrated
    derived: Sequence[str] = ()  # the names of derived columns, which are not returned

    @property
    def common(self) -> list[Term]:
        """The terms with a part that is the same in all classes. They matter only where the likelihood itself is returned."""
        if not self.verb.startswith(("joint", "log")):
            return []
        return [term for term in self.terms if term.base or term.shared]

    @property
    def helpers(self) -> list[str]:
        """The columns of the last step that do not come from the source."""
        steps = ["nbsql_highest", "nbsql_relative_evidence"] if self.verb not in ("joint_log_likelihood", "points") else []
        if self.reasons:
            steps += [f"nbsql_cost_{term.index}" for term in self.terms]
        if self.calibration is not None and self.calibration.method != "temperature":
            steps += ["nbsql_top", "nbsql_second", "nbsql_rest", "nbsql_total", "nbsql_best_share"]
            steps += [f"nbsql_{kind}_{c.number}" for kind in ("odds", "share") for c in self.classes]
        for number in range(1, self.reasons + 1):
            steps += [f"nbsql_most_{number}", f"nbsql_reason_{number}"]
        return [
            *self.derived,
            *(name for term in [*self.terms, *self.coded] for name in term.inputs),
            *(f"nbsql_code_{term.index}" for term in self.coded),
            *(
                f"nbsql_{name}_{term.index}_{j}_{c.number}"
                for term in self.terms
                if term.shape == "multivariate_gaussian"
                for name in ("d", "z")
                for c in self.classes[: 1 if term.shared else None]
                for j in range(1, len(term.columns) + 1)
            ),
            *(f"nbsql_joint_{c.number}" for c in self.classes),
            *(["nbsql_common"] if self.common else []),
            *steps,
        ]


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
    scorer_classes = [
        Class(c.number, literal(renderer, c.label, kind), max(float(rows[c.number - 1][2]), IMPOSSIBLE), c.probability, c.joint)
        for c in classes
    ]
    made = Terms(engine, plan, context, renderer, rows, spec)
    terms = made.make_terms()
    passed = passed_columns_elsewhere(plan, traits, columns, VERBS[verb].all_added_columns(classes), verb)
    infinity = Renderer(dialect).fragment("infinity")
    fitted = None if calibration is None else _calibration(engine, plan, calibration)
    scorer = Scorer(
        verb, scorer_classes, terms, [*made.coded.values()], passed, traits, infinity, calibration=fitted, derived=derived
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
        hint = suggestion(str(name), DIALECTS) or f"; the dialects are {listed(sorted(DIALECTS), limit=20)}"
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
    terms = _Points(engine, plan, plan.context(state.classes), renderer, others, spec).make_terms()
    whole = Class(1, Markup(""), float(base[3]), "", "")
    names = [feature.name for feature in plan.spec.features]
    scorer = Scorer(
        "points", [whole], terms, (), passed, renderer.dialect.traits, names=names, reasons=reasons, derived=derived
    )
    return renderer.statement("standalone_scorer", scorer, relation)
