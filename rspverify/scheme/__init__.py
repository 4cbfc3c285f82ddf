"""Compilation schemes: tables in YAML from source operations to assembly code (Tab. 3)."""

from rspverify.scheme.assemble import assemble
from rspverify.scheme.barriers import barrier_code, ordered_scope
from rspverify.scheme.compile import beyond, compile_program, rows_of, rows_used
from rspverify.scheme.orders import Op
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.scheme import Row, Scheme, Shape, Template, shape_of
from rspverify.scheme.shipped import shipped_scheme
from rspverify.scheme.writer import scheme_text

__all__ = [
    "Op",
    "Row",
    "Scheme",
    "Shape",
    "Template",
    "assemble",
    "barrier_code",
    "beyond",
    "compile_program",
    "ordered_scope",
    "read_scheme",
    "read_scheme_file",
    "rows_of",
    "rows_used",
    "scheme_text",
    "shape_of",
    "shipped_scheme",
]
