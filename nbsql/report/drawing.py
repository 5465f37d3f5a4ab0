"""Draws specifications, and provides the JavaScript and the encodings that a page needs."""

from __future__ import annotations

import base64
import csv
import gzip
import io
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from nbsql.errors import NotSupportedError
from nbsql.rendering.kept import kept


def vl_convert() -> ModuleType:
    """The module vl_convert, which draws. Raises NotSupportedError if it is not installed."""
    try:
        import vl_convert as found
    except ImportError as error:
        raise NotSupportedError("pictures need vl-convert-python: pip install 'nbsql[report]'") from error
    module: ModuleType = found
    return module


def svg_of(spec: dict[str, Any]) -> str:
    """A specification drawn as SVG without links."""
    drawn: str = vl_convert().vegalite_to_svg({key: value for key, value in spec.items() if key != "$schema"})
    return drawn


def inline_svg(spec: dict[str, Any]) -> str:
    """A specification drawn as SVG for use in a page."""
    drawn = svg_of(spec)
    return drawn[drawn.index("<svg") :]


def csv_of(rows: list[dict[str, Any]]) -> str:
    """Rows of data as CSV."""
    out = io.StringIO()
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def compress(text: str) -> str:
    """A text as base64 of gzip, which is much smaller and cannot be mistaken for markup."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


@cache  # a page is rendered several times until it is small enough
def bundle() -> str:
    """The JavaScript of Vega, Vega-Lite and Vega-Embed, compressed. It takes a second to make, and is kept for other pages."""
    drawing = vl_convert()
    made_of = version("vl-convert-python").encode() + Path(__file__).read_bytes()
    return kept(Path(__file__).with_name("bundle"), made_of, lambda: compress(_bundled(drawing)).encode()).decode()


def _bundled(drawing: ModuleType) -> str:
    """The JavaScript, without addresses that a page would fetch."""
    script: str = drawing.javascript_bundle()
    for address in (
        "https://vega.github.io/schema/vega/v6.json",
        "https://vega.github.io/editor/",
        "https://github.com/vega/vega-lite/issues/2415",
    ):
        script = script.replace(address, "")
    return script
