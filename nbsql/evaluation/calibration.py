"""Calibration: posteriors that are right as often as they say, fitted on rows that the model has not seen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.engines.steps import Steps
from nbsql.errors import InputError, listed, suggestion
from nbsql.evaluation.evaluate import Evaluator, rows_to_judge
from nbsql.evaluation.evaluation import Evaluation
from nbsql.evaluation.refitted_folds import out_of_fold
from nbsql.family.checks import share
from nbsql.plan import Plan
from nbsql.queries.query import Query
from nbsql.queries.table import Displayed, Table
from nbsql.storage.calibration import BESIDE_POSTERIORS, create_calibration
from nbsql.storage.drafts import draft_plan, publish
from nbsql.storage.schema import is_calibrated
from nbsql.storage.state import ModelState
from nbsql.warn import warn_user

Method = Literal["temperature", "platt", "isotonic", "conformal", "certain"]
METHODS = get_args(Method)
_COMPARED_METRICS = ("accuracy", "log loss", "Brier score", "calibration error")
_TEMPERATURE_BOUND = 999.0  # from which on a temperature is at its bound, 1000 (calibration/temperature.sql)
_SHOWN = (0.8, 0.9, 0.95, 0.99)  # the shares of right predictions whose rows are counted
_NOTABLE_LOSS = 1e-3  # an increase of the log loss, in nats, that is worth a warning


@dataclass(frozen=True, repr=False)
class Calibration(Displayed):
    """The result of a calibration.

    Args:
        method: "temperature", "platt", "isotonic", "conformal" or "certain".
        rows: the number of rows calibrated on: rows with a class that the model knows and can explain.
        log_loss: the mean of -ln p of the true class over these rows before, in nats; p is kept between 2^-52 and 1 - 2^-52.
        calibrated_log_loss: the same after, on the rows that the calibration was fitted on, so that it flatters platt and
            isotonic.
        temperature: T, for that method.
        before: the evaluation of the model on the test rows, if there were any.
        after: the evaluation of the calibrated model on them.
        decided: for "certain", the share of these rows that `predict` decides, by the share of these that are right at least.
        parameters: the table `calibration`: method, class_no, class, temperature, slope, intercept, score, probability.

    >>> import duckdb, nbsql
    >>> con = duckdb.connect()
    >>> _ = con.execute("CREATE TABLE t AS SELECT i % 2 AS y, i % 2 * 2 + i % 5 AS x FROM range(60) AS r(i)")
    >>> found = nbsql.fit(con, "t", target="y").calibrate("t", folds=3)
    >>> found.method, found.rows
    ('temperature', 60)
    >>> found.calibrated_log_loss <= found.log_loss
    True
    """

    method: str
    rows: int
    log_loss: float
    calibrated_log_loss: float
    temperature: float | None
    before: Evaluation | None = field(repr=False)
    after: Evaluation | None = field(repr=False)
    decided: Mapping[float, float]
    parameters: Query = field(repr=False, compare=False)

    def table(self) -> list[tuple[str, int, str, float, float]]:
        """One line for each number: where it was measured, the number of rows, its name, before, after."""
        lines = [("calibrated on", self.rows, "log loss", self.log_loss, self.calibrated_log_loss)]
        if self.before is not None and self.after is not None:
            for (name, before), (_, after) in zip(self.before.summary(), self.after.summary(), strict=True):
                if name in _COMPARED_METRICS and before is not None and after is not None:
                    lines.append(("test", self.before.rows, name, before, after))
        return lines

    def to_dict(self) -> dict[str, Any]:
        """The numbers, in types that JSON has."""
        names = ("method", "rows", "log_loss", "calibrated_log_loss", "temperature", "decided")
        tests = {"before": self.before and self.before.to_dict(), "after": self.after and self.after.to_dict()}
        return {**{name: getattr(self, name) for name in names}, **tests}

    def _summary_tables(self) -> tuple[list[str], list[Table]]:
        title = f"calibrated by {self.method}" + (f", T = {self.temperature:.4f}" if self.temperature is not None else "")
        lines = [
            [place, f"{rows:,}", name, f"{before:.4f}", f"{after:.4f}"] for place, rows, name, before, after in self.table()
        ]
        table = Table(["", "rows", "", "before", "after"], lines, right=[1, 3, 4])
        decided = [[f"{certain:g}", f"{share:.4f}"] for certain, share in self.decided.items()]
        return [title], [table, *([Table(["certain", "decided"], decided, right=[0, 1])] if decided else [])]


def calibrate(
    state: ModelState,
    source: Source,
    *,
    method: str,
    folds: int | str | None,
    weight: str | None,
    test: Source | None,
    confidence: float | None,
) -> Calibration:
    """Calibrate a model, inside the caller's transaction; see `Model.calibrate`."""
    engine, plan, classes, title = state.engine, state.plan, state.classes, state.title
    if method not in METHODS:
        meant = suggestion("platt" if method == "sigmoid" else str(method), METHODS)  # scikit-learn's word
        raise InputError(f"no method {method!r}{meant or f'; there are {listed(METHODS)}'}")
    if confidence is not None and method != "certain":
        raise InputError("⟨confidence⟩ goes with ⟨method='certain'⟩")
    confidence = 0.95 if confidence is None else share(confidence, "confidence")
    if weight not in (None, state.spec.weight) and folds is not None and test is None:
        raise InputError("⟨weight⟩ goes with ⟨folds=None⟩ or ⟨test⟩; in folds, rows count by the weight of the fit")
    if len(classes) < 2:
        raise InputError(f"{title} has one class only; there is nothing to calibrate")
    own = plan.calibration if method in BESIDE_POSTERIORS else None
    before = None if test is None else Evaluator(state, test, weight, own).evaluate()
    renderer, known = engine.renderer, method == "certain"
    with engine.temporaries() as temporary:
        rows, scores = temporary("outcomes"), temporary("scores")  # computed from tables that are then dropped
        _create_outcomes(state, source, rows, folds, weight, has_known=known)
        if method in ("platt", "isotonic"):
            engine.create("calibrate", scores, renderer.fragment("calibration_scores", rows))
        last, decided = rows, {}
        if method != "conformal":
            read = scores if method in ("platt", "isotonic") else rows
            last = search_parameters(engine, method, read, temporary, *([confidence] if known else []))
        result = renderer.subquery(f"{method}_result", last)
        if known:
            shares = engine.query_macro("shares_decided", result)
            if not shares:
                raise InputError(f"{title} knows nothing of the rows of {source.label}; nothing to calibrate on")
            decided = {certain: max((share for share, least in shares if least >= certain), default=0.0) for certain in _SHOWN}
        draft = _create_draft(state, method, result, temporary)
        place = draft.relations["calibration"]
        ((count, _, log_loss, after_loss),) = engine.query_macro("calibration_losses", rows, place, method)
        temperature = float(engine.query_value("temperature_of", place)) if method == "temperature" else None
        publish(engine, draft, plan.relations, state.version)
    judged_by = own if method in BESIDE_POSTERIORS else method
    after = None if test is None else Evaluator(state, test, weight, judged_by).evaluate()
    _warn(temperature, source.label, count, log_loss, after_loss)
    if before is not None and after is not None and test is not None:
        _warn(None, test.label, after.rows, before.log_loss, after.log_loss)
    order = ["class_no", "score"]
    parameter_rows = Query(engine, renderer.statement("sorted_by", plan.relations["calibration"], order))
    return Calibration(method, count, log_loss, after_loss, temperature, before, after, decided, parameter_rows)


