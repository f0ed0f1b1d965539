# SPDX-License-Identifier: BSD-3-Clause
"""The notebooks of the manual: their code cells run, in order, on a run record; their outputs are not kept in the
repository."""

import ast
import json

import pytest

from manual import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
RECORD = ROOT / "python" / "tests" / "example.json"


def cells(notebook, kind):
    return [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == kind]


def execute(code, names):
    """Runs a cell. Returns what its last line shows, as text; "" if that is no expression."""
    body = ast.parse(code).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    return repr(eval(compile(last, "cell", "eval"), names)) if last else ""


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_cells_run(notebook, tmp_path, monkeypatch):
    (tmp_path / "run.json").write_text(RECORD.read_text())
    monkeypatch.chdir(tmp_path)
    names = {}
    for cell in cells(notebook, "code"):
        assert execute("".join(cell["source"]), names), f"{notebook.name}: a cell shows nothing: {cell['source']}"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_outputs_are_stripped(notebook):
    for cell in cells(notebook, "code"):
        assert cell["outputs"] == [] and cell["execution_count"] is None, f"{notebook.name}: strip its outputs"


def test_notebooks_are_found():
    assert "read-a-record.ipynb" in [notebook.name for notebook in NOTEBOOKS]
