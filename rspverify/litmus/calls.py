"""Functions of the test, executed where they are called.

Each call has registers of its own. A parameter that is a pointer stands for what its argument
points to, one that is an integer for a register that holds its argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rspverify.graph import circles
from rspverify.litmus import tree
from rspverify.litmus.expressions import Evaluation
from rspverify.litmus.frames import VOID, Frame, Surroundings
from rspverify.litmus.functions import FUNCTIONS
from rspverify.litmus.kernels import WORK_ITEM
from rspverify.litmus.objects import MIXED, Declared, declared, different
from rspverify.litmus.operations import FALSE, UNKNOWN, Target, truth
from rspverify.litmus.problems import Problems, quote
from rspverify.source import Span
from rspverify.value import Expression, select
from rspverify.wording import alternatives

MAX_FUNCTIONS, MAX_CALLS, MAX_SIZE, MAX_DEPTH = 100, 1_000, 100_000, 150
"""How many functions a test may have; how many calls a thread, those in functions included; how
many parts the bodies of these may have together; and how deep statements and expressions may be
nested, those around a call and those of the function together: each is read by recursion."""


class Calls(Evaluation):
    """Executes the calls of one thread."""

    _nested = _size = 0

    def inlined(self, call: tree.Call, guard: Expression, used: bool) -> Expression | None:
        function = self.around.functions[call.function.text]
        found, deep = self._called(function, call, guard), self._allowed(function, call)
        if found is None or deep is None:
            return UNKNOWN
        frame, given = found
        frame.depth, frame.rounds = self.registers.enter(), len(self.rounds)
        for register, value in given.items():
            self.registers[register] = value
        outer, self.frame = self.frame, frame
        self._nested += deep
        after = self.statement(function.body, guard)
        self._nested -= deep
        self.frame = outer
        self.registers.leave()
        return self._result(function, frame, after, call.span, used)

    def _allowed(self, function: tree.FunctionText, call: tree.Call) -> int | None:
        """How deep the body of a function is nested; None, which is noted, if it is too much."""
        deep, size = tree.measure(function.body)
        self.calls += 1
        self._size += size
        if function.name.text in self.around.circular:
            return None
        if self.calls > MAX_CALLS:
            message = f"more than {MAX_CALLS:,} calls of functions in a thread"
        elif self._size > MAX_SIZE:
            message = f"calls in a thread of functions with more than {MAX_SIZE:,} parts together"
        elif self._nested + deep > MAX_DEPTH:
            message = f"calls of functions that are nested deeper than {MAX_DEPTH} levels"
        else:
            return deep
        self.problems.unsupported(call.span, f"{message} are not supported")
        return None

    def _result(
        self, function: tree.FunctionText, frame: Frame, after: Expression, span: Span, used: bool
    ) -> Expression | None:
        """What a call gives back: what the one of its `return`s gives that is executed."""
        if frame.gives == VOID:
            return None
        ways = [(guard, held[frame.result]) for guard, held in frame.returned]
        if used:
            what = f"{function.name.text} ends without a value, which is used"
            self.fault("Value", after, span, what)
        value: Expression = FALSE
        if after == FALSE and ways:
            value = ways.pop()[1]
        for guard, each in reversed(ways):
            value = self.bounded(span, select(guard, each, value))
        return value

    def returned(self, statement: tree.Return, guard: Expression) -> Expression:
        """Leave the text where the guard holds; nothing that follows is executed."""
        frame, span, value = self.frame, statement.span, statement.value
        if value is not None:
            held = self.value(value, guard)
            if frame.gives == VOID:
                self.problems.error(span, f"`return` must have no value in {frame.title}")
            self.registers[frame.result] = held if frame.gives == "int" else truth(held)
        elif frame.gives != VOID:
            message = f"`return` must have a value in {frame.title}, which gives {frame.gives}"
            self.problems.error(span, message)
            self.registers[frame.result] = UNKNOWN
        if guard != FALSE:
            frame.returned.append((guard, self.registers.since(frame.depth)))
        return FALSE

    def _called(
        self, function: tree.FunctionText, call: tree.Call, guard: Expression
    ) -> tuple[Frame, Mapping[str, Expression]] | None:
        """The text of a function as it is called, and what its registers hold by their keys.

        None if the arguments do not fit, which is noted.
        """
        name, given, wanted = function.name.text, call.arguments, function.parameters
        if len(given) != len(wanted):
            names = ", ".join(each.name.text for each in wanted) or "none"
            count = f"{len(wanted)} argument{'s'[: len(wanted) != 1]}"
            self.problems.error(call.span, f"{name} must have {count} ({names}), not {len(given)}")
            self.arguments(call, guard)
            return None
        pointers: dict[str, Target | None] = {}
        values: dict[str, Expression] = {}
        types = {it.name.text: _type(it, self.around) for it in wanted}
        with self.unsequenced(call.span) as part:
            for number, (parameter, written) in enumerate(zip(wanted, given, strict=True), 1):
                word, what = parameter.name.text, f"argument {number} of {name}"
                with part():
                    if parameter.pointer:
                        pointers[word] = self.pointer(written, what, None, guard)
                        self._agrees(parameter, types[word], written, what, pointers[word])
                    else:
                        value = self.value(written, guard)
                        values[word] = truth(value) if types[word].boolean else value
        path = f"{self.frame.path}{self.frame.ordinals[id(call)]}."
        frame = frame_of_function(function, pointers, self.around, f"{name} {self.calls}:", path)
        frame.booleans |= {f"{frame.prefix}{word}" for word in values if types[word].boolean}
        return frame, {f"{frame.prefix}{word}": value for word, value in values.items()}

    def _agrees(
        self,
        parameter: tree.Parameter,
        wanted: Declared,
        written: tree.Expression,
        what: str,
        target: Target | None,
    ) -> None:
        """Note where a pointer is not of the type of the parameter that it is given for."""
        if target is None:
            return
        found, around = target.object.what, self.around
        lenient = around.mixed or around.language in MIXED
        if wanted.agrees(found) or (lenient and wanted.mutex == found.mutex):
            return
        name = quote(target.object.name)
        message = f"{what} must be a pointer to {wanted}, and {name} is {found}"
        related = ((parameter.span, "the parameter is here"),)
        self.problems.error(written.span, message, related=related)


def _type(parameter: tree.Parameter, around: Surroundings) -> Declared:
    """The type of a parameter, whose problems are noted once, whoever calls."""
    return declared(parameter.specifiers, parameter.span, around.language, around.problems)


def frame_of_function(
    function: tree.FunctionText,
    pointers: Mapping[str, Target | None],
    around: Surroundings,
    prefix: str = "",
    path: str = "",
) -> Frame:
    """The text of a function that is called with these pointers."""
    title, constants = function.name.text, around.known.constants
    given = [each.name.text for each in function.parameters if not each.pointer]
    gives = VOID
    if all(it.text != VOID for it in function.specifiers):
        what = declared(function.specifiers, function.span, around.language, around.problems)
        gives = "bool" if what.boolean else "int"
    body, spoken = function.body, frozenset[str]()
    frame = Frame(title, body, pointers, given, around, constants, spoken, gives, prefix, path)
    frame.blocks.append({each.name.text: each.name.span for each in function.parameters})
    return frame


# ---- what functions a test has -------------------------------------------------------------------


def functions_of(
    test: tree.Test, problems: Problems
) -> tuple[dict[str, tree.FunctionText], frozenset[str]]:
    """The functions that a test can call, by name; and those of them that call themselves."""
    found: dict[str, tree.FunctionText] = {}
    for each in test.functions:
        name, span = each.name.text, each.name.span
        if name in FUNCTIONS[test.language] or name in WORK_ITEM:
            message = f"a function must have a name of its own, not {quote(name)}"
            problems.error(span, message, f"{test.language} has a function of that name")
        elif each.kernel:
            continue
        elif (first := found.setdefault(name, each)) is not each:
            problems.again(span, f"{quote(name)} must be one function, not two", first.name.span)
        if not each.kernel:
            different(each.parameters, name, problems)
    if len(found) > MAX_FUNCTIONS:
        message = f"a test with more than {MAX_FUNCTIONS} functions is not supported"
        problems.unsupported(test.functions[MAX_FUNCTIONS].name.span, message)
        return {}, frozenset()
    return found, _recursive(found, problems)


def _recursive(functions: Mapping[str, tree.FunctionText], problems: Problems) -> frozenset[str]:
    """The functions that call themselves, or each other in a circle, which is noted."""
    pairs = [
        (name, called)
        for name, function in functions.items()
        for called in _calls(function.body)
        if called in functions
    ]
    circular: set[str] = set()
    for circle in circles(pairs):
        first, *others = (name for name in functions if name in circle)
        message = f"a function must not call itself, and {first} does"
        if others:
            message += f" by way of {alternatives(others, 'and')}"
        related = tuple((functions[name].name.span, f"{name} is here") for name in others)
        problems.error(functions[first].name.span, message, "write a loop", related)
        circular |= circle
    return frozenset(circular)


def uncalled(
    functions: Mapping[str, tree.FunctionText], threads: Iterable[tree.ThreadText]
) -> list[tree.FunctionText]:
    """The functions that nothing calls."""
    bodies = [each.body for each in threads] + [each.body for each in functions.values()]
    texts = {id(body): body for body in bodies}.values()
    called = {name for body in texts for name in _calls(body)}
    return [each for name, each in functions.items() if name not in called]


def _calls(body: tree.Block) -> list[str]:
    """The functions that a text calls."""
    return [each.function.text for each in tree.walk(body) if isinstance(each, tree.Call)]
