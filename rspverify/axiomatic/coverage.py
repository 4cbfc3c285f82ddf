"""What of a program a model says nothing about: such a program must not be judged by it."""

from __future__ import annotations

from collections.abc import Iterator

from rspverify.axiomatic.event import PARTY
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.vocabulary import if_known, names_of
from rspverify.isa.execution import BY_OPERANDS
from rspverify.litmus.program import Kind, Operation, Order, Program, Scope
from rspverify.source import InputError, Problem, Severity, Span

_STRONG = {"SC", "sc", "memory_order_seq_cst"}
_CONSUME = {"CON", "con", "memory_order_consume"}
_FENCES = {"F"}
_BARRIERS = {PARTY, "B", "syncbar", "same_B", "EF", "XF", "entry_fence", "exit_fence"}
_LOCKS = {"LK", "LS", "lk", "ls"}
_REGIONS = {"GLOBAL", "LOCAL", "G", "L"}
_SUBGROUPS = {"SG", "memory_scope_sub_group"}
_SCOPES = {"WG", "DV", "ALL", "memory_scope_work_group", "memory_scope_device"}
_PROXIES = {"SUR", "TEX", "CON", "ALIAS"}
_FEW = 5


def require_covered(program: Program, model: MemoryModel) -> None:
    """Raises InputError, UNSUPPORTED, if the program uses what the model is silent about."""
    require_vocabulary(model, program.language, program.source.name)
    problems = [
        Problem(
            span,
            f"{what} is beyond the model {model.name}, {why}",
            "take a model of C11, e.g. --model rc11" if what == "C11" else None,
            severity=Severity.UNSUPPORTED,
        )
        for span, what, why in _beyond(program, model.names)
    ]
    if problems:
        raise InputError(problems)


def foreign_names(model: MemoryModel, language: str) -> list[str]:
    """What a model speaks of and programs in a language have not, in order."""
    return sorted(model.names - names_of(language))


def require_vocabulary(model: MemoryModel, language: str, file: str = "") -> None:
    """Raises InputError if a model speaks of what programs in a language have not.

    file: that of such a program, if there is one yet.
    """
    if foreign := foreign_names(model, language):
        few = ", ".join([*foreign[:_FEW], *(["…"] if len(foreign) > _FEW else [])])
        which = f"{file}: a test" if file else "programs"
        message = f"{which} in {language} must be put to a model of {language}, not to {model.name}"
        hint = f"{model.name} speaks of {few}, of which {language} knows nothing"
        raise InputError([Problem(None, message, hint)])


def ignored_features(program: Program, model: MemoryModel) -> tuple[str, ...]:
    """What of a program counts for nothing under a model, in words."""
    accesses = [it for it in program.operations if it.kind is not Kind.BARRIER]
    found = []
    if any(it.scope not in (None, Scope.ALL) for it in accesses) and not model.names & _SCOPES:
        found.append("scopes")
    if any(it.remote for it in accesses) and "rem" not in model.names:
        found.append("remote flags")
    return tuple(f"{model.name} does not look at {what}: they count for nothing" for what in found)


def _beyond(program: Program, names: frozenset[str]) -> Iterator[tuple[Span | None, str, str]]:
    if not names & _REGIONS:
        for location in program.locations:
            if location.region == "local":
                yield location.span, "local memory", "in which all memory is global"
    foreign = [it for it in program.operations if it.order is not None and it.scope is None]
    if foreign and names & _SCOPES:
        yield foreign[0].span, "C11", "whose atomics have scopes"
        return
    for operation in program.operations:
        if operation.scope is Scope.SG and names & _SCOPES and not names & _SUBGROUPS:
            yield operation.span, "the scope of a sub-group", "which does not speak of it"
        for needed, what, why in _needs(operation):
            if not names & needed:
                yield operation.span, what, why


def _needs(it: Operation) -> Iterator[tuple[set[str], str, str]]:
    """The names of which a model must use one to mean something by an operation."""
    orders = {it.order, it.failure}
    if Order.SEQ_CST in orders:
        yield _STRONG, "seq_cst", "which has no order of seq_cst operations"
    if Order.CONSUME in orders:
        yield _CONSUME, "consume", "which does not speak of it"
    if it.instruction is not None and BY_OPERANDS in it.tags.write:
        yield set(), it.instruction, "which does not speak of it"
    if it.instruction is not None and (proxies := it.tags.write & _PROXIES):
        yield set(proxies), it.instruction, "which does not speak of its proxy"
    if it.kind is Kind.FENCE and it.regions:
        tags = it.tags.write
        yield {*_FENCES, *tags, *map(if_known, tags)}, "a fence", "which does not speak of fences"
    if it.kind is Kind.BARRIER and it.meets is not Scope.WG:
        yield {PARTY}, "a barrier of a device", "which does not speak of those who meet there"
    elif it.kind is Kind.BARRIER:
        yield _BARRIERS, "a barrier", "which does not speak of barriers"
    if it.kind in (Kind.LOCK, Kind.UNLOCK):
        yield _LOCKS, "a mutex", "which does not speak of locks"