def draw_toward_priors(state: ModelState, kept: float, temperature: float = 1.0) -> None:
    """Keep a share of what a model says beyond the priors, at a temperature: a calibration by "platt" that is not fitted."""
    engine, plan = state.engine, state.plan
    arguments = plan.context(state.classes), plan.relations["parameters"], plan.relations["priors"], kept, temperature
    with engine.temporaries() as temporary:
        result = engine.renderer.subquery("platt_toward_priors", *arguments)
        publish(engine, _create_draft(state, "platt", result, temporary), plan.relations, state.version)


def _create_outcomes(
    state: ModelState, source: Source, rows: Markup, folds: int | str | None, weight: str | None, *, has_known: bool
) -> None:
    """Create the table of the judged rows that a calibration learns from. Raises InputError if there are none."""
    engine, plan = state.engine, state.plan
    if folds is None:
        if weight is not None:
            Evaluator(state, source, weight).evaluate()  # refuses invalid weights
        judgeable = rows_to_judge(state, source, weight)
        engine.create("calibrate", rows, plan.calibration_rows(judgeable, state.classes, has_known=has_known))
    else:
        cure = "calibrate on others with ⟨folds=None⟩"
        with out_of_fold(state, source, folds, cure, has_known=has_known) as judged:
            engine.create("calibrate", rows, engine.renderer.fragment("calibration_rows", *judged, False, has_known))
    if not engine.query_value("row_count", rows):
        if folds is None:
            # Raises the reason, if there are no rows to evaluate.
            Evaluator(state, source, weight).evaluate()
        raise InputError(
            f"no row of {source.label} has a class that {state.title} knows and can explain; nothing to calibrate on"
        )


