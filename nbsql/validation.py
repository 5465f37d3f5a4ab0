"""Cross-validation by subtraction: one scan counts every fold, and no fold is fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from markupsafe import Markup

from nbsql.context import ClassColumn
from nbsql.counting import Count, say
from nbsql.derived import derive
from nbsql.dialect import folded
from nbsql.engines.duckdb import DuckDB
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed
from nbsql.evaluation import Evaluation, evaluation_of, queries_of
from nbsql.fitting import asked, given_priors
from nbsql.plan import Entry, Plan
from nbsql.query import Query
from nbsql.relations import Relations
from nbsql.resolve import resolve
from nbsql.spec import Options, Prior, Spec

Labels = Sequence[tuple[Any, ...]]  # of the classes of a scan: label, class, rows, n

SORTED_ROWS = 1_000_000  # beyond, a hash alone deals the rows: it is as even, and a sort of them all takes longer than the fit


@dataclass(frozen=True)
class CrossValidation:
    """How well models predict the rows that they were not fitted on, each row by the model of the other folds.

    Args:
        rows: predicted.
        accuracy: the share of the rows, by weight, that are predicted right.
        log_loss: mean of -ln p of the true class, in nats, p kept between 2^-52 and 1 - 2^-52.
        folds: a row a fold: fold, rows, weight, accuracy, log_loss.
    """

    rows: int
    accuracy: float
    log_loss: float
    folds: Query
    evaluate: Callable[[], Evaluation] = field(repr=False)

    @cached_property
    def evaluation(self) -> Evaluation:
        """Everything that `Model.evaluate` tells, of all rows. Computed when it is asked for."""
        return self.evaluate()

    def __repr__(self) -> str:
        lines = [f"{self.rows:,} rows predicted by the models of the other folds", ""]
        lines += [f"{'fold':<12}  {'rows':>9}  {'accuracy':>8}  {'log loss':>8}"]
        for fold, rows, _, accuracy, log_loss in [*self.folds, ("all", self.rows, None, self.accuracy, self.log_loss)]:
            lines.append(f"{fold:<12}  {rows:>9,}  {accuracy:>8.4f}  {log_loss:>8.4f}")
        return "\n".join(lines)


@dataclass(frozen=True)
class OutOfFold:
    """Rows scored by the models of the other folds, in temporary tables, which stay.

    Args:
        rows: the table of them, in the form of `scored` (predict.sql), with nbsql_fold.
        plan: of the model of all rows, whose classes number theirs.
        classes: of that model.
    """

    rows: Markup
    plan: Plan
    classes: list[ClassColumn]


def cross_validate(
    engine: DuckDB, source: Source, options: Options, *, folds: int, fold: str | None, bins: int
) -> CrossValidation:
    """Cross-validate within a transaction of the caller's; see `nbsql.cross_validate`."""
    check_folds(folds)
    if fold is not None:
        options = replace(options, exclude=[*_listed(options.exclude), fold])
    spec = asked(engine, resolve(source.columns, options, source.label), source)

    def given(spec: Spec, labels: Labels) -> Spec:
        if spec.prior.kind != "given":
            return spec
        priors = given_priors(spec, labels, dict(spec.prior.given))
        return replace(spec, prior=Prior("given", given=tuple(priors.items())))

    scored = out_of_fold(engine, source, spec, given, folds=folds, fold=fold)
    whole, classes, kept = scored.plan, scored.classes, scored.rows
    renderer = engine.renderer
    # The curves and the folds are read when they are asked for, so what they read stays with the connection.
    judged = whole.judged_rows(kept, classes, spec.weight)
    queries = queries_of(engine, judged, Source(kept, source.label, []), bins)
    scores = Query(engine, renderer.statement("fold_scores", whole.context(classes), kept, whole.relations["parameters"]))
    found = scores.fetchall()
    if not found:
        raise InputError(f"no row of {source.label} is in a fold and has a class")
    total = sum(row[2] for row in found)
    accuracy, log_loss = (sum(row[2] * row[index] for row in found) / total for index in (3, 4))
    evaluate = partial(evaluation_of, queries, spec.weight)
    return CrossValidation(sum(row[1] for row in found), accuracy, log_loss, scores, evaluate)


