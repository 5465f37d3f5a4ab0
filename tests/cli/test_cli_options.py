"""The options of commands are the keywords of the library: what is typed, and the call that says the same."""

import json
import re
import shlex
from dataclasses import fields
from pathlib import Path

import duckdb
import pytest
from support.commands import run

import nbsql
from nbsql import Best, Calendar, Gaussian, HalfLife, Join, Segments, Smoothed, Target
from nbsql.cli import main
from nbsql.cli.arguments import RENAMED
from nbsql.spec.method import EM, LDA, METHODS, QDA, JointBayes, Logistic, Mixture, Weighted

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

TABLE = """CREATE TABLE t AS SELECT i AS id, 'abc'[1 + i % 3] AS y, i * 7 % 11 + i % 3 AS x, i * 5 % 13 / 4 AS z,
    'v' || i * i % 4 AS v, i % 2 = 0 AS g, i % 4 AS kind FROM range(60) AS r(i)"""


def fill(con):
    """A database with a table, two that can be joined to it, and the calibrated model m of numbers, a word and a boolean."""
    con.execute(TABLE)
    con.execute("CREATE TABLE dated AS SELECT *, DATE '2025-01-01' + id::INTEGER AS day FROM t")
    con.execute("CREATE TABLE groups AS FROM (VALUES (TRUE, 1.5), (FALSE, 2.5)) AS t(g, size)")
    con.execute("CREATE TABLE kinds AS SELECT i AS id, 'k' || i % 3 AS price FROM range(4) AS r(i)")
    model = nbsql.fit(con, "t", target="y", id="id", features=["x", "v", "g"], name="m")
    model.calibrate("t", method="conformal")
    model.calibrate("t", method="certain", confidence=0.5)


FITS = {
    "--method logistic --penalty 2 --iterations 50 --feature x": {
        "method": Logistic(penalty=2, iterations=50), "features": ["x"]
    },
    "--method em --em-weight 0.5 --tolerance 1": {"method": EM(weight=0.5, tolerance=1)},
    "--method lda --shrinkage 0.25 --exclude v": {"method": LDA(shrinkage=0.25), "exclude": ["v"]},
    "--method qda --shrinkage 0.25 --toward pooled --exclude v": {"method": QDA(0.25, "pooled"), "exclude": ["v"]},
    "--method lda --shrinkage ledoit-wolf --exclude v": {"method": LDA(shrinkage="ledoit-wolf"), "exclude": ["v"]},
    "--method joint --backoff naive": {"method": JointBayes(backoff="naive")},
    "--method weighted --per 'class and feature' --penalty 3 --feature g": {
        "method": Weighted(per="class and feature", penalty=3), "features": ["g"]
    },
    "--components a=2,'b'=1 --prior smoothed --prior-alpha 4": {"method": Mixture({"a": 2, "b": 1}), "prior": Smoothed(4)},
    "--components 2": {"method": Mixture(2)},
    "--segment-by kind --segment-shrinkage 3": {"segment_by": Segments("kind", shrinkage=3)},
    "--estimate map --alpha 2": {"estimate": "mode", "alpha": 2.0},
    "--classes a,b,c,d --prior smoothed": {"target": Target("y", ["a", "b", "c", "d"]), "prior": "smoothed"},
    "--best 1": {"features": Best(1)},
    "--best 1 --feature x --feature z --best-by f_statistic": {"features": Best(1, by="f_statistic", among=["x", "z"])},
    "--join groups:g --join kinds:kind=id:of_": {
        "joins": [Join("groups", on="g"), Join("kinds", on={"kind": "id"}, prefix="of_")]
    },
    "--method kdb --k 1 --number-bins 4 --no-weighted": {"method": nbsql.KDB(1, bins=4, weighted=False)},
    "--half-life '30 days' --at day": {"weight": HalfLife("30 days", at="day")},
    "--weight kind --nulls category --unseen smooth": {"weight": "kind", "nulls": "category", "unseen": "smooth"},
    "--family 'day=calendar(parts=[weekday,month])'": {"families": {"day": Calendar(["weekday", "month"])}},
    "--families of_day.json --family kind=poisson": {
        "families": {"day": Calendar(["weekday"]), "x": Gaussian(shared_variance=True), "kind": "poisson"}
    },
    "--slice-by kind --derive 'more=x + z' --missing v1": {"slice_by": "kind", "derive": {"more": "x + z"}, "missing": ["v1"]},
}  # fmt: skip
FAMILIES = {"day": {"family": "calendar", "parts": ["weekday"]}, "x": {"family": "gaussian", "shared_variance": True}}


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("words", FITS)
def test_the_options_of_a_fit_make_its_arguments(shop, words):
    Path("of_day.json").write_text(json.dumps(FAMILIES))
    source = "dated" if "day" in words else "t"
    run("fit", shop, source, "--target", "y", "--id", "id", "--name", "n", *shlex.split(words))
    with duckdb.connect(shop) as con:
        expected = nbsql.fit(con, source, **{"target": "y", "id": "id", **FITS[words]})
        assert nbsql.load(con, "n").state.spec == expected.state.spec


