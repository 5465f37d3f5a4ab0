"""The names of a model's relations."""

from markupsafe import Markup

from nbsql.rendering.renderer import Renderer


class Relations:
    """The names of a model's relations: in a schema, or as temporary tables that begin with `transient` if it has no name.

    The path is the schema, preceded by the database if it is not the current one or if the current one may change. Dimensions
    are named relative to `database`; None is the current one. `lease` keeps the temporary tables until nobody holds it.
    """

    lease: object = None

    def __init__(
        self, renderer: Renderer, *path: str, transient: str | None = None, ending: str = "", database: str | None = None
    ) -> None:
        self.temporary = transient is not None
        self.path = path
        self.database = path[0] if len(path) > 1 else database
        self._ending = ending
        self._ident = renderer.dialect.ident
        self._transient = transient
        self._temporary = renderer.traits.temporary

    def __getitem__(self, name: str) -> Markup:
        if self._transient is not None:
            return self._ident(*self._temporary, f"{self._transient} {name}")
        return self._ident(*self.path, name + self._ending)

    @property
    def schema(self) -> Markup:
        return self._ident(*self.path)
