"""Monitoring: how the rows of each period differ from a reference, and how well the model predicts them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.evaluation.evaluate import check_weights, label_column, weight_column
from nbsql.evaluation.profile import is_number
from nbsql.family import Binned
from nbsql.learning.prepare import answers_for_numbers
from nbsql.plan import Judgeable
from nbsql.plan.context import Context
from nbsql.queries.query import Query
from nbsql.rendering.dialect import folded
from nbsql.spec.spec import Feature, Spec
from nbsql.storage.state import ModelState

METRICS = (
    "psi", "nulls", "unseen", "rows", "log_evidence", "unexplained", "posterior_psi", "label_psi", "labelled", "unknown",
    "expected_accuracy", "accuracy", "log_loss", "predicted", "posterior", "actual",
)  # fmt: skip
_ALL = "nbsql_all"  # the only class of monitored rows (sql/macros/evaluation/monitor.sql)
_WEIGHT = "nbsql_weight"


@dataclass(frozen=True)
class _Side:
    """The monitored rows, or those of the reference, with the column of their labels if they have one."""

    source: Source
    label: str | None
    by: Markup | None = None
    is_reference: bool = False


def monitor(
    state: ModelState,
    source: Source,
    reference: Source | None,
    by: str | None,
    weight: str | None,
    calibration: str | None,
    *,
    summary: bool = False,
) -> Query:
    """The query that compares the rows of each period with a reference and judges the model on them; see `Model.monitor`.

    Raises InputError if a source lacks the weight, `by` is no expression, or labels cannot be those of the model.
    """
    engine, plan, spec = state.engine, state.plan, state.spec
    labels = [label_column(state, side) for side in (source, *([] if reference is None else [reference]))]
    as_text = any(text for _, text in labels)
    sides = [_Side(source, labels[0][0], _period(engine, source, by))]
    if reference is not None:
        sides.append(_Side(reference, labels[1][0], is_reference=True))
    weights = [weight_column(side.source, weight).name for side in sides if weight is not None]
    for side, name in zip(sides, weights, strict=False):
        check_weights(engine, side.source, name)
    names = _columns(spec, sides)
    counted = replace(
        spec, target=_ALL, target_type="INTEGER", weight=_WEIGHT, slice_by="nbsql_period", segment_by=None, components=None,
        half_life=None,
    )  # fmt: skip
    score = None
    if reference is not None:
        counted, score = _with_bins(state, counted, _rows(state, sides[1:], names, weights), names, calibration)
    monitored = engine.renderer.fragment("inline_name", "monitored")
    # the feature that is the period itself, and so moves by definition
    column = None if by is None else _column(engine, source, by)
    period = next((feature.name for feature in spec.features if feature.columns == (column,)), None)
    columns = [*names, "nbsql_period", _WEIGHT]
    rows = Judgeable(monitored, columns, weight=_WEIGHT, as_text=as_text)
    judged = plan.monitored_rows(rows, state.classes, calibration)
    arguments = (
        Context.of(counted), _rows(state, sides, names, weights), names, judged,
        plan.current_cells(), plan.relations["priors"], as_text, period, score,
    )  # fmt: skip
    source.needs = (source.needs, reference)
    if summary:
        monitored = engine.renderer.fragment("monitor", *arguments)
        return Query(engine, engine.renderer.statement("monitor_summary", monitored), source)
    return Query(engine, engine.renderer.statement("monitor", *arguments), source)


def _period(engine: Engine, source: Source, by: str | None) -> Markup | None:
    """The expression of a row's period: a column, or an expression over columns."""
    if by is None:
        return None
    dialect = engine.renderer.dialect
    column = _column(engine, source, by)
    return dialect.query(engine.resolve_expression(by, source, "by")) if column is None else dialect.ident(column)


def _column(engine: Engine, source: Source, by: str) -> str | None:
    """The column of that name, as the source spells it."""
    same = str if engine.exact else folded
    columns = source.columns if isinstance(by, str) else ()
    return next((column.name for column in columns if same(column.name) == same(by)), None)


def _columns(spec: Spec, sides: Sequence[_Side]) -> list[str]:
    """The names of the columns that are read from all sides, the target first."""
    columns = [name for feature in spec.features for name in feature.columns]
    if spec.segment_by is not None:  # the segment expression may read any column
        others = [{folded(column.name) for column in side.source.columns} for side in sides[1:]]
        columns += [column.name for column in sides[0].source.columns if all(folded(column.name) in names for names in others)]
    names_by_key = {folded(name): name for name in [spec.target, *columns]}
    return list(names_by_key.values())


def _rows(state: ModelState, sides: Sequence[_Side], names: Sequence[str], weights: Sequence[str]) -> Markup:
    read = [(side.source.relation, [side.label, *names[1:]], side.by, side.is_reference) for side in sides]
    target_type = state.engine.type_name(state.spec.target_type)
    return state.engine.renderer.fragment("monitored_rows", read, names, target_type, next(iter(weights), None))


def _with_bins(
    state: ModelState, counted: Spec, rows: Markup, names: Sequence[str], calibration: str | None
) -> tuple[Spec, tuple[Sequence[float], Sequence[str]]]:
    """The spec whose numbers are cut into tenths of the reference rows, and the bins of their score."""
    engine, renderer = state.engine, state.engine.renderer
    relation = renderer.fragment("subquery", rows)

    def bins_by_name(features: Iterable[Feature], relation: Markup) -> dict[str, Binned]:
        """Tenths of the reference rows."""
        family = Binned(alpha=1.0, nulls="skip", unseen="smooth", estimate="mean")
        spec = replace(counted, features=tuple(replace(feature, family=family) for feature in features))
        answers, _ = answers_for_numbers(engine, spec, renderer.fragment("rows_by_period", relation))
        return {name: family.with_fitted(rows) for name, rows in answers.items()}

    bins = bins_by_name(filter(is_number, counted.features), relation)
    features = tuple(replace(each, family=bins.get(each.name, each.family)) for each in counted.features)
    monitored = Judgeable(relation, [*names, "nbsql_period", _WEIGHT])
    _, scored = state.plan.scored(monitored, state.classes, calibration=calibration)
    column = Feature("nbsql_probability", Binned(), ("nbsql_probability",), 0, floating=True)
    score = bins_by_name([column], scored)[column.name]
    # The sums of a score may differ in their last bits from one reading to the next, and many rows may share one.
    edges = [edge * (1 - 1e-12) for edge in score.edges or ()]
    return replace(counted, features=features), (edges, score.labels)
