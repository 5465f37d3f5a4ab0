"""Where the relations of a model are."""

from __future__ import annotations

from markupsafe import Markup

from nbsql.render import Renderer


class Relations:
    """Where the relations of a model are: in a schema, or among the temporary tables of a model without a name."""

    def __init__(self, renderer: Renderer, *path: str, transient: str | None = None, ending: str = "") -> None:
        self.temporary = transient is not None
        self.path = path
        self._ending = ending
        self._ident = renderer.dialect.ident
        self._transient = transient
        self._temporary = renderer.dialect.traits.temporary

    def __getitem__(self, name: str) -> Markup:
        if self._transient is not None:
            return self._ident(*self._temporary, f"{self._transient} {name}")
        return self._ident(*self.path, name + self._ending)

    @property
    def is_current(self) -> bool:
        """Whether they are in the current database."""
        return len(self.path) == 1

    @property
    def schema(self) -> Markup:
        return self._ident(*self.path)

    def within(self, name: str) -> Markup:
        """As a table macro names it: without the database, which has another name whenever its file is opened by another."""
        return self[name] if self.temporary else self._ident(self.path[-1], name)
