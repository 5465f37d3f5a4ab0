"""Every engine feeds the pictures with what DuckDB does, and writes the report."""

import random
import re

import pytest
from engines.places import same
from support.chromium import opened
from support.large_table import large_table

import nbsql
from nbsql.report import PANELS

COLUMNS = {"sky": "VARCHAR", "x": "DOUBLE PRECISION", "n": "INTEGER", "wind": "BOOLEAN", "said": "VARCHAR", "y": "VARCHAR"}


def rows(count):
    chance = random.Random(3)  # noqa: S311
    found = []
    for row in range(count):
        label = row % 2
        sky = None if row % 11 == 0 else chance.choice("uvw"[label:] + "u")
        said = chance.choice(["free prize", "lunch on friday", "a prize on friday"])
        found.append(
            (sky, chance.gauss(label, 1), chance.randrange(4) + label, chance.random() < 0.5, said, ["no", "yes"][label])
        )
    return found


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_the_relations_of_pictures_agree_and_a_report_is_written(both, tmp_path):
    found = []
    for place in both:
        place.table("days", COLUMNS, rows(150))
        families = {"n": "poisson", "said": nbsql.Text()}
        model = nbsql.fit(place.con, "days", target="y", families=families, name="m")
        queries = {
            "discrimination": model.discrimination("yes", "no"),
            "sky": model.profile("sky"),
            "words": model.profile("said"),
            "x": model.profile("x", "days"),
            "n": model.profile("n", "days"),
            "dependence": model.dependence("days"),
        }
        found.append({name: (query.columns, sorted(query.fetchall(), key=_texts)) for name, query in queries.items()})
        path = tmp_path / f"{place}.html"
        model.report(path, source="days", rows=4, folds=2)
        found[-1]["panels"] = re.findall(r'<div class="chart" id="([\w-]+)"', path.read_text(encoding="utf-8"))
        assert len(found[-1]["panels"]) > 15
    ours, theirs = found
    assert ours.pop("panels") == theirs.pop("panels")
    for name, (columns, expected) in theirs.items():
        assert ours[name][0] == columns
        assert len(ours[name][1]) == len(expected), name
        for one, other in zip(ours[name][1], expected, strict=True):
            assert all(map(same, one, other)), (name, one, other)


LARGE = {
    "postgres": large_table("generate_series(0, 9999) AS t(i)"),
    "spark": large_table("(SELECT CAST(id AS INT) AS i FROM range(10000)) AS t", text="STRING", double="DOUBLE"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("engine", LARGE)
def test_a_report_of_20_features_50_classes_and_10_000_words(connect, engine, tmp_path):
    place = connect(engine)
    place.run(LARGE[engine])
    model = nbsql.fit(place.con, "large", target="y", families={"words": nbsql.Text()}, name="large_model")
    path = tmp_path / "large.html"
    model.report(path, source="large", rows=4, folds=2)
    assert path.stat().st_size < 1_500_000
    sections = re.findall(r'<section id="([\w-]+)"', path.read_text(encoding="utf-8"))
    assert sections == [panel.name for panel in PANELS if panel.name != "drift" and not panel.of_periods]
    marks = "chart.querySelectorAll('svg .role-mark path').length"
    found, said = opened(path, tmp_path, f"return [...document.querySelectorAll('.chart')].map((chart) => {marks});")
    assert said == []
    assert min(found) > 0


def _texts(row):
    """What tells a row from another: its texts, and of a profile the place, rounded."""
    return tuple(
        str(value) if isinstance(value, str) or value is None else round(float(value), 6) if at == 2 else ""
        for at, value in enumerate(row)
    )