@pytest.mark.slow
def test_a_model_is_shown_with_its_options(shop):
    for words, shown in {
        "--components a=2": "components a 2",
        "--estimate map --alpha 2": "alpha 2, prior empirical, estimate mode",
        "--method joint --feature v --feature g": "joint",
    }.items():
        run("fit", shop, "t", "--target", "y", "--name", "n", "--replace", *words.split())
        assert shown in run("show", shop, "n")


@pytest.mark.nightly
def test_comparisons_of_fits_take_their_options(shop):
    fit = (shop, "t", "--target", "y", "--id", "id", "--folds", "2")
    of_methods = ("--method joint", "--method em --em-weight 0.5", "--method tan --number-bins mdl")
    for words in (*of_methods, "--best 1", "--classes a,b,c,d", "--join groups:g"):
        assert json.loads(run("cross-validate", *fit, *words.split(), "--json"))["rows"] == 60
    swept = run("sweep", *fit, "--priors", "uniform", "--priors", "smoothed", "--prior-alpha", "40", "--csv").splitlines()
    assert {line.split(",")[2] for line in swept[1:]} == {"uniform", "smoothed(40)"}


def test_every_option_of_a_method_is_one_of_each_command_that_fits():
    arguments = {field.name for kind in (*METHODS.values(), Mixture) for field in fields(kind)}
    for name in ("fit", "classify", "cross-validate", "sweep"):
        said = {str(option.name): str(getattr(option, "help", "")) for option in main.commands[name].params}
        assert {RENAMED.get(argument, argument) for argument in arguments} <= said.keys()
        for method, kind in METHODS.items():
            texts = {field.name: said[RENAMED.get(field.name, field.name)] for field in fields(kind)}
            assert [name for name, text in texts.items() if not re.search(rf"\b{method}\b", text)] == []


@pytest.mark.few
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("--penalty 2", 2, "--penalty is of --method logistic and weighted, not of naive"),
        ("--em-weight 2", 2, "--em-weight is of --method em, not of naive"),
        ("--method em --em-weight 0", 1, "weight of rows without a class must be above 0, not 0"),
        ("--method lda --iterations 2", 2, "--iterations is of --method logistic, em and clusters, not of lda"),
        ("--method logistic --shrinkage 0.1", 2, "--shrinkage is of --method lda, qda, tan, kdb and aode, not of logistic"),
        ("--method tan --least 30", 2, "--least is of --method aode, not of tan"),
        ("--method lda --number-bins 5", 2, "--number-bins is of --method tan, kdb and aode, not of lda"),
        ("--method tan --k 2", 2, "--k is of --method kdb and clusters, not of tan"),
        ("--method aode --weighted", 2, "--weighted is of --method tan and kdb, not of aode"),
        ("--method tan --number-bins 1", 1, "bins must be a whole number from 2 to 1000, not 1"),
        ("--method lda --shrinkage 0.1 --toward pooled", 2, "--toward is of --method qda, not of lda"),
        ("--method qda --backoff naive", 2, "--backoff is of --method joint, not of qda"),
        ("--method lda --components 2", 2, "--components is of --method naive, not of lda"),
        ("--method joined", 2, "'joined' is not one of 'naive', 'joint'"),
        ("--method logistic --tolerance 0", 1, "tolerance must be above 0, not 0"),
        ("--method lda --shrinkage auto", 1, "shrinkage must be None, a number from 0 to 1 or 'ledoit-wolf', not 'auto'"),
        ("--method logistic --sql", 1, "--method logistic runs statements until its weights converge, so they cannot be listed "
            "before; fit the model instead"),
        ("--prior-alpha 2", 2, "--prior-alpha is of --prior smoothed"),
        ("--prior a=0.5,b=0.3,c=0.2 --prior-alpha 2", 2, "--prior-alpha is of --prior smoothed"),
        ("--prior smoothed --prior-alpha -1", 1, "alpha must be a finite number of at least 0, not -1.0"),
        ("--segment-shrinkage 2", 2, "--segment-shrinkage goes with --segment-by, which makes the segments"),
        ("--half-life '30 days'", 2, "--half-life goes with --at, the column of when a row was"),
        ("--best-by f_statistic", 2, "--best-by goes with --best N, whose features it ranks"),
        ("--best 1 --best-by f_statistic", 1, "'f_statistic' does not rank 'v', which is categorical; rank by "),
        ("--classes a,b", 1, "'y' of t is 'c' in some rows, which --classes does not name; name every class there may be"),
        ("--join groups", 2, "a join is TABLE:KEY or TABLE:KEY:PREFIX, such as products:product=id:product_, not 'groups'"),
        ("--components many", 2, "'many' is no number of components; it is K, or LABEL=K,LABEL=K"),
        ("--components a=1.5", 2, "'a=1.5' is not LABEL=K, such as yes=3"),
        ("--components a=2,a=3", 2, "label 'a' is given twice; give it once"),
        ("--components 0", 1, "components must be a whole number of at least 1, not 0"),
        ("--components z=2", 1, "components names 'z', which is no class of 'y'"),
        ("--class-weight balanced", 2, "no option --class-weight; here it is --prior uniform, or a probability for each class"),
        ("--decay 0.9", 2, "no option --decay; here it is --half-life '30 days' --at sent_at"),
        ("--labels y", 2, "no option --labels; here it is --target label"),
        ("--where v=1", 2, "no option --where; SOURCE has the rows, and may be a query with WHERE, in quotes"),
        ("--random-state 1", 2, "No such option '--random-state'"),
    ],
)  # fmt: skip
def test_options_of_a_fit_that_cannot_be(made, words, code, message):
    said = run("fit", str(made), "t", "--target", "y", "--name", "x", *shlex.split(words), code=code)
    assert message in " ".join(said.replace("│", " ").split())


