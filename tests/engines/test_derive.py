"""Derived columns are those made by hand, on every engine, in every form in which a model is taken elsewhere."""

import pytest
from engines.places import assert_same_rows

import nbsql

COLUMNS = {"id": "INTEGER", "label": "VARCHAR", "price": "VARCHAR", "pages": "INTEGER", "words": "VARCHAR"}
ROWS = [
    (
        i,
        "sold" if i * 7 % 3 == 0 else "kept",
        None if i % 11 == 0 else f"${i * 7 % 3 * 2 + i % 13}.50",
        1 + i % 5,
        "ab" * (i % 3),
    )
    for i in range(120)
]
PRICE = "replace(price, '$', '')"

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def double(place):
    return "DOUBLE" if place.engine == "spark" else "DOUBLE PRECISION"


def derive(place):
    return {
        "price": f"CAST({PRICE} AS {double(place)})",
        "per_page": "price / pages",
        "long": "length(words) > 2",
        "class": "upper(label)",
    }


def by_hand(place):
    price = f"CAST({PRICE} AS {double(place)})"
    made = f"{price} AS price, pages, words, {price} / pages AS per_page, length(words) > 2 AS long, upper(label) AS class"
    return f"SELECT id, {made} FROM books"


@pytest.fixture
def models(both):
    found = []
    for place in both:
        place.table("books", COLUMNS, ROWS)
        options = {"target": "class", "id": "id", "nulls": "category"}
        derived = nbsql.fit(place.con, "books", name="m", derive=derive(place), exclude=["label"], **options)
        found.append((place, derived, nbsql.fit(place.con, by_hand(place), name="hand", **options)))
    return found


def answers(query, count):
    return sorted((row[0], *row[-count:]) for row in query.fetchall())


def test_answers_are_those_by_hand(models):
    for place, model, hand in models:
        view = by_hand(place)
        cells = [sorted((row[1:7] for row in of.statistics), key=lambda row: str(row[:3])) for of in (model, hand)]
        assert_same_rows(*cells)
        expected = answers(hand.predict_proba(view), 4)
        bare = model.predict_proba("SELECT id, price, pages, words FROM books")
        assert bare.columns[:5] == ["id", "price", "pages", "words", "prediction"]  # what is added stays within
        assert_same_rows(answers(bare, 4), expected)
        assert model.evaluate("books").log_loss == pytest.approx(hand.evaluate(view).log_loss, rel=1e-12)
        explained = [sorted(map(str, of.explain(source).fetchall())) for of, source in ((model, "books"), (hand, view))]
        assert len(explained[0]) == len(explained[1])
        assert {row[3] for row in model.explain("books")} == {None, "price", "pages", "words", "per_page", "long"}
        model.update("books", batch="again")
        model.forget("SELECT * FROM books WHERE id % 2 = 0")
        assert model.evaluate("books").accuracy > 0.5
        model.rollback("1")
        assert_same_rows(answers(model.predict_proba("books"), 4), expected)
        sources = ["SELECT id, price, words FROM books"]
        if place.engine == "postgres":  # where names that differ in case are different columns
            sources.append('SELECT id, price, words, label, pages AS "Pages" FROM books')
        line = "no column 'pages' in the query, from which model 'm' derives 'per_page'"
        for source in sources:
            with pytest.raises(nbsql.InputError, match=line):
                model.predict(source)
    assert_same_rows(*(answers(model.predict_proba("books"), 4) for _, model, _ in models))


def test_rows_at_hand_functions_and_macros(models):
    for place, model, hand in models:
        expected = {row[0]: row[-4:] for row in hand.predict_proba(by_hand(place)).fetchall()}
        if place.engine != "spark":
            one = model.predict_one({"price": "$4.50", "pages": 3, "words": "abab"})
            asked = model.predict_proba("SELECT 0 AS id, '$4.50' AS price, 3 AS pages, 'abab' AS words")
            answer = dict(zip(asked.columns, asked.fetchall()[0], strict=True))
            assert one["probabilities"] == pytest.approx(
                {label: answer[f"probability_{label}"] for label in one["probabilities"]}, rel=1e-12
            )
        macro = {
            "duckdb": "SELECT id, prediction, probability FROM m.predict('books')",
            "postgres": "SELECT id, answer.* FROM books, m.predict(to_jsonb(books)) AS answer",
        }.get(place.engine)
        if macro is not None:
            assert_same_rows(sorted(place.run(macro)), sorted((key, *row[:2]) for key, row in expected.items()))
            found = {metric: value for of, metric, value in place.run("SELECT * FROM m.evaluate('books')") if of is None}
            assert found["log_loss"] == pytest.approx(hand.evaluate(by_hand(place)).log_loss, rel=1e-12)


def test_scorers_and_files_elsewhere(models, tmp_path):
    for maker, model, hand in models:
        expected = answers(hand.predict_proba(by_hand(maker)), 4)
        model.export(path := str(tmp_path / f"{maker.engine}.nbsql"))
        for place, *_ in models:
            scorer = model.sql("predict_proba", "books", dialect=place.engine)
            assert_same_rows(sorted((row[0], *row[-4:]) for row in place.run(scorer)), expected)
            counted = place.run(model.sql("statistics", "books", dialect=place.engine))
            assert {row[1] for row in counted} == {None, "price", "pages", "words", "per_page", "long"}
            moved = nbsql.import_(place.con, path, name=f"from_{maker.engine}")
            assert_same_rows(answers(moved.predict_proba("books"), 4), expected)
            moved.drop()


def test_words_for_a_missing_value(both, tmp_path):
    answered = []
    rows = [(i, "ab"[i % 2], ["NA", str(i % 7 + i % 2)][i % 5 > 0], ["?", "x", "y"][i % 3]) for i in range(90)]
    for place in both:
        place.table("words", {"id": "INTEGER", "y": "VARCHAR", "age": "VARCHAR", "city": "VARCHAR"}, rows)
    for place in both:
        options = {"target": "y", "id": "id"}
        model = nbsql.fit(place.con, "words", name="w", missing=["NA", "?"], **options)
        age = f"CASE WHEN age <> 'NA' THEN CAST(age AS {double(place)}) END AS age"
        view = f"SELECT id, y, {age}, CASE WHEN city <> '?' THEN city END AS city FROM words"
        expected = answers(nbsql.fit(place.con, view, **options).predict_proba(view), 3)
        answered.append(answers(model.predict_proba("words"), 3))
        assert_same_rows(answered[-1], expected)
        assert_same_rows(answers(model.predict_proba(view), 3), expected)
        model.export(path := tmp_path / f"{place.engine}.nbsql")
        for other in both:
            scorer = model.sql("predict_proba", "words", dialect=other.engine)
            assert_same_rows(sorted((row[0], *row[-3:]) for row in other.run(scorer)), expected)
            moved = nbsql.import_(other.con, path, name=f"w_{place.engine}")
            assert_same_rows(answers(moved.predict_proba("words"), 3), expected)
            moved.drop()
        with pytest.warns(nbsql.NbsqlWarning, match=r"'age' holds numbers but for 'NA' in 18 of 90 rows.*missing=\[\"NA\"\]"):
            nbsql.fit(place.con, "words", **options)
    assert_same_rows(*answered)
