"""Notebooks as people run them, without ipywidgets: executed by nbclient, and by a front end that looks."""

import os
import re
from pathlib import Path

import pytest
from support.chromium import tab

nbformat = pytest.importorskip("nbformat", reason="pip install nbclient ipykernel")
pytest.importorskip("ipykernel", reason="pip install nbclient ipykernel")
nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")

pytestmark = pytest.mark.slow  # a kernel takes seconds to start

# As `pip install jupyterlab` leaves it.
WITHOUT_WIDGETS = "import sys; sys.modules['ipywidgets'] = None"
FRAME = """import numpy as np, pandas as pd, nbsql
chance = np.random.default_rng(0)
late = chance.random(400) < 0.3
flights = pd.DataFrame({f"a column of codes {i}": chance.integers(0, 3, 400).astype(str) for i in range(12)})
flights["delay"] = chance.normal(np.where(late, 30.0, 5.0), 10.0)
flights["late"] = np.where(late, "late", "in time")
model = nbsql.fit(nbsql_con, flights, target="late")"""
SETUP = "import duckdb; nbsql_con = duckdb.connect()"


def executed(tmp_path, *cells):
    """The notebook of these cells, run as nbconvert runs one; it must be valid, without errors and without a line on stderr."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in (WITHOUT_WIDGETS, *cells)])
    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    nbformat.validate(notebook)
    outputs = [output for cell in notebook.cells for output in cell.outputs]
    assert [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"] == []
    return notebook


def test_a_frame_is_fitted_scored_and_drawn(tmp_path):
    notebook = executed(
        tmp_path, SETUP, FRAME, "model", "model.predict(flights)", "model.explain(flights)", "model.plot.ranking()"
    )
    predicted, drawn = (notebook.cells[cell].outputs[-1].data for cell in (4, 6))  # after the lines of steps
    assert "columns left out" in predicted["text/html"]
    assert re.search(r"<th[^>]*>prediction</th>.*<th[^>]*>probability</th></tr>", predicted["text/html"])
    assert all(len(number) <= 6 for number in re.findall(r">(0\.\d+)<", predicted["text/html"]))
    kinds = [kind for kind in drawn if kind.startswith("application/")]
    assert kinds
    assert all(kind.endswith(("+json", "/json")) for kind in kinds)


def test_the_blocks_of_the_readme_run(tmp_path):
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    executed(tmp_path, *blocks)


FLIGHTS = Path(__file__).parents[2] / "nbsql" / "data" / "flights.parquet"
DEPARTURES = f"""SELECT carrier || flight AS flight, month, day, hour, carrier, origin, dest, distance, dep_delay,
    CASE WHEN arr_delay > 15 THEN 'late' ELSE 'punctual' END AS arrival
FROM '{FLIGHTS}' WHERE arr_delay IS NOT NULL AND month <= 4"""
JOBS = {
    "a frame": [
        f"""import duckdb, nbsql
con = duckdb.connect()
flights = con.sql(\"\"\"{DEPARTURES}\"\"\").df()
flights.shape""",
        """flights["the airport that the flight leaves from"] = flights["origin"]
train, test = flights[flights["day"] <= 20], flights[flights["day"] > 20]
model = nbsql.fit(con, train, target="arrival", exclude=["flight", "day", "distance"])
model""",
        """evaluation = model.evaluate(test)
assert evaluation.accuracy > evaluation.majority
evaluation""",
        "model.predict(test)",
        "model.explain(test)",
        "model.plot.waterfall(test, row=1)",
    ],
    "a file": [
        f"""import duckdb, nbsql
duckdb.execute(\"\"\"COPY (SELECT * REPLACE (CASE WHEN dep_delay < -8 THEN 'NA' ELSE dep_delay::VARCHAR END AS dep_delay)
  FROM ({DEPARTURES}) WHERE month < 4) TO 'winter.csv'\"\"\")
duckdb.execute(\"\"\"COPY ({DEPARTURES} AND month = 4) TO 'april.csv'\"\"\")""",
        """model = nbsql.fit("flights.duckdb", "winter.csv", target="arrival", name="delays", missing=["NA"], replace=True,
    exclude=["flight", "month", "day", "distance"])
assert model.families["dep_delay"].name == "gaussian"
model""",
        """evaluation = model.evaluate("april.csv")
assert evaluation.accuracy > evaluation.majority
evaluation""",
        """model.update("april.csv", batch="april")
model.plot.drift()""",
        """model.plot.ranking().save("ranking.pdf")
model.close()""",
    ],
    "a warehouse table": [
        f"""import duckdb, nbsql
con = duckdb.connect("warehouse.duckdb")
con.execute(\"\"\"CREATE TABLE departures AS {DEPARTURES}\"\"\")
con.execute("CREATE VIEW learnt AS FROM departures WHERE day <= 20")
con.execute("CREATE VIEW held_back AS FROM departures WHERE day > 20")""",
        """model = nbsql.fit(con, "learnt", target="arrival", name="delays", id="flight", exclude=["distance"])
model.calibrate("learnt", folds=3)""",
        """model.predict("held_back").create_table("scored")
con.sql("SELECT prediction, avg((prediction = arrival)::INT) AS right FROM scored GROUP BY ALL")""",
        "con.sql(\"FROM delays.reasons('held_back') LIMIT 9\")",
        'model.plot.reliability("held_back")',
        "con.close()",
    ],
}


