"""Sequences of statements: iterative searches for engines without recursive queries, and scripts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.plan import Statement
from nbsql.rendering.dialect import restore


@dataclass
class Steps:
    """A search in steps. Each step is a temporary table, computed from the previous one, which it replaces."""

    engine: Engine
    act: str  # the name of the search, for those who watch the statements
    temporary: Callable[[str], Markup]  # names temporary tables
    _last: Markup | None = None
    _count: int = 0

    def take(self, query: Markup) -> Markup:
        """The table of the next step, created from the rows of a query."""
        last = self._last
        self._count += 1
        self._last = self.temporary(f"step {self._count}")
        self.engine.create(self.act, self._last, query)
        if last is not None:
            self.engine.query_macro("drop_if_exists", last)
        return self._last


def script(engine: Engine, statements: Iterable[Statement], writes: str | None = None) -> str:
    """Statements as one script, in one transaction if the engine has transactions.

    `writes` is the name of the model that they write, to which others keep their rights.
    """
    statements = list(statements)
    if writes is not None:
        render, text = engine.renderer, engine.renderer.dialect.text
        bodies = [render.fragment(macro, writes) for macro in ("keep_rights", "give_rights")]
        acts = [render.statement("checking_statement", body, text(restore(body))) for body in bodies if body]
        if acts:
            statements = [Statement("keep rights", acts[0]), *statements, Statement("give rights", acts[1])]
    parts = [f"-- {statement.name}\n{statement.sql};" for statement in statements]
    if not engine.drafts:
        begin, commit = (engine.renderer.statement(f"{act}_transaction") for act in ("begin", "commit"))
        parts = [f"{begin};", *parts, f"-- commit\n{commit};"]
    return engine.without_database_name("\n\n".join(parts))
