"""A naive Bayes classifier that lives in the database: SQL fits it, SQL scores with it, and rows never leave."""

from typing import TYPE_CHECKING, Any

from nbsql.version import __version__ as __version__

if TYPE_CHECKING:
    from nbsql.library.public import *  # noqa: F403
    from nbsql.library.public import __all__ as __all__


def __getattr__(name: str) -> Any:
    """A public name. With the first one comes the whole package, for which `nbsql --version` and completion need not wait."""
    from nbsql.library import public

    if name not in (*public.__all__, "__all__"):
        raise AttributeError(f"module 'nbsql' has no attribute {name!r}", name=name, obj=public)
    globals()[name] = found = getattr(public, name)
    return found


def __dir__() -> list[str]:
    from nbsql.library.public import __all__ as names

    return names  # completion in a console lists the public names, not the modules