GAPS = "SELECT id, x, CASE WHEN id % 2 = 0 THEN v END AS v, g, y FROM t LIMIT 6"
ROWS = {
    "predict --cost a:b=5": lambda m: m.predict(GAPS, costs={("a", "b"): 5}),
    "predict --cost a:b=5 --cost b:b=0.5": lambda m: m.predict(GAPS, costs={("a", "b"): 5, ("b", "b"): 0.5}),
    "predict --threshold a=0.25": lambda m: m.predict(GAPS, thresholds={"a": 0.25}),
    "predict --top-k 2 --columns id,v": lambda m: m.predict(GAPS, top_k=2, columns=["id", "v"]),
    "predict --coverage 0.9 --by-class": lambda m: m.predict(GAPS, coverage=0.9, by_class=True),
    "predict --certain 0.3 --by-class": lambda m: m.predict(GAPS, certain=0.3, by_class=True),
    "predict --target v --columns ''": lambda m: m.predict(GAPS, target="v", columns=[]),
    "predict --target x": lambda m: m.predict(GAPS, target="x"),
    "predict --proba": lambda m: m.predict_proba(GAPS),
    "impute --features v --labelled": lambda m: m.impute(GAPS, features=["v"], labelled=True),
    "review -n 3 --by evidence": lambda m: m.review(GAPS, 3, by="evidence"),
}


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("words", ROWS)
def test_the_options_of_a_verb_are_its_arguments(shop, words):
    verb, *options = shlex.split(words)
    with duckdb.connect(shop) as con:
        query = ROWS[words](nbsql.load(con, "m"))
        columns, rows, count = query.columns, query.fetchall(), len(query.fetchall())
    printed = json.loads(run(verb, shop, "m", GAPS, *options, "--json"))
    assert [list(row) for row in printed] == [columns] * count
    assert sorted(map(repr, (list(row.values()) for row in printed))) == sorted(map(repr, map(list, rows)))
    assert set(run(verb, shop, "m", GAPS, *options).splitlines()[0].split()) == {*columns}
    assert "FROM" in run(verb, shop, "m", GAPS, *options, "--sql")
    if verb != "review":
        run(verb, shop, "m", GAPS, *options, "--into", "kept")
        with duckdb.connect(shop) as con:
            assert con.execute("SELECT count(*) FROM kept").fetchall() == [(count,)]


@pytest.mark.slow
def test_an_evaluation_at_a_cost_is_that_of_the_library(shop):
    options = ("evaluate", shop, "m", "t", "--cost", "a:b=5")
    with duckdb.connect(shop) as con:
        found = nbsql.load(con, "m").evaluate("t", costs={("a", "b"): 5})
        confusion = sorted(found.confusion.fetchall())
    assert json.loads(run(*options, "--json"))["cost"] == pytest.approx(found.cost)
    statement = run(*options, "--table", "confusion", "--sql")
    with duckdb.connect(shop) as con:
        assert sorted(con.execute(statement).fetchall()) == confusion


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("--cost a=5", 2, "'a=5' is not ACTUAL:PREDICTED=COST, such as ham:spam=10"),
        ("--cost a:b=much", 2, "'a:b=much' is not ACTUAL:PREDICTED=COST, such as ham:spam=10"),
        ("--threshold 0.5", 2, "'0.5' is not LABEL=P, such as spam=0.9"),
        ("--threshold wet=0.5", 1, "class 'wet', which the model does not know; the classes are 'a', 'b', 'c'"),
        ("--top-k 2 --proba", 2, "choose one of --proba, --cost, --threshold, --top-k, --coverage and --certain"),
        ("--target v --proba", 2, "--target has no --proba"),
        ("--columns nil", 1, "no column 'nil' in t"),
    ],
)
def test_options_of_a_verb_that_cannot_be(made, words, code, message):
    assert message in run("predict", str(made), "m", "t", *shlex.split(words), code=code)
