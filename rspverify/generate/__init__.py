"""Systematic families of litmus tests: every scope and every grouping of a few shapes."""

from rspverify.generate.families import DEVICE_FAMILIES, FAMILIES, LETTERS, chosen
from rspverify.generate.family import Family, Shape, Test
from rspverify.generate.files import write_tests
from rspverify.generate.grouping import Grouping, groupings, groupings_on_devices

__all__ = [
    "DEVICE_FAMILIES",
    "FAMILIES",
    "LETTERS",
    "Family",
    "Grouping",
    "Shape",
    "Test",
    "chosen",
    "groupings",
    "groupings_on_devices",
    "write_tests",
]
