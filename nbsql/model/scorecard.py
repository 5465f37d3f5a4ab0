"""A model as a scorecard: points for each value, and the points of rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Literal

from markupsafe import Markup

from nbsql.engines.source import Source, passed_columns
from nbsql.errors import InputError, ModelError, listed, written
from nbsql.family.checks import finite
from nbsql.family.checks import label as label_text
from nbsql.learning.model_source import check_columns
from nbsql.model.base import States
from nbsql.queries.query import Query
from nbsql.queries.table import Displayed, Table
from nbsql.rendering.dialect import folded
from nbsql.rendering.renderer import Renderer
from nbsql.spec.method import METHODS
from nbsql.spec.spec import Feature

Reference = Literal["best", "average"]
CURE = "⟨method=nbsql.Weighted(views=False)⟩"  # where a value has no points by itself
HEADINGS = ("feature", "value", "rows", "of target", "weight of evidence", "information value", "points")


@dataclass(frozen=True, repr=False)
class Scale:
    """The scale of a scorecard: the points at given odds, the points that double the odds, and the digits of rounding."""

    points: float
    odds: float
    double: float
    digits: int | None


@dataclass(frozen=True, repr=False)
class Scorecard(Scale, Displayed):
    """A model as a scorecard, returned by `Model.scorecard`: points for each value, which sum to the points of a row.

    Args:
        target: the class whose odds against the rest the points express: the more points, the more likely it is.
        points: the points of a row at the odds `odds`.
        odds: the odds of the target against the rest, to 1.
        double: the additional points of a row at twice the odds.
        digits: the digits to which points are rounded; None: they are not rounded.
        lines: the base points (those of a row without a feature), then a row for each feature and value or bin: feature, kind
            ("base", "value", "missing", or "unseen", any other value), value, lower, upper, n, n_target, weight_of_evidence,
            information_value, feature_information_value, points, below_best, below_average. The formulas are in
            sql/macros/evaluation/scorecard.sql.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> card = nbsql.fit(duckdb.connect(), data, target="play").scorecard(digits=0)
    >>> [(line[2], line[10]) for line in card.lines]
    [(None, 487.0), ('rain', 20.0), ('sun', -12.0), (None, 0.0), (None, 0.0)]
    >>> card.score("SELECT 'rain' AS sky").fetchall()
    [('rain', 507.0)]
    """

    target: Any
    lines: Query = field(compare=False)
    _states: States = field(compare=False)
    _classes: int = field(compare=False)

    @property
    def factor(self) -> float:
        """The points of one nat of log-odds."""
        return self.double / math.log(2)

    @property
    def offset(self) -> float:
        """The points of a row at even odds."""
        return self.points - self.factor * math.log(self.odds)

    def score(
        self, source: Any, *, reasons: int = 0, against: Reference = "best", columns: Sequence[str] | None = None
    ) -> Query:
        """The rows of `source`, or only these columns, with `points` and, if reasons are asked for, `reason_1`, `reason_2`, ...

        With two classes the points are offset + factor * ln(odds), with the odds of the target by the model; with digits they
        are the sum of rounded parts. A missing or unseen value has the points of these kinds in `lines`, which are 0 unless
        the family counts missing values or smooths unseen ones.

        Args:
            source: the rows to score.
            reasons: the number of features to name that cost a row most points, the costliest first; NULL where no other
                feature costs any. Ties go to the feature that comes first in the model.
            against: the reference of lost points: "best", the best value of the feature, or "average", the mean over the rows
                of the feature.
            columns: the columns of the source to return; None returns all.

        Raises:
            InputError: the source lacks a feature, or has a column of these names.

        >>> card.score("SELECT unnest(['sun', 'rain', 'snow']) AS sky", reasons=1).fetchall()
        [('sun', 475.0, 'sky'), ('rain', 507.0, None), ('snow', 487.0, 'sky')]
        """
        self._added_columns(reasons, against)
        data = self._states.read(source)
        return self._states.query(lambda: self._local_query(data, reasons, against, columns), data)

    def sql(
        self,
        source: Any,
        *,
        dialect: str | None = None,
        reasons: int = 0,
        against: Reference = "best",
        columns: Sequence[str] | None = None,
    ) -> str:
        """The query of `score`, without running it: a CASE for each feature, with the points in it. It reads the source only.

        Args:
            source: the rows to score.
            dialect: the dialect of the engine that is to run it, as `Model.sql` takes it; the source is then a table or
                SELECT of that engine. None is the model's own engine.
            reasons: as for `score`.
            against: as for `score`.
            columns: as for `score`; with a dialect that cannot select all columns but some, None is the id and the features.

        Raises:
            InputError: the dialect is unknown, or the source cannot be scored.
            NotSupportedError: with or without a dialect, a category has a type that every engine writes in its own way.

        >>> duckdb.connect().execute(card.sql("SELECT 'rain' AS sky")).fetchall()
        [('rain', 507.0)]
        """
        from nbsql.queries.standalone.foreign import source_relation  # imports sqlglot, which takes long
        from nbsql.queries.standalone.scorer import check_dialect, passed_columns_elsewhere

        added = self._added_columns(reasons, against)
        if dialect is None:
            data = self._states.read(source)
            return self._states.current.engine.without_database_name(self._local_query(data, reasons, against, columns))
        traits = check_dialect(dialect)
        passed = passed_columns_elsewhere(self._states.refreshed().plan, traits, columns, added, "a scorecard")
        return self._standalone(source_relation(source, Renderer(dialect)), dialect, passed, reasons, against)

    def _local_query(self, data: Source, reasons: int, against: str, columns: Sequence[str] | None) -> str:
        """The query on the model's own engine."""
        engine = self._states.current.engine
        check_columns(self._states.current, data)
        passed = passed_columns(data, columns, exact=engine.exact)
        if passed is None:
            passed = data.passed_names
        added = {*map(folded, self._added_columns(reasons, against))}
        for name in passed:
            if folded(name) in added:
                raise InputError(
                    f"{data.label} has a column {name!r} already, which a scorecard adds; rename it or leave it out"
                )
        return self._standalone(data.relation, engine.renderer.dialect.name, passed, reasons, against, is_derived=True)

    def _standalone(
        self,
        relation: Markup,
        dialect: str,
        passed: Sequence[str] | None,
        reasons: int,
        against: str,
        *,
        is_derived: bool = False,
    ) -> str:
        from nbsql.queries.standalone.scorer import standalone_points  # imports sqlglot

        arguments = (self._point_lines(against), relation, dialect, passed, reasons)
        return standalone_points(self._states.current, *arguments, is_derived=is_derived)

    def _point_lines(self, against: str = "best") -> list[tuple[Any, ...]]:
        """The lines as feature, kind, value, points and points lost; ModelError if one has no points."""
        state, place = self._states.current, -2 if against == "best" else -1
        lines = [(*line[:3], line[10], line[place] or 0.0) for line in state.engine.rows(self.lines.sql, "scorecard")]
        for feature, kind, value, points, _ in lines:
            if points is None:
                of_feature = f"{value!r} of {feature!r}" if kind == "value" else f"a value of {feature!r} that is {kind}"
                what = "a class that no row has" if feature is None else of_feature
                raise ModelError(f"{what} has no points, since one side never has it; fit {state.title} with an alpha above 0")
        return lines

    def _added_columns(self, reasons: int, against: str) -> list[str]:
        count = len(self._states.current.spec.features)
        if isinstance(reasons, bool) or not isinstance(reasons, Integral) or not 0 <= reasons <= count:
            raise InputError(f"⟨reasons⟩ must be a whole number from 0 to {count}, the number of features, not {reasons!r}")
        if against not in ("best", "average"):
            raise InputError(f"⟨against⟩ must be 'best' or 'average', not {against!r}")
        return ["points", *(f"reason_{number}" for number in range(1, reasons + 1))]

    def notes(self) -> list[str]:
        """The scale and, with more than two classes, how the points differ from the model's odds."""
        scale = f"{self.points:g} points at odds of {self.odds:g} to 1, and {self.double:g} more where they double"
        notes = [f"points for {label_text(self.target)}: {scale}"]
        if self._classes > 2:
            notes.append(f"one of {self._classes} classes against the rest: points are not those of the odds by the model")
        if self._states.current.spec.weighted is not None:
            notes.append("points are of the weight of evidence times the weight of its feature")
        return notes

    def table(self) -> list[tuple[str | None, ...]]:
        """The lines as people read them, under `HEADINGS`."""
        shown = []
        for feature, kind, value, _, _, n, of_target, weight, information, _, points, _, _ in self.lines:
            named = value if kind == "value" else "" if kind == "base" else f"({kind})"
            numbers = (n, of_target, weight, information, points)
            shown.append((feature if feature is not None else "base points", named, *map(_rounded, numbers)))
        return shown

    def _summary_tables(self) -> tuple[list[str], list[Table]]:
        return self.notes(), [Table(HEADINGS, self.table(), right=range(2, 7))]


