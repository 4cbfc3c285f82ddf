"""Compilers of others: what they emit, and the tables by which they translate atomics."""

from rspverify.compilers.extract import Codes, codes
from rspverify.compilers.ir import OPERATORS
from rspverify.compilers.llvm import Compiler, compiler_at, llvmlite
from rspverify.compilers.processors import PROCESSORS, Processor, processor
from rspverify.compilers.tables import Extraction, TableRow, table

__all__ = [
    "OPERATORS",
    "PROCESSORS",
    "Codes",
    "Compiler",
    "Extraction",
    "Processor",
    "TableRow",
    "codes",
    "compiler_at",
    "llvmlite",
    "processor",
    "table",
]
