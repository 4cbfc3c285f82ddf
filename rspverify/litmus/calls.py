"""Functions of the test, executed where they are called.

Each call has registers of its own. A parameter that is a pointer stands for what its argument
points to, one that is an integer for a register that holds its argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from rspverify.graph import circles
from rspverify.litmus import tree
from rspverify.litmus.expressions import Evaluation
from rspverify.litmus.frames import Frame
from rspverify.litmus.functions import FUNCTIONS
from rspverify.litmus.memory import Target, truth
from rspverify.litmus.names import Names
from rspverify.litmus.objects import MIXED, Declared, declared
from rspverify.litmus.operations import FALSE, UNKNOWN, ordinals
from rspverify.litmus.problems import Problems, listed, quote
from rspverify.litmus.program import Fault
from rspverify.litmus.results import ignored
from rspverify.litmus.surroundings import Surroundings
from rspverify.litmus.work_items import WORK_ITEM
from rspverify.source import Span
from rspverify.value import Expression, select

MAX_FUNCTIONS, MAX_CALLS, MAX_SIZE, MAX_DEPTH = 100, 1_000, 100_000, 150
"""How many functions a test may have; how many calls a thread, those in functions included; how
many parts the bodies of these may have together; and how deep statements and expressions may be
nested, those around a call and those of the function together: each is read by recursion."""

VOID = "void"


class Calls:
    """Executes the calls of one thread; `statement` runs a statement under a guard."""

    def __init__(
        self,
        around: Surroundings,
        evaluation: Evaluation,
        statement: Callable[[tree.Statement, Expression], Expression],
    ) -> None:
        self._around, self._evaluation, self._statement = around, evaluation, statement
        self._problems = around.problems
        self._registers = evaluation.registers
        self._operations = evaluation.operations
        self._nested, self._size = 0, 0
        self._measures: dict[str, tuple[int, int]] = {}

    def call(
        self, call: tree.Call, guard: Expression, used: bool, rounds: int
    ) -> Expression | None:
        """Execute a call where the guard holds; its value, None if it has none.

        used: whether the value is. rounds: how many loops there are around.
        """
        evaluation, function = self._evaluation, self._around.functions[call.function.text]
        found = self._frame(function, call, guard)
        deep = self._allowed(function, call)
        if found is None or deep is None:
            return UNKNOWN
        frame, given = found
        frame.depth, frame.rounds = self._registers.enter(), rounds
        for key, value in given.items():
            self._registers[key] = value
        outer, evaluation.frame = evaluation.frame, frame
        self._nested += deep
        after = self._statement(function.body, guard)
        self._nested -= deep
        evaluation.frame = outer
        self._registers.leave()
        return self._value(function, frame, after, call.span, used)

    def _allowed(self, function: tree.FunctionText, call: tree.Call) -> int | None:
        """How deep the body of a function is nested; None, which is noted, if it is too much."""
        name = function.name.text
        if name not in self._measures:
            self._measures[name] = _measure(function)
        deep, size = self._measures[name]
        self._evaluation.calls += 1
        self._size += size
        if name in self._around.circular:
            return None
        message = ""
        if self._evaluation.calls > MAX_CALLS:
            message = f"more than {MAX_CALLS:,} calls of functions in a thread"
        elif self._size > MAX_SIZE:
            message = f"calls in a thread of functions with more than {MAX_SIZE:,} parts together"
        elif self._nested + deep > MAX_DEPTH:
            message = f"calls of functions that are nested deeper than {MAX_DEPTH} levels"
        if message:
            self._problems.unsupported(call.span, f"{message} are not supported")
        return None if message else deep

    def _value(
        self, function: tree.FunctionText, frame: Frame, after: Expression, span: Span, used: bool
    ) -> Expression | None:
        """What a call gives back: what the one of its `return`s gives that is executed."""
        if frame.gives == VOID:
            return None
        ways = [(guard, held[frame.result]) for guard, held in frame.returned]
        if after != FALSE and used:
            what = f"{function.name.text} ends without a value, which is used"
            thread, at = self._operations.thread, self._operations.next
            self._evaluation.memory.faults.append(Fault("Value", thread, at, after, span, what))
        value: Expression = FALSE
        if after == FALSE and ways:
            value = ways.pop()[1]
        for guard, each in reversed(ways):
            value = self._operations.bounded(span, select(guard, each, value))
        return value

    def returned(self, statement: tree.Return, guard: Expression) -> Expression:
        """Leave the text where the guard holds; nothing that follows is executed."""
        frame, span, value = self._evaluation.frame, statement.span, statement.value
        if value is not None:
            held = self._evaluation.value(value, guard)
            if frame.gives == VOID:
                self._problems.error(span, f"`return` must have no value in {frame.title}")
            self._registers[frame.result] = truth(held) if frame.gives != "int" else held
        elif frame.gives != VOID:
            message = f"`return` must have a value in {frame.title}, which gives {frame.gives}"
            self._problems.error(span, message)
            self._registers[frame.result] = UNKNOWN
        if guard != FALSE:
            frame.returned.append((guard, self._registers.since(frame.depth)))
        return FALSE

    # ---- parameters --------------------------------------------------------------------------

    def _frame(
        self, function: tree.FunctionText, call: tree.Call, guard: Expression
    ) -> tuple[Frame, Mapping[str, Expression]] | None:
        """The text of a function as it is called, and what its registers hold by their keys.

        None if the arguments do not fit, which is noted.
        """
        name, given, evaluation = function.name.text, call.arguments, self._evaluation
        if len(given) != len(function.parameters):
            names = ", ".join(each.name.text for each in function.parameters) or "none"
            count = f"{len(function.parameters)} argument{'s'[: len(function.parameters) != 1]}"
            self._problems.error(call.span, f"{name} must have {count} ({names}), not {len(given)}")
            for each in given:
                if isinstance(each, tree.Call):
                    evaluation.value(each, guard)
            return None
        pointers: dict[str, Target | None] = {}
        values: dict[str, Expression] = {}
        with evaluation.unsequenced(call.span) as part:
            for number, (parameter, written) in enumerate(
                zip(function.parameters, given, strict=True), 1
            ):
                what = f"argument {number} of {name}"
                with part():
                    if parameter.pointer:
                        target = evaluation.pointer(written, what, None, guard)
                        pointers[parameter.name.text] = target
                        self._agrees(parameter, written, what, target)
                    else:
                        values[parameter.name.text] = evaluation.value(written, guard)
        ordinal = evaluation.frame.ordinals[id(call)]
        prefix = f"{name} {evaluation.calls}:"
        frame = frame_of_function(function, pointers, prefix, self._around)
        frame.path = f"{evaluation.frame.path}{ordinal}."
        held: dict[str, Expression] = {}
        for parameter in function.parameters:
            if parameter.name.text in values:
                value, key = values[parameter.name.text], f"{prefix}{parameter.name.text}"
                if _type(parameter, self._around).boolean:
                    value = truth(value)
                    frame.booleans.add(key)
                held[key] = value
        return frame, held

    def _agrees(
        self, parameter: tree.Parameter, written: tree.Expression, what: str, target: Target | None
    ) -> None:
        """Note where a pointer is not of the type of the parameter that it is given for."""
        if target is None:
            return
        wanted, found = _type(parameter, self._around), target.object.what
        lenient = self._around.mixed or self._around.language in MIXED
        if wanted.agrees(found) or (lenient and wanted.mutex == found.mutex):
            return
        name = target.object.name
        message = f"{what} must be a pointer to {wanted}, and {quote(name)} is {found}"
        related = ((parameter.span, "the parameter is here"),)
        self._problems.error(written.span, message, related=related)


def _type(parameter: tree.Parameter, around: Surroundings) -> Declared:
    """The type of a parameter, whose problems are noted once, whoever calls."""
    return declared(parameter.specifiers, parameter.span, around.language, around.problems)


def frame_of_function(
    function: tree.FunctionText,
    pointers: Mapping[str, Target | None],
    prefix: str,
    around: Surroundings,
) -> Frame:
    """The text of a function that is called with these pointers."""
    title = function.name.text
    given = [each.name.text for each in function.parameters if not each.pointer]
    names = Names(
        title,
        function.body,
        pointers,
        given,
        around.objects,
        around.constants,
        around.problems,
        prefix,
    )
    gives = next((it.text for it in function.specifiers if it.text == VOID), None)
    if gives is None:
        what = declared(function.specifiers, function.span, around.language, around.problems)
        gives = "bool" if what.boolean else "int"
    called = ordinals(function.body, around.functions)
    frame = Frame(title, names, called, ignored(function.body), gives)
    frame.blocks.append({each.name.text: each.name.span for each in function.parameters})
    return frame


# ---- what functions a test has -------------------------------------------------------------------


def functions_of(
    test: tree.Test, problems: Problems
) -> tuple[dict[str, tree.FunctionText], frozenset[str]]:
    """The functions that a test can call, by name; and those of them that call themselves."""
    found: dict[str, tree.FunctionText] = {}
    for each in test.functions:
        name = each.name.text
        if name in FUNCTIONS[test.language] or name in WORK_ITEM:
            message = f"a function must have a name of its own, not {quote(name)}"
            problems.error(each.name.span, message, f"{test.language} has a function of that name")
        elif not each.kernel and name in found:
            message = f"{quote(name)} must be one function, not two"
            problems.again(each.name.span, message, found[name].name.span)
        elif not each.kernel:
            found[name] = each
        seen: dict[str, tree.Parameter] = {}
        for parameter in () if each.kernel else each.parameters:
            first = seen.setdefault(parameter.name.text, parameter)
            if first is not parameter:
                twice = quote(first.name.text)
                message = f"the parameters of {name} must differ, not be {twice} twice"
                problems.again(parameter.name.span, message, first.name.span)
    if len(found) > MAX_FUNCTIONS:
        message = f"a test with more than {MAX_FUNCTIONS} functions is not supported"
        problems.unsupported(test.functions[MAX_FUNCTIONS].name.span, message)
        return {}, frozenset()
    return found, _recursive(found, problems)


def _recursive(functions: Mapping[str, tree.FunctionText], problems: Problems) -> frozenset[str]:
    """The functions that call themselves, or each other in a circle, which is noted."""
    pairs = [
        (name, called.text)
        for name, function in functions.items()
        for called in _called(function.body)
        if called.text in functions
    ]
    circular: set[str] = set()
    for circle in circles(pairs):
        names = [name for name in functions if name in circle]
        first, *others = names
        message = f"a function must not call itself, and {first} does"
        if others:
            message += f" by way of {listed(others, 'and')}"
        related = tuple((functions[name].name.span, f"{name} is here") for name in others)
        problems.error(functions[first].name.span, message, "write a loop", related)
        circular |= circle
    return frozenset(circular)


def uncalled(
    functions: Mapping[str, tree.FunctionText], threads: Iterable[tree.ThreadText]
) -> list[tree.FunctionText]:
    """The functions that nothing calls."""
    bodies = [each.body for each in threads] + [each.body for each in functions.values()]
    different = {id(body): body for body in bodies}.values()
    called = {each.text for body in different for each in _called(body)}
    return [each for name, each in functions.items() if name not in called]


def _called(body: tree.Block) -> Iterable[tree.Name]:
    return [each.function for each in tree.walk(body) if isinstance(each, tree.Call)]


def _measure(function: tree.FunctionText) -> tuple[int, int]:
    """How deep the body of a function is nested, and how many parts it has."""
    waiting: list[tuple[tree.Node, int]] = [(function.body, 1)]
    most = size = 0
    while waiting:
        node, depth = waiting.pop()
        most, size = max(most, depth), size + 1
        waiting += [(each, depth + 1) for each in tree.children(node)]
    return most, size
