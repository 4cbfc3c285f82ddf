"""Systematic families of litmus tests: every scope and every grouping of a few shapes."""

from rspverify.generate.families import FAMILIES, LETTERS, chosen
from rspverify.generate.family import Family, Shape, Test
from rspverify.generate.files import write_tests
from rspverify.generate.grouping import Grouping, groupings
from rspverify.generate.notation import Access, read_shape
from rspverify.generate.writer import litmus_text

__all__ = [
    "FAMILIES",
    "LETTERS",
    "Access",
    "Family",
    "Grouping",
    "Shape",
    "Test",
    "chosen",
    "groupings",
    "litmus_text",
    "read_shape",
    "write_tests",
]
