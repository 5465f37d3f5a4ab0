"""A model as one Parquet file, with the same format from every engine: its cells, its spec and its calibration.

DuckDB writes and reads the file, wherever the model lives, since every program that uses nbsql has it.
"""

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
from markupsafe import Markup

from nbsql.engines.duckdb.engine import DuckDB
from nbsql.engines.duckdb.messages import one_line
from nbsql.engines.duckdb.paths import check_readable, exists, first_bytes
from nbsql.engines.engine import Engine
from nbsql.engines.output import check_output, output_file
from nbsql.errors import DatabaseError, InputError, ModelError
from nbsql.family.checks import whole_number
from nbsql.plan.derived import with_own_parts
from nbsql.rendering.dialect import Dialect
from nbsql.spec.capabilities import check
from nbsql.spec.spec import Feature, Spec
from nbsql.storage.calibration import calibration_text
from nbsql.storage.file_checks import (
    COLUMNS,
    NAMED,
    NO_CHECKSUM,
    check_calibration,
    check_checksum,
    check_spec,
    damaged_error,
    write_checksum,
)
from nbsql.storage.state import ModelState
from nbsql.storage.type_conversion import DIALECT_NAMES, ENGINES, Cells, json_of, translate
from nbsql.version import __version__

# A model file is none of these.
_OTHER_FORMATS = (
    ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".xls", ".xlsx", ".duckdb", ".db", ".ddb", ".sqlite", ".sql", ".txt", ".md",
    ".html", ".xml", ".yaml", ".yml", ".pdf", ".pkl", ".pickle", ".joblib", ".onnx", ".pmml", ".zip", ".gz",
)  # fmt: skip
_FEW, _MOST_PER_BYTE = 1_000_000, 8  # cells that any file may have, and those of a byte: cells are not alike
_WEIGHTS = "weights"  # the batch of the weights of a logistic model


def write_file(state: ModelState, path: str, *, overwrite: bool, least: int | None = None) -> None:
    """Write a model to a Parquet file.

    Raises InputError if the path is a folder, or the file exists already, InputError or ModelError if a feature or the
    model cannot be shared this way, and DatabaseError if the file cannot be written.
    """
    engine, plan = state.engine, state.plan
    if Path(path).suffix.lower() in _OTHER_FORMATS:
        raise InputError(f"a model is exported as Parquet; end the path {path!r} with .parquet")
    check_output(path, engine.files(()))
    if exists(path) and not overwrite:
        raise InputError(f"{path!r} is there already; choose another path, or ⟨overwrite=True⟩")
    spec = plan.spec if least is None else shared_spec(plan.spec, least, state.title)
    statistics = plan.relations["statistics"]
    cells = engine.renderer.fragment(*(["cells_of", statistics] if plan.spec.given else ["folded_cells", statistics, "1"]))
    if plan.spec.has_weights:
        cells = engine.renderer.fragment("with_weights", cells, plan.relations["weights"])
    calibration = calibration_text(engine, plan) if least is None else None  # a calibration is fitted to rows
    with _file_engine(engine) as writer, output_file(path) as draft:
        as_text = _class_type(engine, plan.spec.target_type) is not None
        if writer is not engine:
            rows = [[*row] for row in engine.query_macro("cells_with_text_classes", cells)]
            cells = _cells_of(writer, rows, writer.renderer.fragment("string"))
        if least is not None:
            cells = writer.renderer.fragment("cells_without_small_counts", cells, least)
        arguments = (cells, str(draft), spec.to_json(), __version__, engine.title, NO_CHECKSUM, calibration, as_text)
        writer.run("export", writer.renderer.statement("copy_cells_to_file", *arguments))
        write_checksum(Path(draft))


@dataclass(frozen=True)
class ModelFile:
    """The contents of a model file."""

    spec: Spec
    cells: Markup  # the query of the cells
    weights: Markup | None  # the query of the weights, if the model has learnt some
    calibration: str | None  # the text of the calibration
    rows: int  # the number of rows that the model has learnt from


