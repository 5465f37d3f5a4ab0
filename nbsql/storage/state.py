"""The state of a model: what is known of it since it was last read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from nbsql.engines.engine import Engine
from nbsql.errors import DatabaseError, InputError, ModelError, NotSupportedError, listed, suggestion
from nbsql.family.checks import true_or_false
from nbsql.plan import Plan
from nbsql.plan.classes import ClassColumn, class_columns, scored_class_count
from nbsql.plan.form import has_large_matrix, is_vectorised
from nbsql.rendering.relations import Relations
from nbsql.spec.capabilities import check
from nbsql.spec.spec import Feature, Spec
from nbsql.storage import schema as schemas
from nbsql.storage.calibration import calibration_of_posteriors
from nbsql.storage.written import places_of_labels


@dataclass(frozen=True, eq=False)
class ModelState:
    """A model as it was when it was last read. What reads a model takes its state; `refreshed` returns the newest."""

    engine: Engine
    plan: Plan
    classes: list[ClassColumn]
    name: str | None = None  # None if the model is transient
    version: Any = None  # `updated_at` before the plan and the classes were read; it changes whenever the model does
    follows: str | None = None  # the table whose changes it learns, by its name in the ledger
    catalog: str | None = None  # the catalog of a named model, on engines that find it only while that is the current one

    def __reduce__(self) -> NoReturn:
        raise NotSupportedError("a model stays in its database and is not pickled; load it by name there, or export it")

    @property
    def spec(self) -> Spec:
        return self.plan.spec

    @property
    def relations(self) -> Relations:
        return self.plan.relations

    @property
    def title(self) -> str:
        """The name of the model in messages."""
        return f"model {self.name!r}" if self.name else "the model"

    @property
    def is_alike(self) -> bool:
        """Whether a row is scored alike on every connection, whatever its settings and functions."""
        types = (kind for feature in self.spec.features for kind in feature.types)
        return not (self.spec.segment_by is not None or self.spec.derived or any("ZONE" in kind for kind in types))

    def require(self, use: str) -> None:
        """Raise an error unless the model supports the use (spec/capabilities.py)."""
        check(self.spec, use, self.title)

    def labels(self) -> list[Any]:
        """The labels in their own type, in the order of the class numbers."""
        with self.guard():
            return [row[0] for row in self.engine.query_macro("class_values", self.relations["priors"], by_number=True)]

    def label_text(self, label: Any) -> str:
        """The text of a class of the model. Raises InputError if it has no such class."""
        (place,) = self.places([label])
        texts = [column.label for column in self.classes]
        if place is None:
            known = suggestion(str(label), texts) or f"; it has {listed(texts)}"
            raise InputError(f"{self.title} has no class {label!r}{known}")
        return texts[place]

    def places(self, given: Sequence[Any]) -> list[int | None]:
        """The places of labels among the classes, by number; None for one of no class. A label may be given as its text."""
        texts = [column.label for column in self.classes]
        return places_of_labels(self.engine, given, texts, self.spec.target_type, self.labels)

    def calibration(self, calibrated: bool | None) -> str | None:
        """The method of the calibration of the posteriors that are asked for; None for those of the model itself.

        Raises ModelError if they must be calibrated, and the model is not.
        """
        if calibrated is None:
            return self.plan.calibration
        wanted = true_or_false(calibrated, "calibrated")
        if wanted and self.plan.calibration is None:
            raise ModelError(f"{self.title} is not calibrated; calibrate it first")
        return self.plan.calibration if wanted else None

    def refreshed(self, version: Any = None, known: ModelState | None = None) -> ModelState:
        """The state as it is now, read again if the model was changed. Every verb begins with it.

        `version` is the current `updated_at`, if it was just read; `known` a state that another thread has read.
        """
        state, version = self, version or self.updated_at()
        while version != state.version:  # again if it changed while it was read; a transaction would block writers
            if known is not None and known.version == version:
                state = known
            else:
                with self.guard():
                    state = replace(self, **_read(self.engine, self.relations, str(self.name)), version=version)
            version = self.updated_at()
        return state

    def updated_at(self) -> Any:
        """The version of the model as it is now."""
        with self.guard():
            return self.engine.query_macro("updated_at", self.relations["spec"])

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Raise ModelError instead of a database error if the model no longer exists. It is only looked for after an error."""
        if self.catalog is not None and self.catalog != self.engine.catalog():
            raise ModelError(f"{self.title} is in the catalog {self.catalog!r}; USE CATALOG {self.catalog} first")
        with self.engine.turn():
            try:
                yield
            except DatabaseError:
                with suppress(DatabaseError):  # the error has ended the transaction, or the connection is closed
                    self._check_exists()
                raise

    def _check_exists(self) -> None:
        path = self.relations.path
        current = self.engine.current()[0]
        if self.name is not None:
            schemas.find(self.engine, path[0] if len(path) > 1 else current, self.name)
            return
        try:
            self.engine.columns(self.relations["spec"])
        except DatabaseError:
            raise ModelError("the model, which has no name, has been dropped; fit it anew") from None


