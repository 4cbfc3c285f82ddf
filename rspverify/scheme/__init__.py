"""Compilation schemes: tables in YAML from source operations to assembly code (Tab. 3)."""

from rspverify.scheme.assemble import assemble
from rspverify.scheme.barriers import Ordering, barrier_code, ordering
from rspverify.scheme.compile import (
    beyond,
    compile_program,
    rows_of,
    rows_used,
    spaces_of,
    without_subgroups,
    written_by,
)
from rspverify.scheme.memory import IN_BOTH, IN_GLOBAL, IN_LOCAL, Memory, serves
from rspverify.scheme.orders import Op
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.scheme import Row, Scheme, Shape, Template, shape_of
from rspverify.scheme.shipped import shipped_scheme
from rspverify.scheme.writer import scheme_text

__all__ = [
    "IN_BOTH",
    "IN_GLOBAL",
    "IN_LOCAL",
    "Memory",
    "Op",
    "Ordering",
    "Row",
    "Scheme",
    "Shape",
    "Template",
    "assemble",
    "barrier_code",
    "beyond",
    "compile_program",
    "ordering",
    "read_scheme",
    "read_scheme_file",
    "rows_of",
    "rows_used",
    "scheme_text",
    "serves",
    "shape_of",
    "shipped_scheme",
    "spaces_of",
    "without_subgroups",
    "written_by",
]
