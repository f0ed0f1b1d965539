"""Run records of Steelyard as data frames.

>>> import steelyard
>>> run = steelyard.load("steelyard-run.json")
>>> run.ranks[["threads_at_start", "threads_at_end", "mpi"]]
"""

from .check import schema
from .record import InvalidRecord, Run, load, validate
from .samples import Samples

__all__ = ["InvalidRecord", "Run", "Samples", "load", "schema", "validate"]