def scorecard(states: States, target: Any, label: str, scale: Scale) -> Scorecard:
    """The scorecard of a model, with points for the class `target`, whose text is `label`.

    Raises InputError for an invalid scale, ModelError if a feature has no values or bins, or a value no points.
    """
    for name in ("points", "odds", "double"):
        value = getattr(scale, name)
        if finite(value, name) <= 0 and name != "points":
            raise InputError(f"⟨{name}⟩ must be above 0, not {written(value)}")
    digits = scale.digits
    if digits is not None and (isinstance(digits, bool) or not isinstance(digits, Integral) or not 0 <= digits <= 9):
        raise InputError(f"⟨digits⟩ must be a whole number from 0 to 9, or None, not {written(digits)}")
    scale = Scale(float(scale.points), float(scale.odds), float(scale.double), digits)

    def render() -> str:
        state = states.current
        state.require("scorecard")
        if not state.spec.features:
            raise ModelError(f"{state.title} has no features to give points to; fit it with some")
        if state.spec.weighted is not None and state.spec.weighted.is_by_class and len(state.classes) > 2:
            raise ModelError(
                f"{state.title} has weights for each of {len(state.classes)} classes, and the rest together has none; "
                f"fit it with {CURE}, or a target of two classes"
            )
        by = "" if state.spec.clusters else 'by="mdl"' if len(state.classes) > 2 else 'by="mdl", monotone=True'
        _check_features(state.spec.features, f"nbsql.Binned({by})")
        renderer = state.engine.renderer
        literal = renderer.fragment("class_literal", label, state.engine.type_name(state.spec.target_type))
        tables, context = (state.plan.current_cells(), state.relations["priors"]), state.plan.context(state.classes)
        if state.spec.weighted is not None:
            context = context.with_weights(state.relations["weights"])
        return renderer.statement("scorecard_lines", context, *tables, literal, scale)

    lines, classes = states.query(render), len(states.current.classes)
    card = Scorecard(**vars(scale), target=target, lines=lines, _states=states, _classes=classes)
    card._point_lines()
    return card


