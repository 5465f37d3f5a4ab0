"""The methods, the smoothed prior and the segments, each with options of its own as arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
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


@pytest.mark.parametrize(
    ("word", "instance"),
    [
        ({"method": "naive"}, {}),
        ({"method": "joint"}, {"method": JointBayes()}),
        ({"method": "lda", "exclude": ["v", "g"]}, {"method": LDA(), "exclude": ["v", "g"]}),
        ({"method": "qda", "exclude": ["v", "g"]}, {"method": QDA(shrinkage=None), "exclude": ["v", "g"]}),
        ({"method": "logistic"}, {"method": Logistic(penalty=0.5, iterations=100, tolerance=1e-8)}),
        ({"method": "naive"}, {"method": Mixture(1)}),
        ({"prior": "smoothed", "alpha": 3}, {"prior": Smoothed(3), "alpha": 3}),
        ({"prior": "smoothed", "alpha": 3}, {"prior": Smoothed(), "alpha": 3}),
        ({"segment_by": "g"}, {"segment_by": Segments("g", shrinkage=10)}),
    ],
)
def test_a_word_stands_for_the_defaults(word: dict[str, Any], instance: dict[str, Any]) -> None:
    assert spec(**word) == spec(**instance)


@pytest.mark.parametrize(
    "instance",
    [
        JointBayes(backoff="naive"),
        LDA(shrinkage=1),
        QDA(shrinkage="ledoit-wolf"),
        Logistic(penalty=2, iterations=7, tolerance=1e-6),
        Mixture(3),
        Mixture({"a": 2, "b": 3}),
        Smoothed(2),
        Smoothed(),
        Segments("\"the region\" || 'x'", shrinkage=0),
    ],
)
def test_what_is_printed_makes_it_again(instance: Any) -> None:
    assert eval(repr(instance)) == instance  # noqa: S307 - of classes imported above
    with pytest.raises(AttributeError):
        instance.penalty = 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Logistic(penalty=-1), "penalty must be a finite number of at least 0, not -1"),
        (lambda: Logistic(penalty=True), "penalty must be a finite number of at least 0, not True"),
        (lambda: Logistic(iterations=0), "iterations must be a whole number of at least 1, not 0"),
        (lambda: Logistic(tolerance=0), "tolerance must be above 0, not 0"),
        (lambda: LDA(shrinkage=2), "shrinkage must be None, a number from 0 to 1 or 'ledoit-wolf', not 2"),
        (lambda: QDA(shrinkage="auto"), "shrinkage must be None, a number from 0 to 1 or 'ledoit-wolf', not 'auto'"),  # type: ignore[arg-type]
        (lambda: JointBayes(backoff="niave"), "backoff must be one of 'naive', not 'niave'; did you mean 'naive'?"),  # type: ignore[arg-type]
        (lambda: Mixture(0), "components must be a whole number of at least 1, not 0"),
        (
            lambda: nbsql.Text(ngrams=(1, 10**5000)),
            "ngrams must be a whole number from 1 to 10, or a pair (shortest, longest), not a number of thousands of digits",
        ),
        (lambda: Mixture(True), "components must be a whole number of at least 1, not True"),
        (lambda: Mixture("2"), "components must be a whole number of at least 1, not '2'"),  # type: ignore[arg-type]
        (lambda: Mixture({"a": 1.5}), "components of class 'a' must be a whole number of at least 1, not 1.5"),  # type: ignore[dict-item]
        (lambda: Smoothed(-1), "alpha must be a finite number of at least 0, not -1"),
        (lambda: Segments(3), "segment_by must be one SQL expression over the columns, not 3"),  # type: ignore[arg-type]
        (lambda: Segments("g", shrinkage=-1), "shrinkage must be a finite number of at least 0, not -1"),
        (lambda: Segments("g", shrinkage="much"), "shrinkage must be a finite number of at least 0, not 'much'"),  # type: ignore[arg-type]
        (lambda: spec(method=Mixture), "method takes an instance, such as nbsql.Mixture(2), not the class nbsql.Mixture"),
        (lambda: spec(method=Logistic), "method takes an instance, such as nbsql.Mixture(2), not the class nbsql.Logistic"),
        (
            lambda: spec(prior=Smoothed),
            "prior must be one of 'empirical', 'uniform', 'smoothed', not <class 'nbsql.spec.options.Smoothed'>",
        ),
        (lambda: spec(estimate="mle", prior=Smoothed(2)),
            "estimate='mle' takes no pseudo-counts; leave out the alpha of the smoothed prior, or set it to 0"),
    ],
)  # fmt: skip
def test_wrong_values_get_one_line(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(nbsql.InputError) as caught:
        make()
    assert str(caught.value) == message


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
        (["--penalty", "2"], "--penalty is of --method logistic, not of naive"),
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "logistic", "alpha": 2}, "method='logistic' learns weights, which alpha does not smooth; leave out alpha"),
        ({"method": "lda", "alpha": 2}, "method='lda' has no feature and no prior that alpha smooths; leave out alpha"),
        ({"method": "qda", "alpha": 0}, "method='qda' has no feature and no prior that alpha smooths; leave out alpha"),
        (
            {"families": {"k": nbsql.Complement(["x", "z"])}, "prior": "uniform"},
            "a complement is scored without the prior, and no other feature is there; leave out prior",
        ),
    ],
)
def test_an_option_that_nothing_depends_on_is_refused(options: dict[str, Any], message: str) -> None:
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t AS SELECT i % 2 AS y, i % 5 AS x, i * 7 % 4 AS z FROM range(40) AS t(i)")
        with pytest.raises(nbsql.InputError) as caught:
            nbsql.fit(con, "t", target="y", **options)
        assert str(caught.value).startswith(message)
        if options.get("method") == "lda":  # the prior depends on it
            nbsql.fit(con, "t", target="y", prior="smoothed", **options)
