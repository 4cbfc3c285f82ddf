"""The syntax tree of a litmus test: what is written, before anything is known to make sense.

`Unsupported` stands for what C and OpenCL have and this version has not; its parts are still read,
so that all problems of a file are found at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rspverify.source import Span


@dataclass(frozen=True)
class Node:
    """A stretch of the text."""

    span: Span


# ---- expressions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Integer(Node):
    """An integer as it is written, with its sign where only a signed integer can stand."""

    text: str


@dataclass(frozen=True)
class Name(Node):
    """A word: a register, a location, or a constant such as `memory_order_relaxed`."""

    text: str


@dataclass(frozen=True)
class Dereference(Node):
    """`*e`."""

    argument: Expression


@dataclass(frozen=True)
class Prefix(Node):
    """`- e`, `! e`, `~ e`, `+ e` or `& e`."""

    operator: str
    argument: Expression


@dataclass(frozen=True)
class Infix(Node):
    """`l op r`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Conditional(Node):
    """`condition ? then : otherwise`."""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True)
class Assign(Node):
    """`target = value`."""

    target: Expression
    value: Expression


@dataclass(frozen=True)
class Update(Node):
    """`target operator= value`; `target++` and `++target` (step) are `target += 1`."""

    target: Expression
    operator: str
    value: Expression
    step: bool = False


@dataclass(frozen=True)
class Call(Node):
    """`function(arguments)`."""

    function: Name
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Unsupported(Node):
    """An expression or a statement that this version does not have, and the parts it is made of."""

    construct: str
    parts: tuple[Expression | Statement, ...]
    hint: str | None = None


Expression = (
    Integer
    | Name
    | Dereference
    | Prefix
    | Infix
    | Conditional
    | Assign
    | Update
    | Call
    | Unsupported
)


# ---- statements ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block(Node):
    """`{ statements }`; the empty statement is a block of none."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Evaluate(Node):
    """`expression;`."""

    expression: Expression


@dataclass(frozen=True)
class Branch(Node):
    """`if (condition) then else otherwise`."""

    condition: Expression
    then: Statement
    otherwise: Statement | None


@dataclass(frozen=True)
class Declarator(Node):
    """One register of a declaration, and its value."""

    pointer: bool
    name: Name
    value: Expression | None


@dataclass(frozen=True)
class Declaration(Node):
    """`int r = 1, s;`; specifiers are words such as `volatile` and `int`."""

    specifiers: tuple[Name, ...]
    declarators: tuple[Declarator, ...]


@dataclass(frozen=True)
class Loop(Node):
    """A loop; its span is that of the word that it begins with.

    `for (start; condition; steps) body`, where the others have no start and no steps; the
    condition is None if there is none. tested_first: False for `do`, whose condition comes last.
    """

    start: tuple[Statement, ...]
    condition: Expression | None
    steps: tuple[Statement, ...]
    body: Statement
    tested_first: bool


@dataclass(frozen=True)
class Jump(Node):
    """`break;` or `continue;`."""

    word: str


@dataclass(frozen=True)
class Return(Node):
    """`return;` or `return value;`."""

    value: Expression | None


@dataclass(frozen=True)
class Labelled(Node):
    """`label: statement`."""

    label: Name
    statement: Statement


Statement = Block | Evaluate | Branch | Declaration | Loop | Jump | Return | Labelled | Unsupported


# ---- the parts of a test -------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry(Node):
    """`int x = 1`, `[x] = 1` or `int x` of the initial state; a Name as value is an address."""

    specifiers: tuple[Name, ...]
    name: Name
    value: Integer | Name | None


@dataclass(frozen=True)
class RegisterEntry(Node):
    """`0:r = 1` of the initial state."""

    owner: Name | Integer
    name: Name
    value: Integer | Name


@dataclass(frozen=True)
class Parameter(Node):
    """`global atomic_int* x` of a thread."""

    specifiers: tuple[Name, ...]
    pointer: bool
    name: Name


@dataclass(frozen=True)
class At(Node):
    """`@wg 0, dev 0`: two words, each with its number."""

    numbers: tuple[tuple[Name, Integer], ...]


@dataclass(frozen=True)
class ThreadText(Node):
    """`P0 (parameters) { body }`."""

    name: Name
    at: At | None
    parameters: tuple[Parameter, ...]
    body: Block


@dataclass(frozen=True)
class ScopeNode(Node):
    """`(level children)` in a scope tree, where a child is a thread's name or a node."""

    level: Name
    children: tuple[Name | ScopeNode, ...]


@dataclass(frozen=True)
class ScopeTree(Node):
    """`scopeTree` and the nodes after it."""

    nodes: tuple[ScopeNode, ...]


@dataclass(frozen=True)
class Claim(Node):
    """`owner:name = value` or `name = value`; `equal` is False for `!=`."""

    owner: Name | Integer | None
    name: Name
    equal: bool
    value: Integer | Name


@dataclass(frozen=True)
class Watched(Node):
    """`owner:name` or `name` in `locations […]`."""

    owner: Name | Integer | None
    name: Name


@dataclass(frozen=True)
class Denial(Node):
    """`~ argument`."""

    argument: FormulaText


@dataclass(frozen=True)
class Joint(Node):
    """Formulas joined by `/\\` (conjunctive) or by `\\/`; empty ones are true and false."""

    conjunctive: bool
    arguments: tuple[FormulaText, ...]


FormulaText = Claim | Denial | Joint


@dataclass(frozen=True)
class FinalCondition(Node):
    """`quantifier formula`, where the quantifier is `exists`, `~exists` or `forall`."""

    quantifier: str
    formula: FormulaText


@dataclass(frozen=True)
class Test(Node):
    """A whole litmus test; its span is that of the initial state. language: "OpenCL" or "C"."""

    language: str
    title: str
    entries: tuple[Entry, ...]
    registers: tuple[RegisterEntry, ...]
    threads: tuple[ThreadText, ...]
    scope_trees: tuple[ScopeTree, ...]
    watched: tuple[Watched, ...]
    unsupported: tuple[Unsupported, ...]
    condition: FinalCondition | None


def walk(node: Node) -> Iterator[Node]:
    """The node and all nodes below it, in the order of the text."""
    waiting: list[Node] = [node]
    while waiting:
        node = waiting.pop()
        yield node
        below: list[Node] = []
        for value in vars(node).values():
            for each in value if isinstance(value, tuple) else (value,):
                if isinstance(each, Node):
                    below.append(each)
        waiting += reversed(below)
