# SPDX-License-Identifier: BSD-3-Clause
"""docs/why-nothing-moved.md has a line for every reason in the sources for having done nothing."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "why-nothing-moved.md"
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')

# Where reasons are made: a file, and the start of a statement that gives a reason, up to its text. The statement ends
# at its semicolon.
SOURCES = [
    ("src/cores/policy.cpp", r"verdict\.reason\s*="),
    ("src/cores/rule.cpp", r"(?<=    )return (?=\"|fmt::format)"),
    ("src/cores/rule.cpp", r"return (?=\")"),
    ("src/cores/sabo.cpp", r"verdict\.reason\s*="),
    ("src/cores/planner.cpp", r"node\.nothing_moved\s*="),
    ("src/cores/planner.cpp", r"decision\.reason\s*= fmt"),
    ("src/cores/owners.cpp", r"return \{\"\w+\",\s*(?=fmt::format\(\s*\"more)"),
    ("src/cores/resize.cpp", r"return (?=fmt::format\(\"\{\} core)"),
    ("src/cli/change_cores.cpp", r"refuse\((?!const)(?=[^;]*\")"),
    ("src/cli/change_cores.cpp", r"return \{\{\},"),
    ("src/cli/jobs.cpp", r"return jobs == 1 \? (?=\")"),
    ("src/observe/record.h", r"kNoOpenMp ="),
    ("src/observe/record.h", r"kOneRank ="),
    ("src/observe/contention.cpp", r"return (?=\"other|fmt::format\()"),
    ("src/observe/summary.cpp", r"std::string silent ="),
    ("src/observe/summary.cpp", r"page\.say\(\s*(?:\w+ \? )?\"(?:measured|ERROR|WARNING|reverted)\"(?: : \"note\")?,"),
    ("src/observe/left_broadcasts.cpp", r"return (?=\"the gain is not)"),
    ("src/observe/left_broadcasts.cpp", r"kReasons\[\] ="),
    ("src/observe/late_in_trees.cpp", r"return \{(?=\"tree of soga)"),
    ("src/observe/late_in_trees.cpp", r"text \+= (?=fmt::format\(\"; \{\} \{\} it,)"),
    ("src/observe/record.cpp", r"node\.nothing_moved ="),
    ("src/observe/fixed_threads.cpp", r"return (?=\"regions that)"),
    ("src/session/openmp.cpp", r"fix_thread_count\(\s*ThreadLimits::\w+,"),
    ("src/session/openmp.cpp", r"return (?=\"regions that|fmt::format\(\"the program fixes)"),
    ("src/session/cores.cpp", r"return base::options\(\)\.observe"),
    ("src/session/cores.cpp", r"const std::string note ="),
    ("src/session/cores.cpp", r"remarks\.emplace_back\("),
    ("src/session/cores.cpp", r"remarks\.push_back\("),
    ("src/session/collectives.cpp", r"remarks\.emplace_back\("),
    ("src/session/loops.cpp", r"remarks\.push_back\((?=\")"),
    ("src/session/session.cpp", r"list\.emplace_back\("),
    ("src/session/session.cpp", r"Status::failure\("),
    ("src/session/session.cpp", r"base::warn\("),
    ("src/session/session.cpp", r"kText\[\] ="),
    ("src/session/program_cores.cpp", r"Status::failure\("),
    ("src/session/program_cores.cpp", r"fix_thread_count\(\s*ThreadLimits::\w+,"),
    ("src/session/phases.cpp", r"fix_thread_count\(\s*ThreadLimits::\w+,"),
    ("src/session/named_regions.cpp", r"remarks\.push_back\("),
    ("src/session/pause.cpp", r"remarks\.emplace_back\("),
    ("src/observe/named_regions.cpp", r"Status::failure\("),
    ("src/session/worksharing.cpp", r"return (?=\"left to)"),
    ("src/loops/replay.cpp", r"return fmt::format\(\s*(?=\"--loops-replay)"),
    ("src/loops/setup.cpp", r"(?=\"--loops-replay)"),
    ("src/node/segment.cpp", r"Status::failure\("),
    ("src/cli/decision.cpp", r"\brefuse\("),
    ("src/cli/decision.cpp", r"\bpass_through\("),
    ("src/cli/decision.cpp", r"return (?=fmt::format\(\"\{\} calls)"),
    ("src/cli/doctor.cpp", r"findings\.(?:note|problem)\("),
    ("src/cli/doctor_ranks.cpp", r"\bnote\(fmt::format\("),
    ("src/cli/other_tools.cpp", r"remarks\.push_back\("),
    ("src/cli/slurm.cpp", r"\{false,"),
    ("src/cli/wrappers.cpp", r"decision\.reason = fmt::format\("),
    ("src/intercept/accelerator.cpp", r"warn_once\("),
    ("src/intercept/awaiting.cpp", r"base::say(?:_in_handler)?\("),
    ("src/intercept/mpi/bootstrap.cpp", r"base::warn\("),
    ("src/cli/launch.cpp", r"(?:refuse_to_start|base::warn)\("),
    ("src/cli/main.cpp", r"refuse_to_start\(\s*fmt::format\((?=\"no program)"),
    ("src/cli/main.cpp", r"base::say\(\s*fmt::format\((?=\"\{0\} after)"),
]

# No reason for doing nothing: what a move did, or words inside of a sentence.
NOT_REASONS = [
    r"^\{\}: the slowest rank",  # a plan that was taken
    r"^SABO's rule: the slowest rank",
    r"^(s|is|are|openmpi|mpich)?$",
    r"^no MPI at all$",
    r"^, $",
]


@dataclass(frozen=True)
class Reason:
    place: str
    text: str

    def __str__(self):
        return f"{self.place}: {self.text[:60]}"


def statement(text: str, start: int) -> str:
    """Up to the semicolon that is in no string."""
    at = start
    while at < len(text) and text[at] != ";":
        literal = LITERAL.match(text, at) if text[at] == '"' else None
        at = literal.end() if literal else at + 1
    return text[start:at]


def literals(code: str) -> list[str]:
    """The strings of a statement; those that stand side by side, or are added, are one."""
    joined = re.sub(r'"\s*(?:\+\s*(?:std::string\()?)?\s*"', "", re.sub(r'"\)\s*\+\s*"', '""', code))
    joined = re.sub(r'"\s*\+\s*std::string\("|"\s*\+\s*"', "", joined)
    return [match.group(1).replace('\\"', '"') for match in LITERAL.finditer(joined)]


def reasons() -> list[Reason]:
    found = []
    for file, start in SOURCES:
        text = (ROOT / file).read_text()
        here = [
            Reason(file, literal)
            for match in re.finditer(start, text)
            for literal in literals(statement(text, match.end() - (1 if match.group().endswith('"') else 0)))
        ]
        here = [r for r in here if not any(re.match(p, r.text) for p in NOT_REASONS) and len(r.text) > 6]
        assert here, f"{file}: nothing looks like {start!r} any more: say in SOURCES how reasons are given now"
        found += here
    return list(dict.fromkeys(found))


def plain(text: str) -> str:
    """Words without markup, and each name or figure that stands for another as a blank."""
    text = re.sub(r"\*[^*\n]+\*|\{[^}]*\}", " ", text)
    return re.sub(r"\s+", " ", re.sub(r"[`*\\]", "", text)).lower()


def key(reason: str) -> str:
    """What a reader looks for: the first clause of three words or more between names, figures and punctuation."""
    clauses = [
        re.sub(r"\s+", " ", clause.replace("`", "")).strip().lower()
        for clause in re.split(r"\{[^}]*\}|[:;()]|\\n|[,.] | and ", reason)
    ]
    return next((clause for clause in clauses if len(clause.split()) >= 3), max(clauses, key=len))


ANSWERS = plain(PAGE.read_text())


@pytest.mark.parametrize("reason", reasons(), ids=str)
def test_reason_is_answered(reason):
    assert key(reason.text) in ANSWERS, (
        f"{PAGE.relative_to(ROOT)} has no line for what {reason.place} says: {reason.text!r}. Looked for: "
        f"{key(reason.text)!r}"
    )


def test_the_sources_are_read():
    """A test that finds no reasons passes for nothing."""
    found = {key(reason.text) for reason in reasons()}
    assert len(found) > 45
    for known in [
        "balanced as far as whole cores allow",
        "all thread counts are fixed",
        "no computation was measured",
        "the program begins parallel regions from several threads",
    ]:
        assert known in found


def test_an_unanswered_reason_is_noticed():
    assert key("the moon stands in the way of {} cores") not in ANSWERS
