"""Specifications drawn, and a document of them: HTML that needs no network, and in which all values are escaped."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from markupsafe import Markup

from nbsql.errors import NotSupportedError
from nbsql.rendering.compiled import kept
from nbsql.report.panel import Figure, Panel
from nbsql.version import __version__


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


_SQL = 6_000  # the most characters of a query in a page that is too large
_HEBREW = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"  # and Arabic and others
_LEFTWARD = re.compile(f"{_HEBREW}+(?:[ _-]{_HEBREW}+)*")
_EMPTY = re.compile(r'<path class="(?:fore|back)ground"[^>]* d=""[^>]*/>|<path class="background"[^>]* d="M0,0h0v0h0Z"[^>]*/>')
# Defaults of SVG, and attributes that the figure already has.
_USUAL = (' opacity="1"', ' pointer-events="none"', ' aria-hidden="true"', ' stroke-width="1"')
_WIDTH = re.compile(r'<svg[^>]* width="([\d.]+)"')
_ID = re.compile(r'(\bid="|url\(#|href="#)([\w-]+)')


@dataclass(frozen=True)
class RenderedFigure:
    """A figure as the page contains it, with all texts escaped."""

    id: str
    figure: Figure
    svg: Markup
    width: int
    spec: dict[str, Any]
    csv: str
    sql: str

    def shortened(self) -> RenderedFigure:
        """The same figure with a shortened query; the picture has the whole query."""
        rest = len(self.sql) - _SQL
        if rest <= 0:
            return self
        return replace(self, sql=f"{self.sql[:_SQL]}\n-- ... {rest:,} more characters; model.plot has the whole query")


@dataclass(frozen=True)
class Section:
    """A panel as the page contains it."""

    panel: Panel
    figures: list[RenderedFigure]


def picture_document(panel: Panel, figure: Figure) -> str:
    section = Section(panel, [render_figure("picture", figure)])
    return render_page(
        title=panel.question, told=f"nbsql {__version__}", source=None, how="", summary=None, sections=[section], left_out=[],
        least=0,
    )  # fmt: skip


def _whole(sentence: str) -> str:
    """A sentence with a number and its sign on one line, and what follows a name from right to left behind the name."""
    return _LEFTWARD.sub("\u2068\\g<0>\u2069", sentence.replace(" %", "\u00a0%"))


def render_page(**values: Any) -> str:
    """The document from the variables of its template (page.html.j2)."""
    from jinja2 import Environment, StrictUndefined

    template = (Path(__file__).parent / "page.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["whole"] = _whole
    charts = {item.id: item.spec for section in values["sections"] for item in section.figures}
    text = json.dumps(charts, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return environment.from_string(template).render(bundle=bundle(), charts=compress(text), **values)


def render_figure(name: str, figure: Figure) -> RenderedFigure:
    """A figure drawn for a document, in which its name is its id."""
    spec = figure.spec
    config = {**spec["config"], "aria": False}  # the figure has its own label, which every mark would repeat
    drawn = _EMPTY.sub("", inline_svg({**spec, "config": config}))
    drawn = _ID.sub(rf"\1{name}-\2", drawn)  # ids must be unique among the pictures of a page
    for usual in _USUAL:
        drawn = drawn.replace(usual, "")
    rows = figure.csv if figure.csv is not None else figure.tables["rows"]
    csv = base64.b64encode(csv_of(rows).encode()).decode()
    width = _WIDTH.match(drawn)
    svg = Markup(drawn)  # noqa: S704 - Vega escapes texts
    return RenderedFigure(
        name, figure, svg, round(float(width[1])) if width else 0, {**spec, "config": config}, csv, figure.sql
    )
