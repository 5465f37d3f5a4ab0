"""The prediction of one row with a text, which is cut by a shorter pattern where it is of ASCII."""

from enum import Enum

import pytest
from support.inserted import insert

import nbsql

WORDS = [
    "Wind_and rain-42, and ICE", "wind  ART\u0130 é e\u0301t\u00e9 \u0301x", "", " \x1f.. ", None, "naïve rain",
    "RAIN\tx2y 7",
]  # fmt: skip


class Said(str, Enum):
    """A text whose `str` is of ASCII, and whose value is not."""

    STREET = "straße"


@pytest.mark.few
@pytest.mark.parametrize(
    "options", [{}, {"lower": False}, {"accents": False}, {"ngrams": 2, "min_length": 2}, {"characters": 2}]
)
@pytest.mark.parametrize("unseen", ["skip", "smooth"])  # a compact statement, and that of a table
def test_a_text_of_ascii_and_any_other_has_the_words_of_a_table(con, options, unseen):
    con.execute("CREATE TABLE days (day VARCHAR, said VARCHAR, sky VARCHAR)")
    insert(con, "days", [(f"d{i % 2}", word, f"s{i % 3}") for i, word in enumerate(WORDS)])
    families = {"said": nbsql.Text(**options), "sky": nbsql.Categorical(unseen=unseen)}
    model = nbsql.fit(con, "days", target="day", families=families)
    answers = [model.predict_one({"said": word, "sky": "blue"}) for word in WORDS]
    expected = model.predict_proba("SELECT said, 'blue' AS sky FROM days").fetchall()
    for answer, row in zip(answers, expected, strict=True):
        assert list(answer["probabilities"].values()) == pytest.approx(row[-2:], rel=1e-12)


def test_a_member_of_an_enum_is_its_value(con):
    con.execute("CREATE TABLE signs AS SELECT 'y' || i % 2 AS y, ['straße', 'plain'][1 + i % 2] AS said FROM range(40) AS r(i)")
    model = nbsql.fit(con, "signs", target="y", families={"said": nbsql.Text()})
    assert model.predict_one({"said": Said.STREET}) == model.predict_one({"said": "straße"})
    assert model.predict_one({"said": Said.STREET})["prediction"] == "y0"