def read_file(engine: Engine, path: str) -> ModelFile:
    """The contents of a model file, in the types of this engine.

    Raises InputError if it is not the file of a model, ModelError if the model is damaged, of a newer version of nbsql or has
    values that this engine does not have, and NotSupportedError if it has columns of a type that this engine does not have.
    """
    if not exists(path):
        raise InputError(f"no file {path!r}")
    title = f"model {path!r}"
    foreign = InputError(f"{path!r} is no file that a model was exported to")
    check_readable(path)
    if not _is_parquet(path):
        raise foreign
    with _file_engine(engine) as reader:
        metadata: dict[str, str] = {}
        with suppress(ModelError):  # it is some other Parquet file
            metadata = dict(_query_file(reader, title, "file_metadata", path))
        of = metadata.get("nbsql_engine", "DuckDB")
        if "nbsql_spec" not in metadata or of not in ENGINES:
            raise foreign
        if "nbsql_checksum" in metadata:  # files of earlier versions have none
            check_checksum(path, metadata["nbsql_checksum"], title)
        try:
            spec = Spec.from_json(metadata["nbsql_spec"], path)  # first, since a newer version may have other columns
        except ValueError as error:
            written = f", written by nbsql {metadata.get('nbsql_version')}," if "nbsql_version" in metadata else ""
            raise ModelError(f"{title}{written} is damaged, or of another version: its spec cannot be read ({error})") from None
        _check_columns(reader, path, title)
        learnt = _check_cells(reader, spec, path, title)
        check_spec(spec, Dialect(DIALECT_NAMES[of]), title)
        spec = with_own_parts(engine.renderer, spec)
        calibration = metadata.get("nbsql_calibration")
        rows_of_calibration = None if calibration is None else check_calibration(calibration, title)
        if reader is engine and of == engine.title:
            return _read_parquet(reader, spec, path, calibration, learnt)
        render = reader.renderer.fragment
        rows = [[*row] for row in _query_file(reader, title, "cells_with_text_classes", render("file_of_cells", path))]
        return _read_cells(engine, spec, rows, rows_of_calibration, of, title, learnt)


@contextmanager
def _file_engine(engine: Engine) -> Iterator[DuckDB]:
    """The engine that writes and reads files: the model's own if it is DuckDB, or one in memory, without user settings."""
    if isinstance(engine, DuckDB):
        yield engine
        return
    own = DuckDB(":memory:")
    try:
        yield own
    finally:
        own.close()


def _is_parquet(path: str) -> bool:
    try:
        return first_bytes(Path(path), 4) == b"PAR1"
    except OSError as error:
        raise DatabaseError(f"cannot read {path!r}: {error.strerror}") from None


def _query_file(reader: DuckDB, title: str, macro: str, *arguments: Any) -> list[tuple[Any, ...]]:
    """The rows of a query on the file, which may be damaged."""
    cursor = reader.connection.cursor()  # an error on the connection would abort the caller's transaction
    try:
        return cursor.execute(reader.renderer.statement(macro, *arguments)).fetchall()
    except duckdb.Error as error:
        raise damaged_error(title, one_line(error)) from None
    finally:
        cursor.close()


def _check_columns(reader: DuckDB, path: str, title: str) -> None:
    """Raise ModelError unless the file has the columns of cells."""
    kinds = {name: reader.kind(kind) for name, kind, *_ in _query_file(reader, title, "file_columns", path)}
    for name, kind in COLUMNS.items():
        if name not in kinds or kind not in (None, kinds[name]):
            raise damaged_error(title, f"it has no column {name!r} of the type that cells have")


