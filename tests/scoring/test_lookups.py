"""The lookups are laid out from the counts, where they can be: they hold the logarithms of the very likelihoods."""

import pytest

import nbsql

ROWS = """
    SELECT ['a', 'b', 'c'][1 + i % 3] AS y,
        CASE WHEN i % 5 > 0 THEN 'v' || i * 7 % 11 END AS code,
        'w' || i % 13 || ' u' || i * i % 17 || ' own' || i % 3 AS words
    FROM range(120) AS rows(i)
"""


@pytest.mark.few
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"alpha": 0.0},
        {"estimate": "mode", "alpha": 1.5, "prior": "uniform"},
        {"nulls": "category", "unseen": "smooth"},
        {"families": {"words": nbsql.Text(min_count=10)}},
        {"families": {"code": nbsql.Categorical(levels=["never met"])}},
        {"families": {"code": nbsql.Categorical(alpha={"v1": 3.0})}},
        {"families": {"words": nbsql.Text(event="complement")}},
        {"families": {"words": nbsql.Text(norm="l2")}},
    ],
    ids=str,
)
def test_the_lookups_hold_the_logarithms_of_the_likelihoods(con, options):
    families = {"words": nbsql.Text(), **options.get("families", {})}
    nbsql.fit(con, ROWS, target="y", name="model", **{**options, "families": families})
    sign = -1 if families["words"].complement else 1
    found, kept, furthest = con.execute(f"""
        SELECT count(*), (SELECT count(*) FROM model.lookups), max(CASE WHEN lookup = known THEN 0 ELSE abs(lookup - known) END)
        FROM (
            SELECT CASE WHEN feature = 'words' THEN {sign} ELSE 1 END * likelihoods.log_likelihood AS known,
                [lookups.class_1, lookups.class_2, lookups.class_3][classes.class_no] AS lookup
            FROM model.likelihoods
            JOIN (
                SELECT row_number() OVER (ORDER BY prior DESC, class) AS class_no, class FROM model.priors
            ) AS classes USING (class)
            JOIN model.lookups USING (feature, value)
        )
    """).fetchall()[0]
    assert found == 3 * kept > 30
    assert furthest < 1e-12


def test_a_lookup_beside_those_of_tf_idf_has_an_idf_of_1(con):
    nbsql.fit(con, ROWS, target="y", name="model", families={"words": nbsql.Text(tfidf=True)})
    assert con.execute("SELECT min(idf), max(idf) FROM model.lookups WHERE feature = 'code'").fetchall() == [(1, 1)]
    assert con.execute("SELECT min(idf) > 1 FROM model.lookups WHERE feature = 'words'").fetchall() == [(True,)]
