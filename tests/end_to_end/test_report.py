# SPDX-License-Identifier: BSD-3-Clause
"""steelyard report, on the record of a run."""

import json
import os
import sys
from pathlib import Path

import pytest

from harness import BUILD, check_measured, steelyard_command


@pytest.fixture
def run(mpi):
    result = mpi.run(3, "unbalanced.gcc", "--steps=6", "--work=6")
    check_measured(result)
    return result


def test_report_prints_the_summary_again(run):
    report = steelyard_command("report", str(run.record_file))
    assert report.status == 0 and not report.err
    # The live summary ends with the place of the record, which a reader of the record knows.
    (live,) = run.summaries
    assert report.out.splitlines() == [line for line in live if not line.startswith("  record ")]


def test_runs_without_a_path_keep_earlier_records(mpi, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for job in ("FLUX_JOB_ID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"):
        monkeypatch.delenv(job, raising=False)
    command, *words = mpi.measured(2, "unbalanced.gcc", "--steps=2", "--work=2")[2:]
    words.remove(f"--record={mpi.record_file}")
    for job, name in (("", "steelyard-run.json"), ("", "steelyard-run-2.json"), ("7", "steelyard-run.7.json"),
                      ("7", "steelyard-run.7-2.json")):
        result = mpi.launch(["-n", "2", command, *words], PBS_JOBID=job)
        assert result.status == 0 and f"record {tmp_path / name}" in result.summary, result.explain()
        result.record_file = tmp_path / name
        assert len(result.record["ranks"]) == 2
    report = steelyard_command("report")
    assert report.status == 0 and report.said[0].startswith("steelyard-run.7-2.json: "), report.explain()


def test_without_the_command_a_record_that_cannot_be_written_is_told_once_and_at_the_start(mpi):
    library = BUILD / "lib" / "steelyard" / f"libsteelyard-preload-{mpi.flavour}.so"
    variables = [f"LD_PRELOAD={library}", "STEELYARD_RECORD=/nowhere/run.json"]
    head, count, *rest = mpi.job(2, "unbalanced.gcc", "--steps=2", "--work=2")
    result = mpi.launch([head, count, "env", *variables, *rest])
    told = [i for i, line in enumerate(result.err.splitlines()) if "cannot be written to /nowhere/run.json" in line]
    summary = [i for i, line in enumerate(result.err.splitlines()) if " ranks on " in line]
    assert result.status == 0 and len(told) == 1 and told[0] < summary[-1], result.explain()


def test_report_for_machines_is_the_record(run):
    report = steelyard_command("report", "--json", str(run.record_file))
    assert report.status == 0
    assert json.loads(report.out) == run.record


def test_full_report(run):
    report = steelyard_command("report", "--full", str(run.record_file))
    assert report.status == 0
    (live,) = run.summaries
    assert live[0] in report.out
    assert "--steps=6 --work=6" in report.out, "what was run"
    assert len(report.out.splitlines()) > len(live) + 3, "tables follow"


def test_pages_traces_and_comparison(run, tmp_path):
    pytest.importorskip("jinja2")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    page, trace = tmp_path / "run.html", tmp_path / "run.prv"
    made = steelyard_command("report", str(run.record_file), f"--html={page}", f"--paraver={trace}", PATH=path)
    assert made.status == 0 and not made.err, made.explain()
    assert "--steps=6 --work=6" in page.read_text() and trace.read_text().startswith("#Paraver (")
    both = steelyard_command("report", str(run.record_file), str(run.record_file), PATH=path)
    assert both.status == 0 and "parallel efficiency" in both.out, both.explain()


@pytest.mark.parametrize("damage, cause", [
    (lambda text: text[: len(text) // 2], "JSON"),
    (lambda text: "", "empty"),
    (lambda text: text.replace('"schema": 2', '"schema": 999', 1).replace('"schema":2', '"schema":999', 1), "schema"),
    (lambda text: text.replace('"ranks"', '"rangs"'), "ranks"),
    (lambda text: "[1, 2]", "object"),
])
def test_broken_record(run, damage, cause):
    run.record_file.write_text(damage(run.record_file.read_text()))
    for form in ([], ["--json"], ["--full"]):
        report = steelyard_command("report", *form, str(run.record_file))
        assert report.status in (1, 2), report.explain()
        assert not report.out
        (sentence,) = report.said
        assert str(run.record_file) in sentence and cause in sentence


def test_record_that_is_not_there(tmp_path):
    for place in (tmp_path / "none.json", tmp_path):
        report = steelyard_command("report", str(place))
        assert report.status in (1, 2) and not report.out
        assert len(report.said) == 1 and str(place) in report.said[0]


def test_two_forms_at_once(run):
    report = steelyard_command("report", "--json", "--full", str(run.record_file))
    assert report.status == 2 and not report.out and len(report.said) == 1
