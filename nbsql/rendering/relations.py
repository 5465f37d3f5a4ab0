"""Where the relations of a model are."""

from __future__ import annotations

from markupsafe import Markup

from nbsql.rendering.renderer import Renderer


class Relations:
    """Where the relations of a model are: in a schema, or among the temporary tables of a model without a name.

    Args:
        renderer: of the engine.
        path: the schema, and before it the database, if it is not the current one, or shall stay what it is when that changes.
        transient: what the names of temporary tables begin with.
        ending: what the names of tables end with.
        database: from which dimensions are named; None: from the current one.
    """

    def __init__(
        self,
        renderer: Renderer,
        *path: str,
        transient: str | None = None,
        ending: str = "",
        database: str | None = None,
    ) -> None:
        self.temporary = transient is not None
        self.path = path
        self.database = path[0] if len(path) > 1 else database
        self._ending = ending
        self._ident = renderer.dialect.ident
        self._transient = transient
        self._temporary = renderer.dialect.traits.temporary

    def __getitem__(self, name: str) -> Markup:
        if self._transient is not None:
            return self._ident(*self._temporary, f"{self._transient} {name}")
        return self._ident(*self.path, name + self._ending)

    @property
    def schema(self) -> Markup:
        return self._ident(*self.path)