def _check_features(features: Sequence[Feature], bins: str) -> None:
    """Raise ModelError, which names all of them, unless they have values or bins of one column; `bins` cures numbers."""
    if together := [each.name for each in features if each.family.is_ratio]:
        are = "is a feature" if len(together) == 1 else "are features"
        raise ModelError(
            f"{listed(together)} {are} of several columns, so that a value has no points by itself; fit it with {CURE}"
        )
    if dependent := [each for each in features if each.family.parent]:
        on = " and ".join(f"{each.name!r} depends on {listed(each.family.parent_names)}" for each in dependent)
        as_what = "it as a category" if len(dependent) == 1 else "them as categories"
        raise ModelError(f"{on}, so that a value has no points by itself; fit {as_what}, with ⟨method='naive'⟩")
    others = [each for each in features if not each.family.has_categories or each.family.over_columns]
    if not others:
        return
    views = [each.name for each in others if each.is_number and each.name != each.column]
    numbers = [each.name for each in others if each.is_number and each.name not in views]
    made = [each.name for each in others if each.family.over_columns]
    left_out = list(dict.fromkeys(each.column for each in others if not (each.is_number or each.family.over_columns)))
    binned = ", ".join(f"{name!r}: {bins}" for name in numbers)
    cures = [f"fit it with ⟨families={{{binned}}}⟩"] if numbers else []
    cures += [f"fit it with {CURE}"] if views else []
    cures += [f"leave {'it' if len(left_out) == 1 else 'them'} out of the model: ⟨exclude={left_out!r}⟩"] if left_out else []
    named = [name for name in made if name not in METHODS]  # by the user, the others by methods such as "lda"
    cures += [f"leave {listed(named)} out of ⟨families⟩"] if named else []
    cures += [f"fit it with {CURE}"] if named != made and not views else []
    are = ", ".join(f"{each.name!r} is {each.family.name}" for each in others)
    has = "has" if len(others) == 1 else "have"
    raise ModelError(f"{are}, which {has} no values or bins to give points to; {', and '.join(cures)}")


def _rounded(value: float | None) -> str:
    return "" if value is None else f"{value:,.4f}".rstrip("0").rstrip(".")
