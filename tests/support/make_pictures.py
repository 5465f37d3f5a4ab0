"""The picture of the README, drawn from public short messages: python tests/support/make_pictures.py DATA."""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path

import duckdb

import nbsql
from nbsql.report import Picture
from nbsql.report.drawing import inline_svg

WIDTH, GAP, TITLE = 940, 28, 54  # a wide font needs 940 for the longest title
_SIZE = re.compile(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"')
_ID = re.compile(r'(\bid="|url\(#|href="#)([\w-]+)')


def below_each_other(pictures: list[Picture]) -> str:
    """Panels of a report as one picture, each with its question and its finding."""
    parts, top = [], GAP
    for number, picture in enumerate(pictures):
        drawn = _ID.sub(rf"\1p{number}-\2", inline_svg(picture.figure.spec))
        size = _SIZE.match(drawn)
        assert size is not None
        width, height = float(size[1]), float(size[2])
        scale = min(1.0, (WIDTH - 2 * GAP) / width)
        drawn = drawn.replace("<svg ", '<svg overflow="visible" ', 1)
        parts.append(
            f'<text x="{GAP}" y="{top + 4}" font-size="12" fill="#52606d">{escape(picture.panel.question)}</text>'
            f'<text x="{GAP}" y="{top + 26}" font-size="15" font-weight="bold">{escape(picture.finding)}</text>'
            f'<g transform="translate({GAP},{top + TITLE - 14}) scale({scale:.4f})">{drawn}</g>'
        )
        top += round(TITLE + height * scale + GAP)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {WIDTH} {top}" '
        'font-family="system-ui, sans-serif" fill="#1f2933" color="#1f2933">'
        f'<rect width="{WIDTH}" height="{top}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def main(data: str, folder: str = "docs/pictures") -> None:
    with duckdb.connect() as con:
        con.read_csv(data).create("messages")
        model = nbsql.fit(con, "messages", target="label", exclude=["id"], families={"message": nbsql.Text()})
        Path(folder).mkdir(parents=True, exist_ok=True)
        panels = [model.plot.verdict("messages"), model.plot.nomogram(), model.plot.threshold("messages")]
        (Path(folder) / "report.svg").write_text(below_each_other(panels), encoding="utf-8")
        print(*(panel.finding for panel in panels), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
