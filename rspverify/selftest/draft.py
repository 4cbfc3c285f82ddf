"""A litmus test as a small structure, which can be cut down, and its text."""

from __future__ import annotations

from dataclasses import dataclass

from rspverify.litmus.orders import ORDERS, SCOPES
from rspverify.litmus.program import Kind, Location, Order, Scope
from rspverify.selftest.shape import Place

_FUNCTION = {Kind.LOAD: "atomic_load_explicit", Kind.STORE: "atomic_store_explicit"}
_OPERATION = {
    "+": "atomic_fetch_add_explicit",
    "|": "atomic_fetch_or_explicit",
    "exchange": "atomic_exchange_explicit",
    "compare_exchange": "atomic_compare_exchange_strong_explicit",
}
EXPECTED = "zero"
"""The plain location that every compare-exchange expects the value of. Nobody writes it."""

_ORDER = {order: word for word, order in ORDERS["OpenCL"].items()}
_SCOPE = {scope: word for word, scope in SCOPES.items()}


@dataclass(frozen=True)
class Formula:
    """An expression over at most one register: `{r}` and `{c}` stand for it and the constant."""

    template: str
    register: int | None = None
    constant: int = 1

    def __str__(self) -> str:
        return self.template.format(r=f"r{self.register}", c=self.constant)


def constant(value: int) -> Formula:
    """A number, as an expression."""
    return Formula("{c}", None, value)


@dataclass(frozen=True)
class Statement:
    """One memory operation.

    register: of a load or an RMW, the number of the register that receives what it reads, in its
    thread; value: what a store writes or an RMW adds. scope and order are None where it is plain.
    It is executed where all its guards hold. operator: what an RMW does with the value; a
    compare-exchange compares with the value of EXPECTED, and is a relaxed load if it fails.
    A fence has no location.
    """

    kind: Kind
    location: str
    register: int | None = None
    value: Formula | None = None
    scope: Scope | None = None
    order: Order | None = None
    remote: bool = False
    guards: tuple[Formula, ...] = ()
    operator: str = "+"

    @property
    def compares(self) -> bool:
        """Whether it is a compare-exchange."""
        return self.kind is Kind.RMW and self.operator == "compare_exchange"

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """Every expression in it."""
        return self.guards if self.value is None else (*self.guards, self.value)

    def __str__(self) -> str:
        access = self._plain() if self.scope is None else self._call()
        target = "" if self.register is None else f"r{self.register} = "
        text = f"{target}{access};"
        if not self.guards:
            return text
        brackets = len(self.guards) > 1
        guards = " && ".join(f"({each})" if brackets else str(each) for each in self.guards)
        return f"if ({guards}) {{ {text} }}"

    def _plain(self) -> str:
        return f"*{self.location}" if self.value is None else f"*{self.location} = {self.value}"

    def _call(self) -> str:
        assert self.order is not None and self.scope is not None
        remote = "_remote" if self.remote else ""
        order, scope = _ORDER[self.order], _SCOPE[self.scope]
        if self.kind is Kind.FENCE:
            return f"atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, {order}, {scope})"
        operands = [self.location]
        operands += [EXPECTED] if self.compares else []
        operands += [] if self.value is None else [str(self.value)]
        orders = [order, _ORDER[Order.RELAXED]] if self.compares else [order]
        name = _OPERATION[self.operator] if self.kind is Kind.RMW else _FUNCTION[self.kind]
        return f"{name}{remote}({', '.join([*operands, *orders, scope])})"


@dataclass(frozen=True)
class ThreadDraft:
    """A thread: where it runs, and its operations in order."""

    place: Place
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Draft:
    """A litmus test; thread number i is called Pi in its text."""

    threads: tuple[ThreadDraft, ...]
    locations: tuple[Location, ...]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Every operation, thread by thread."""
        return tuple(each for thread in self.threads for each in thread.statements)

    @property
    def devices(self) -> int:
        """On how many devices threads run."""
        return len({thread.place[0] for thread in self.threads})

    def text(self, title: str = "random", comment: str = "") -> str:
        """The test in herd's language, which `read_program` reads."""
        parts = [f"OpenCL {title}"]
        if comment:
            parts.append(f"(* {comment} *)")
        parts.append("{ " + " ".join(f"[{x.name}]={x.initial};" for x in self.locations) + " }")
        parts += [self._thread(number) for number in range(len(self.threads))]
        return "\n".join(parts) + "\n"

    def _thread(self, number: int) -> str:
        device, workgroup = self.threads[number].place
        parameters = ", ".join(
            f"global {'atomic_int' if x.atomic else 'int'}* {x.name}" for x in self.locations
        )
        statements = self.threads[number].statements
        registers = sorted({each.register for each in statements if each.register is not None})
        declared = [f"  int {', '.join(f'r{each}' for each in registers)};"] if registers else []
        lines = [f"  {each}" for each in statements]
        head = f"P{number}@wg {workgroup}, dev {device} ({parameters}) {{"
        return "\n".join([head, *declared, *lines, "}"])
