"""Random schemes: those of Tab. 3, mutants of them, odd ones such as users write; and rows for what
Tab. 3 does not have: other read-modify-writes than increments, and fences."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from rspverify.architecture.architecture import Architecture, Mnemonic
from rspverify.architecture.machines import MACHINES
from rspverify.litmus.program import Kind, Order, Scope
from rspverify.programs.litmus_test import STRONG, Access, LitmusTest
from rspverify.records import replace
from rspverify.scheme.orders import DEFAULT, Op
from rspverify.scheme.reader import shipped_scheme
from rspverify.scheme.row import Row, Shape, Template
from rspverify.scheme.scheme import Scheme
from rspverify.scheme.template_reader import fits
from rspverify.source import InputError, Problem, Source, Span

Code = tuple[Template, ...]

_INSTRUCTIONS = MACHINES["rsp-inv-l2"].instructions
"""Those of every machine."""
_SOURCE = Source("random", "")
_SPAN = Span(_SOURCE, 1, 1, 1, 1)


def code(*instructions: str) -> Code:
    """Instructions in the paper's notation."""
    found = []
    for name, *operands in map(str.split, instructions):
        mnemonic = _INSTRUCTIONS[name]
        reach = operands[0] if mnemonic.reaches else None
        found.append(Template(mnemonic, reach, _SPAN))
    return tuple(found)


def shape_for(access: Access) -> Shape:
    """The shape that the row of an operation is made for; the row covers every order by default."""
    order = None if access.plain else STRONG.get(access.kind, Order.ACQ_REL)
    return Shape(Op(access.kind.value), access.scope, order, access.remote)


PLAIN_LOAD = Shape(Op.LOAD, None, None, False)
"""What a compare-exchange reads the value by that it expects."""


def scheme_of(rows: Mapping[Shape, Code], machine: Architecture) -> Scheme:
    """A scheme with a row for each shape."""
    made = tuple(_row(number, *row) for number, row in enumerate(rows.items(), 1))
    return Scheme("random", machine, made, _SOURCE).on_machine(machine)


def _row(number: int, shape: Shape, own: Code) -> Row:
    orders = DEFAULT[shape.kind] if shape.order else frozenset()
    remotes = frozenset({shape.remote} if shape.order else ())
    scopes = frozenset({shape.scope})
    return Row(number, shape.kind, scopes, orders, remotes, _SPAN, named=orders, code=own)


def in_order(shapes: Iterable[Shape]) -> list[Shape]:
    """Each shape once, by kind, scope, and whether it is remote."""
    return sorted(
        set(shapes),
        key=lambda it: (it.kind.value, it.scope.value if it.scope else "NA", it.remote),
    )


# ---- Tab. 3 -------------------------------------------------------------------------------------

COLUMNS = ("original", "proposed")
"""The two columns, by the names of the shipped schemes that they are."""


def needs_general(test: LitmusTest, shape: Shape) -> bool:
    """Whether the row of a shape compiles what only RMW can do."""
    others = (each for each in test.accesses if each.operator not in (None, "+"))
    return any(shape_for(each) == shape for each in others)


def general(own: Code) -> Code:
    """The code with RMW in the place of INC."""
    return tuple(_generalized(each) for each in own)


def _generalized(template: Template) -> Template:
    name = template.mnemonic.name
    return _called(template, name.replace("INC_", "RMW_")) if "INC_" in name else template


def _called(template: Template, name: str) -> Template:
    return replace(template, mnemonic=_INSTRUCTIONS[name])


def row_of(column: str, shape: Shape) -> Code:
    """The code that Tab. 3 has for an operation, which has rows for WG and DV alone.

    An operation of scope ALL has that of DV, reaching farther. L2s are not coherent, so what a
    thread flushes of its L1 has to be flushed of the L2 as well.
    """
    if shape.kind is Op.FENCE:
        return ()
    near = {Scope.WI: Scope.WG, Scope.ALL: Scope.DV}
    scope = near.get(shape.scope, shape.scope) if shape.scope else None
    own = shipped_scheme(column).table[replace(shape, scope=scope)].code
    if shape.scope is not Scope.ALL:
        return own
    far: list[Template] = []
    for each in map(_everywhere, own):
        far += [each, *code("FLU_L2 SY")] if each.mnemonic.name == "FLU_L1" else [each]
    return tuple(far)


