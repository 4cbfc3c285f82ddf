"""The notation in which shapes are defined: `st.na x 5; st.s y 1 || r0=ld.s y; if r0==1: …`.

Threads are joined by `||`, the operations of a thread by `;`. An operation is `st`, `ld` or `inc`,
its reach, its location, and for a store its value; `r0=` keeps what it reads. `if r0==1:` guards
all that follows in its thread. A reach is `na`, or a scope with `.R` for remote as in the names of
our tests (litmus/rsp/README.md), or a letter that stands for several of them (families.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_ACCESS = re.compile(
    r"(?:if (?P<tested>r\d+)==(?P<number>-?\d+): )?(?:(?P<register>r\d+)=)?"
    r"(?P<kind>st|ld|inc)\.(?P<reach>[A-Za-z]+(?:\.R)?) (?P<location>[a-z]\w*)(?: (?P<value>\d+))?"
)


@dataclass(frozen=True)
class Access:
    """One operation of a shape.

    kind: st, ld or inc. reach: na, WG, DV, ALL, the last three also with `.R`, or a letter. value:
    what a store writes. register: what keeps the value read. tested: `(register, value)` of an `if`
    that begins here and reaches to the end of the thread.
    """

    kind: str
    reach: str
    location: str
    value: int | None = None
    register: str | None = None
    tested: tuple[str, int] | None = None

    @property
    def name(self) -> str:
        """The operation in the title of a test, e.g. `st.DV.R`."""
        return f"{self.kind}.{self.reach}"

    def reaching(self, reach: str) -> Access:
        """The same operation with another reach."""
        return replace(self, reach=reach)


Threads = tuple[tuple[Access, ...], ...]


def read_shape(text: str) -> Threads:
    """The operations of each thread. Raises ValueError for what is not in the notation."""
    threads = (each.strip() for each in text.split("||"))
    return tuple(
        tuple(_access(part.strip()) for part in thread.split(";") if part.strip())
        for thread in threads
    )


def _access(text: str) -> Access:
    found = _ACCESS.fullmatch(text)
    if not found:
        raise ValueError(f"an operation must be like `r0=ld.s y` or `st.na x 5`, not `{text}`")
    kind, value = found["kind"], found["value"]
    if (kind == "st") != (value is not None):
        raise ValueError(f"a store, and nothing else, must have a value: `{text}`")
    tested = (found["tested"], int(found["number"])) if found["tested"] else None
    number = None if value is None else int(value)
    return Access(kind, found["reach"], found["location"], number, found["register"], tested)
