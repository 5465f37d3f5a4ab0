"""Imported, with all macros compiled, before processes are forked that are to be killed: one killed soon is amid its work."""

import support.crashing  # noqa: F401

from nbsql.rendering.renderer import Renderer

_MACROS = Renderer("duckdb")._macros
for _name in _MACROS._sources:
    _MACROS[_name]
