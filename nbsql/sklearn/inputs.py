"""The inputs of an estimator: each column of its matrix as a function of a column of the table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from nbsql.family import Text
from nbsql.sklearn.words import is_vectorizer, no_counterpart, text_family, with_tfidf


@dataclass(frozen=True)
class Number:
    """A number: scale (x - centre) + offset, x of the column."""

    column: str
    scale: float = 1.0
    centre: float = 0.0
    offset: float = 0.0

    def column_value(self, z: float) -> float:
        """The x of a number z."""
        return (float(z) - self.offset) / self.scale + self.centre

    @property
    def is_plain(self) -> bool:
        """Whether the number is the column itself."""
        return (self.scale, self.centre, self.offset) == (1.0, 0.0, 0.0)


@dataclass(frozen=True)
class Level:
    """An indicator: 1 if the column has the value, or is missing (None), and 0 otherwise."""

    column: str
    value: Any


@dataclass(frozen=True)
class Code:
    """The position of the column's value in a list of values, from 0."""

    column: str
    values: Sequence[Any]


@dataclass(frozen=True)
class Word:
    """The number of times that a text contains a word, times the idf of the word, if it has one."""

    column: str
    token: str
    family: Text
    idf: float | None = None


Input = Number | Level | Code | Word


def name_of(thing: Any) -> str:
    """The class of a scikit-learn object, for messages."""
    return type(thing).__name__


def steps_of(pipeline: Any) -> list[Any]:
    """The steps of a pipeline, with nested pipelines flattened; another estimator is the only step; of a search, the best."""
    pipeline = getattr(pipeline, "best_estimator_", pipeline)
    if name_of(pipeline) != "Pipeline":
        return [pipeline]
    return [each for _, step in pipeline.steps if not _is_nothing(step) for each in steps_of(step)]


def read_through(transformers: Sequence[Any], columns: Sequence[str]) -> list[Input]:
    """The outputs of fitted transformers, of which the first reads these columns of the table, as inputs of the next step.

    Raises NotSupportedError if a transformer, or one of its options, has no equivalent in SQL.
    """
    found: list[Input] = [Number(column) for column in columns]
    for transformer in transformers:
        found = _transformed(transformer, found)
    return found


def _transformed(transformer: Any, inputs: list[Input]) -> list[Input]:
    name = name_of(transformer)
    if name == "Pipeline":
        for step in steps_of(transformer):
            inputs = _transformed(step, inputs)
        return inputs
    if name == "ColumnTransformer":
        return _by_column(transformer, inputs)
    if is_vectorizer(transformer):
        if len(inputs) != 1:
            raise no_counterpart(f"{name} of {len(inputs)} columns", "it takes one text column: name it in columns")
        family, words = text_family(transformer)
        return [Word(_plain(transformer, inputs[0]).column, token, family, idf) for token, idf in words]
    if name == "TfidfTransformer":
        bags = [each for each in inputs if isinstance(each, Word)]
        if len(bags) != len(inputs) or len({(bag.column, bag.family) for bag in bags}) > 1:
            raise no_counterpart("TfidfTransformer of anything but the words of one CountVectorizer", "put it after one")
        family, idfs = with_tfidf(bags[0].family, transformer, len(bags))
        return [replace(bag, family=family, idf=idf) for bag, idf in zip(bags, idfs, strict=True)]
    if name == "FunctionTransformer" and transformer.func is None:
        return inputs
    if name in ("StandardScaler", "MinMaxScaler"):
        return [_scaled(transformer, each, j) for j, each in enumerate(inputs)]
    if name in ("OneHotEncoder", "OrdinalEncoder"):
        columns = [_plain(transformer, each).column for each in inputs]
        return _encoded(transformer, columns)
    raise no_counterpart(name, "StandardScaler, MinMaxScaler, OneHotEncoder, OrdinalEncoder and vectorizers of words do")


def _is_nothing(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _plain(transformer: Any, found: Input) -> Number:
    """The column of an input that must be the column itself, for encoders and vectorizers."""
    if not isinstance(found, Number) or not found.is_plain:
        raise no_counterpart(f"{name_of(transformer)} of what another transformer has made", "let it read the column itself")
    return found


def _scaled(scaler: Any, found: Input, j: int) -> Input:
    if not isinstance(found, Number):
        raise no_counterpart(f"{name_of(scaler)} of anything but numbers", "let it read number columns, in a ColumnTransformer")
    if name_of(scaler) == "MinMaxScaler":
        if scaler.clip:
            raise no_counterpart("MinMaxScaler(clip=True)", "fit it without clip")
        scale, shift = float(scaler.scale_[j]), float(scaler.min_[j])
        return replace(found, scale=found.scale * scale, offset=found.offset * scale + shift)
    mean = float(scaler.mean_[j]) if scaler.with_mean else 0.0
    scale = 1 / float(scaler.scale_[j]) if scaler.with_std else 1.0
    if found.is_plain:
        return replace(found, scale=scale, centre=mean)
    return replace(found, scale=found.scale * scale, offset=(found.offset - mean) * scale)


def _encoded(encoder: Any, columns: Sequence[str]) -> list[Input]:
    values = [[_python(value) for value in of_column] for of_column in encoder.categories_]
    if getattr(encoder, "infrequent_categories_", None) and any(each is not None for each in encoder.infrequent_categories_):
        raise no_counterpart(f"{name_of(encoder)} with infrequent categories", "leave out min_frequency and max_categories")
    if name_of(encoder) == "OrdinalEncoder":
        if any(None in each for each in values):
            raise no_counterpart("OrdinalEncoder of missing values", "fill them first")
        return [Code(column, tuple(each)) for column, each in zip(columns, values, strict=True)]
    dropped = encoder.drop_idx_ if encoder.drop_idx_ is not None else [None] * len(columns)
    return [
        Level(column, value)
        for column, of_column, left_out in zip(columns, values, dropped, strict=True)
        for place, value in enumerate(of_column)
        if left_out is None or place != left_out
    ]


def _by_column(transformer: Any, inputs: list[Input]) -> list[Input]:
    """The outputs of a ColumnTransformer over the table's columns, in its order."""
    if transformer.transformer_weights:
        raise no_counterpart("ColumnTransformer with transformer_weights", "fit it without them")
    columns = [_plain(transformer, each).column for each in inputs]
    found: list[Input] = []
    for _, fitted, chosen in transformer.transformers_:
        names = _chosen(columns, chosen)
        if isinstance(fitted, str) and fitted == "drop":
            continue
        taken: list[Input] = [Number(name) for name in names]
        found += taken if _is_nothing(fitted) or not taken else _transformed(fitted, taken)
    return found


def _chosen(columns: Sequence[str], chosen: Any) -> list[str]:
    """The names of the columns that a ColumnTransformer selects by name, position, slice or mask."""
    if isinstance(chosen, str):
        return [chosen]
    if isinstance(chosen, slice):
        if isinstance(chosen.start, str) or isinstance(chosen.stop, str):  # a slice of names includes both ends
            start = None if chosen.start is None else columns.index(chosen.start)
            stop = None if chosen.stop is None else columns.index(chosen.stop) + 1
            chosen = slice(start, stop, chosen.step)
        return list(columns[chosen])
    places = [_python(each) for each in (chosen if hasattr(chosen, "__iter__") else [chosen])]
    if places and all(isinstance(each, bool) for each in places):
        return [column for column, wanted in zip(columns, places, strict=True) if wanted]
    return [each if isinstance(each, str) else columns[each] for each in places]


def _python(value: Any) -> Any:
    """The value as a plain Python value; NaN becomes None."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and value != value else value
