"""The macro `reasons`: what `explain` says to people, as rows of SQL."""

import math
from collections import defaultdict

import pytest

import nbsql


def compared(model, source):
    """By row, feature and value: the ratio, the class for which it speaks and the other, from the contributions."""
    terms = defaultdict(lambda: defaultdict(dict))
    query = model.explain(source)
    for row in query.fetchall():
        terms[row[0]][row[-3] or "prior", row[-2]][row[-4]] = row[-1]
    found = {}
    for row, of_row in terms.items():
        joint = {label: sum(term[label] for term in of_row.values()) for label in next(iter(of_row.values()))}
        best, other = sorted(joint, key=lambda label: (-joint[label], label))[:2]
        of_row["total", None] = {label: joint[label] for label in (best, other)}
        found[row] = {
            key: (math.exp(abs(term[best] - term[other])), *((best, other) if term[best] > term[other] else (other, best)))
            for key, term in of_row.items()
        }
    return found


def test_reasons_are_the_contributions_compared(con):
    con.execute("""
        CREATE TABLE mail AS FROM (VALUES
            (7, 'ham', 'lunch on friday', 1, 0.5, FALSE), (8, 'ham', 'your invoice for may', 2, NULL, TRUE),
            (9, 'spam', 'free prize, free', 9, 4.0, FALSE), (10, 'spam', 'claim your prize', 12, 3.5, TRUE),
            (11, 'news', 'prize of the year', 5, 1.0, NULL),
            (12, 'news', 'may the prize', 4, 2.0, TRUE)) AS t(ratio, label, body, links, score, attached)""")
    families = {"body": nbsql.Text(), "links": "poisson"}
    model = nbsql.fit(con, "mail", target="label", name="m", id="ratio", families=families)
    rows = con.sql("FROM m.reasons('mail')")
    assert rows.columns == ["row_id", "source_ratio", "feature", "value", "ratio", "class", "other"]
    found = defaultdict(dict)
    for row, key, feature, value, *comparison in rows.fetchall():
        assert key == 6 + row
        found[row][feature, value] = tuple(comparison)
    for row, of_row in compared(model, "mail").items():
        assert set(found[row]) == set(of_row)
        for key, (ratio, *classes) in of_row.items():
            assert found[row][key][0] == pytest.approx(ratio, rel=1e-9)
            if abs(ratio - 1) > 1e-9:
                assert list(found[row][key][1:]) == classes
    (first,) = con.sql("WITH new AS (FROM mail LIMIT 1) SELECT list(feature) FROM m.reasons('new')").fetchall()[0]
    assert (first[0], first[-1]) == ("prior", "total")


def test_what_one_class_alone_has_is_infinitely_likelier(con):
    con.execute(
        "CREATE TABLE t AS FROM (VALUES ('u', 'a', 'k'), ('v', 'a', 'l'), ('v', 'b', 'k'), ('v', 'b', 'l')) AS t(x, y, z)"
    )
    nbsql.fit(con, "t", target="y", name="m", alpha=0)
    found = con.sql("WITH new AS (SELECT 'u' AS x, 'k' AS z) FROM m.reasons('new')").fetchall()
    assert found[1] == (1, "x", "u", math.inf, "a", "b")
    assert found[2] == (1, "z", "k", 1.0, None, None)  # as likely in both
    assert con.sql("WITH new AS (SELECT 'u' AS x, 'w' AS z) FROM m.reasons('new') WHERE feature = 'total'").fetchall() == [
        (1, "total", None, math.inf, "a", "b")
    ]


def test_reasons_follow_the_classes_of_the_model(con):
    con.execute("CREATE TABLE t AS FROM (VALUES ('u', 'a'), ('v', 'b')) AS t(x, y)")
    model = nbsql.fit(con, "t", target="y", name="m")
    model.update("SELECT 'w' AS x, 'c' AS y")
    assert con.sql("WITH new AS (SELECT 'w' AS x) SELECT class FROM m.reasons('new') WHERE feature = 'x'").fetchall() == [
        ("c",)
    ]
    con.execute("DROP MACRO TABLE m.reasons")  # as in a model of before there was one
    assert nbsql.load(con, "m").classes == ["a", "b", "c"]
