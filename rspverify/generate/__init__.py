"""Systematic families of litmus tests: every scope and every grouping of a few shapes."""

from rspverify.generate.families import DEVICE_FAMILIES, FAMILIES, LETTERS, chosen
from rspverify.generate.family import Family, Shape, Test
from rspverify.generate.files import write_tests
from rspverify.generate.grouping import Grouping, groupings, groupings_on_devices
from rspverify.generate.notation import Access, read_shape
from rspverify.generate.writer import litmus_text

__all__ = [
    "DEVICE_FAMILIES",
    "FAMILIES",
    "LETTERS",
    "Access",
    "Family",
    "Grouping",
    "Shape",
    "Test",
    "chosen",
    "groupings",
    "groupings_on_devices",
    "litmus_text",
    "read_shape",
    "write_tests",
]
