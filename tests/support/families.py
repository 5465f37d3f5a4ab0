"""The options of the families with their defaults, as a table of Markdown."""

import re
from dataclasses import MISSING, fields
from typing import Any

import nbsql
from nbsql.family import FAMILIES


def table_of_defaults() -> str:
    """One row a family: its name, its pseudo-count, and its own options with their defaults."""
    lines = ["| family | pseudo-count `alpha` | own options |", "| --- | --- | --- |"]
    for name, kind in FAMILIES.items():
        own = [f"`{field.name}={_shown(field.default)}`" for field in fields(kind) if _is_own(kind, field)]
        alpha = "that of the fit" if kind.zeros or kind.kind in ("level", "tokens") else "none"
        lines.append(f"| `{name}` | {alpha} | {', '.join(own) or 'none'} |")
    return "\n".join(lines)


def _is_own(kind: type[nbsql.Family], field: Any) -> bool:
    """Whether it is an option that a user sets: the docstring of the class explains it, and not as what the fit has found."""
    if field.name in {"columns", *(each.name for each in fields(nbsql.Family))} or field.default is MISSING:
        return False
    for base in kind.__mro__:
        explained = re.search(rf"^ {{8}}{field.name}: (.*?)(?=^ {{8}}\w|^$)", base.__doc__ or "", re.MULTILINE | re.DOTALL)
        if explained is not None:
            return "the fit " not in " ".join(explained[1].split())
    return False


def _shown(default: Any) -> str:
    if isinstance(default, float):
        return f"{default:g}"
    return f'"{default}"' if isinstance(default, str) else str(default)