@pytest.mark.nightly
def test_jobs_are_done_from_their_data_to_a_picture(tmp_path):
    cells = [cell for job in JOBS.values() for cell in job]  # in one kernel, which takes seconds to start
    notebook = executed(tmp_path, *cells)
    outputs = {cell.source: [output.data for output in cell.outputs] for cell in notebook.cells}
    for job, sources in JOBS.items():
        shown = [data for source in sources for data in outputs[source]]
        assert sum("image/svg+xml" in data for data in shown) == 1, job
        assert sum("text/html" in data or "text/plain" in data for data in shown) >= 4, job
    assert (tmp_path / "ranking.pdf").read_bytes().startswith(b"%PDF")
    in_a_browser(tmp_path, [data["text/html"] for cell in JOBS["a frame"] for data in outputs[cell] if "text/html" in data])


JUPYTER = "margin:0; font:13px/1.3 system-ui, sans-serif"  # of JupyterLab's outputs


def in_a_browser(tmp_path, shown):
    """The outputs as a front end of 900 pixels shows them: what a cell is about is in sight, and so is all of its picture."""
    page = tmp_path / "notebook.html"
    cells = "".join(f'<div class="cell" style="width:900px;overflow:hidden">{html}</div>' for html in shown)
    whole = '<script>document.body.dataset.drawn = "yes"</script>'  # at its end, as the page may be asked before it is read
    body = f'<body style="{JUPYTER}">{cells}{whole}</body>'
    page.write_text(f'<!doctype html><meta charset="utf-8">{body}', encoding="utf-8")
    with tab(page, tmp_path) as opened:
        found = opened.run("""[...document.querySelectorAll(".cell")].map((cell) => {
            const inside = (part) => part.getBoundingClientRect().right <= 900 && part.getBoundingClientRect().height > 5;
            const headings = [...cell.querySelectorAll("th")].filter(inside).map((part) => part.textContent);
            const drawn = [...cell.querySelectorAll("svg")], edge = (part) => part.getBoundingClientRect().left;
            const cut = drawn.flatMap((svg) => [...svg.querySelectorAll("text")].filter((text) => edge(text) < edge(svg)));
            return {headings, svg: drawn.map(inside), cut: cut.map((text) => text.textContent), text: cell.innerText};
        })""")
    headings = [heading for each in found for heading in each["headings"]]
    assert {"prediction", "probability", "how much likelier"} <= set(headings)
    assert [drawn for each in found for drawn in each["svg"]] == [True]
    assert [label for each in found for label in each["cut"]] == []  # which fonts of other widths than were measured do
    assert any("× for " in each["text"] for each in found)


@pytest.fixture
def kernel(tmp_path):
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(cwd=str(tmp_path), env=dict(os.environ))
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.few
@pytest.mark.parametrize(("looks", "switch"), [(True, "on"), (False, "on"), (True, "off")])
def test_progress_is_one_display_and_only_where_somebody_looks(kernel, looks, switch):
    code = f"""{WITHOUT_WIDGETS}
import os, threading, duckdb, nbsql
os.environ["NBSQL_PROGRESS"] = "{switch}"
from nbsql.engines import watch
from nbsql.engines.connect import engine_of
watch._PATIENCE = 0
shown, display = threading.Event(), watch._Cell._display
watch._Cell._display = lambda cell, text: (display(cell, text), shown.set())
engine = engine_of(duckdb.connect())
with engine.supervised(), engine.part("cross-validating, fold 3 of 5"):
    engine.announce("statistics")
    assert shown.wait({30 if looks and switch == "on" else 0}) == {looks and switch == "on"}"""
    shown = []
    reply = kernel.execute_interactive(code, allow_stdin=looks, timeout=60, output_hook=shown.append)
    assert reply["content"]["status"] == "ok"
    assert not any(message["msg_type"] in ("stream", "error") for message in shown)
    displays = [message for message in shown if message["msg_type"] in ("display_data", "update_display_data")]
    if not looks or switch == "off":
        assert displays == []
        return
    assert [message["msg_type"] for message in displays[:2]] == ["display_data", "update_display_data"]
    assert len({message["content"]["transient"]["display_id"] for message in displays}) == 1
    texts = [message["content"]["data"]["text/plain"] for message in displays]
    assert "cross-validating, fold 3 of 5" in texts[0]
    assert texts[-1] == ""  # too short to be worth a last line
