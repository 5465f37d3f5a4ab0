"""The store of a fitted estimator: its own DuckDB database in memory, with one cursor for each thread."""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

import nbsql

NAME = "model"


class Store:
    """A database with one model. It is pickled as the bytes of the model's file: counts and a spec, but no code."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self._lock = threading.Lock()
        self._cursors = threading.local()

    @property
    def model(self) -> nbsql.Model:
        """The model, on this thread's cursor."""
        known: nbsql.Model | None = getattr(self._cursors, "model", None)
        if known is None:
            with self._lock:
                known = nbsql.load(self.connection.cursor(), NAME)
            self._cursors.model = known
        return known

    def copy_from(self, model: nbsql.Model) -> None:
        """Store a copy of a model from another connection."""
        read_model(model_bytes(model), self.connection, name=NAME)

    @contextmanager
    def on(self, connection: Any) -> Iterator[nbsql.Model]:
        """A transient copy of the model on the user's connection, which is dropped at the end."""
        with read_model(model_bytes(self.model), connection) as model:
            try:
                yield model
            finally:
                with suppress(nbsql.NbsqlError):  # an error has ended the transaction, and the model with it
                    model.drop()

    def __getstate__(self) -> dict[str, bytes]:
        return {"file": model_bytes(self.model)}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        Store.__init__(self)
        read_model(state["file"], self.connection, name=NAME)


def model_bytes(model: nbsql.Model) -> bytes:
    """The bytes of a model's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.parquet"
        model.export(path)
        return path.read_bytes()


def read_model(content: bytes, connection: Any, *, name: str | None = None) -> nbsql.Model:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.parquet"
        path.write_bytes(content)
        return nbsql.import_(connection, path, name=name)
