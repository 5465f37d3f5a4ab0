"""`--families FILE`: families in the words of meta.nbsql, from YAML and JSON."""

import json
import os
import sys
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main
from nbsql.cli.families import read_families
from nbsql.errors import InputError

YAML = """
# the words of meta.nbsql
families:
  visits: poisson
  soil_*: {family: bernoulli, alpha: 0.5}
  notes:
    family: text
    stop_words: english
    ngrams: 2
  words: {family: multinomial, columns: [w1, w2]}
  shop: {family: categorical, levels: [north, south], alpha: {north: 2}}
"""
EXPECTED = {
    "visits": nbsql.Poisson(),
    "soil_*": nbsql.Bernoulli(alpha=0.5),
    "notes": nbsql.Text(stop_words="english", ngrams=2),
    "words": nbsql.Multinomial(["w1", "w2"]),
    "shop": nbsql.Categorical(levels=["north", "south"], alpha={"north": 2}),
}


def run(*arguments):
    return CliRunner().invoke(main, arguments, prog_name="nbsql")


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(
            "CREATE TABLE visits AS SELECT i % 2 = 0 AS bought, i % 5 AS pages, 'say ' || i % 3 AS notes, i % 2 AS soil_a, "
            "i % 3 % 2 AS soil_b FROM range(60) AS t(i)"
        )
    return path


def told(text, tmp_path):
    path = tmp_path / "families.yml"
    path.write_text(text, encoding="utf-8")
    return read_families(str(path))["families"]


def test_yaml_and_json_hold_the_same_families(tmp_path):
    found = told(YAML, tmp_path)
    assert found == EXPECTED
    plain = {"visits": "poisson", "soil_*": {"family": "bernoulli", "alpha": 0.5}}
    for text in (json.dumps(plain), json.dumps({"families": plain})):
        found = told(text, tmp_path)
        assert [found["visits"], found["soil_*"]] == [nbsql.Poisson(), nbsql.Bernoulli(alpha=0.5)]


def test_a_prior_of_a_number_is_a_mapping_as_in_dbt(tmp_path):
    found = told("x: {family: gaussian, prior: {mean: 10, kappa: 2, a: 3, b: 4}}", tmp_path)
    assert found == {"x": nbsql.Gaussian(prior=nbsql.NormalInverseGamma(mean=10, kappa=2, a=3, b=4))}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no families by column, such as visits: poisson"),
        ("[1, 2]", "holds no families by column, such as visits: poisson"),
        ("x: poison", "'x' in {path}: no family 'poison'; did you mean 'poisson'?"),
        ("x: {family: poisson, aa: 1}", "'x' in {path}: family 'poisson' has no option 'aa'; did you mean 'a'?"),
        ("x: {family: poisson, a: -1}", "'x' in {path}: "),
        ("x: {a: 1}", "'x' in {path}: a family is a name, or a mapping with family and its options, not {{'a': 1}}"),
        ("yes: poisson", "a column in {path} is True, which is no text; put it in quotes"),
        ("x: poisson\nx: gaussian", "{path}: 'x' comes twice; say it once"),
        ('{"x": "poisson", "x": "gaussian"}', "{path}: 'x' comes twice; say it once"),
        ("x: [poisson", "{path} is neither YAML nor JSON: "),
        ("derive: {x: 1}\nz: poisson", "{path} has 'z' beside families; what to model is said by the options of"),
        ("{target: y, families: {x: poisson}}", "{path} has 'target' beside families; what to model is said by the options of"),
        ("x: !!python/object/apply:os.system ['touch hostile']", "{path} is neither YAML nor JSON: could not determine a"),
        ("? [a, b]\n: poisson", "{path} is neither YAML nor JSON: "),
    ],
)
def test_files_that_are_refused(tmp_path, text, message):
    with pytest.raises(InputError) as caught:
        told(text, tmp_path)
    assert message.format(path=repr(str(tmp_path / "families.yml"))) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not Path("hostile").exists()


