"""The pictures of the documentation: python tests/support/make_pictures.py MESSAGES.

The one of the README is drawn from public short messages, a CSV file with the columns `label` and `message`; those of
the gallery from the flights that nbsql ships. On dark pages their text is light.
"""

import re
import sys
import tempfile
from html import escape
from pathlib import Path

import duckdb
from click.testing import CliRunner

import nbsql
from nbsql.cli import main as nbsql_command
from nbsql.report import Picture
from nbsql.report.document import inline_svg

WIDTH, GAP, TITLE = 940, 28, 54  # a wide font needs 940 for the longest title
_SIZE = re.compile(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"')
_ID = re.compile(r'(\bid="|url\(#|href="#)([\w-]+)')
_START = re.compile(r"(<svg[^>]*>)")
_COLOURS = r"\1<style>svg{color:#1f2933}@media(prefers-color-scheme:dark){svg{color:#dfe4ea}}</style>"


def in_both_themes(drawn: str) -> str:
    """A drawing whose text is dark on light pages, and light on dark ones."""
    return _START.sub(_COLOURS, drawn, count=1)


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
            f'<text x="{GAP}" y="{top + 4}" font-size="12" opacity="0.7">{escape(picture.panel.question)}</text>'
            f'<text x="{GAP}" y="{top + 26}" font-size="15" font-weight="bold">{escape(picture.finding)}</text>'
            f'<g transform="translate({GAP},{top + TITLE - 14}) scale({scale:.4f})">{drawn}</g>'
        )
        top += round(TITLE + height * scale + GAP)
    return in_both_themes(
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {WIDTH} {top}" '
        f'font-family="system-ui, sans-serif" fill="currentColor">{"".join(parts)}</svg>\n'
    )


def report(messages: str) -> str:
    """Three panels of a report on short messages."""
    with duckdb.connect() as con:
        con.read_csv(messages).create("messages")
        model = nbsql.fit(con, "messages", target="label", exclude=["id"], families={"message": nbsql.Text()})
        return below_each_other([model.plot.verdict("messages"), model.plot.nomogram(), model.plot.threshold("messages")])


def gallery() -> dict[str, str]:
    """Each picture of `model.plot`, of late flights: learnt from twenty days of each month, evaluated on the others."""
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "flights.duckdb")
        CliRunner().invoke(nbsql_command, ["demo", "--database", database], catch_exceptions=False)
        with duckdb.connect(database) as con:
            left_out = ["flight", "day"]
            plot = nbsql.fit(con, "learnt", target="arrival", exclude=left_out).plot
            by_month = nbsql.fit(con, "learnt", target="arrival", exclude=[*left_out, "month"], slice_by="month").plot
            new = "held_back"
            pictures = {
                "card": plot.card(),
                "data": plot.data(),
                "verdict": plot.verdict(new),
                "ranking": plot.ranking(),
                "profile-of-a-number": plot.profile("dep_delay", new),
                "profile-of-a-category": plot.profile("carrier", new),
                "discrimination": plot.discrimination("late", "punctual"),
                "nomogram": plot.nomogram(),
                "waterfall": plot.waterfall(new),
                "confusion": plot.confusion(new),
                "threshold": plot.threshold(new),
                "reliability": plot.reliability(new),
                "lift": plot.lift(new),
                "slices": plot.slices(new),
                "drift": by_month.drift(),
                "monitor": plot.monitor(new, by="month"),
                "dependence": plot.dependence(new),
            }
            return {name: picture.svg for name, picture in pictures.items()}


def main(messages: str, folder: str = "docs/pictures") -> None:
    where = Path(folder)
    (where / "gallery").mkdir(parents=True, exist_ok=True)
    (where / "report.svg").write_text(report(messages), encoding="utf-8")
    for name, drawn in gallery().items():
        (where / "gallery" / f"{name}.svg").write_text(in_both_themes(drawn), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
