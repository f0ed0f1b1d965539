"""Run records of Steelyard as data frames.

>>> import steelyard
>>> run = steelyard.load("steelyard-run.json")
>>> run.ranks[["threads_at_start", "threads_at_end", "mpi"]]
"""

from .record import InvalidRecord, Run, load, schema, validate

__all__ = ["InvalidRecord", "Run", "load", "schema", "validate"]