def test_without_pyyaml_json_is_read_and_yaml_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert told('{"x": "poisson"}', tmp_path) == {"x": nbsql.Poisson()}
    with pytest.raises(InputError, match=r"is no JSON, and YAML needs PyYAML: pip install 'nbsql\[yaml\]'$"):
        told("x: poisson", tmp_path)
    with pytest.raises(InputError, match=r"^cannot read 'gone.yml': No such file or directory$"):
        read_families("gone.yml")


@pytest.mark.slow
def test_a_fit_takes_the_file_and_an_option_goes_first(shop, tmp_path):
    file = tmp_path / "families.yml"
    file.write_text("pages: poisson\nnotes: text\nsoil_*: bernoulli\n", encoding="utf-8")
    common = (str(shop), "visits", "--target", "bought", "--families", str(file), "--family", "pages=geometric")
    result = run("fit", *common, "--name", "m")
    assert result.exit_code == 0, result.stderr
    with duckdb.connect(str(shop)) as con:
        families = {name: family.name for name, family in nbsql.load(con, "m").families.items()}
    assert families == {"pages": "geometric", "notes": "text", "soil_a": "bernoulli", "soil_b": "bernoulli"}
    result = run("cross-validate", *common, "--folds", "3")
    assert result.exit_code == 0, result.stderr
    wrong = run("cross-validate", str(shop), "visits", "--target", "bought", "--families", "auto")
    assert (wrong.exit_code, "--families auto is of fit; nbsql auto shows what it tries" in wrong.stderr) == (2, True)
    gone = run("fit", str(shop), "visits", "--target", "bought", "--name", "n", "--families", "aut")
    assert (gone.exit_code, "cannot read 'aut': No such file or directory" in gone.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000 + "]" * 100_000, "holds no families by column: it is nested too deep"),
        ('{"x": ' * 100_000 + "1" + "}" * 100_000, "holds no families by column: it is nested too deep"),
        ("x: " + "[" * 5_000 + "]" * 5_000, "holds no families by column: it is nested too deep"),
        ('{"x": {"family": "categorical", "alpha": ' + "9" * 10_000 + "}}", "holds a number of thousands of digits"),
        ("x: {family: categorical, alpha: 0x" + "f" * 10_000 + "}", "at least 0, not a number of thousands of digits"),
        ('{"x": {"family": "categorical", "alpha": 1' + "0" * 400 + "}}", "must be a finite number of at least 0, not 1000"),
        ('{"x": {"family": "binned", "bins": 1' + "0" * 400 + "}}", "bins must be a whole number from 2 to"),
        ('{"x": {"family": "binned", "edges": [1, "b"]}}', "edges"),
    ],
    ids=["lists", "mappings", "yaml", "digits", "hexadecimal", "beyond doubles", "bins", "edges"],
)
def test_crafted_files_are_one_line(tmp_path, text, message):
    with pytest.raises(InputError) as caught:
        told(text, tmp_path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_pipe_or_a_device_is_not_read(shop, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for path in (tmp_path / "pipe.csv", Path("/dev/zero")):
        with pytest.raises(InputError, match="it is a pipe or a device; name a file"):
            read_families(str(path))
    with duckdb.connect(shop) as con, pytest.raises(InputError, match="it is a pipe or a device; name a file"):
        nbsql.fit(con, str(tmp_path / "pipe.csv"), target="y")


@pytest.mark.parametrize("words", ["predict shop.duckdb m t --limit", "show shop.duckdb m --likelihoods --limit"])
def test_a_limit_beyond_all_rows_shows_all(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("shop.duckdb") as con:
        con.execute("CREATE TABLE t AS FROM (VALUES ('sun', 'no'), ('rain', 'yes')) AS t(sky, play)")
        nbsql.fit(con, "t", target="play", name="m")
    done = CliRunner().invoke(main, [*words.split(), "9" * 30])
    assert (done.exit_code, "rain" in done.output) == (0, True)
    done = CliRunner().invoke(main, ["cross-validate", "shop.duckdb", "t", "--target", "play", "--folds", "9" * 5000])
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)
