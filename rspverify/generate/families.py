"""The families that `generate` knows. A new family is an entry here and a line in a test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rspverify.files import write_new
from rspverify.generate.annotations import Annotations
from rspverify.generate.family import Family, Shape
from rspverify.generate.rows import NAME as ROWS
from rspverify.generate.rows import RowFamily
from rspverify.records import replace
from rspverify.source import InputError, Problem, require
from rspverify.wording import guess

LETTERS = (
    ("s", "WG, DV or DV.R, a choice of its own for each operation"),
    ("t", "WG, DV or DV.R, one choice for all operations of a thread"),
    ("d", "na, WG, DV or DV.R, for each access to data that is declared atomic"),
    ("…-devices", "the same on two devices or more, with ALL and ALL.R among the choices"),
    (
        "--scopes, --orders",
        "other choices for all letters; a fence is acq_rel if none is asked for",
    ),
)
"""What the letters of the shapes stand for."""

_STALE = r"exists (1:r0=1 /\ 1:r1=0)"

_ON_ONE_DEVICE = (
    Family(
        "MP",
        "message passing, plain data published by a store or an increment of a flag",
        tuple(
            Shape(f"st.na x 5; {publish} || {observe}; if r0==1: r1=ld.na x", _STALE)
            for publish in ("st.s y 1", "inc.s y")
            for observe in ("r0=ld.s y", "r0=inc.s y")
        ),
    ),
    Family(
        "RMW",
        "increments are atomic against stores and increments of one location",
        (
            Shape("inc.s x || st.s x 10", "exists (x=1)"),
            Shape("inc.s x || inc.s x", "exists (x=1)"),
            Shape("inc.s x || st.s x 10; r0=ld.s x", "exists (x=1)"),
            Shape("inc.s x; r0=ld.s x || st.s x 10", "exists (x=1)"),
            Shape("inc.s x; inc.s x || st.s x 10", r"exists (x=1 \/ x=2)"),
            Shape("inc.s x || inc.s x || st.s x 10", r"exists (x=1 \/ x=2)"),
            Shape("inc.s x || inc.s x || inc.s x", r"exists (x=1 \/ x=2)"),
        ),
    ),
    Family(
        "CO",
        "coherence, the accesses of a thread to one location never go back in mo",
        (
            Shape("st.s x 1 || r0=ld.s x; r1=ld.s x", r"exists (1:r0=1 /\ 1:r1=0)"),
            Shape("st.s x 1; r0=ld.s x || st.s x 2", r"exists (0:r0=0 \/ 0:r0=2 /\ x=1)"),
            Shape("r0=ld.s x; st.s x 1 || st.s x 2", r"exists (0:r0=1 \/ 0:r0=2 /\ x=2)"),
            Shape("st.s x 1; st.s x 2 || r0=ld.s x", "exists (x=1)"),
        ),
    ),
    Family(
        "SB",
        "store buffering, both threads may miss what the other wrote",
        (
            Shape("st.s x 1; r0=ld.s y || st.s y 1; r0=ld.s x", r"exists (0:r0=0 /\ 1:r0=0)"),
            Shape("inc.s x; r0=ld.s y || inc.s y; r0=ld.s x", r"exists (0:r0=0 /\ 1:r0=0)"),
        ),
    ),
    Family(
        "WRC",
        "write-to-read causality, who is told of a store by a thread that saw it sees it too",
        (
            Shape(
                "st.s x 1 || r0=ld.s x; if r0==1: st.s y 1 || r0=ld.s y; if r0==1: r1=ld.s x",
                r"exists (1:r0=1 /\ 2:r0=1 /\ 2:r1=0)",
            ),
        ),
    ),
    Family(
        "ISA2",
        "message passing in two hops, synchronisation is transitive",
        (
            Shape(
                "st.na x 1; st.s y 1 || r0=ld.s y; if r0==1: st.s z 1"
                " || r0=ld.s z; if r0==1: r1=ld.na x",
                r"exists (1:r0=1 /\ 2:r0=1 /\ 2:r1=0)",
            ),
        ),
    ),
    Family(
        "IRIW",
        "independent reads of independent writes, the readers may disagree on their order",
        (
            Shape(
                "st.t x 1 || st.t y 1 || r0=ld.t x; r1=ld.t y || r0=ld.t y; r1=ld.t x",
                r"exists (2:r0=1 /\ 2:r1=0 /\ 3:r0=1 /\ 3:r1=0)",
            ),
        ),
    ),
    Family(
        "AD",
        "atomic data, message passing and a later store where the data is declared atomic"
        " and accessed plainly or atomically",
        (
            Shape("st.d x 5; st.s y 1 || r0=ld.s y; if r0==1: r1=ld.d x", _STALE),
            Shape(
                "st.d x 5; st.s y 1 || r0=ld.s y; if r0==1: st.d x 2",
                r"exists (1:r0=1 /\ x=5)",
            ),
        ),
    ),
    Family(
        "LB",
        "load buffering, no value comes out of thin air",
        (Shape("r0=ld.s x; st.s y 1 || r0=ld.s y; st.s x 1", r"exists (0:r0=1 /\ 1:r0=1)"),),
    ),
    Family(
        "S",
        "a store that follows a load comes after what was published before it",
        (Shape("st.s x 2; st.s y 1 || r0=ld.s y; st.s x 1", r"exists (1:r0=1 /\ x=2)"),),
    ),
    Family(
        "R",
        "a store that loses against a published one, and a load after it",
        (Shape("st.s x 1; st.s y 1 || st.s y 2; r0=ld.s x", r"exists (y=2 /\ 1:r0=0)"),),
    ),
    Family(
        "2+2W",
        "two threads store to two locations, each to its second one first for the other",
        (Shape("st.s x 1; st.s y 2 || st.s y 1; st.s x 2", r"exists (x=1 /\ y=1)"),),
    ),
    Family(
        "RWC",
        "read-to-write causality, a thread that saw a store and one that then stores",
        (
            Shape(
                "st.s x 1 || r0=ld.s x; r1=ld.s y || st.s y 1; r0=ld.s x",
                r"exists (1:r0=1 /\ 1:r1=0 /\ 2:r0=0)",
            ),
        ),
    ),
    Family(
        "WWC",
        "write-to-write causality, a store after one that was seen comes after it for all",
        (
            Shape(
                "st.s x 2 || r0=ld.s x; st.s y 1 || r0=ld.s y; st.s x 1",
                r"exists (1:r0=2 /\ 2:r0=1 /\ x=2)",
            ),
        ),
    ),
    Family(
        "fences",
        "message passing and store buffering by fences",
        (
            Shape(
                "st.na x 5; F.rel.s; st.rlx.s y 1 || r0=ld.rlx.s y; F.acq.s; if r0==1: r1=ld.na x",
                _STALE,
            ),
            Shape("st.na x 5; F.rel.s; st.rlx.s y 1 || r0=ld.s y; if r0==1: r1=ld.na x", _STALE),
            Shape("st.na x 5; st.s y 1 || r0=ld.rlx.s y; F.acq.s; if r0==1: r1=ld.na x", _STALE),
            Shape(
                "st.rlx.s x 1; F.sc.t; r0=ld.rlx.s y || st.rlx.s y 1; F.sc.t; r0=ld.rlx.s x",
                r"exists (0:r0=0 /\ 1:r0=0)",
            ),
        ),
    ),
    *(
        Family(
            f"RMW-{name}",
            f"read-modify-writes whose result is {name}, alone and in a message",
            (
                Shape(f"{gets}inc.s x; r1=ld.s x", "exists (0:r1=0)"),
                Shape(f"st.s x 1 || {gets}inc.s x; r1=ld.s x", r"exists (x=2 /\ 1:r1=1)"),
                Shape(f"st.na x 5; {gets}inc.s y || r0=ld.s y; if r0==1: r1=ld.na x", _STALE),
            ),
        )
        for name, gets in (("used", "r0="), ("unused", ""))
    ),
    Family(
        "CAS",
        "a message and a lock by compare-exchange",
        (
            Shape("st.na x 5; st.s y 1 || r0=cas.s y e 2; if r0: r1=ld.na x (e=1)", _STALE),
            Shape(
                "r0=cas.s l e 1; if r0: st.na x 1 || r0=cas.s l f 1; if r0: st.na x 1",
                r"exists (0:r0=1 /\ 1:r0=1)",
            ),
        ),
    ),
)

FAMILIES = {family.name: family for family in _ON_ONE_DEVICE}
"""Those of `generate all`, on one device."""

DEVICE_FAMILIES = {
    f"{name}-devices": FAMILIES[name].on_devices()
    for name in ("MP", "RMW", "CO", "SB", "WRC", "ISA2", "LB", "S", "R", "2+2W", "CAS")
}
"""Those of `generate all-devices`; the others would have too many tests on several devices."""

_TOGETHER = {"all": FAMILIES, "all-devices": DEVICE_FAMILIES}


MOST = 30_000
"""So many tests are written unless more are asked for."""


def chosen(
    name: str, asked: Annotations | None = None, *, distinct: bool = False
) -> dict[str, Family] | dict[str, RowFamily]:
    """The families that a command line means, by the folder that each gets: of one, no folder.

    asked: other choices for their letters. distinct: of tests that differ in names alone, one.
    Raises InputError for a name that is none.
    """
    if name == ROWS:
        message = "the family rows must stand alone: it has its own scopes, orders and memories"
        require(asked is None and not distinct, message)
        return {"": RowFamily()}
    known = FAMILIES | DEVICE_FAMILIES
    if name in _TOGETHER:
        found = dict(_TOGETHER[name])
    elif name in known:
        found = {"": known[name]}
    else:
        names = [*known, ROWS, *_TOGETHER]
        hint = guess(name, names) or "`rspverify generate --list` shows them"
        message = f"the family must be one of {', '.join(names)}, not {name}"
        raise InputError([Problem(None, message, hint)])
    if asked is not None:
        found = {place: each.with_annotations(asked) for place, each in found.items()}
    return {place: replace(each, distinct=distinct) for place, each in found.items()}


def require_few(families: Mapping[str, Family | RowFamily], limit: int = MOST) -> None:
    """Raises InputError if families may have more tests than a limit, told without making them."""
    most = sum(each.most for each in families.values())
    if most > limit:
        message = f"a family must have at most {limit:,} tests, not {most:,}"
        hint = "--scopes, --orders and --memories leave choices out; --limit allows more"
        raise InputError([Problem(None, message, hint)])


def write_tests(families: Mapping[str, Family | RowFamily], folder: Path | str) -> dict[str, int]:
    """Write the tests of families and return how many each has; `families` is by folder name.

    A folder name is below `folder`; the empty one is `folder` itself. Raises InputError, with
    nothing written, if a file that is there says something else, and if a folder cannot be used.
    """
    tests = {place: list(family.tests()) for place, family in families.items()}
    texts = {Path(folder) / place / it.file: it.text for place, its in tests.items() for it in its}
    write_new(texts, "the test of this name")
    return {families[place].name: len(its) for place, its in tests.items()}
