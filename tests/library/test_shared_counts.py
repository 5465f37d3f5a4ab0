"""Counts that may be shared: no cell of few rows, by hand."""

import duckdb
import pytest
from support.commands import run

import nbsql
from nbsql.errors import InputError, ModelError

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

# Of class a: 20 sun, 6 rain, 5 snow, 4 hail, 1 fog; of b: 12 sun, 12 rain. A number that 3 rows of b lack; words.
ROWS = """SELECT 'a' AS y, CASE WHEN i < 20 THEN 'sun' WHEN i < 26 THEN 'rain' WHEN i < 31 THEN 'snow' WHEN i < 35 THEN 'hail'
    ELSE 'fog' END AS sky, i % 7 / 2.0 AS x, i % 3 = 0 AS g, 'wind ' || i % 2 AS said FROM range(36) AS t(i)
    UNION ALL SELECT 'b', CASE WHEN i < 12 THEN 'sun' ELSE 'rain' END, CASE WHEN i > 2 THEN i / 2.0 END, i % 2 = 0, 'calm'
    FROM range(24) AS t(i)"""
SKIES = ["fog", "hail", "rain", "snow", "sun"]
DECLARED = {
    "target": nbsql.Target("y", ["a", "b"]), "exclude": ["said"],
    "families": {"sky": nbsql.Categorical(levels=SKIES), "x": nbsql.Binned(by=[1, 2.5])},
}  # fmt: skip


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t AS {ROWS}")
        yield con


def cells(model):
    """The counts by class, feature and value."""
    return {row[1:4]: row[4] for row in model.counts}


def read(con, model, path, **sharing):
    """The model that comes out of the file that another was shared in."""
    model.export(path, overwrite=True, **sharing)
    return nbsql.import_(con, path)


@pytest.mark.slow
def test_counts_of_few_rows_are_left_out_and_hidden(con, tmp_path):
    model = nbsql.fit(con, "t", target="y", exclude=["said"])
    shared = read(con, model, tmp_path / "least.parquet", least=5)
    found, all_of_them = cells(shared), cells(model)
    # fog 1 and hail 4 are below 5, and together they are 5: snow may stay. Of least=6 they are not, and rain hides them.
    assert {value: n for (label, name, value), n in found.items() if (label, name) == ("a", "sky")} == {
        "sun": 20, "rain": 6, "snow": 5
    }  # fmt: skip
    assert {key for key in all_of_them if key not in found} == {("a", "sky", "fog"), ("a", "sky", "hail")}
    assert all(found[key] == all_of_them[key] for key in found)
    assert ("a", "sky", "rain") in cells(read(con, model, tmp_path / "least.parquet", least=6))
    assert ("a", "sky", "rain") not in cells(read(con, model, tmp_path / "least.parquet", least=7))
    hidden = cells(read(con, model, tmp_path / "least.parquet", least=11))
    assert [value for _, name, value in hidden if name == "sky"].count("sun") == 2
    assert ("b", "sky", "rain") in hidden
    nothing = cells(read(con, model, tmp_path / "least.parquet", least=100))
    assert nothing == {("a", None, None): 36, ("b", None, None): 24}
    # What it does to the posteriors: a row whose value is left out counts as one without it.
    rows = "SELECT * FROM t WHERE y <> 'a' OR sky NOT IN ('fog', 'hail')"
    likelihood = {row[:3]: row[3] for row in nbsql.fit(con, rows, target="y", features=["sky"]).likelihoods}
    assert {row[:3]: row[3] for row in shared.likelihoods if row[1] == "sky"} == pytest.approx(likelihood)
    assert [row[:2] for row in shared.priors] == [row[:2] for row in model.priors]
    assert shared.batches.fetchall()[0][2].endswith("least.parquet, least 5")
    both = nbsql.merge(con, [shared, read(con, model, tmp_path / "least.parquet", least=11)])
    assert both.state.spec.shared == ("least 5", "least 11")
    assert cells(both)["a", "sky", "sun"] == 40


def test_calibrations_stay_at_home(con, tmp_path):
    model = nbsql.fit(con, "t", target="y", exclude=["said"])
    model.calibrate("t", folds=None)
    with pytest.raises(ModelError, match="not calibrated"):
        read(con, model, tmp_path / "least.parquet", least=2).predict("t", calibrated=True)
    assert read(con, model, tmp_path / "whole.parquet").predict("t", calibrated=True).fetchall()


def test_what_cannot_be_shared(con, tmp_path):
    for least, options, message in [
        (0, {}, "least must be a whole number of at least 1, not 0"),
        (5, {"weight": "i"}, "the model has weights, so that no count of it is one of rows; least takes"),
        (
            5,
            {"families": {"sky": nbsql.Conditional("g")}, "features": ["sky", "g"]},
            "least does not take 'sky', which is conditional: counts that are left out would follow",
        ),
        (5, {"families": {"sky": "text"}, "features": ["sky"]}, "least does not take 'sky', which is text: its counts"),
    ]:
        asked = options if "target" in options else {**DECLARED, **options}
        model = nbsql.fit(
            con, "SELECT *, 1 AS i FROM t", **{**asked, **({} if "weight" in options else {"exclude": ["said", "i"]})}
        )
        with pytest.raises((InputError, ModelError)) as caught:
            model.export(tmp_path / "none.parquet", least=least)
        assert str(caught.value).startswith(message)
        assert not list(tmp_path.iterdir())
        assert [row[1] for row in model.batches] == ["fit"]


def test_files_to_share_on_the_command_line(tmp_path):
    database, path = str(tmp_path / "shop.duckdb"), str(tmp_path / "shared.parquet")
    with duckdb.connect(database) as con:
        con.execute(f"CREATE TABLE t AS {ROWS}")
        nbsql.fit(con, "t", name="m", **DECLARED)
    run("export", database, "m", path, "--least", "5")
    assert "least 5" in run("import", str(tmp_path / "other.duckdb"), path, "--name", "m", "--json")