def _create_draft(state: ModelState, method: str, result: Markup, temporary: Callable[[str], Markup]) -> Plan:
    """The plan of the model with the result of a calibration, beside what the model has of other methods."""
    engine, plan, renderer = state.engine, state.plan, state.engine.renderer
    kept = None
    if is_calibrated(engine, plan.relations):
        beside = renderer.fragment("calibration_beside", plan.relations["calibration"], method)
        kept = engine.create("calibrate", temporary("kept"), beside)
    draft = draft_plan(engine, plan)
    context, parameters = draft.context(state.classes), draft.relations["parameters"]
    query = renderer.fragment("calibration_table", context, parameters, method, result, kept)
    if kept is not None:
        query = renderer.fragment("all_rows", engine.create("calibrate", temporary("both"), query))
    draft = create_calibration(engine, draft, state.classes, query)
    # Existing queries are then rendered again.
    engine.run("time of the change", renderer.statement("set_updated_at", draft.relations["spec"]))
    return draft


def _warn(temperature: float | None, label: str, rows: int, before: float | None, after: float | None) -> None:
    """Warn if a calibration is of no use, because it cannot improve the posteriors of these rows."""
    if temperature is not None and temperature >= _TEMPERATURE_BOUND:
        warn_user(
            f"the temperature is at its bound, {temperature:g}: the posteriors of the {rows:,} rows of {label} tell nothing of "
            "the class, and none would of other rows; calibrate on more rows"
        )
    elif before is not None and after is not None and after > before + _NOTABLE_LOSS:
        warn_user(
            f"the calibration makes the log loss of the {rows:,} rows of {label} worse, {after:.4f} after {before:.4f}; "
            "calibrate on more rows, or by ⟨method='temperature'⟩"
        )


def search_parameters(
    engine: Engine, method: str, scores: Markup, temporary: Callable[[str], Markup], *options: float
) -> Markup:
    """The temporary table of the last step of the search for a method's parameters (sql/macros/evaluation/calibration/).

    It reads the relation `scores`, or `rows` for temperature and certain; `options` are those of the first step.
    """
    render = engine.renderer.fragment
    steps, points = Steps(engine, "calibrate", temporary), scores
    if method != "isotonic":
        points = engine.create("calibrate", temporary("points"), render(f"{method}_points", scores))
    last = steps.take(render(f"{method}_start", points, *options))
    while engine.query_value("unfinished_steps", last):
        last = steps.take(render(f"{method}_step", last, points))
    return last
