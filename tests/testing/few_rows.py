"""The command line, where tables for AMD's processors have rows for two scopes and global memory alone:
the others, which tests/compilers compares, take most of the time of a night."""

from __future__ import annotations

from rspverify.__main__ import main
from rspverify.compilers import extract, ir
from rspverify.litmus.program import Scope
from rspverify.scheme.memory import IN_GLOBAL

extract.shapes = lambda **_: ir.shapes((Scope.WG, Scope.DV), (IN_GLOBAL,))

if __name__ == "__main__":
    main()
