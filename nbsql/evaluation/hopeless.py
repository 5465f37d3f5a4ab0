"""Whether a fresh model is worse than none, in one line, by a sample of the rows that it has learnt.

A model flatters the rows that it has learnt. If it is worse than its priors there, it is worse on other rows, too.
"""

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from nbsql.engines.source import Source
from nbsql.evaluation.evaluate import LEAST
from nbsql.learning import look
from nbsql.plan import Rows
from nbsql.spec.spec import Spec
from nbsql.storage.state import ModelState

MIN_ROWS = 50
ROWS = 2_000
TEXTS = 250  # of rows with texts, whose words are many
MOST_FEATURES = 1_000  # beyond it, planning the statement takes more than in proportion
_STANDARD_ERRORS = 2  # by which the rows are worse than the priors, so that others most likely are


def hopeless(state: ModelState, source: Source) -> str | None:
    """The line that says so of a model whose families were inferred from the values of a source; None of any other."""
    engine = state.engine
    if not _is_judged(state.spec) or engine.renderer.dialect.name == "spark":  # where a statement takes a second
        return None
    shares, priors = zip(
        *(row[1:3] for row in engine.query_macro("sorted_by", state.relations["priors"], ["class"])), strict=True
    )
    if sum(shares) < MIN_ROWS:
        return None
    sample, columns = _sample(state, source, sum(shares)), source.names
    tables = state.relations["parameters"], state.relations["lookups"]  # whose classes are those that were just fitted
    scored = state.plan.scored(Rows(sample, columns), state.classes, tables)
    losses = [row for row in engine.query_macro("losses_by_class", *scored) if row[0] is not None]
    return _fault(losses, shares, priors)


def _is_judged(spec: Spec) -> bool:
    """Whether a model is one whose rows count alike, and can be scored as they are."""
    rest = (spec.weight, spec.half_life, spec.segment_by, spec.is_soft, spec.components)
    is_plain = not any(rest) and not spec.joins and len(spec.features) <= MOST_FEATURES
    return is_plain and any(feature.is_inferred for feature in spec.features)


def _sample(state: ModelState, source: Source, count: float) -> Markup:
    """Some thousand rows of a source, always the same ones: of one that is costly to read, of its first ones."""
    engine, rows = state.engine, source.relation
    if not source.is_table:
        rows, count = engine.renderer.fragment("excerpt", rows, look.FIRST_ROWS), min(count, look.FIRST_ROWS)
    most = TEXTS if any(feature.family.bag for feature in state.spec.features) else ROWS
    if count <= most:
        return source.relation
    share = round(1e6 * most / count)
    columns = [column for feature in state.spec.features for column in feature.columns]
    return engine.renderer.subquery("sampled_share", rows, columns, source.kinds, share, engine.numbers_rows(source))


def _fault(losses: Sequence[tuple[Any, ...]], shares: Sequence[float], priors: Sequence[float]) -> str | None:
    """What is worse than the priors: the log loss or the accuracy; None if neither surely is.

    `losses` has a row for each class: class_no, rows, the sum of their log losses and of the squares, how many are right. Each
    class counts by its share of all rows, so that a sample of a sorted table tells nothing wrong.
    """
    rows, whole = sum(n for _, n, *_ in losses), sum(shares[number - 1] for number, *_ in losses)
    if rows < MIN_ROWS:
        return None
    loss = prior_loss = variance = right = 0.0
    for number, n, total, squares, hits in losses:
        share = shares[number - 1] / whole
        prior = -math.log(max(priors[number - 1], LEAST))
        loss, prior_loss, right = loss + share * total / n, prior_loss + share * prior, right + share * hits / n
        variance += share**2 * max(squares - 2 * prior * total + n * prior * prior, 0.0) / n**2  # 0 but for rounding
    majority, facts = max(shares) / whole, []
    is_seen = round(loss, 4) > round(prior_loss, 4)  # as written
    if is_seen and loss - prior_loss > _STANDARD_ERRORS * math.sqrt(variance):
        facts.append(f"the log loss, {loss:.4f}, is above that of the priors alone, {prior_loss:.4f}")
    if majority - right > _STANDARD_ERRORS / math.sqrt(rows):
        facts.append(f"the accuracy, {right:.1%}, is below that of the majority, {majority:.1%}")
    if not facts:
        return None
    return f'even on {rows:,} rows that it has learnt, {" and ".join(facts)}; fit anew with ⟨method="weighted"⟩'