def _everywhere(template: Template) -> Template:
    return replace(template, reach="SY") if template.reach == "DV" else template


def near(kind: Op) -> Code:
    """The code of operations that stay in a work-group; a fence needs none."""
    return row_of("proposed", Shape(kind, Scope.WG, STRONG.get(Kind(kind.value)), False))


# ---- changes ------------------------------------------------------------------------------------

_RSP = MACHINES["rsp"].instructions
_OTHERS = tuple(each for each in _RSP.values() if not (each.reads or each.writes))


def _written(mnemonic: Mnemonic, rng: random.Random) -> Template:
    """An instruction, with a reach if it takes one."""
    return Template(mnemonic, rng.choice(mnemonic.reaches) if mnemonic.reaches else None, _SPAN)


def _times(rng: random.Random, own: Code, times: int) -> Code:
    """Another number of times one instruction beside the access, if there is any."""
    if not (places := [place for place, each in enumerate(own) if not each.accesses]):
        return own
    place = rng.choice(places)
    return own[:place] + own[place : place + 1] * times + own[place + 1 :]


def _swap(rng: random.Random, own: Code) -> Code:
    if len(own) < 2:
        return own
    place = rng.randrange(len(own) - 1)
    return (*own[:place], own[place + 1], own[place], *own[place + 2 :])


def _reach(rng: random.Random, own: Code) -> Code:
    """Another reach for one instruction; INC or RMW in the other cache counts as one."""
    place = rng.randrange(len(own))
    changed = own[place]
    name = changed.mnemonic.name
    if name.startswith(("INC", "RMW")):
        changed = _called(changed, f"{name[:-1]}{'2' if name.endswith('1') else '1'}")
    elif not changed.accesses:
        changed = _written(changed.mnemonic, rng)
    return (*own[:place], changed, *own[place + 1 :])


def _insert(rng: random.Random, own: Code) -> Code:
    place = rng.randint(0, len(own))
    return (*own[:place], _written(rng.choice(_OTHERS), rng), *own[place:])


Change = Callable[[random.Random, Code], Code]
_DROP: Change = partial(_times, times=0)
_TWICE: Change = partial(_times, times=2)
_MUTATIONS = (*(_DROP,) * 4, *(_reach,) * 2, *(_swap,) * 2, _TWICE, _insert)


def _lock(rng: random.Random) -> Code:
    """What takes a lock, and what frees it."""
    locks = (("LK_L2 x", "UL_L2 x"), ("LK_rmw DV", "UL_rmw DV"), ("LK_rmw SY", "UL_rmw SY"))
    return code(*rng.choice(locks))


def _locked(rng: random.Random, own: Code) -> Code:
    take, free = _lock(rng)
    return (take, *own, free)


def _locked_twice(rng: random.Random, own: Code) -> Code:
    take, free = _lock(rng)
    return (take, take, *own, *[free] * rng.randint(1, 2))


def _unlock_only(rng: random.Random, own: Code) -> Code:
    after = rng.random() < 0.5
    _, free = _lock(rng)
    return (*own, free) if after else (free, *own)


def _flush_l2(rng: random.Random, own: Code) -> Code:
    flush = code(f"FLU_L2 {rng.choice(('DV', 'SY'))}")
    place = rng.randint(0, len(own))
    return own[:place] + flush + own[place:]


def _anything(rng: random.Random, own: Code) -> Code:
    """The access alone, among any other instructions."""
    kept = tuple(each for each in own if each.accesses)
    for _ in range(rng.randint(0, 3)):
        kept = _insert(rng, kept)
    return kept


