"""The syntax tree of a litmus test: what is written, before anything is known to make sense.

`Unsupported` stands for what C and OpenCL have and this version has not; its parts are still read,
so that all problems of a file are found at once. Nodes are structs: so many dataclasses take longer
to be made than a test to be read.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import astuple

from rspverify.source import Span


class Node(Struct, frozen=True):
    """A stretch of the text."""

    span: Span


# ---- expressions ---------------------------------------------------------------------------------


class Integer(Node, frozen=True):
    """An integer as it is written, with its sign where only a signed integer can stand."""

    text: str


class Name(Node, frozen=True):
    """A word: a register, a location, or a constant such as `memory_order_relaxed`."""

    text: str


class Dereference(Node, frozen=True):
    """`*e`."""

    argument: Expression


class Index(Node, frozen=True):
    """`array[index]`."""

    array: Expression
    index: Expression


class Prefix(Node, frozen=True):
    """`- e`, `! e`, `~ e`, `+ e` or `& e`."""

    operator: str
    argument: Expression


class Infix(Node, frozen=True):
    """`l op r`."""

    left: Expression
    operator: str
    right: Expression


class Conditional(Node, frozen=True):
    """`condition ? then : otherwise`."""

    condition: Expression
    then: Expression
    otherwise: Expression


class Assign(Node, frozen=True):
    """`target = value`."""

    target: Expression
    value: Expression


class Update(Node, frozen=True):
    """`target operator= value`; `target++` and `++target` (step) are `target += 1`."""

    target: Expression
    operator: str
    value: Expression
    step: bool = False


class Call(Node, frozen=True):
    """`function(arguments)`."""

    function: Name
    arguments: tuple[Expression, ...]


class Unsupported(Node, frozen=True):
    """An expression or a statement that this version does not have, and the parts it is made of."""

    construct: str
    parts: tuple[Expression | Statement, ...]
    hint: str | None = None


Expression = (
    Integer
    | Name
    | Dereference
    | Index
    | Prefix
    | Infix
    | Conditional
    | Assign
    | Update
    | Call
    | Unsupported
)


# ---- statements ----------------------------------------------------------------------------------


class Block(Node, frozen=True):
    """`{ statements }`; the empty statement is a block of none."""

    statements: tuple[Statement, ...] = ()


class Evaluate(Node, frozen=True):
    """`expression;`."""

    expression: Expression


class Branch(Node, frozen=True):
    """`if (condition) then else otherwise`."""

    condition: Expression
    then: Statement
    otherwise: Statement | None


class Declarator(Node, frozen=True):
    """One register of a declaration, and its value."""

    pointer: bool
    name: Name
    value: Expression | None


class Declaration(Node, frozen=True):
    """`int r = 1, s;`; specifiers are words such as `volatile` and `int`."""

    specifiers: tuple[Name, ...]
    declarators: tuple[Declarator, ...]


class Loop(Node, frozen=True):
    """A loop; its span is that of the word that it begins with.

    `for (start; condition; steps) body`, where the others have no start and no steps; the
    condition is None if there is none. tested_first: False for `do`, whose condition comes last.
    """

    start: tuple[Statement, ...]
    condition: Expression | None
    steps: tuple[Statement, ...]
    body: Statement
    tested_first: bool


class Jump(Node, frozen=True):
    """`break;` or `continue;`."""

    word: str


class Return(Node, frozen=True):
    """`return;` or `return value;`."""

    value: Expression | None


class Labelled(Node, frozen=True):
    """`label: statement`."""

    label: Name
    statement: Statement


Statement = Block | Evaluate | Branch | Declaration | Loop | Jump | Return | Labelled | Unsupported


# ---- the parts of a test -------------------------------------------------------------------------


class Size(Node, frozen=True):
    """`[3]` or `[]` of an array."""

    number: Integer | None


class Entry(Node, frozen=True):
    """`int x = 1`, `[x] = 1` or `int x` of the initial state; a Name as value is an address.

    size, values: of an array, `int x[2] = {1, 2}`. The name of an element is `x[1]`.
    """

    specifiers: tuple[Name, ...]
    name: Name
    value: Integer | Name | None
    size: Size | None = None
    values: tuple[Integer | Name, ...] = ()


class Alias(Node, frozen=True):
    """`name @ proxy aliases of`: another name of a location, at no proxy a virtual address."""

    name: Name
    proxy: Name | None
    of: Name


class Synchronised(Node, frozen=True):
    """`ssw 0 1`: what the first thread did comes before what the second does."""

    first: Integer
    second: Integer


class Watched(Node, frozen=True):
    """`owner:name` or `name`: a register of a thread, or a location."""

    owner: Name | Integer | None
    name: Name


class Parameter(Node, frozen=True):
    """`global atomic_int* x` or `global atomic_int x[3]`, both pointers, or `int x`."""

    specifiers: tuple[Name, ...]
    pointer: bool
    name: Name
    size: Size | None = None


class At(Node, frozen=True):
    """`@sg 0, wg 0, dev 0`: words, each with its number."""

    numbers: tuple[tuple[Name, Integer], ...]


class ThreadHead(Node, frozen=True):
    """The name of a thread and its place: `P0@wg 0, dev 0`, `P0@cta 0,gpu 0`."""

    name: Name
    at: At | None


class ThreadText(ThreadHead, frozen=True):
    """`P0 (parameters) { body }`; kernel: the name of the kernel that it runs, if it runs one."""

    parameters: tuple[Parameter, ...]
    body: Block
    kernel: str | None = None


class FunctionText(Node, frozen=True):
    """`int f (parameters) { body }`, or a kernel."""

    kernel: bool | None
    specifiers: tuple[Name, ...]
    name: Name
    parameters: tuple[Parameter, ...]
    body: Block


class Launch(Node, frozen=True):
    """`groups 2 threads 2 subgroups of 2 devices 1`."""

    groups: Integer
    threads: Integer
    subgroups: Integer | None
    devices: Integer | None


class ScopeNode(Node, frozen=True):
    """`(level children)` in a scope tree, where a child is a thread's name or a node."""

    level: Name
    children: tuple[Name | ScopeNode, ...]


