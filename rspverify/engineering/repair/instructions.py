"""The instructions that codes are made of, and which of them is at least as strong as another.

What an instruction of a machine is for is told from its effects (architecture/acts.py), never from
its name:

* *order*: nothing but flush markers, invalidations, and waits until nothing is outstanding;
* *take* and *free*: it waits for a kind of lock and takes it, or frees it;
* *access*: it reads or writes a location for the program.

docs/proofs.md argues why a stronger order instruction leaves fewer executions. In the code of a
target an access is all that a row cannot do without, be it a loop; fences are order instructions,
and so is what makes the rest depend on the result. The file of its instruction set says which is
stronger (mapping/strength.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rspverify.architecture.acts import Act, Deed, acts
from rspverify.architecture.architecture import Architecture, CellKind
from rspverify.machine.machine import effect_of
from rspverify.mapping.items import Item
from rspverify.mapping.strength import gives, strengths
from rspverify.mapping.table import Table
from rspverify.records import replace
from rspverify.scheme.cost import Costs
from rspverify.scheme.memory import serves
from rspverify.scheme.row import AnyRow, CodeItem, Row, Template
from rspverify.scheme.scheme import Scheme
from rspverify.scheme.steps import variants
from rspverify.source import InputError, Problem, Span

if TYPE_CHECKING:
    from rspverify.translators import Rows


class Role(Enum):
    """What an instruction does in a code."""

    ACCESS = auto()
    ORDER = auto()
    TAKE = auto()
    FREE = auto()


class CandidateInstruction(Struct, frozen=True):
    """An instruction as a part of codes: of a machine with its reach, of a target its items.

    called: the words that mean it besides its name. lock: of one that takes or frees locks, their
    kind. spread: how far these reach, 0 for one lock.
    """

    name: str
    items: tuple[Any, ...]
    role: Role
    cost: int
    called: frozenset[str]
    lock: CellKind | None = None
    spread: int = 0

    @property
    def acts(self) -> tuple[Act, ...]:
        """What one of a machine does besides its access."""
        return acts(self.items[0].mnemonic) if isinstance(self.items[0], Template) else ()

    @property
    def alike(self) -> bool:
        """Whether what it does is all of one kind, and nothing but to empty caches or to wait; of a
        target, to order."""
        deeds = {it.deed for it in self.acts}
        return deeds in ({Deed.LOSE}, {Deed.DRAIN}) or not isinstance(self.items[0], Template)


class InstructionPool(ABC):
    """The instructions that codes are made of, by number, and which covers which.

    behind: order instructions that mean something behind an access only. shortest: the most
    instructions of a code, unless the scheme itself has longer ones. whose: in words. span: what
    stands for the place of an instruction that no file has.
    """

    shortest, whose = 7, "the machine"

    def __init__(self, found: Sequence[CandidateInstruction], span: Span) -> None:
        self.span = span
        self.instructions = tuple(found)
        self.number = {each.name: place for place, each in enumerate(found)}
        self.cost = [each.cost for each in found]
        self.order = self._of(Role.ORDER)
        self.accesses = frozenset(self._of(Role.ACCESS))
        self.takes = self._of(Role.TAKE)
        self.behind = frozenset[int]()
        by_lock = {(found[free].lock, found[free].spread): free for free in self._of(Role.FREE)}
        self.frees = {take: by_lock[found[take].lock, found[take].spread] for take in self.takes}
        self.covered_by = [
            frozenset(place for place, b in enumerate(found) if self._covers(b, a)) for a in found
        ]
        self.synonyms = frozenset(
            (a, b)
            for a in self.order
            for b in self.order
            if a != b and b in self.covered_by[a] and a in self.covered_by[b]
        )
        """Two names for what does the same."""
        self.pointless_beside = frozenset(
            (a, b)
            for a in self.order
            for b in self.order
            if found[a].alike and found[b].alike
            if b in self.covered_by[a] or a in self.covered_by[b]
        )
        """Neighbours that do together what one of them does alone."""

    def _of(self, role: Role) -> tuple[int, ...]:
        return tuple(place for place, it in enumerate(self.instructions) if it.role is role)

    def _covers(self, one: CandidateInstruction, other: CandidateInstruction) -> bool:
        """Whether the one, in place of the other, leaves no execution more. Itself included."""
        if one.name == other.name or one.role is not other.role:
            return one.name == other.name
        return self.stronger(one, other)

    @abstractmethod
    def stronger(self, one: CandidateInstruction, other: CandidateInstruction) -> bool:
        """The same of two that are different, and of one role."""

    @abstractmethod
    def written(self, code: Iterable[int], span: Span) -> tuple[Any, ...]:
        """The code as a row of a scheme has it, which stands there."""

    @abstractmethod
    def read(self, code: Iterable[CodeItem]) -> tuple[int, ...]:
        """The numbers of a row's instructions. Raises InputError with each that is not known."""

    @abstractmethod
    def sensible(self, devices: int) -> Iterable[int]:
        """The instructions that can be needed on so many devices."""

    @abstractmethod
    def repeats(self, rows: Iterable[AnyRow]) -> int:
        """How often a row stores again what it has written, at the most."""

    @abstractmethod
    def materials(self, row: AnyRow, allowed: Collection[int]) -> tuple[list[int], ...]:
        """Of the instructions that are allowed, the accesses, order instructions and locks of codes
        of a row, and what may store again what it has written."""

    def text(self, code: Iterable[int]) -> tuple[str, ...]:
        """The code as a scheme's file has it."""
        return tuple(map(str, self.written(code, self.span)))

    def cost_of(self, code: Iterable[int]) -> int:
        """What a code costs."""
        return sum(self.cost[each] for each in code)