ODD: Mapping[str, Change] = {
    "locked": _locked,
    "locked twice": _locked_twice,
    "two locks": lambda rng, own: _locked(rng, _locked(rng, own)),
    "unlock only": _unlock_only,
    "lock only": lambda rng, own: own if rng.random() < 0.5 else _lock(rng)[:1] + own,
    "INV first": lambda rng, own: code(f"INV_L1 {rng.choice(('WG', 'DV', 'SY'))}") + own,
    "SY": lambda _, own: tuple(map(_everywhere, own)),
    "FLU_L2": _flush_l2,
    "anything": _anything,
}
"""What is done to the rows of a column of Tab. 3, by the name of the kind of scheme."""

_RARE = {"rsp-st-waits": 0.2, "rsp-inv-l2": 0.3, "rsp-coherent-l2": 0.35}
"""The machines that are chosen now and then, each up to a number out of 1."""


def random_scheme(rng: random.Random, test: LitmusTest) -> tuple[str, Scheme]:
    """A scheme with a row for each operation of a test and no other, and the kind that it is."""
    chance = rng.random()
    machine = MACHINES[next((name for name, up_to in _RARE.items() if chance < up_to), "rsp")]
    kind, rows = _random_rows(rng, test)
    if "INV_L2" in machine.instructions:
        rows = {shape: _invalidate_l2(rng, own) for shape, own in rows.items()}
    if rng.random() < 0.15:
        rows = {shape: _stored_again(rng, shape.kind, own) for shape, own in rows.items()}
    return kind, scheme_of(rows, machine)


def for_machine(rng: random.Random, scheme: Scheme, machine: Architecture) -> Scheme:
    """The scheme on another machine, without instructions that it has not, and with some that only
    it has. Where it has not what Tab. 3 accesses memory with, codes are of its own instructions.

    Raises InputError where it has none that accesses memory as an operation does.
    """
    if any(it.mnemonic.name not in machine.instructions for it in _accesses(scheme)):
        own_rows = tuple(
            replace(row, code=_own_code(rng, row.kind, machine, row.span)) for row in scheme.rows
        )
        return replace(scheme, machine=machine, rows=own_rows)
    new = [it for it in machine.instructions.values() if it.name not in _INSTRUCTIONS]
    beside = [it for it in new if not it.reads and not it.writes]
    again = [it for it in new if it.writes and not it.reads]
    for row in scheme.rows:
        own = tuple(
            it for it in row.code if it.accesses or it.mnemonic.name in machine.instructions
        )
        for mnemonic in [*beside, *(again if row.kind is Op.STORE else ())]:
            if row.kind is Op.FENCE and "x" in mnemonic.operands:
                continue  # A fence has no location.
            if rng.random() < 0.5:
                place = rng.randint(0, len(own))
                own = (*own[:place], _written(mnemonic, rng), *own[place:])
        scheme = scheme.with_code(row.number, own)
    return replace(scheme, machine=machine).on_machine(machine)


def _accesses(scheme: Scheme) -> list[Template]:
    return [it for row in scheme.rows for it in row.code if it.accesses]


def _own_code(rng: random.Random, kind: Op, machine: Architecture, span: Span) -> Code:
    """Any code for an operation: what accesses memory as it does, among what does not."""
    every = [it for it in machine.instructions.values() if it.serves(machine.spaces[0])]
    beside = [it for it in every if not it.reads and not it.writes]
    beside = [it for it in beside if kind is not Op.FENCE or "x" not in it.operands]
    own: Code = ()
    if kind is not Op.FENCE:
        fitting = [it for it in every if fits(kind, it) and "x" in it.operands]
        if not fitting:
            raise InputError([Problem(span, f"machine {machine.name} must have {kind.one}")])
        own = (_written(rng.choice(fitting), rng),)
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3)) if beside else 0):
        place = rng.randint(0, len(own))
        own = (*own[:place], _written(rng.choice(beside), rng), *own[place:])
    return own


