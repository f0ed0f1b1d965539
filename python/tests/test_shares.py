# SPDX-License-Identifier: BSD-3-Clause
"""Where the core time went, by one definition for the terminal, the page, the comparison and the export to TALP."""

import json

import pytest

import steelyard
from steelyard.compare import compare
from steelyard.overview import core_time
from steelyard.shares import shares
from steelyard.summary import summary
from steelyard.talp import talp
from steelyard.words import percent

STEPS = 40


@pytest.fixture
def lending(example, tmp_path):
    """Two ranks with a core each: rank 1 waits for three quarters of each step, and rank 0 computes on both cores
    meanwhile."""
    record = json.loads(example.read_text())
    record["ranks"], record["decisions"] = record["ranks"][:2], []
    record["nodes"][0].update(cores=2, ranks=2)
    ns = 1_000_000_000
    for rank, computes in zip(record["ranks"], (1.75, 0.25)):
        waits = 0.75 if computes < 1 else 0.0
        rank["threads_at_start"] = rank["threads_at_end"] = 1
        rank["totals_ns"] |= {
            "wall": STEPS * ns,
            "serial": 0,
            "mpi": round(STEPS * waits * ns),
            "region_wall": round(STEPS * (1 - waits) * ns),
            "region_useful": round(STEPS * computes * ns),
            "omp_imbalance": 0,
            "omp_scheduling": 0,
            "omp_serialisation": 0,
            "mpi_capacity": round(STEPS * waits * ns),
            "capacity": round(STEPS * (computes + waits) * ns),
            "lent": round(STEPS * waits * ns),
            "borrowed": round(STEPS * (0.75 - waits) * ns),
        }
        rank["timeline"] = [
            {"start": s, "end": s + 1, "useful": computes, "omp_wait": 0, "mpi_wait": waits, "threads": 1}
            for s in range(STEPS)
        ]
    record["wall"] = STEPS
    record["metrics"] = dict.fromkeys(record["metrics"], 1.0)
    path = tmp_path / "lending.json"
    path.write_text(json.dumps(record))
    return steelyard.load(path)


def test_a_lent_core_is_counted_once(lending):
    parts = shares(lending)
    assert (parts.useful, parts.omp, parts.mpi, parts.gpu) == (1, 0, 0, 0)
    assert "100 % was computing, 0 % waiting in MPI" in summary(lending).waiting
    assert "100 % computing" in core_time(lending).svg
    by_name = {difference.name: difference.a.mean for difference in compare(lending, lending).settled}
    assert by_name["computing"] == pytest.approx(1)
    assert by_name["waiting in MPI"] == pytest.approx(0)
    region = talp(lending)["Application"]["Global"]
    assert (region["numCpus"], region["avgCpus"], region["mpiTime"]) == (2, 2, 0)


def test_what_another_openmp_tool_measured_is_not_claimed(example, tmp_path):
    record = json.loads(example.read_text())
    record["openmp_tool"] = "/opt/tool.so"
    for rank in record["ranks"]:
        rank["totals_ns"]["regions"] = 0
    path = tmp_path / "other.json"
    path.write_text(json.dumps(record))
    region = talp(steelyard.load(path))["Application"]["Global"]
    unknown = {name for name, value in region.items() if value is None}
    assert unknown == {name for name in region if "omp" in name.lower()} | {"parallelEfficiency"}
    assert region["mpiParallelEfficiency"] == record["metrics"]["mpi"]


def test_all_say_the_same_of_a_run(example):
    run = steelyard.load(example)
    parts, metrics = shares(run), run.record["metrics"]
    assert parts.useful + parts.omp + parts.mpi + parts.gpu == pytest.approx(1)
    assert parts.useful == pytest.approx(metrics["parallel"])
    assert parts.mpi == pytest.approx(1 - metrics["mpi"])
    assert f"{percent(metrics['parallel'])} was computing" in summary(run).waiting
    region = talp(run)["Application"]["Global"]
    assert region["mpiTime"] / (region["numCpus"] * region["elapsedTime"]) == pytest.approx(parts.mpi)