def read_state(engine: Engine, relations: Relations, name: str) -> ModelState:
    """The state of an existing model. Raises ModelError if its spec is damaged."""
    # Before the rest, so that a change in between is noticed later.
    version = engine.query_macro("updated_at", relations["spec"])
    return ModelState(engine, **_read(engine, relations, name), name=name, version=version)


def _read(engine: Engine, relations: Relations, name: str) -> dict[str, Any]:
    """The plan and the classes of a model."""
    rows = engine.query_macro("spec_text", relations["spec"])
    if len(rows) != 1:
        raise schemas.unreadable(engine, relations, name, f"its table 'spec' has {len(rows)} rows")
    try:
        spec = Spec.from_json(rows[0][0], name)
    except ValueError as error:
        raise schemas.unreadable(engine, relations, name, f"its spec cannot be read ({error})") from None
    # Its tables show which form it has, since another version may choose by other limits.
    columns = {column.name for column in engine.columns(relations["parameters"])}
    wide = "class_no" not in columns
    if wide and "class_count" not in columns:
        raise schemas.unreadable(engine, relations, name, "its table 'parameters' has no column 'class_count'")
    large = any(has_large_matrix(each, engine.renderer.layout) for each in spec.features)
    in_lists = large and wide and is_vectorised(spec, engine.renderer.traits)
    if in_lists and not any(name.startswith("means_") for name in columns):
        raise schemas.unreadable(engine, relations, name, "its table 'parameters' has no lists of means")
    plan = Plan(engine.renderer, spec, relations, wide=wide, calibration=calibration_of_posteriors(engine, relations))
    emptied = _emptied_tables(engine, plan)
    # Weights that the classes share have no rows where there is one class.
    if emptied and not (emptied == ["lookups"] and len(engine.rows(plan.class_order())) == 1):
        raise schemas.unreadable(engine, relations, name, f"its table {emptied[0]!r} has no rows")
    classes = class_columns(engine.rows(plan.class_order()))
    if not wide:
        ((numbered,),) = engine.query_macro("count_of_classes", relations["parameters"])
        if numbered != scored_class_count(classes):
            fact = f"its table 'parameters' has {numbered} of {scored_class_count(classes)} classes"
            raise schemas.unreadable(engine, relations, name, fact)
    return {"plan": plan, "classes": classes, "follows": schemas.followed(engine, relations)}


def _emptied_tables(engine: Engine, plan: Plan) -> list[str]:
    """The tables of a model that have lost their rows, without which its answers would be others, and no error."""
    features = plan.spec.features
    tables: dict[str, list[Feature] | None] = {"statistics": None, "parameters": None, "batches": None}
    tables["lookups"] = [feature for feature in features if feature.family.has_lookups]
    tables["estimates"] = list(plan.tabulated_features)
    tables |= {"weights": None} if plan.spec.has_weights else {}
    tables |= {"calibration": None} if schemas.is_calibrated(engine, plan.relations) else {}
    read = {name: each for name, each in tables.items() if each is None or each}
    pairs = [(plan.relations[name], each) for name, each in read.items()]
    counts = engine.query_macro("rows_of_relations", pairs, plan.relations["statistics"])[0]
    return [name for name, count in zip(read, counts, strict=True) if count == 0]