def pool_of(scheme: Rows, costs: Costs) -> InstructionPool:
    """The instructions of the codes of a scheme."""
    return OfTarget(scheme, costs) if isinstance(scheme, Table) else OfMachine(scheme, costs)


# ---- a machine -----------------------------------------------------------------------------------


class OfMachine(InstructionPool):
    """The instructions of a machine."""

    def __init__(self, scheme: Scheme, costs: Costs) -> None:
        self._scheme, self._machine = scheme, scheme.machine
        every = (
            _candidate(Template(mnemonic, reach, scheme.rows[0].span), self._machine, costs)
            for mnemonic in self._machine.instructions.values()
            for reach in mnemonic.reaches or (None,)
        )
        super().__init__([each for each in every if each is not None], scheme.rows[0].span)

    def stronger(self, one: CandidateInstruction, other: CandidateInstruction) -> bool:
        """An access is as strong as itself alone."""
        if one.role is Role.ACCESS:
            return False
        if one.role is not Role.ORDER:
            return one.lock == other.lock and one.spread >= other.spread
        machine, (mine, its) = self._machine, (one.items[0].reach, other.items[0].reach)

        def covers(act: Act, each: Act) -> bool:
            return act.covers(each) and act.far(machine, mine) >= each.far(machine, its)

        return all(any(covers(act, each) for act in one.acts) for each in other.acts)

    def written(self, code: Iterable[int], span: Span) -> tuple[Template, ...]:
        """Each instruction, as if it stood there."""
        return tuple(replace(self.instructions[it].items[0], span=span) for it in code)

    def read(self, code: Iterable[CodeItem]) -> tuple[int, ...]:
        """By their names, with their reach."""
        hint = "repair knows accesses, flushes, waits, invalidations of every location, and locks"
        own = [*code]
        problems = [
            Problem(each.span, f"repair must know what {each} does to caches, and does not", hint)
            for each in own
            if each.priced not in self.number
        ]
        if problems:
            raise InputError(problems)
        return tuple(self.number[each.priced] for each in own)

    def sensible(self, devices: int) -> Iterator[int]:
        """But for what changes nothing, as it flushes what is as good as memory, and what one of a
        narrower reach does as well, as on one device SY does what DV does.
        """
        for place, it in enumerate(self.instructions):
            mnemonic, reach = it.items[0].mnemonic, it.items[0].reach
            waits = any(act.deed is Deed.DRAIN for act in it.acts)
            own = effect_of(self._machine, mnemonic, reach, devices)
            narrower = mnemonic.reaches[: mnemonic.reaches.index(reach)] if reach else ()
            alike = (effect_of(self._machine, mnemonic, each, devices) for each in narrower)
            same = any((each.guards, each.updates) == (own.guards, own.updates) for each in alike)
            if it.role is Role.ACCESS or waits or (own.updates and not same):
                yield place

    def repeats(self, rows: Iterable[AnyRow]) -> int:
        """All accesses but the first of a row."""
        return max(0, *(sum(each.accesses for each in row.code) - 1 for row in rows))

    def materials(self, row: AnyRow, allowed: Collection[int]) -> tuple[list[int], ...]:
        """Its access may be at another level."""
        assert isinstance(row, Row)
        own = next((each.mnemonic for each in row.code if each.accesses), None)
        alike = () if own is None else {own, *variants(row, own, self._scheme)}
        mnemonics = {it: self.instructions[it].items[0].mnemonic for it in sorted(allowed)}
        served = [it for it, each in mnemonics.items() if serves(each, row.memories, self._machine)]
        accessing = [it for it in served if it in self.accesses]
        takes = [
            it
            for it in served
            if it in self.takes and self.frees[it] in allowed
            if own is not None or "x" not in mnemonics[it].operands
        ]
        again = [
            it
            for it in accessing
            if own is not None and own.writes and mnemonics[it].writes and not mnemonics[it].reads
        ]
        order = [it for it in self.order if it in allowed]
        return [it for it in accessing if mnemonics[it] in alike], order, takes, again


