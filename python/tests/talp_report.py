# SPDX-License-Identifier: BSD-3-Clause
"""talp_report.py FOLDER RECORD ...: is what talp-pages has made of these records, in FOLDER, right? For
tools/try-talp-pages.sh.

In the tables, each shape of a run (ranks and threads) has a column, of the last that was recorded; in the plots, a
point each.
"""

import base64
import json
import re
import sys
from pathlib import Path

import numpy as np

import steelyard

ROWS = {  # of the table, by the names of the record's metrics
    "Parallel efficiency": "parallel",
    "MPI Parallel efficiency": "mpi",
    "MPI Communication efficiency": "communication",
    "MPI Load balance": "load_balance",
    "MPI In-node load balance": "load_balance_in",
    "MPI Inter-node load balance": "load_balance_out",
    "OpenMP Parallel efficiency": "openmp",
    "OpenMP Scheduling efficiency": "omp_scheduling",
    "OpenMP Load balance": "omp_load_balance",
    "OpenMP Serialization efficiency": "omp_serialisation",
}


def plots(page):
    """The data of each Plotly chart on a page."""
    text, decoder = page.read_text(encoding="utf-8"), json.JSONDecoder()
    for call in re.finditer(r'Plotly\.newPlot\(\s*"[^"]*",\s*(?=\[)', text):
        yield decoder.raw_decode(text, call.end())[0]


def numbers(column):
    """A column of a plot: a list, or numbers in base64."""
    if not isinstance(column, dict):
        return list(column)
    return np.frombuffer(base64.b64decode(column["bdata"]), column["dtype"]).tolist()


def shape(run):
    threads = int(run.ranks["threads_at_start"].sum()) // len(run.ranks)
    return f"{len(run.ranks)}xMPI" + (f" {threads}xOpenMP" if threads > 1 else "")


def check_table(folder, runs):
    ((table,),) = plots(folder / "scaling.html")
    heads = [re.sub("<.*?>", "", head) for head in table["header"]["values"]]
    columns = dict(zip(heads, table["cells"]["values"]))
    names = [name.lstrip("- ") for name in columns["Metrics"]]
    assert set(heads[1:]) == set(runs), f"columns {heads[1:]} for runs of {sorted(runs)}"
    for of, run in runs.items():
        shown = dict(zip(names, columns[of]))
        wanted = {row: run.record["metrics"][metric] for row, metric in ROWS.items()}
        wanted["Elapsed time [s]"] = run.record["wall"]
        print(f"  {of}: " + ", ".join(f"{row} {shown[row]}" for row in wanted))
        for row, value in wanted.items():
            assert abs(shown[row] - value) <= 0.0051, f"{of}: {row} is {shown[row]} in the table, and was {value}"


def check_evolution(folder, of, runs):
    page = folder / f"evolution_{of.replace(' ', '_')}.html"
    regions, seen = set(), []
    for plot in plots(page):
        for line in plot:
            regions.add(line["name"])
            seen.append(numbers(line["y"]))
    assert regions == {"Global"}, f"{page.name}: regions {regions}"
    walls = sorted(run.record["wall"] for run in runs)
    assert any(np.allclose(sorted(y), walls) for y in seen
               if len(y) == len(walls)), f"{page.name}: no line is {walls}: {seen}"
    print(f"  {page.name}: runs: {len(walls)}")


def main(folder, *records):
    by_shape = {}
    for record in records:
        run = steelyard.load(record)
        by_shape.setdefault(shape(run), []).append(run)
    check_table(folder, {of: max(runs, key=lambda run: run.record["started"]) for of, runs in by_shape.items()})
    for of, runs in by_shape.items():
        check_evolution(folder, of, runs)
    print(f"talp-pages: its report of {len(records)} runs is right")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(Path, sys.argv[2:]))