def _random_rows(rng: random.Random, test: LitmusTest) -> tuple[str, dict[Shape, Code]]:
    column = rng.choice(COLUMNS)
    rows = {it: row_of(column, it) for it in in_order(map(shape_for, test.accesses))}
    choice = rng.random()
    if choice < 0.2:
        return column, rows
    if choice < 0.6:
        kind = f"mutant of {column}"
        for _ in range(rng.choice((1, 2, 3))):
            _mutate(rng, rows)
    else:
        name = rng.choice(tuple(ODD))
        kind = f"odd: {name}"
        rows = {it: ODD[name](rng, own) if rng.random() < 0.7 else own for it, own in rows.items()}
        if rng.random() < 0.5:
            _mutate(rng, rows)
    return kind, rows


def _invalidate_l2(rng: random.Random, own: Code) -> Code:
    place = rng.randint(0, len(own))
    added = code(f"INV_L2 {rng.choice(('DV', 'SY'))}") if rng.random() < 0.5 else ()
    return own[:place] + added + own[place:]


def _stored_again(rng: random.Random, kind: Op, own: Code) -> Code:
    """The value of a store or an RMW once more, mostly when it has reached memory."""
    if kind not in (Op.STORE, Op.RMW) or rng.random() < 0.4:
        return own
    after = 1 + max(place for place, each in enumerate(own) if each.accesses)
    flushes = code("FLU_L1 WG", "FLU_L2 DV") if rng.random() < 0.7 else ()
    return own[:after] + flushes + code("ST r x") + own[after:]


def _mutate(rng: random.Random, rows: dict[Shape, Code]) -> None:
    """One change to a row that is more than its access, if there is one."""
    chosen = rng.choice([shape for shape, own in rows.items() if len(own) > 1] or list(rows))
    rows[chosen] = rng.choice(_MUTATIONS)(rng, rows[chosen])


EXPECTED = "zero"
"""The plain location that every compare-exchange expects the value of. Nobody writes it."""

_OPERATORS = ("exchange", "|", "compare_exchange", "compare_exchange")
_FENCES = (
    code("FLU_L1 WG", "INV_L1 WG"),
    code("FLU_L1 WG", "INV_L1 WG"),
    code("INV_L1 WG", "FLU_L1 DV"),
    code("FLU_L1 WG"),
    code("INV_L1 WG"),
    code(),
)


def with_operations(
    rng: random.Random, test: LitmusTest, scheme: Scheme
) -> tuple[LitmusTest, Scheme]:
    """The test with other operations for some of its increments, and with a fence now and then.

    The scheme has rows for these; of other rows some have RMW in the place of INC as well.
    """
    threads = [
        replace(thread, accesses=tuple(_other(rng, each) for each in thread.accesses))
        for thread in test.threads
    ]
    if rng.random() < 0.2:
        number = rng.randrange(len(threads))
        threads[number] = replace(threads[number], accesses=_fenced(rng, threads[number].accesses))
    changed = test.with_threads(threads)
    return changed, _with_rows(rng, changed, scheme)


def _other(rng: random.Random, access: Access) -> Access:
    if access.kind is not Kind.RMW or rng.random() < 0.5:
        return access
    operator = rng.choice(_OPERATORS)
    expected = EXPECTED if operator == "compare_exchange" else None
    return replace(access, operator=operator, expected=expected)


def _fenced(rng: random.Random, own: tuple[Access, ...]) -> tuple[Access, ...]:
    place = rng.randint(0, len(own))
    scope = rng.choice((Scope.WG, Scope.DV, Scope.DV))
    order = rng.choice((Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL))
    return (*own[:place], Access(Kind.FENCE, order=order, scope=scope), *own[place:])


def _with_rows(rng: random.Random, test: LitmusTest, scheme: Scheme) -> Scheme:
    rows = {replace(row.shapes[-1], used=True): row.code for row in scheme.rows}
    for shape, own in rows.items():
        if shape.kind is Op.RMW and (needs_general(test, shape) or rng.random() < 0.2):
            rows[shape] = general(own)
    for access in test.accesses:
        if access.kind is Kind.FENCE:
            rows.setdefault(shape_for(access), rng.choice(_FENCES))
        if access.expected is not None:
            rows.setdefault(PLAIN_LOAD, code("LD r x"))
    return scheme_of(rows, scheme.machine)
