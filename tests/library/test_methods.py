"""The methods, the smoothed prior and the segments, each with options of its own as arguments."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql import EM, LDA, QDA, JointBayes, Logistic, Mixture, Segments, Smoothed
from nbsql.cli.app import main
from nbsql.spec.spec import Spec

ROWS = """SELECT CASE i % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'b' ELSE 'c' END AS y, i * 7 % 11 + i % 3 AS x, i * 5 % 13 / 4 AS z,
    'v' || i * i % 4 AS v, i % 2 = 0 AS g FROM range(60) AS r(i)"""

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def spec(**options: Any) -> Spec:
    return nbsql.fit(duckdb.connect(), ROWS, target="y", **options).state.spec


def test_a_fit_has_at_most_21_keywords() -> None:
    keywords = [each for each in inspect.signature(nbsql.fit).parameters.values() if each.kind is each.KEYWORD_ONLY]
    assert len(keywords) <= 21  # an option of one method is an argument of that method


@pytest.mark.slow
def test_every_function_with_the_options_of_a_fit_takes_them() -> None:
    con = duckdb.connect()
    numbers: dict[str, Any] = {"target": "y", "features": ["x", "z"]}
    families = nbsql.families(con, ROWS, method=LDA(shrinkage=0.5), **numbers)
    assert families["lda"].shrinkage == 0.5  # type: ignore[attr-defined]
    judged = nbsql.cross_validate(con, ROWS, method=QDA(shrinkage=1), prior=Smoothed(5), folds=3, **numbers)
    swept = nbsql.sweep(con, ROWS, method=QDA(shrinkage=1), prior=[Smoothed(5)], folds=3, **numbers)
    assert swept.ranking.fetchall()[0][5] == pytest.approx(judged.log_loss, rel=1e-12)
    script = nbsql.fit_sql(con, ROWS, name="m", segment_by=Segments("g", shrinkage=3), prior=Smoothed(5), **numbers)
    con.execute(script)
    model = nbsql.load(con, "m")
    assert (model.state.spec.segment_shrinkage, model.state.spec.prior.alpha) == (3.0, 5.0)
    named = nbsql.fit(con, ROWS, features=nbsql.Best(1), method=Logistic(penalty=2), target="y")
    assert named.state.spec.logistic == Logistic(penalty=2)
    with pytest.raises(nbsql.InputError, match=r"^no option 'penalty'; "):
        nbsql.cross_validate(con, ROWS, target="y", penalty=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'components'"):
        nbsql.fit(con, ROWS, target="y", components=2)  # type: ignore[call-arg]


BEFORE = """{"format": 1, "target": "y", "target_type": "VARCHAR", "id": [], "weight": null, "slice_by": null, "given": false,
 "segment_by": "g", "segment_shrinkage": 3.0, "logistic": {"penalty": 2.0, "iterations": 9, "tolerance": 1e-08},
 "components": {"asked": {"a": 2}, "numbers": ["x"], "splits": []},
 "prior": {"kind": "smoothed", "alpha": 2.0, "given": []}, "features": [], "defaults": {"alpha": 1.0}}"""


def test_a_spec_written_before_is_read() -> None:
    found = Spec.from_json(BEFORE, "m")
    assert found.logistic == Logistic(penalty=2, iterations=9)
    assert (found.segment_by, found.segment_shrinkage, found.prior.alpha) == ("g", 3.0, 2.0)
    assert found.components is not None
    assert found.components.requested == {"a": 2}
    assert Spec.from_json(found.to_json(), "m") == found


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--penalty", "2"], "--penalty is of --method logistic and weighted, not of naive"),
        (["--em-weight", "2"], "--em-weight is of --method em, not of naive"),
        (["--method", "em", "--em-weight", "0"], "weight of rows without a class must be above 0, not 0"),
        (["--method", "lda", "--iterations", "2"], "--iterations is of --method logistic and em, not of lda"),
        (["--method", "logistic", "--shrinkage", "0.1"], "--shrinkage is of --method lda, qda, tan and aode, not of logistic"),
        (["--method", "tan", "--least", "30"], "--least is of --method aode, not of tan"),
        (["--method", "qda", "--backoff", "naive"], "--backoff is of --method joint, not of qda"),
        (["--method", "lda", "--components", "2"], "--components is of --method naive, not of lda"),
        (["--prior-alpha", "2"], "--prior-alpha is of --prior smoothed"),
        (["--prior", "a=0.5,b=0.3,c=0.2", "--prior-alpha", "2"], "--prior-alpha is of --prior smoothed"),
        (["--segment-shrinkage", "2"], "--segment-shrinkage goes with --segment-by, which makes the segments"),
        (["--method", "logistic", "--tolerance", "0"], "tolerance must be above 0, not 0"),
        (["--prior", "smoothed", "--prior-alpha", "-1"], "alpha must be a finite number of at least 0, not -1.0"),
        (["--method", "lda", "--shrinkage", "auto"],
            "shrinkage must be None, a number from 0 to 1 or 'ledoit-wolf', not 'auto'"),
    ],
)  # fmt: skip
def test_flags_are_of_their_methods(tmp_path: Path, flags: list[str], message: str) -> None:
    path = str(tmp_path / "shop.duckdb")
    result = CliRunner().invoke(main, ["fit", path, ROWS, "--target", "y", "--name", "m", *flags])
    assert result.exit_code != 0
    assert message in " ".join(result.output.split())
    assert not Path(path).exists()


@pytest.mark.slow
def test_flags_make_the_arguments(tmp_path: Path) -> None:
    path = str(tmp_path / "shop.duckdb")
    cases: dict[tuple[str, ...], dict[str, Any]] = {
        ("--method", "logistic", "--penalty", "2", "--iterations", "50"): {"method": Logistic(penalty=2, iterations=50)},
        ("--method", "em", "--em-weight", "0.5", "--tolerance", "1"): {"method": EM(weight=0.5, tolerance=1)},
        ("--method", "lda", "--shrinkage", "0.25", "--feature", "x"): {"method": LDA(shrinkage=0.25), "features": ["x"]},
        ("--method", "joint", "--backoff", "naive"): {"method": JointBayes(backoff="naive")},
        ("--components", "a=2", "--prior", "smoothed", "--prior-alpha", "4"):
            {"method": Mixture({"a": 2}), "prior": Smoothed(4)},
        ("--segment-by", "g", "--segment-shrinkage", "3"): {"segment_by": Segments("g", shrinkage=3)},
    }  # fmt: skip
    for flags, options in cases.items():
        result = CliRunner().invoke(main, ["fit", path, ROWS, "--target", "y", "--name", "m", "--replace", *flags])
        assert result.exit_code == 0, result.output
        with nbsql.load(path, "m") as model:
            assert model.state.spec == spec(**options), flags
    swept = ["sweep", path, ROWS, "--target", "y", "--priors", "uniform", "--priors", "smoothed", "--prior-alpha", "40"]
    result = CliRunner().invoke(main, [*swept, "--folds", "3", "--csv"])
    assert result.exit_code == 0, result.output
    assert {line.split(",")[2] for line in result.output.splitlines()[1:]} == {"uniform", "smoothed(40)"}
