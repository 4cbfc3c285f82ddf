"""Programs for the oracle of the thesis' machines: out of tests in PTX, at random, and as tests."""

from __future__ import annotations

from random import Random
from typing import Any

from rspverify.litmus.program import Program
from rspverify.value import Constant, Read

Plain = dict[str, Any]
"""As tests/oracle/ptx.py has programs."""

_FENCES = {"membar.cta": "TFB", "membar.gl": "TF"}


def plain(program: Program) -> Plain:
    """The program of a test; the register of each load is its index."""
    blocks = sorted({(it.device, it.workgroup) for it in program.threads})
    threads = []
    for thread in program.threads:
        code: list[tuple[Any, ...]] = []
        for each in thread.operations:
            match each.instruction, each.value:
                case "ld", None:
                    code.append(("ld", f"r{each.index}", each.location))
                case "st", Constant(value):
                    code.append(("st", each.location, value))
                case "st", Read(index):
                    code.append(("st", each.location, f"r{index}"))
                case name, None:
                    code.append((_FENCES[name],))
                case _:
                    raise AssertionError(each)
        block = blocks.index((thread.device, thread.workgroup))
        threads.append({"block": block, "code": code})
    return {
        "initial": {it.name: it.initial for it in program.locations},
        "shared": {it.name for it in program.locations if it.region == "shared"},
        "threads": threads,
    }


def drawn(dice: Random, most: int = 3) -> Plain:
    """Two or three threads with at most so many instructions each, on two locations."""
    shared = {x for x in "ab" if dice.random() < 0.3}
    threads = []
    values = iter(range(1, 100))
    for _ in range(dice.choice((2, 2, 3))):
        code: list[tuple[Any, ...]] = []
        loaded: list[str] = []
        for place in range(dice.randint(1, most)):
            x = dice.choice("aab")
            match dice.choice(("ld", "ld", "st", "st", "fence")):
                case "ld":
                    loaded.append(f"r{place}")
                    code.append(("ld", loaded[-1], x))
                case "st":
                    of_register = loaded and dice.random() < 0.3
                    code.append(("st", x, loaded[-1] if of_register else next(values)))
                case _:
                    code.append((dice.choice(("TFB", "TF")),))
        threads.append({"block": dice.choice((0, 0, 1)), "code": code})
    first = min(each["block"] for each in threads)
    for each in threads:  # Blocks are counted from 0.
        each["block"] -= first
    return {"initial": {"a": 0, "b": 0}, "shared": shared, "threads": threads}


def written(program: Plain) -> str:
    """A program as a test in PTX."""
    names = {fence: name for name, fence in _FENCES.items()}

    def word(instruction: tuple[Any, ...]) -> str:
        name, *operands = instruction
        return f"{names.get(name, name)} {', '.join(map(str, operands))}"

    columns = [[word(each) for each in thread["code"]] for thread in program["threads"]]
    most = max(map(len, columns))
    heads = [f"P{i}@cta {each['block']},gpu 0" for i, each in enumerate(program["threads"])]
    rows = [[*(column[i : i + 1] or [""] for column in columns)] for i in range(most)]
    spaces = (
        f"{'shared' if x in program['shared'] else 'global'} {x}={value};"
        for x, value in program["initial"].items()
    )
    lines = [" | ".join(heads), *(" | ".join(cell[0] for cell in row) for row in rows)]
    return f"PTX drawn\n{{ {' '.join(spaces)} }}\n" + "".join(f" {each} ;\n" for each in lines)
