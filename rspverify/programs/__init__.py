"""Litmus tests to be written down: in a line, as files in herd's language, and what they mean."""

from rspverify.programs.litmus_test import (
    BOTH,
    OPERATIONS,
    SHORT_ORDERS,
    STRONG,
    Access,
    LitmusTest,
    Place,
    Thread,
    litmus_test,
)
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import access_named, notation, read_notation
from rspverify.programs.writer import litmus_text

__all__ = [
    "BOTH",
    "OPERATIONS",
    "SHORT_ORDERS",
    "STRONG",
    "Access",
    "LitmusTest",
    "Place",
    "Thread",
    "access_named",
    "litmus_test",
    "litmus_text",
    "notation",
    "program_of",
    "read_notation",
]
