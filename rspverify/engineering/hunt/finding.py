"""What `hunt` answers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Struct

from rspverify.answers import Internal, Subject, Verdicts
from rspverify.convert import Bounds, Code, Count, Group, Place, Seconds, with_keys
from rspverify.enumeration.estimate import Estimate
from rspverify.proof.covered import Proved

FIRST = "the first finding was asked for"
NO_ROW = "no row, and no two, mend it"
NO_ROWS = "there is no row that could be made stronger"
ESTIMATED = "only an estimate was asked for"


class By(StrEnum):
    """How programs are decided: all by a proof, by one formula for many, all of a shape at once, or
    one by one."""

    PROOF = "proof"
    FORMULA = "formula"
    SHAPES = "shapes"
    PROGRAMS = "programs"


class OperationLeftOut(Struct, frozen=True):
    """A usual operation that programs do not have, and why."""

    operation: str
    reason: str


class HuntedSpace(Struct, frozen=True, kw_only=True):
    """The programs of a hunt. within: each bound is the most that a program has; `guards` only
    where they are bounded. idle_rows: the rows that no program of the space uses. plain_on_atomic:
    whether plain operations may access locations that are declared atomic. some_operations: whether
    some of the usual operations are not among them. memories: where locations may be, `global` or
    `local`.
    """

    within: Annotated[
        Bounds,
        with_keys("events", "threads", "work-groups", "devices", "locations", perhaps=["guards"]),
    ]
    operations: tuple[str, ...]
    left_out: tuple[OperationLeftOut, ...]
    idle_rows: tuple[Place, ...]
    plain_on_atomic: bool
    some_operations: bool
    memories: tuple[str, ...]


class Formulas(Struct, frozen=True):
    """What came of asking formulas: how many were asked, under the scheme with its stronger rows in
    the end, and how many have no program that breaks the scheme. racy, allowed: candidates that
    raced, and whose outcomes are allowed.
    """

    asked: Count
    sound: Count
    racy: Count
    allowed: Count


class Method(Struct, frozen=True, kw_only=True):
    """How a hunt decided.

    why_by_programs: why not by formula, where that was not chosen. formulas: what came of them,
    null where programs were decided one by one. counted: whether all programs within the bounds
    were listed. filtered: whether the filters are proved for the model; otherwise none is used.
    """

    by: By
    why_by_programs: str | None
    formulas: Formulas | None
    counted: bool
    filtered: bool
    estimates: tuple[Estimate, ...]


class PhaseCounts(Struct, frozen=True, kw_only=True):
    """The programs with so many operations and threads, up to symmetry.

    programs: those without a race. Of these: alone: no two work-groups share a location that is
    written; larger: a smaller program stands for them; guarded: one without an `if` of theirs does;
    to_decide: all that must be decided under this scheme. racy: extensions that race, a program
    perhaps counted several times.
    """

    events: Count
    threads: Count
    programs: Count
    alone: Count
    larger: Count
    guarded: Count
    to_decide: Count
    racy: Count


class UsedRow(Struct, frozen=True):
    """A row of a table that a program uses."""

    number: Place
    operations: str
    code: Code


class BlamedRow(UsedRow, frozen=True):
    """A row of the scheme, and the code with which the hunt goes on."""

    strongest: Code


class Finding(Struct, frozen=True, kw_only=True):
    """A smallest program that breaks a scheme, made stronger as far as `stronger` says.

    program: it in one line; text: as a test; file: where it was written. steps: of a shortest
    execution. blamed: the rows at fault, with which the hunt goes on where no switch excuses the
    program; empty if neither a row nor two mend it. mends: each row, or each two, that would, made
    as strong as can be. uses: of a table for a processor, the rows that break it together; no part
    of them does in a smaller program. switch: of the machine, which excuses it, and with which the
    hunt goes on, several joined by `+`; switches: those that it had gone on with before. decided:
    how many programs were until then, or how many formulas were asked. open: how many questions
    until then have no answer; a smaller program might be among them.
    """

    program: str
    test: str
    file: str | None = None
    text: str
    events: Count
    threads: Count
    reason: str
    steps: Count | None
    axioms: tuple[str, ...]
    blamed: tuple[BlamedRow, ...]
    mends: tuple[tuple[Place, ...], ...]
    uses: tuple[UsedRow, ...] = ()
    switch: str | None
    stronger: tuple[Place, ...]
    switches: tuple[str, ...]
    decided: Count
    open: Count
    seconds: Seconds


class HuntReport(Struct, frozen=True, kw_only=True):
    """All that `hunt` says of a scheme: the smallest programs that break it, of all within bounds.

    phases: those that are complete, but for decisions. stronger: rows that were made as strong as
    can be in the end; switches: of the machine, that were turned on. programs: without a race, up
    to symmetry, of all phases. decided: how many of them have each verdict, in the end; by formula
    none has one of its own. unknown: those without a verdict, with why. proof: what proves the
    scheme, with its stronger rows, for programs of any size; null if nothing does. complete:
    whether that is so, or every program within the bounds was looked at; sound: whether all of them
    are, with the stronger rows and the switches if there are any. stopped: why not all were looked
    at.
    """

    subject: Group[Subject]
    space: Group[HuntedSpace]
    method: Group[Method]
    phases: tuple[PhaseCounts, ...]
    findings: tuple[Finding, ...]
    stronger: tuple[Place, ...]
    switches: tuple[str, ...]
    programs: Count
    decided: Verdicts
    unknown: tuple[str, ...]
    complete: bool
    sound: bool
    proof: Proved | None
    stopped: str | None
    interrupted: bool
    internal: tuple[Internal, ...]
    seconds: Seconds
