"""nbsql where numpy, pandas, Polars and pyarrow are not installed: all but frames works, and those say what is missing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BARE = """
import sys
class Bare:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {packages}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Bare())
import duckdb, nbsql
con = duckdb.connect()
con.execute('''CREATE TABLE days AS
    SELECT ['sun', 'rain'][1 + i % 2] AS sky, i / 3 AS heat, i % 4 < 2 AS play FROM range(12) AS t(i)''')
model = nbsql.fit(con, "days", target="play", name="golf")
{block}
"""


def bare(block, packages="('numpy', 'pandas', 'polars', 'pyarrow')"):
    """What a program prints in an environment without some packages."""
    program = BARE.format(block=block, packages=packages)
    environment = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(("form", "package"), [("df", "numpy"), ("df", "pandas"), ("arrow", "pyarrow"), ("pl", "polars")])
def test_a_frame_says_what_it_needs(form, package):
    block = f"""
for query in (model.predict("days"), model.priors, model.evaluate("days").roc):
    try:
        query.{form}()
    except nbsql.NbsqlError as error:
        print(error)
"""
    line = (
        f".{form}() needs {package}: pip install 'nbsql[frames]'; "
        "without it there are .show(), .fetchall() and .create_table()\n"
    )
    if package != "numpy":
        assert bare(block, str([package])) == line * 3
    else:  # without any of them DuckDB 1 asks for numpy first, and DuckDB 2.0.1 for pandas
        assert bare(block).replace("needs pandas", "needs numpy") == line * 3


@pytest.mark.slow
def test_everything_else_works_without_frames():
    block = """
model.predict("days").show()
assert model.explain("days").fetchall()
assert model.predict_one({"sky": "sun", "heat": 1.0})["prediction"] in (True, False)
model.update("days")
model.calibrate("days", folds=None)
model.evaluate("days").to_dict()
nbsql.cross_validate(con, "days", target="play", folds=3)
nbsql.from_tables(con, priors={"a": 0.5, "b": 0.5}, likelihoods={"a": {"x": {1: 1.0}}, "b": {"x": {1: 1.0}}})
model.sample(5).fetchall()
for source in ([[1, 2], [3, 4]], {1, 2}):
    try:
        nbsql.fit(con, source, target="a")
    except nbsql.NbsqlError as error:
        print(error)
"""
    said = bare(block)
    assert "a list as a source holds rows, each a dict {column: value}; write [dict(zip([...], row)) for row in rows]\n" in said
    assert (
        "a source is a table, a view, a SELECT, a file, a Query, a DuckDB relation, a pandas, Polars or Arrow frame, "
        "a dict of columns or a list of dicts, not set\n"
    ) in said


@pytest.mark.slow
def test_the_blocks_of_the_readme_need_no_extra(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) > 2
    bare("\n".join(blocks), "('numpy', 'pandas', 'polars', 'pyarrow', 'altair', 'vl_convert')")
