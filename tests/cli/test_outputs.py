"""Output files: none is a database or a source of its rows, and each appears whole or not at all."""

import os
import shlex
import stat

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a database, its rows in files of data/, and links to them; no test may change what is in it."""
    path = tmp_path_factory.mktemp("outputs")
    (path / "data").mkdir()
    with duckdb.connect(path / "shop.duckdb") as con:
        con.execute("CREATE TABLE t AS SELECT i % 2 AS y, i AS x, i % 3 AS z FROM range(40) AS r(i)")
        con.execute("CREATE TABLE names AS FROM (VALUES (0, 'a'), (1, 'b'), (2, 'c')) AS n(z, name)")
        for name in ("a.csv", "b.csv", "it's.csv"):
            con.execute(f"COPY t TO '{path / 'data'}/{name.replace(chr(39), chr(39) * 2)}'")
        con.execute(f"COPY names TO '{path}/names.csv'")
        con.execute(f"CREATE VIEW of_files AS FROM '{path}/data/[ab].csv'")
        con.execute(f"CREATE VIEW dimension AS FROM '{path}/names.csv'")
        con.execute("CREATE MACRO rows_of(file) AS TABLE FROM read_csv(file)")
        nbsql.fit(con, "t", target="y", name="m", exclude=["z"], infer="types")
        nbsql.fit(con, "t", target="y", name="joined", joins=nbsql.Join("dimension", on="z"), infer="types")
    os.link(path / "shop.duckdb", path / "hard.html")
    os.link(path / "data" / "b.csv", path / "hard.csv")
    (path / "link.html").symlink_to("shop.duckdb")
    (path / "link.csv").symlink_to("data/a.csv")
    (path / "link").symlink_to("data")
    (path / "copy.parquet").write_bytes((path / "shop.duckdb").read_bytes())
    (path / "a folder.html").mkdir()
    os.mkfifo(path / "pipe.html")
    return path


def contents(folder):
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def refused(*words):
    done = CliRunner().invoke(main, words)
    assert done.exit_code in (1, 2), done.output
    assert isinstance(done.exception, SystemExit)
    return done.stderr.splitlines()[-1].split(": ", 1)[1]


DATABASE = "is a database, which the output would replace; write to another file"
READ = "is a file that is read here, by the name"


@pytest.mark.few
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("report shop.duckdb m t -o shop.duckdb", f"'shop.duckdb' {DATABASE}"),
        ("report shop.duckdb m t -o data/../shop.duckdb", f"'data/../shop.duckdb' {DATABASE}"),
        ("report shop.duckdb m t -o link.html", f"'link.html' {DATABASE}"),
        ("report shop.duckdb m t -o hard.html", f"'hard.html' {DATABASE}"),
        ("report shop.duckdb m t -o shop.duckdb.wal", "is a file that the database 'shop.duckdb' uses; write"),
        ("report shop.duckdb m t -o pipe.html", "cannot write 'pipe.html': it is a device or a pipe; name a file"),
        ("report shop.duckdb m t -o no/such.html", "cannot write 'no/such.html': its folder does not exist; make it first"),
        ("plot shop.duckdb m ranking -o link.html", f"'link.html' {DATABASE}"),
        ("export shop.duckdb m copy.parquet --overwrite", f"'copy.parquet' {DATABASE}"),
        ("export shop.duckdb m data --overwrite", "'data' is a folder; name a file in it, such as 'data/output'"),
        ("predict shop.duckdb m t --format csv -o shop.duckdb", f"'shop.duckdb' {DATABASE}"),
        ("predict shop.duckdb m data/a.csv -o data/a.csv", f"'data/a.csv' {READ} 'data/a.csv'"),
        ("predict shop.duckdb m data/a.csv -o link.csv", f"'link.csv' {READ} 'data/a.csv'"),
        ("predict shop.duckdb m link.csv -o data/a.csv", f"'data/a.csv' {READ} 'link.csv'"),
        ("predict shop.duckdb m data/*.csv -o hard.csv", f"'hard.csv' {READ} 'data/*.csv'"),
        ("predict shop.duckdb m data/*.csv -o data/new.csv", f"'data/new.csv' {READ} 'data/*.csv'"),
        ("predict shop.duckdb m **/b.csv -o data/b.csv", f"'data/b.csv' {READ} '**/b.csv'"),
        ("predict shop.duckdb m of_files -o link/a.csv", f"'link/a.csv' {READ}"),
        ("predict shop.duckdb m \"FROM rows_of('data/b.csv')\" -o data/b.csv", f"'data/b.csv' {READ} 'data/b.csv'"),
        ("classify shop.duckdb data/a.csv data/b.csv --target y -o data/b.csv", f"'data/b.csv' {READ} 'data/b.csv'"),
        ("classify shop.duckdb data/a.csv data/b.csv --target y -o data/a.csv", f"'data/a.csv' {READ} 'data/a.csv'"),
        ("impute shop.duckdb m data/a.csv -o data/a.csv", f"'data/a.csv' {READ}"),
        ("explain shop.duckdb m data/a.csv -o data/a.csv", f"'data/a.csv' {READ}"),
        ("predict shop.duckdb joined t -o names.csv", f"'names.csv' {READ}"),
    ],
)
def test_no_output_is_a_database_or_a_source(folder, monkeypatch, words, message):
    monkeypatch.chdir(folder)
    before = contents(folder)
    assert message in refused(*shlex.split(words))
    assert contents(folder) == before


@pytest.mark.slow
def test_in_python_too(folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = contents(folder)
    with nbsql.load("shop.duckdb", "m") as model:
        picture = model.plot.verdict("FROM 'data/it''s.csv'")
        picture_of_relation = model.plot.verdict(model.state.engine.connection.read_csv("data/a.csv"))
        os.link("data/it's.csv", "its.json")
        os.link("data/a.csv", "a.json")
        before = contents(folder)
        for save, path in ((picture.save, "its.json"), (picture_of_relation.save, "a.json"), (picture.save, "link.html")):
            with pytest.raises(nbsql.InputError, match="write to another file"):
                save(path)
        with pytest.raises(nbsql.InputError, match=r"'link\.html' is a database"):
            model.report("link.html")
        with pytest.raises(nbsql.InputError, match=r"'copy\.parquet' is a database"):
            model.export("copy.parquet", overwrite=True)
        with pytest.raises(nbsql.InputError, match="embedded null"):
            model.report("a\0.html")
    assert contents(folder) == before


@pytest.mark.slow
def test_a_file_is_replaced_whole_with_its_permissions_and_where_a_link_points(folder, tmp_path, monkeypatch):
    target, link = tmp_path / "scored.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to("scored.csv")
    database = str(folder / "shop.duckdb")
    failing = "SELECT CASE WHEN x = 39 THEN error('no such row') ELSE x END AS x FROM t"
    assert "no such row" in refused("predict", database, "m", failing, "-o", str(link))
    assert target.read_text() == "old"
    assert CliRunner().invoke(main, ["predict", database, "m", "t", "-o", str(link)]).exit_code == 0
    assert target.read_text().count("\n") == 41
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    with nbsql.load(database, "m") as model:
        monkeypatch.setattr("nbsql.report.page.render_page", lambda **_: 1 / 0)
        page = tmp_path / "page.html"
        page.write_text("old")
        with pytest.raises(ZeroDivisionError):
            model.report(page)
        assert page.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.csv", "page.html", "scored.csv"]