def _candidate(
    template: Template, architecture: Architecture, costs: Costs
) -> CandidateInstruction | None:
    """None if an instruction has effects of which the search knows nothing."""
    name, done = template.priced, acts(template.mnemonic)
    given = (costs.weight(template), frozenset({name, name.split()[0]}))
    if template.accesses:
        return CandidateInstruction(name, (template,), Role.ACCESS, *given)
    if all(each.deed in (Deed.MARK, Deed.LOSE, Deed.DRAIN) for each in done):
        return CandidateInstruction(name, (template,), Role.ORDER, *given)
    awaited = [(each.kind, each.reach) for each in done if each.deed is Deed.AWAIT]
    match [each for each in done if each.deed is not Deed.AWAIT]:
        case [Act(Deed.TAKE, lock, own) as act] if awaited == [(lock, own)]:
            role = Role.TAKE
        case [Act(Deed.FREE, lock) as act] if not awaited:
            role = Role.FREE
        case _:
            return None
    spread = act.far(architecture, template.reach)
    return CandidateInstruction(name, (template,), role, *given, lock, spread)


# ---- a target ------------------------------------------------------------------------------------


class OfTarget(InstructionPool):
    """Fences of a target, what makes code depend on a result, and the accesses of a table."""

    shortest, whose = 4, "the target"

    def __init__(self, table: Table, costs: Costs) -> None:
        self._strengths = known = strengths(table)
        parts = [known.parts(row.code) for row in table.rows]
        own = [each for it in parts for each in (*it.before, *it.behind)]
        branch = [known.branch] if known.branch else []
        order = {_name(each): each for each in (*((it,) for it in known.fences), *branch)}
        order |= {_name(each): each for each in own if len(each) == 1}
        cores = [each for it in parts if it.core for each in known.cores(it.core)]
        found = [_of_items(each, Role.ORDER, costs) for each in order.values()]
        accesses = {_name(each): _of_items(each, Role.ACCESS, costs) for each in cores}
        super().__init__([*found, *accesses.values()], table.rows[0].span)
        self.behind = frozenset(self.number[_name(each)] for each in branch)

    def stronger(self, one: CandidateInstruction, other: CandidateInstruction) -> bool:
        """As the file of the instruction set has it."""
        if one.role is Role.ACCESS:
            return self._strengths.stronger_core(one.items, other.items)
        mine, its = one.items[0], other.items[0]
        return len(one.items) == len(other.items) == 1 and self._strengths.stronger(mine, its)

    def written(self, code: Iterable[int], span: Span) -> tuple[Item, ...]:
        """The items of all, with labels of their own."""
        found = [self.instructions[it] for it in code]
        core = next((it.items for it in found if it.role is Role.ACCESS), ())
        return self._strengths.written([it.items for it in found], core)

    def read(self, code: Iterable[CodeItem]) -> tuple[int, ...]:
        """What orders by its text; the rest is the access."""
        parts = self._strengths.parts(_items(code))
        order = [[self._numbered(it) for it in each] for each in (parts.before, parts.behind)]
        return (*order[0], *([self.number[_name(parts.core)]] if parts.core else []), *order[1])

    def _numbered(self, element: tuple[Item, ...]) -> int:
        return next(iter(self.behind)) if len(element) > 1 else self.number[_name(element)]

    def sensible(self, devices: int) -> Iterable[int]:
        """All."""
        return range(len(self.instructions))

    def repeats(self, rows: Iterable[AnyRow]) -> int:
        """None is stored again."""
        return 0

    def materials(self, row: AnyRow, allowed: Collection[int]) -> tuple[list[int], ...]:
        """Its access may be stronger or weaker."""
        core, suits = (
            self._strengths.parts(_items(row.code)).core,
            partial(self._strengths.suits, row),
        )
        known = filter(suits, self._strengths.cores(core) if core else ())
        cores = [self.number[_name(it)] for it in known]
        order = [it for it in self.order if suits(self.instructions[it].items)]
        order = [it for it in order if it not in self.behind or gives(row)]
        accesses = [it for it in cores if it in allowed]
        return accesses, [it for it in order if it in allowed], [], []


def _items(code: Iterable[CodeItem]) -> tuple[Item, ...]:
    return tuple(it for it in code if isinstance(it, Item))


def _name(items: Iterable[Item]) -> str:
    return "; ".join(map(str, items))


def _of_items(items: tuple[Item, ...], role: Role, costs: Costs) -> CandidateInstruction:
    priced: list[CodeItem] = [*items]
    called = {word for it in priced for word in (it.priced, it.priced.split()[0])}
    return CandidateInstruction(_name(items), items, role, costs.of(priced), frozenset(called))
