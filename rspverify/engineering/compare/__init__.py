"""What an edit of a scheme changes: verdicts, outcomes and costs, deciding only what it touches."""

from rspverify.engineering.compare.comparer import Comparer
from rspverify.engineering.compare.inputs import read_both
from rspverify.engineering.compare.order import change_of
from rspverify.engineering.compare.rows import changed_rows
from rspverify.engineering.compare.start import comparison

__all__ = [
    "Comparer",
    "change_of",
    "changed_rows",
    "comparison",
    "read_both",
]
