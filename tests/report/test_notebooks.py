"""Notebooks as people run them, without ipywidgets: executed by nbclient, and by a front end that looks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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


def executed(tmp_path: Path, *cells: str) -> Any:
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


def test_a_frame_is_fitted_scored_and_drawn(tmp_path: Path) -> None:
    notebook = executed(
        tmp_path, SETUP, FRAME, "model", "model.predict(flights)", "model.explain(flights)", "model.plot.ranking()"
    )
    predicted, drawn = notebook.cells[4].outputs[0].data, notebook.cells[6].outputs[0].data
    assert "columns left out" in predicted["text/html"]
    assert re.search(r"<th[^>]*>prediction</th>.*<th[^>]*>probability</th></tr>", predicted["text/html"])
    assert all(len(number) <= 6 for number in re.findall(r">(0\.\d+)<", predicted["text/html"]))
    kinds = [kind for kind in drawn if kind.startswith("application/")]
    assert kinds
    assert all(kind.endswith(("+json", "/json")) for kind in kinds)


def test_the_blocks_of_the_readme_run(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    executed(tmp_path, *blocks)


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Any]:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(cwd=str(tmp_path), env=dict(os.environ))
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize(("looks", "switch"), [(True, "on"), (False, "on"), (True, "off")])
def test_progress_is_one_display_and_only_where_somebody_looks(kernel: Any, looks: bool, switch: str) -> None:
    code = f"""{WITHOUT_WIDGETS}
import os, time, duckdb, nbsql
os.environ["NBSQL_PROGRESS"] = "{switch}"
from nbsql.engines.connect import engine_of
engine = engine_of(duckdb.connect())
with engine.supervised(), engine.part("cross-validating, fold 3 of 5"):
    engine.announce("statistics")
    time.sleep(1.2)"""
    shown: list[Any] = []
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
