"""Litmus tests: herd's languages for OpenCL and C11, and PTX in columns, and their programs."""

from rspverify.limits import DEFAULT_UNROLL
from rspverify.litmus.formula import Atom, Condition, Formula, Junction, Negation, satisfies
from rspverify.litmus.program import (
    OPERATORS,
    Cut,
    Fault,
    Kind,
    Location,
    Operation,
    Order,
    Program,
    Scope,
    Spin,
    Thread,
    meet,
    one_barrier,
    one_subgroup,
)
from rspverify.litmus.reader import read_program, read_program_file, title_of
from rspverify.litmus.spins import going_on, one_more
from rspverify.litmus.syntax import warm_up

__all__ = [
    "DEFAULT_UNROLL",
    "OPERATORS",
    "Atom",
    "Condition",
    "Cut",
    "Fault",
    "Formula",
    "Junction",
    "Kind",
    "Location",
    "Negation",
    "Operation",
    "Order",
    "Program",
    "Scope",
    "Spin",
    "Thread",
    "going_on",
    "meet",
    "one_barrier",
    "one_more",
    "one_subgroup",
    "read_program",
    "read_program_file",
    "satisfies",
    "title_of",
    "warm_up",
]
