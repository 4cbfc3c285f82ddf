"""Random tables that `prove` decides, held to tests, hunts and random programs without a race.

`python -m proof.random_tables 100 7`, from the folder tests: so many minimal proved tables, and as
many random ones, of this seed. A disagreement is printed and ends it with 1.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from random import Random

from checks import MODEL, ROOT, litmus

import rspverify
from rspverify.api.inputs import read_scheme
from rspverify.judge.judge import Judge
from rspverify.litmus.program import Program
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import notation, read_notation
from rspverify.proof.obligations import Obligation, obligations
from rspverify.proof.proof import Proof
from rspverify.proof.table import ProofTable, proof_table
from rspverify.records import replace
from rspverify.scheme.scheme import Scheme
from rspverify.selftest.programs import Size, random_test
from rspverify.selftest.schemes import code as code_of
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.soundness.sides import ModelSide
from rspverify.source import Source
from rspverify.verdict import Word

Code = tuple[str, ...]
Rows = dict[tuple[str, str], Code]
"""The code of each operation, by its kind and its scope, as `dv R`."""

SCOPES = ("wg N", "wg R", "dv N", "dv R")
PLAIN: Rows = {("load", "na"): ("LD r x",), ("store", "na"): ("ST r x",)}
ACCESS = {
    "load": ("LD r x",),
    "store": ("ST r x",),
    "rmw": ("INC_L1 r x", "INC_L2 r x", "RMW_L1 r x", "RMW_L2 r x"),
}
FENCES = ("FLU_L1 WG", "FLU_L1 DV", "INV_L1 WG", "INV_L1 DV")
LOCKS = {"LK_L2 x": "UL_L2 x", "LK_rmw DV": "UL_rmw DV"}
MARKS = (*LOCKS, *LOCKS.values())
NARROWER = {"FLU_L1 DV": "FLU_L1 WG", "INV_L1 DV": "INV_L1 WG"}


def scheme_of(rows: Rows) -> Scheme:
    """The scheme of some rows."""
    base = _base(tuple(rows))
    codes = zip(base.rows, rows.values(), strict=True)
    return replace(base, rows=tuple(replace(row, code=code_of(*it)) for row, it in codes))


@cache
def _base(keys: tuple[tuple[str, str], ...]) -> Scheme:
    """A scheme with rows for these operations, which are accesses alone."""
    lines = ["name: drawn", "machine: rsp", "rows:"]
    for kind, where in keys:
        scope, _, flag = where.partition(" ")
        remote = f", remote: {str(flag == 'R').lower()}" if flag else ""
        lines.append(f"  - {{op: {kind}, scope: {scope}{remote}, code: [{ACCESS[kind][0]}]}}")
    return read_scheme(Source("drawn.yaml", "\n".join(lines)))


def in_lines(rows: Rows) -> str:
    """Rows for people."""
    return "\n".join(f"  {' '.join(it):12} {'; '.join(code)}" for it, code in rows.items())


# ---- tables --------------------------------------------------------------------------------------


def random_rows(random: Random, *, kept_locks: bool = False, strong_plain: bool = False) -> Rows:
    """Rows with several fences and with locks around anything. kept_locks: also locks that are not
    freed, or freed without being held. strong_plain: plain rows that do more than access."""
    rows: Rows = {**PLAIN}
    for key in PLAIN:
        if strong_plain and random.random() < 0.7:
            rows[key] = _random_code(random, ACCESS[key[0]])
    for kind, accesses in ACCESS.items():
        for where in SCOPES:
            code = [*_random_code(random, accesses)]
            if kept_locks and random.random() < 0.3:
                code.insert(random.randint(0, len(code)), random.choice(MARKS))
            rows[kind, where] = tuple(code)
        if random.random() < 0.4:
            rows[kind, "wg R"] = rows[kind, "wg N"]
    return rows


def _random_code(random: Random, accesses: Code) -> Code:
    code = [random.choice(accesses)]
    for _ in range(random.choice((0, 1, 1, 2, 3, 4))):
        code.insert(random.randint(0, len(code)), random.choice(FENCES))
    for lock, free in LOCKS.items():
        if random.random() < 0.2:
            first, last = sorted(random.sample(range(len(code) + 1), 2))
            code.insert(last, free)
            code.insert(first, lock)
    return tuple(code)


def weaker(rows: Rows) -> Iterator[Rows]:
    """Every one-step weakening: an instruction dropped or narrowed, a lock with what frees it, and
    an instruction left out of a lock that it is in."""
    for key, code in rows.items():
        found: list[Code] = []
        for place, it in enumerate(code):
            without = (*code[:place], *code[place + 1 :])
            if it in FENCES:
                found.append(without)
            if it in NARROWER:
                found.append((*code[:place], NARROWER[it], *code[place + 1 :]))
            if it in LOCKS and LOCKS[it] in code[place:]:
                until = code.index(LOCKS[it], place)
                found.append((*code[:place], *code[place + 1 : until], *code[until + 1 :]))
                if code[place + 1] not in MARKS:
                    found.append((*without[: place + 1], it, *without[place + 1 :]))
                if code[until - 1] not in MARKS:
                    swapped = code[until], code[until - 1]
                    found.append((*code[: until - 1], *swapped, *code[until + 1 :]))
        for each in dict.fromkeys(found):
            if each != code and all(_held(each, lock) for lock in LOCKS):
                yield {**rows, key: each}


def _held(code: Code, lock: str) -> bool:
    """Whether a lock is freed where it is held, and nowhere else."""
    marks = [it for it in code if it in (lock, LOCKS[lock])]
    return marks == [lock, LOCKS[lock]] * (len(marks) // 2)


def unmet(rows: Rows) -> list[Obligation]:
    """The obligations that a table does not meet."""
    table = proof_table(scheme_of(rows))
    assert not table.refused
    return [it for it in obligations(table) if not _is_met(it, table)]


_known: dict[tuple[object, ...], bool] = {}


def _is_met(it: Obligation, table: ProofTable) -> bool:
    """Whether an obligation is met, as it was for other tables that have the same two codes."""
    sides = ((each.kind, each.row.text) for each in (it.first, it.second))
    ways = table.rmw_locks_exclude, table.l2_locks_exclude, table.looks_afresh
    key = (it.kind, *sides, *ways)
    if key not in _known:
        _known[key] = it.failure(table) is None
    return _known[key]


_STRONG = ("LK_rmw DV", "FLU_L1 DV", "INV_L1 DV", "", "FLU_L1 DV", "INV_L1 DV", "UL_rmw DV")
_AFRESH = (*_STRONG[:5], _STRONG[6])
"""Without an invalidation after the access, so that only looking afresh proves it."""


def minimal_rows(random: Random, *, afresh: bool = False) -> Rows:
    """A table that meets all its obligations, and no weakening of it does: from the strongest, with
    instructions and locks more in places at random, by dropping what can be dropped. afresh: every
    look comes after an invalidation."""
    rows: Rows = {**PLAIN}
    if afresh:
        rows["load", "na"] = ("INV_L1 WG", "LD r x")
    for kind, accesses in ACCESS.items():
        for where in SCOPES:
            code: list[str] = []
            for it in _AFRESH if afresh else _STRONG:
                wanted = random.random() < 0.5 and not (
                    afresh and any(each in accesses for each in code)
                )
                code += [random.choice(FENCES)] if wanted else []
                code.append(it or random.choice(accesses))
            if random.random() < 0.5:
                first, last = sorted(random.sample(range(len(code) + 1), 2))
                code.insert(last, "UL_L2 x")
                code.insert(first, "LK_L2 x")
            rows[kind, where] = tuple(code)
    for _ in range(100):
        if not unmet(rows):
            return _minimized(rows, random)
        key = random.choice([it for it in rows if it not in PLAIN])
        rows[key] = tuple(it or _access(rows[key]) for it in (_AFRESH if afresh else _STRONG))
    raise AssertionError("the strongest table must be proved")


def next_minimal(rows: Rows, random: Random) -> Rows:
    """Another minimal table near one: some instructions and locks more, and then as few as can be."""
    for _ in range(random.choice((1, 2, 4))):
        key = random.choice([it for it in rows if it not in PLAIN])
        code = [*rows[key]]
        if random.random() < 0.3:
            lock = random.choice([*LOCKS])
            first, last = sorted(random.sample(range(len(code) + 1), 2))
            code.insert(last, LOCKS[lock])
            code.insert(first, lock)
        elif random.random() < 0.3:
            code[code.index(_access(rows[key]))] = random.choice(ACCESS[key[0]])
        else:
            code.insert(random.randint(0, len(code)), random.choice(FENCES))
        wider = {**rows, key: tuple(code)}
        if all(_held(wider[key], it) for it in LOCKS) and not unmet(wider):
            rows = wider
    return _minimized(rows, random)


def _access(code: Code) -> str:
    return next(it for it in code if it not in (*FENCES, *MARKS))


def _minimized(rows: Rows, random: Random) -> Rows:
    """By weakenings at random, until there is none that meets all obligations."""
    going = True
    while going:
        going = False
        steps = [*weaker(rows)]
        random.shuffle(steps)
        for it in steps:
            if not unmet(it):
                rows, going = it, True
                break
    return rows


# ---- programs ------------------------------------------------------------------------------------


SIZE = Size(threads=4, workgroups=4, devices=1, operations=4, total=9)
BARE: Rows = {
    **PLAIN,
    **{(kind, where): codes[:1] for kind, codes in ACCESS.items() for where in SCOPES},
}
"""Accesses alone: what is sound by it says nothing of others."""


class Pool:
    """Programs without a race that some table breaks, and what the model says of each."""

    def __init__(self, programs: Iterable[Program]) -> None:
        self.sources = [ModelSide(it, MODEL) for it in programs]

    @classmethod
    def drawn(cls, random: Random, number: int, sizes: range, seconds: float = 2) -> Pool:
        """So many random programs of so many operations."""
        found: list[Program] = []
        bare = scheme_of(BARE)
        while len(found) < number:
            test = random_test(random, SIZE)
            if len(test.accesses) in sizes and len(test.threads) > 1:
                program = program_of(test, notation(test))
                if word(ModelSide(program, MODEL), bare, seconds) is Word.UNSOUND:
                    found.append(program)
        return cls(found)

    @classmethod
    def of(cls, lines: Iterable[str]) -> Pool:
        """Programs in one line each."""
        return cls(program_of(read_notation(it), it) for it in lines)

    @classmethod
    def corpus(cls) -> Pool:
        """The tests that ship for Tab. 3, without those that race."""
        paths = sorted((ROOT / "litmus/rsp").rglob("*.litmus"))
        programs = [litmus(str(it.relative_to(ROOT / "litmus"))) for it in paths]
        bare = scheme_of(BARE)
        return cls(it for it in programs if word(ModelSide(it, MODEL), bare) is Word.UNSOUND)

    def breaking(self, scheme: Scheme, random: Random, most: int) -> Iterator[str]:
        """The programs of a sample that break a scheme."""
        for source in random.sample(self.sources, min(most, len(self.sources))):
            if word(source, scheme) is Word.UNSOUND:
                yield source.program.title


def word(source: ModelSide, scheme: Scheme, seconds: float = 10) -> Word:
    """The verdict on a program."""
    settings = Settings(seconds=seconds, shortest=False)
    return check(Case(source.program, scheme, MODEL, settings), source).word


# ---- a long run ----------------------------------------------------------------------------------


class Run:
    """Counts, and what should not be."""

    def __init__(self, random: Random, *pools: Pool) -> None:
        self.random, self.counts, self.pools = random, Counter[str](), pools
        self.disagreements: list[str] = []
        self.judge, self.rows = Judge(), Rows()

    def differ(self, what: str, rows: Rows) -> None:
        self.disagreements.append(f"{what}\n{in_lines(rows)}")
        print(self.disagreements[-1], flush=True)

    def prove(self, rows: Rows) -> Proof:
        """What is said of a table; each one that is exact is PROVED or UNSOUND."""
        scheme = scheme_of(rows)
        (proof,) = rspverify.prove(scheme, judge=self.judge)
        exact = proof_table(scheme).is_exact
        self.counts[f"{'exact' if exact else 'inexact'} tables {proof.word}"] += 1
        self.counts["broken obligations"] += len(proof.broken)
        if proof.internal:
            self.differ(f"an internal error: {proof.internal}", rows)
        if exact and (proof.word == "NO PROOF" or not all(it.is_shown for it in proof.broken)):
            self.differ("a broken obligation is no execution", rows)
        return proof

    def attack(self, rows: Rows, most: int) -> None:
        """A proved table is not UNSOUND by any program of a sample."""
        scheme = scheme_of(rows)
        for pool in self.pools:
            self.counts["questions of proved tables"] += min(most, len(pool.sources))
            for it in pool.breaking(scheme, self.random, most):
                self.differ(f"PROVED, and UNSOUND by {it}", rows)

    def hunt(self, rows: Rows, events: int = 3) -> None:
        """Nor by any program of so many operations."""
        self.counts["hunts of proved tables"] += 1
        found = rspverify.hunt(
            scheme_of(rows), events=events, proof=False, count=False, judge=self.judge
        ).report()
        if found.findings:
            self.differ(f"PROVED, and UNSOUND by {found.findings[0].program}", rows)

    def minimal(self, most: int, weakenings: int) -> None:
        """One minimal table, and a sample of its weakenings."""
        fresh = not self.rows or self.random.random() < 0.1
        afresh = self.random.random() < 0.4
        rows = self.rows if not fresh else minimal_rows(self.random, afresh=afresh)
        rows = next_minimal(rows, self.random)
        self.counts["minimal tables that look afresh"] += proof_table(scheme_of(rows)).looks_afresh
        self.rows, proof = rows, self.prove(rows)
        if proof.word != "PROVED":
            self.differ(f"{proof.word}, and all obligations are met", rows)
        self.attack(rows, most)
        steps = [*weaker(rows)]
        for it in self.random.sample(steps, min(weakenings, len(steps))):
            self.counts[f"weakenings {self.prove(it).word}"] += 1

    def table(self, most: int) -> None:
        """A table at random, of any kind, or one near a minimal one."""
        random = self.random
        kept, strong = random.random() < 0.4, random.random() < 0.4
        rows = random_rows(random, kept_locks=kept, strong_plain=strong)
        if random.random() < 0.6:
            near = next_minimal(self.rows or minimal_rows(random), random)
            self.rows = near
            rows = {it: rows[it] if random.random() < 0.15 else near[it] for it in near}
            if strong:
                rows |= {it: random_rows(random, strong_plain=True)[it] for it in PLAIN}
        if self.prove(rows).word == "PROVED":
            self.attack(rows, most)


def main(number: int, seed: int) -> int:
    """So many minimal tables and as many random ones, and a hunt for each ten of them."""
    random = Random(seed)
    run = Run(random, Pool.corpus(), Pool.drawn(random, 300, range(5, 10)))
    for count in range(number):
        run.minimal(60, weakenings=3)
        run.table(60)
        if count % 10 == 0:
            run.hunt(run.rows)
    for what, times in sorted(run.counts.items()):
        print(f"{times:8} {what}")
    return 1 if run.disagreements else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
