"""What LLVM 22.1 emits, held to the tables that it documents, and to the schemes that we have of it.

`python -m compilers.test_documented`, in the folder tests, writes the schemes anew.
"""

import re
from functools import cache
from pathlib import Path

import pytest
from compilers.documented import LOADS, TABLES, documented

from rspverify.compilers import Codes, Compiler, codes, llvmlite, processor, table
from rspverify.litmus.program import Order, Scope
from rspverify.scheme.memory import IN_GLOBAL
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Shape

FOLDER = Path(__file__).parents[2] / "schemes/amdgpu"
TRANSLATION = "s_wait_xcnt 0x0"
"""Waits until addresses are translated, which the documented tables leave out (gfx1250)."""

each_table = pytest.mark.parametrize(("cpu", "features"), TABLES)


@cache
def compiler() -> Compiler:
    return llvmlite()


@cache
def read(cpu: str, features: str) -> Codes:
    return codes(processor(cpu, features), compiler(), thorough=False)


def emitted(cpu: str, features: str) -> dict[Shape, tuple[str, ...]]:
    return dict(read(cpu, features).rows)


def scheme(cpu: str, features: str) -> str:
    return str(table(read(cpu, features), processor(cpu, features), compiler()))


def place(cpu: str, features: str) -> Path:
    return FOLDER / f"{cpu}{features.replace('+', '-')}.yaml"


def waits_in_any_order(code: tuple[str, ...] | list[str]) -> list[str]:
    """A code in which waits that follow each other stand in the order of the alphabet."""
    ordered: list[str] = []
    together: list[str] = []
    for each in code:
        if each.startswith("s_wait"):
            together.append(each)
        else:
            ordered += [*sorted(together), each]
            together = []
    return ordered + sorted(together)


def more_than_documented(cpu: str, features: str) -> dict[Shape, list[str]]:
    """The codes that are others than the documented ones, which are given."""
    found = {}
    for shape, code in emitted(cpu, features).items():
        wanted = documented(shape, TABLES[cpu, features])
        own = [each for each in code if each != TRANSLATION]
        if waits_in_any_order(own) != waits_in_any_order(wanted):
            found[shape] = wanted
    return found


@each_table
def test_what_is_emitted_is_what_is_documented(cpu: str, features: str) -> None:
    """But for a wait of gfx10 and gfx11: what reads and writes, acquires, and has a result that is
    not used, counts as a store. Before it invalidates caches there, LLVM waits for loads, too."""
    generation = TABLES[cpu, features].generation
    found = more_than_documented(cpu, features)
    acquires = {
        Shape(op, scope, Order.ACQUIRE, False, used=False)
        for op in (Op.RMW, Op.CAS)
        for scope in (Scope.WG, Scope.DV, Scope.ALL)
        if TABLES[cpu, features].macros(scope).inv
    }
    assert found.keys() == (acquires if cpu.startswith(("gfx10", "gfx11")) else set())
    for shape, wanted in found.items():
        access, *rest = wanted
        more = waits_in_any_order([access, generation.waits[LOADS], *rest])
        assert waits_in_any_order(emitted(cpu, features)[shape]) == more


def test_waits_for_translation_stand_where_something_is_written_once() -> None:
    for cpu, features in TABLES:
        there = {shape for shape, code in emitted(cpu, features).items() if TRANSLATION in code}
        if cpu != "gfx1250":
            assert not there
            continue
        written = {
            shape
            for shape in emitted(cpu, features)
            if shape.kind in (Op.STORE, Op.RMW, Op.CAS)
            and shape.memory == IN_GLOBAL
            and shape.scope
        }
        assert there == written


@each_table
def test_the_scheme_is_the_one_that_we_have(cpu: str, features: str) -> None:
    def rows(text: str) -> str:
        return re.sub(r"^source: .*\n", "", text, flags=re.MULTILINE)

    assert rows(scheme(cpu, features)) == rows(place(cpu, features).read_text())


def test_there_are_no_other_schemes() -> None:
    there = set(FOLDER.iterdir())
    assert there == {place(*each) for each in TABLES}


if __name__ == "__main__":
    for each in TABLES:
        place(*each).write_text(scheme(*each))