class ScopeTree(Node, frozen=True):
    """`scopeTree` and the nodes after it."""

    nodes: tuple[ScopeNode, ...]


class Claim(Watched, frozen=True):
    """`owner:name = value` or `name = value`; `equal` is False for `!=`. Also of the initial state,
    where a register has an owner. other: a register whose value it is, in place of `value`."""

    equal: bool
    value: Integer | Name
    other: Watched | None = None


class Denial(Node, frozen=True):
    """`~ argument`."""

    argument: FormulaText


class Joint(Node, frozen=True):
    """Formulas joined by `/\\` (conjunctive) or by `\\/`; empty ones are true and false."""

    conjunctive: bool
    arguments: tuple[FormulaText, ...]


FormulaText = Claim | Denial | Joint


class FinalCondition(Node, frozen=True):
    """`quantifier formula`, where the quantifier is `exists`, `~exists` or `forall`."""

    quantifier: str
    formula: FormulaText


class Document(Node, frozen=True):
    """What all tests have; the span is that of the initial state. language: as of a Program."""

    language: str
    title: str
    entries: tuple[Entry, ...]
    registers: tuple[Claim, ...]
    watched: tuple[Watched, ...]
    condition: FinalCondition | None
    given: FormulaText | None


class Test(Document, frozen=True):
    """A whole litmus test in OpenCL or C."""

    threads: tuple[ThreadText, ...]
    functions: tuple[FunctionText, ...]
    launches: tuple[Launch, ...]
    scope_trees: tuple[ScopeTree, ...]
    unsupported: tuple[Unsupported, ...]


# ---- tests in assembly ---------------------------------------------------------------------------


class Joined(Node, frozen=True):
    """`[x]`, `[X1,W2,SXTW]` or `4(x5)`: an operand that says where memory is accessed.

    text: without blanks and signs before numbers, and with each number; inside: the words in
    brackets.
    """

    text: str
    inside: tuple[Name | Integer, ...]


Operand = Name | Integer | Joined


class InstructionText(Node, frozen=True):
    """`name operand, operand` in a column."""

    name: Name
    operands: tuple[Operand, ...]


class LabelText(Node, frozen=True):
    """`name:` in a column, to which branches go."""

    name: Name


class Row(Node, frozen=True):
    """Instructions of all threads; None where a thread has none here."""

    cells: tuple[InstructionText | LabelText | None, ...]


class Columns(Document, frozen=True):
    """A test in assembly, a column for each thread."""

    threads: tuple[ThreadHead, ...]
    rows: tuple[Row, ...]
    aliases: tuple[Alias, ...]
    synchronised: tuple[Synchronised, ...]


def walk(node: Node) -> Iterator[Node]:
    """The node and all nodes below it, in the order of the text."""
    waiting: list[object] = [node]
    while waiting:
        it = waiting.pop()
        if isinstance(it, tuple):
            waiting += reversed(it)
        elif isinstance(it, Node):
            yield it
            waiting += reversed(astuple(it))


def measure(node: Node) -> tuple[int, int]:
    """How deep a node is nested, and how many nodes there are in it."""
    most = size = 0
    waiting: list[tuple[object, int]] = [(node, 0)]
    while waiting:
        it, depth = waiting.pop()
        if isinstance(it, Node):
            most, size = max(most, depth + 1), size + 1
            waiting += ((part, depth + 1) for part in astuple(it))
        elif isinstance(it, tuple):
            waiting += ((part, depth) for part in it)
    return most, size