def check_folds(folds: Any) -> None:
    """Raise InputError unless there can be so many folds."""
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise InputError(f"folds must be a whole number of at least 2, not {folds!r}")


def out_of_fold(
    engine: DuckDB,
    source: Source,
    spec: Spec,
    settled: Callable[[Spec, Labels], Spec],
    *,
    folds: int,
    fold: str | None = None,
) -> OutOfFold:
    """Score every row by the model of the other folds, within a transaction of the caller's.

    Args:
        engine: where.
        source: the rows.
        spec: of the models.
        settled: the spec once the classes of the source are known; it may refuse them.
        folds: how many are dealt.
        fold: the column that says the fold of a row, instead.
    """
    spec = replace(spec, slice_by="nbsql_slice")
    stuck = [feature.name for feature in spec.features if not feature.family.additive]
    if stuck:
        raise InputError(f"{listed(stuck)} depends on all rows at once, so no fold can be taken away; leave out its norm")
    column = next((c.name for c in source.columns if fold is not None and folded(c.name) == folded(fold)), None)
    knowing = [feature.name for feature in spec.features if feature.family.supervised]
    if knowing:
        say(f"the bins of {listed(knowing)} were cut by the classes of all rows, and so the figures too good; judge on others")
    renderer = engine.renderer
    plan = Plan(renderer, spec, Relations(renderer, transient=engine.transient_name()))
    kept = renderer.dialect.ident("temp", "main", f"{engine.transient_name()} out of fold")
    with engine.temporaries() as temporary:
        dealt, cells = temporary("dealt"), temporary("cells")
        sorts = engine.ask("row_count", source.relation)[0][0] <= SORTED_ROWS
        query = renderer.fragment("dealt", source.relation, spec.columns, spec.target, folds, column, sorts)
        engine.run("deal the folds", renderer.statement("create_table_as", dealt, query, temporary=True))
        count = Count(engine, source, plan, temporary, sliced=dealt)
        spec = settled(spec, count.scan())
        for statement in count.cells(cells, "1", temporary=True):
            count.run(statement)
        entry = Entry(1, "1", "fit", source.label, 0)
        whole, classes = derive(engine, spec, renderer.fragment("cells_of", cells), [entry])
        names = [row[0] for row in engine.ask("folds_of", dealt) if row[0] is not None]
        if len(names) < 2:
            raise InputError(f"cross-validation needs at least two folds, and {source.label} has {len(names)}")
        for number, name in enumerate(names):
            others = renderer.fragment("cells_of_other_folds", cells, name)
            part, known = derive(engine, spec, others, [entry], wide=whole.wide)
            rows = renderer.fragment("rows_of_fold", dealt, name)
            query = part.out_of_fold(rows, known, classes, name)
            macro = "insert_into" if number else "create_table_as"
            engine.run(
                f"predict fold {name}", renderer.statement(macro, kept, query, **({} if number else {"temporary": True}))
            )
            drop_transient(engine, part)
    return OutOfFold(kept, whole, classes)


def _listed(exclude: Any) -> list[str]:
    return [exclude] if isinstance(exclude, str) else list(exclude)


def drop_transient(engine: DuckDB, plan: Plan) -> None:
    """Drop the relations of a transient model."""
    kinds: Mapping[str, str] = {"likelihoods": "view", "priors": "view"}
    for name in ("likelihoods", "priors", "lookups", "parameters", "batches", "spec", "statistics"):
        relation: Markup = plan.relations[name]
        kind = kinds.get(name, "table")
        engine.run(f"drop {name}", engine.renderer.statement("drop_relation", kind, relation, if_exists=True))
