"""Pictures: Vega-Lite specifications with their data, which can be saved as SVG, PNG, HTML or JSON."""

import json
import os
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbsql.engines.output import output_file
from nbsql.errors import InputError, NotSupportedError, path_text
from nbsql.report.document import inline_svg, picture_document, svg_of, vl_convert
from nbsql.report.panel import Figure, Panel

FORMATS = ("svg", "png", "pdf", "html", "json")
_TITLE = 88  # the most characters of a line of the title, which is about as wide as a picture
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # for users of the specification; never part of a page


@dataclass(frozen=True, repr=False)
class Picture:
    """A picture of a panel. A notebook displays it; `spec` is its Vega-Lite specification, for changes of your own.

    Args:
        panel: the panel.
        figure: the figure.
        reads: the paths and globs of the files that it was drawn from, which are not written to.
    """

    panel: Panel
    figure: Figure
    reads: tuple[str, ...] = ()

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification, including the data."""
        lines = textwrap.wrap(self.figure.finding, _TITLE, break_long_words=False)
        return {"$schema": SCHEMA, "title": {"text": lines, "anchor": "start"}, **self.figure.spec}

    @property
    def finding(self) -> str:
        """The result in a sentence."""
        return self.figure.finding

    @property
    def sql(self) -> str:
        """The query that computed the data."""
        return self.figure.sql

    @property
    def svg(self) -> str:
        """The picture as SVG."""
        return svg_of(self.spec)

    @property
    def altair(self) -> Any:
        """The picture as an Altair chart, which can be restyled.

        Raises:
            NotSupportedError: altair is not installed.
        """
        try:
            import altair
        except ImportError as error:
            raise NotSupportedError("Picture.altair needs altair: pip install 'nbsql[report]'") from error
        return altair.Chart.from_dict(self.spec)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file. The ending chooses the format: .svg, .png, .pdf, .html or .json (the specification).

        Raises:
            InputError: the file has another ending, cannot be written, or is a database or one that the picture was drawn from.
        """
        where = Path(path_text(path))
        kind = where.suffix.lower().removeprefix(".")
        if kind not in FORMATS:
            raise InputError(f"{where.name!r} ends in none of .{', .'.join(FORMATS)}, which say how to write a picture")
        with output_file(path, self.reads) as draft:
            draft.write_bytes(self._as(kind))

    def _as(self, kind: str) -> bytes:
        if kind == "json":
            return json.dumps(self.spec, ensure_ascii=False, indent=2, allow_nan=False).encode()
        on_white = {**self.spec, "background": "white"}  # the text has the colour of the surrounding page, or black
        if kind == "svg":
            return svg_of(on_white).encode()
        if kind in ("png", "pdf"):
            drawn: bytes = (
                vl_convert().vegalite_to_png(on_white, scale=2) if kind == "png" else vl_convert().vegalite_to_pdf(on_white)
            )
            return drawn
        return picture_document(self.panel, self.figure).encode()

    def _repr_html_(self) -> str:
        drawn = inline_svg(self.spec).replace(
            "<svg", '<svg style="max-width:100%;height:auto"', 1
        )  # all of it in a narrow window
        return f'<div style="overflow-x:auto">{drawn}</div>'

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:  # noqa: ARG002
        return {
            "application/vnd.vegalite.v6+json": self.spec,
            "image/svg+xml": self.svg,
            "text/html": self._repr_html_(),
            "text/plain": repr(self),
        }

    def __repr__(self) -> str:
        return f"<nbsql picture {self.panel.name!r}: {self.finding}>"
