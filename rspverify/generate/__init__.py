"""Systematic families of litmus tests: every scope and every grouping of a few shapes."""

from rspverify.generate.families import DEVICE_FAMILIES, FAMILIES, LETTERS, chosen, write_tests
from rspverify.generate.grouping import groupings, groupings_on_devices

__all__ = [
    "DEVICE_FAMILIES",
    "FAMILIES",
    "LETTERS",
    "chosen",
    "groupings",
    "groupings_on_devices",
    "write_tests",
]
