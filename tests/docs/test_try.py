"""The page on which nbsql is tried in a browser: what it shows is what Python says, and nothing leaves it."""

import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest
from support.chromium import chromium, tab
from support.nearly import nearly

import nbsql

sys.path.append(str(Path(__file__).parents[2] / "docs" / "try"))

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("try")]  # one page for all

FIGURES = """Object.fromEntries([...document.querySelectorAll("#figures > div")].map(
    (card) => [card.querySelector("dt").textContent, Number(card.querySelector("dd").title)]))"""
ROLES = """Object.fromEntries([...document.querySelectorAll("#columns tr")].slice(1).map(
    (row) => [row.cells[0].textContent, row.querySelector("select").value]))"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the page, and that of what built it."""
    if shutil.which("npm") is None:
        reason = "npm is not installed, which fetches DuckDB-Wasm for the page"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from build_page import build

    folders = tmp_path_factory.mktemp("try"), tmp_path_factory.mktemp("npm")
    build(*folders)
    return folders


@pytest.fixture(scope="module")
def address(built):
    """Where the page is served, on this machine."""
    chromium()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(built[0]))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


@pytest.fixture(scope="module")
def page(address, tmp_path_factory):
    with tab(address, tmp_path_factory.mktemp("browser")) as page:
        page.run("URL.createObjectURL = (saved) => { globalThis.saved = saved; return '#'; }")
        yield page


def press(page, button):
    """The line of status once the page has done what a button asks for."""
    page.run(f"document.getElementById('{button}').click()")
    return status(page)


def status(page):
    page.wait()
    return page.run("document.getElementById('status').textContent")


def drop(page, name, content):
    """The line of status once the page has read a file that is dropped on it."""
    page.run(f"""{{
        const dropped = new DataTransfer();
        dropped.items.add(new File([{json.dumps(content)}], {json.dumps(name)}));
        document.getElementById("drop").dispatchEvent(new DragEvent("drop", {{dataTransfer: dropped, cancelable: true}}));
    }}""")
    return status(page)


def choose(page, column, role):
    page.run(f"""{{
        const chooser = document.querySelector(`[aria-label="What {column} is"]`);
        chooser.value = "{role}";
        chooser.onchange();
    }}""")


def saved(page, button):
    press(page, button)
    return page.run("saved.text()")


def cells(page, table):
    return page.run(f"[...document.querySelectorAll('#{table} tr')].map((row) => [...row.cells].map((cell) => cell.innerText))")


@pytest.mark.nightly
def test_its_figures_and_counts_are_those_of_python(page, tmp_path, monkeypatch):
    assert "flights.csv: done" in press(page, "flights")
    roles = page.run(ROLES)
    assert roles["arrival"] == "target"
    assert (roles["flight"], roles["month"], roles["distance"]) == ("left out", "category", "number")
    choose(page, "day", "left out")
    assert "flights.csv: done" in press(page, "fit")
    figures = page.run(FIGURES)

    monkeypatch.chdir(tmp_path)
    flights = page.run("(async () => (await fetch('flights.csv')).text())()")
    (tmp_path / "flights.csv").write_text(flights, encoding="utf-8")
    (tmp_path / "counts.csv").write_text(saved(page, "counts"), encoding="utf-8")
    with duckdb.connect() as con:
        (answer,) = con.execute(saved(page, "sql")).fetchall()  # the macros, the statements, and the evaluation as the last
        assert answer == pytest.approx(
            [figures[name] for name in ("rows judged", "accuracy", "most frequent class", "log loss")], abs=1e-9
        )
        families = {name: "categorical" for name, role in page.run(ROLES).items() if role == "category"}
        families |= dict.fromkeys(["distance", "dep_delay"], "gaussian")
        model = nbsql.fit(con, "learnt", target="arrival", features=list(families), families=families)
        imported = nbsql.from_statistics(con, "counts.csv", target="arrival")
        for each in (model, imported):
            evaluation = each.evaluate("judged")
            assert evaluation.log_loss == pytest.approx(figures["log loss"], abs=1e-9)
            assert evaluation.accuracy == pytest.approx(figures["accuracy"], abs=1e-12)
        (priors,) = con.execute("""SELECT avg(-ln(p)) FROM judged JOIN (SELECT arrival, count(*) / sum(count(*)) OVER () AS p
            FROM learnt GROUP BY arrival) USING (arrival)""").fetchone()
        assert figures["log loss of the priors"] == pytest.approx(priors, abs=1e-9)


def test_it_says_why_a_row_and_which_mistakes(page):
    press(page, "flights")
    choose(page, "day", "left out")
    press(page, "fit")
    mistakes = cells(page, "mistakes")
    assert len(mistakes) == 6
    assert all(arrival != predicted for _, arrival, predicted, *_ in mistakes[1:])
    page.run("document.querySelector('#mistakes tr:last-child button').click()")
    page.wait()
    assert "late" in page.run("document.getElementById('answer').textContent")
    reasons = cells(page, "reasons")[1:]
    assert {row[0] for row in reasons} == {"(priors)", "month", "hour", "carrier", "origin", "dest", "distance", "dep_delay"}
    page.run("document.getElementById('row').value = 99999; document.getElementById('row').onchange()")
    assert status(page) == "there is no row 99999 among those judged"


HOSTILE = '<img src=x onerror=document.body.append("run")>'