def _check_cells(reader: DuckDB, spec: Spec, path: str, title: str) -> int:
    """The number of rows that a model has learnt from. Raises ModelError if the cells do not belong to such a model."""
    ((count,),), size = _query_file(reader, title, "rows_of_file", path), Path(path).stat().st_size
    if count > max(_FEW, _MOST_PER_BYTE * size):
        raise damaged_error(title, f"it has {count:,} cells in {size:,} bytes, which no model has")
    _query_file(reader, title, "whole_file", path)
    cells = reader.renderer.subquery("cells_of_file", path, None)
    unknown, _, unreadable, _, learnt = _query_file(reader, title, "summary_of_cells", cells, spec.features)[0]
    if unknown is not None:
        raise damaged_error(title, f"it has cells of {unknown!r}, which is none of its features")
    if unreadable:
        raise damaged_error(title, "it has cells whose n, mean or m2 is no number")
    if learnt is None or not math.isfinite(learnt):
        raise damaged_error(title, "it has no cells of its classes")
    rows: int = round(learnt)
    return rows


def _read_parquet(engine: DuckDB, spec: Spec, path: str, calibration: str | None, learnt: int) -> ModelFile:
    """A model that DuckDB wrote and reads, whose cells are not translated."""
    class_type = _class_type(engine, spec.target_type)
    fragment = engine.renderer.fragment
    weights = fragment("weights_of_cells", fragment("cells_of_file", path, class_type, True)) if spec.has_weights else None
    return ModelFile(spec, fragment("cells_of_file", path, class_type), weights, calibration, learnt)


def _read_cells(
    engine: Engine,
    spec: Spec,
    rows: list[list[Any]],
    calibration: list[dict[str, Any]] | None,
    of: str,
    title: str,
    learnt: int,
) -> ModelFile:
    """A model of the engine `of`, and the rows of its cells, in the types of this engine."""
    cells = Cells(rows, calibration)
    if of != engine.title:
        spec, cells = translate(engine, spec, cells, of, title)
    class_type = _class_type(engine, spec.target_type) or engine.renderer.fragment("string")
    counted = [row for row in cells.rows if row[7] != _WEIGHTS]
    weights = None
    if spec.has_weights:
        weight_rows = [row for row in cells.rows if row[7] == _WEIGHTS]
        if not weight_rows:
            raise damaged_error(title, "it has no weights")
        weights = engine.renderer.fragment("weights_of_cells", _cells_of(engine, weight_rows, class_type))
    text = None if cells.calibration is None else json.dumps(cells.calibration, ensure_ascii=False)
    return ModelFile(spec, _cells_of(engine, counted, class_type), weights, text, learnt)


def _cells_of(engine: Engine, rows: list[list[Any]], class_type: Markup) -> Markup:
    """The query of cells that are held in Python."""
    return engine.renderer.fragment("cells_of_json", json_of(rows), class_type)


def _class_type(engine: Engine, name: str) -> Markup | None:
    """The type of the labels in a file, for a statement; None if it is not a plain name."""
    if name.startswith("ENUM("):
        labels = [label.replace("''", "'") for label in re.findall(r"'((?:[^']|'')*)'", name)]
        return engine.renderer.fragment("enumeration", labels)
    return engine.renderer.dialect.query(name) if NAMED.fullmatch(name) else None


def shared_spec(spec: Spec, least: int, title: str) -> Spec:
    """The spec of a file without counts of fewer than `least` rows, and without what the rows revealed about its features.

    Raises ModelError if such a model, which messages call `title`, and InputError if a feature cannot be shared this way.
    """
    whole_number(least, "least")
    check(spec, "least", title)
    if spec.weight is not None:
        raise ModelError(f"{title} has weights, so that no count of it is one of rows; least takes one fitted without")
    for feature in spec.features:
        if (cure := _reason_not_rows(feature)) is not None:
            raise InputError(f"least does not take {feature.name!r}, which is {feature.family.name}: {cure}")
    features = tuple(
        replace(feature, is_complete=False, has_near_means=False, has_few_values=False) for feature in spec.features
    )
    return replace(spec, features=features, shared=(*spec.shared, f"least {least}"))


def _reason_not_rows(feature: Feature) -> str | None:
    """Why the counts of a feature are not counts of rows; None if they are."""
    family = feature.family
    if family.kind in ("tokens", "pairs") and not family.presence:
        return "its counts are of words, and not of rows; leave it out, or take event='bernoulli' of a text"
    if family.parent:
        return "counts that are left out would follow from those of its parent; fit it without one"
    return None
