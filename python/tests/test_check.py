# SPDX-License-Identifier: BSD-3-Clause
"""The quick check is as strict as the schema."""

import copy
import json
import random

import jsonschema
import numpy as np
import pytest

import steelyard
import synthetic
from steelyard import check, samples

WRONG = [None, True, -1, 1.5, "x", "", [], {}, 10**30, [1], {"a": 1}]


def places(value, path=()):
    """Every place of a document, from the outside."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        yield from places(member, (*path, key))


def put(record, path, change):
    """A copy with the value at the path changed by `change(container, key)`."""
    record = copy.deepcopy(record)
    inner = record
    for key in path[:-1]:
        inner = inner[key]
    change(inner, path[-1])
    return record


def agree(record):
    errors = list(jsonschema.Draft202012Validator(steelyard.schema()).iter_errors(record))
    wrong, _ = check.examine(record)
    assert bool(errors) == bool(wrong), (errors[:1], wrong[:1])


@pytest.fixture(scope="module")
def small():
    record = synthetic.record(2, 3, packed=False)
    record["ranks"][1]["timeline"] = synthetic.record(2, 3)["ranks"][1]["timeline"]
    return json.loads(json.dumps(record))


def test_records_are_valid(small, example):
    agree(small)
    assert check.examine(small)[0] == []
    assert check.examine(json.loads(example.read_text()))[0] == []


def test_any_wrong_value_is_found_as_the_schema_finds_it(small):
    random.seed(3)
    every = [path for path in places(small) if path]
    samples = [path for path in every if "timeline" in path and path[-1] != "timeline"]
    others = [path for path in every if path not in samples]
    for path in random.sample(others, 50):
        agree(put(small, path, lambda inner, key: inner.__setitem__(key, random.choice(WRONG))))
        agree(put(small, path, lambda inner, key: inner.__delitem__(key)))
        agree(put(small, path, lambda inner, key: inner.__setitem__("more", 1) if isinstance(inner, dict) else None))


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.update(start="soon"),
        lambda s: s.update(end=-1),
        lambda s: s.update(threads=1.5),
        lambda s: s.update(useful=True),
        lambda s: s.update(more=1),
        lambda s: s.pop("mpi_wait"),
        lambda s: s.update(omp_wait=None),
    ],
)
def test_wrong_samples_are_found(small, change):
    record = copy.deepcopy(small)
    change(record["ranks"][0]["timeline"][1])
    agree(record)
    (problem,) = check.examine(record)[0]
    assert problem.startswith("ranks[0].timeline")


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.update(samples=4),
        lambda p: p.update(length="!!!"),
        lambda p: p.update(useful=p["useful"][:-4]),
        lambda p: p.update(length="AADAfwAAwH8AAMB/"),  # three times no number
    ],
)
def test_wrong_packed_samples_are_found(small, change):
    record = copy.deepcopy(small)
    change(record["ranks"][1]["timeline"])
    (problem,) = check.examine(record)[0]
    assert problem.startswith("ranks[1].timeline: ")


def test_members_of_samples_may_stand_in_any_order(small):
    record = copy.deepcopy(small)
    record["ranks"][0]["timeline"] = [dict(reversed(sample.items())) for sample in record["ranks"][0]["timeline"]]
    assert check.examine(record)[0] == []
    for one, other in zip(small["ranks"], record["ranks"]):
        columns, turned = samples.unpack(one["timeline"]), samples.unpack(other["timeline"])
        assert all(np.array_equal(getattr(columns, name), getattr(turned, name)) for name in samples.KEYS)
