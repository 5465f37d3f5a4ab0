"""The methods, the smoothed prior and the segments, each with options of its own as arguments."""

import inspect

import duckdb
import pytest

import nbsql
from nbsql import LDA, QDA, Logistic, Segments, Smoothed
from nbsql.spec.spec import Spec

ROWS = """SELECT CASE i % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'b' ELSE 'c' END AS y, i * 7 % 11 + i % 3 AS x, i * 5 % 13 / 4 AS z,
    'v' || i * i % 4 AS v, i % 2 = 0 AS g FROM range(60) AS r(i)"""

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def spec(**options):
    return nbsql.fit(duckdb.connect(), ROWS, target="y", **options).state.spec


def test_a_fit_has_at_most_21_keywords():
    keywords = [each for each in inspect.signature(nbsql.fit).parameters.values() if each.kind is each.KEYWORD_ONLY]
    assert len(keywords) <= 21  # an option of one method is an argument of that method


@pytest.mark.slow
def test_every_function_with_the_options_of_a_fit_takes_them(con):
    numbers = {"target": "y", "features": ["x", "z"]}
    families = nbsql.families(con, ROWS, method=LDA(shrinkage=0.5), **numbers)
    assert families["lda"].shrinkage == 0.5
    judged = nbsql.cross_validate(con, ROWS, method=QDA(shrinkage=1), prior=Smoothed(5), folds=3, **numbers)
    swept = nbsql.sweep(con, ROWS, method=QDA(shrinkage=1), prior=[Smoothed(5)], folds=3, **numbers)
    assert swept.ranking.fetchall()[0][5] == pytest.approx(judged.log_loss, rel=1e-12)
    script = nbsql.fit_sql(con, ROWS, name="m", segment_by=Segments("g", shrinkage=3), prior=Smoothed(5), **numbers)
    con.execute(script)
    model = nbsql.load(con, "m")
    assert (model.state.spec.segment_shrinkage, model.state.spec.prior.alpha) == (3.0, 5.0)
    named = nbsql.fit(con, ROWS, features=nbsql.Best(1), method=Logistic(penalty=2), target="y")
    assert named.state.spec.logistic == Logistic(penalty=2)
    of_method = "; it is an option of a method: method=nbsql"
    with pytest.raises(nbsql.InputError, match=rf"^no option 'penalty'{of_method}\.Logistic\(penalty=2\)$"):
        nbsql.cross_validate(con, ROWS, target="y", penalty=2)
    with pytest.raises(TypeError, match=rf"unexpected keyword argument 'components'{of_method}\.Mixture\(components=2\)$"):
        nbsql.fit(con, ROWS, target="y", components=2)
    with pytest.raises(TypeError, match=rf"unexpected keyword argument 'bins'{of_method}\.KDB\(bins=5\)$"):
        nbsql.fit(con, ROWS, target="y", method="kdb", bins=5)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'priores'; did you mean 'prior'\?$"):
        nbsql.fit(con, ROWS, target="y", priores="uniform")
    with pytest.raises(TypeError, match=r"keyword argument 'class_weight'; here it is prior=\"uniform\", or a"):
        nbsql.fit(con, ROWS, target="y", class_weight="balanced")
    with pytest.raises(nbsql.InputError, match=r"^no option 'ngram_range'; here it is families=\{\"message\": nbsql\.Text\("):
        nbsql.auto(con, ROWS, target="y", ngram_range=(1, 2))


BEFORE = """{"format": 1, "target": "y", "target_type": "VARCHAR", "id": [], "weight": null, "slice_by": null, "given": false,
 "segment_by": "g", "segment_shrinkage": 3.0, "logistic": {"penalty": 2.0, "iterations": 9, "tolerance": 1e-08},
 "components": {"asked": {"a": 2}, "numbers": ["x"], "splits": []},
 "prior": {"kind": "smoothed", "alpha": 2.0, "given": []}, "features": [], "defaults": {"alpha": 1.0}}"""


def test_a_spec_written_before_is_read():
    found = Spec.from_json(BEFORE, "m")
    assert found.logistic == Logistic(penalty=2, iterations=9)
    assert (found.segment_by, found.segment_shrinkage, found.prior.alpha) == ("g", 3.0, 2.0)
    assert found.components.requested == {"a": 2}
    assert Spec.from_json(found.to_json(), "m") == found
