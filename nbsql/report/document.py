"""A document of pictures: HTML that needs no network, and in which all values are escaped."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from nbsql.report.drawing import bundle, compress, csv_of, inline_svg
from nbsql.report.panel import Figure, Panel
from nbsql.version import __version__

_SQL = 6_000  # the most characters of a query in a page that is too large
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
    """A document with a single picture."""
    section = Section(panel, [render_figure("picture", figure)])
    return render_page(
        title=panel.question, told=f"nbsql {__version__}", source=None, how="", summary=None, sections=[section], left_out=[],
        least=0,
    )  # fmt: skip


def render_page(**values: Any) -> str:
    """The document from the variables of its template (page.html.j2)."""
    from jinja2 import Environment, StrictUndefined

    template = (Path(__file__).parent / "page.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["whole"] = lambda text: text.replace(" %", "\u00a0%")  # a number and its sign on one line
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