def test_what_a_file_says_stays_a_text(page):
    header = f'"{HOSTILE.replace(chr(34), chr(34) * 2)}","it\'s; ""a"" column",label'
    lines = [f'"<b>{i % 3}</b>","o\'ne, --two ""three"" {i}{i % 7} words",{"<i>a</i>" if i % 3 else "b"}' for i in range(200)]
    assert "done" in drop(page, "it's <b>mine</b>.csv", "\n".join([header, *lines]))
    assert page.run(ROLES) == {HOSTILE: "category", 'it\'s; "a" column': "words", "label": "target"}
    assert "done" in press(page, "fit")
    assert page.run(FIGURES)["accuracy"] == 1
    assert "<b>0</b>" in page.run("document.getElementById('ratios').textContent")
    assert page.run("document.querySelectorAll('main :is(b, i, img)').length") == 0
    assert "read_csv('it''s <b>mine</b>.csv')" in saved(page, "sql")


def test_it_says_what_is_wrong(page):
    lines = [f"{i * i * (i % 7)},{'no' if i % 10 == 9 else 'yes'}" for i in range(400)]  # the class depends on nothing
    drop(page, "worse.csv", "\n".join(["size,again,play", *(f"{line.split(',')[0]},{line}" for line in lines)]))
    for column in ("size", "again"):
        choose(page, column, "number")
    press(page, "fit")
    figures = page.run(FIGURES)
    assert figures["log loss"] > figures["log loss of the priors"] + 0.01
    assert "worse than that of the priors" in page.run("document.getElementById('verdict').textContent")
    assert drop(page, "old.csv", "sky,Prediction\nsun,yes\n").startswith(
        "old.csv has a column Prediction, a name that the answers have"
    )
    assert drop(page, "none.csv", "a,b\n") == "none.csv has no rows"
    drop(page, "days.csv", "sky,play\n" + "sun,yes\nrain,no\n" * 20)
    choose(page, "sky", "left out")
    assert press(page, "fit") == "every column is left out: there is nothing to learn from"
    choose(page, "sky", "target")
    assert page.run(ROLES) == {"sky": "target", "play": "left out"}  # there is one target
    choose(page, "sky", "category")
    assert press(page, "fit") == "no column is the target: say which one is to be predicted"


def test_it_may_ask_no_other_site(page):
    refused = "(async () => { try { await fetch('https://example.com'); return 'asked'; } catch { return 'refused'; } })()"
    listener = "document.addEventListener('securitypolicyviolation', (event) => done(event.violatedDirective))"
    violated = f"new Promise((done) => {listener})"
    assert page.run(f"Promise.all([{violated}, {refused}])") == ["connect-src", "refused"]
    asked = page.run("performance.getEntriesByType('resource').map((entry) => new URL(entry.name).host)")
    assert set(asked) <= {page.run("location.host"), ""}  # a worker is a blob, without a host


WASM = """
const {createDuckDB, NODE_RUNTIME, VoidLogger} = require("@duckdb/duckdb-wasm/dist/duckdb-node-blocking.cjs");
const path = require.resolve("@duckdb/duckdb-wasm/dist/duckdb-eh.wasm");
(async () => {
  const db = await createDuckDB({mvp: {mainModule: path}, eh: {mainModule: path}}, new VoidLogger(), NODE_RUNTIME);
  await db.instantiate();
  db.registerFileBuffer("shop.duckdb", require("fs").readFileSync(process.argv[2]));
  const connection = db.connect();
  const [setup, ...queries] = process.argv.slice(3);
  connection.query(setup);
  console.log(JSON.stringify(queries.map((sql) => connection.query(sql).toArray().map((row) => Object.values(row.toJSON())))));
})();
"""


def test_models_answer_in_wasm_without_extensions(built, tmp_path):
    with duckdb.connect(str(tmp_path / "shop.duckdb"), config={"storage_compatibility_version": "v1.4.0"}) as con:
        con.execute("""CREATE TABLE inbox AS SELECT i AS id, ['ham', 'spam'][1 + i % 2] AS label, i % 7 / 2 AS size,
            'a b' || i % 3 AS message FROM range(40) AS t(i)""")
        nbsql.fit(con, "inbox", target="label", name="spam", id="id", families={"message": nbsql.Text()})
        calls = ("predict('inbox')", "reasons('inbox')", "likelihood_ratios('spam', 'ham')", "evaluate('inbox')")
        columns = ("probability", "ratio", "log_ratio", "value")
        queries = [
            f"SELECT sum({column}), CAST(count(*) AS DOUBLE) FROM spam.{call}"
            for column, call in zip(columns, calls, strict=True)
        ]
        expected = [[list(row) for row in con.execute(query).fetchall()] for query in queries]
    (built[1] / "wasm.cjs").write_text(WASM, encoding="utf-8")
    setup = """SET autoload_known_extensions = FALSE; SET autoinstall_known_extensions = FALSE;
        ATTACH 'shop.duckdb' AS shop (READ_ONLY); USE shop"""
    command = ["node", "wasm.cjs", str(tmp_path / "shop.duckdb"), setup, *queries]
    done = subprocess.run(command, cwd=built[1], capture_output=True, text=True, timeout=120, check=True)
    assert json.loads(done.stdout) == nearly(expected, 1e-9)
