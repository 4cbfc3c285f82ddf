"""Random programs of one thread: what their code does, as it was read back, is what they do.

`python -m compilers.agreement 2000 gfx900 gfx1100+cumode`, from the folder tests. Both are executed
one operation after the other, on the same memory. What cannot be read is counted by its reason.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

from rspverify.compilers.compilation import functions
from rspverify.compilers.gpus import ForGpu, translator
from rspverify.compilers.programs import named, pointers, read_as, watched
from rspverify.compilers.threads import EmittedThread, read_thread
from rspverify.isa.conditions import expression
from rspverify.isa.execution import UNKNOWN
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Problem, Source
from rspverify.value import evaluate, reads

READ, WRITTEN, LOCAL = ("a", "b", "c"), ("o", "p", "q"), ("l",)
_BINARY = ("+", "-", "*", "&", "|", "^", "<<", ">>", "==", "!=", "<", ">", "<=", ">=", "&&", "||")
_POWERS = [1 << it for it in range(31)]
_CONSTANTS = [0, 100, 70000, *_POWERS, *(it - 1 for it in _POWERS), *(-it for it in _POWERS)]
_CONSTANTS += [2**31 - 1, -100, -(2**31)]
_FETCHES = ("add", "sub", "or", "xor", "and", "min", "max")
_HOW = "memory_order_relaxed, memory_scope_device"


class _Drawn:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._registers: list[str] = []
        self._loops = 0

    def text(self) -> str:
        """A test in OpenCL."""
        names = (*READ, *WRITTEN, *LOCAL)
        kinds = ", ".join(
            f"{'local' if name in LOCAL else 'global'} atomic_int *{name}" for name in names
        )
        code = [self._load() for _ in range(self._random.randint(1, 3))]
        code += [self._statement(0) for _ in range(self._random.randint(2, 5))]
        body = "\n".join(f"  {line}" for line in code)
        return f"OpenCL drawn\n{{ }}\nP0@wg 0,dev 0 ({kinds}) {{\n{body}\n}}\n"

    def _new(self) -> str:
        self._registers.append(f"r{len(self._registers)}")
        return self._registers[-1]

    def _load(self) -> str:
        place = self._random.choice((*READ, *READ, *WRITTEN, *LOCAL))
        return f"int {self._new()} = atomic_load_explicit({place}, {_HOW});"

    def _statement(self, depth: int) -> str:
        choose, place = self._random.choice, self._random.choice((*WRITTEN, *LOCAL))
        match choose(("store",) * 4 + ("set", "load", "rmw", "cas") + ("if",) * 3 + ("loop",)):
            case "store":
                return f"atomic_store_explicit({place}, {self._value(3)}, {_HOW});"
            case "set" if self._registers:
                return f"{choose(self._registers)} = {self._value(2)};"
            case "rmw":
                word, value = (
                    choose((*(f"fetch_{it}" for it in _FETCHES), "exchange")),
                    self._value(2),
                )
                result = choose(("", f"int {self._new()} = "))
                return f"{result}atomic_{word}_explicit({place}, {value}, {_HOW});"
            case "cas":
                both, expected = self._value(1), self._value(1)
                register = self._new()
                orders = "memory_order_relaxed, memory_order_relaxed, memory_scope_device"
                call = f"atomic_compare_exchange_strong_explicit({place}, &{register}, {both}, {orders})"
                return f"int {register} = {expected}; int {self._new()} = {call};"
            case "if" if depth < 3:
                outside = len(self._registers)
                condition = self._value(2)
                then = self._block(depth)
                del self._registers[outside:]
                if choose((True, False)):
                    return f"if ({condition}) {{ {then} }}"
                otherwise = self._block(depth)
                del self._registers[outside:]
                return f"if ({condition}) {{ {then} }} else {{ {otherwise} }}"
            case "loop" if depth < 2:
                outside = len(self._registers)
                self._loops += 1
                counter = f"i{self._loops}"
                self._registers.append(counter)
                body = self._block(depth + 1)
                stop = f" if ({self._value(1)}) break;" if choose((True, False)) else ""
                del self._registers[outside:]
                times = self._random.randint(1, 3)
                return (
                    f"for (int {counter} = 0; {counter} < {times}; {counter}++) {{ {body}{stop} }}"
                )
            case _:
                return self._load()

    def _block(self, depth: int) -> str:
        return " ".join(self._statement(depth + 1) for _ in range(self._random.randint(1, 3)))

    def _value(self, depth: int) -> str:
        random = self._random
        if depth == 0 or random.random() < 0.2:
            if self._registers and random.random() < 0.7:
                return random.choice(self._registers)
            return f"({random.choice(_CONSTANTS)})"
        match random.randint(0, 9):
            case 0:
                return f"({random.choice('-~!')}{self._value(depth - 1)})"
            case 1:
                parts = [self._value(depth - 1) for _ in range(3)]
                return f"({parts[0]} ? {parts[1]} : {parts[2]})"
            case _:
                left, right = self._value(depth - 1), self._value(depth - 1)
                return f"({left} {random.choice(_BINARY)} {right})"


def drawn(random: Random) -> Program:
    """A program of one thread."""
    while True:
        try:
            return read_program(Source("drawn", _Drawn(random).text()))
        except InputError:  # It uses a register of another block.
            continue


Ending = tuple[Mapping[str, int], Mapping[str, int]]
"""What memory has in the end, and what each read of the source has read, by its label."""


def of_source(program: Program, memory: Mapping[str, int]) -> Ending | None:
    """What a program does, one operation after the other; None if it is cut off."""
    now, known, seen = dict(memory), dict[int, int](), dict[str, int]()
    for it in program.operations:
        if not evaluate(it.guard, known):
            known[it.index] = 0
            continue
        assert it.location is not None
        if it.reads:
            known[it.index] = now[it.location]
            if watched(it):
                seen[f".L{named(it, '')}".rstrip(".")] = now[it.location]
        if it.value is not None and (it.success is None or evaluate(it.success, known)):
            now[it.location] = evaluate(it.value, known)
    return None if any(evaluate(it.guard, known) for it in program.cuts) else (now, seen)


def of_code(code: EmittedThread, memory: Mapping[str, int]) -> Ending:
    """What was read back does."""
    now, known = dict(memory), dict[int, int]()
    for it in code.code:
        if it.location is None or not evaluate(expression(it.guard), known):
            continue
        known[it.index] = now[it.location]
        if it.value is not None:
            now[it.location] = evaluate(it.value, known)
    seen = {}
    for label, value in code.named.items():
        try:
            seen[label] = evaluate(value, known)
        except KeyError:  # It was not executed.
            continue
    return now, seen


def read_back(program: Program, it: ForGpu) -> EmittedThread:
    """What the code of a program of one thread does. Raises InputError."""
    program = read_as(program)
    ((thread, own),) = functions(it.emitted(program), program, it.syntax)
    found = read_thread(own, pointers(thread, program), it.machine)
    for each in found.code:
        if each.value is not None and UNKNOWN.index in reads(each.value):
            raise InputError([Problem(each.span, f"{each.name} depends on what is not known")])
    return found


def disagreement(program: Program, code: EmittedThread, random: Random, count: int = 30) -> str:
    """Where the two do something else, in words; empty if they agree."""
    program = read_as(program)
    for _ in range(count):
        memory = {name: _number(random) for name in (*READ, *WRITTEN, *LOCAL)}
        right = of_source(program, memory)
        if right is None:
            continue
        (ours, seen), (own, read) = of_code(code, memory), right
        if ours != own or any(seen.get(label) != value for label, value in read.items()):
            return f"from {memory}: {ours} {seen}, not {own} {read}"
    return ""


def _number(random: Random) -> int:
    near = random.choice(_CONSTANTS) + random.randint(-1, 1)
    number = random.choice((near, near, random.getrandbits(32)))
    return (number + 2**31) % 2**32 - 2**31


_REGISTER = re.compile(r"\b[vsa](?:\d+|\[\d+:\d+\])")


def main(count: int, words: Sequence[str], seed: int = 0) -> None:
    """Draw programs, and say what cannot be read, and what disagrees."""
    random = Random(seed)
    programs = [drawn(random) for _ in range(count)]
    for word in words:
        it = translator(f"amdgpu:{word}")
        it.prepare(programs)
        reasons, first, agreed = Counter[str](), dict[str, Program](), 0
        for program in programs:
            try:
                code = read_back(program, it)
            except InputError as error:
                for problem in error.problems:
                    reason = problem.message.split()[0] + " " + problem.message.rpartition(": ")[2]
                    reason = _REGISTER.sub("R", reason)
                    reasons[reason] += 1
                    first.setdefault(reason, program)
                continue
            if found := disagreement(program, code, random):
                print(
                    f"{word}: DISAGREE {found}\n{program.threads[0].operations[0].span.source.text}"
                )
                print(it.emitted(program).text)
            else:
                agreed += 1
        print(f"{word}: {agreed} of {count} agree")
        for reason, number in reasons.most_common():
            print(f"  {number:6} {reason}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
