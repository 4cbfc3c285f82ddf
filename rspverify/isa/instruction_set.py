"""Instruction sets: how instructions are spelled and what they do, whatever executes them.

A set is a file in `sets/`, a line for each instruction:

    SPELLING OPERANDS : EFFECTS [as NAME] [tags TAGS]

Operands are single letters, or have them inside as memory is written: `[x]`, `[x,i]`, `o(x)`. Any
other word stands there as it is, as does a letter in quotes, and `...` is for any operands. `{a|b}`
in a spelling is one of these, and `{a=T|b=U}` puts an event into the set T or U as well; of a
read-modify-write `R:T` is for its read and `W:T` for its write.

Effects, joined by `;`, are `r = [x]` and `[x] = FORMULA` (together a read-modify-write, which has
read `old`), where `[x + o]` adds an offset to an address; `r = FORMULA`, also for a register of a
longer name, as `flags = FORMULA`; `goto L`, `if FORMULA goto L`; and words: `fence`, `end`,
`nothing`, and those of a dialect. Of these, a load that says `reserve` and a store of `v if
exclusive` are a pair, in which the store may fail: `exclusive` is whether it succeeds. Where the
store says `dependent`, what is made of this depends on it. A fence that says `fetch` orders fetches
of instructions, and no accesses. A read-modify-write that says `whole` is one event everywhere.

NAME is what machines call the instruction, if it is not its mnemonic. `{1}` in effects is what was
chosen first in the spelling, as in `{1}_(a, b)`, an operator by its word. A line `NAME(a, b) =
FORMULA` is a function that formulas may use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import product

from msgspec import Struct

from rspverify.isa.catalogue import ENDING, SETS
from rspverify.isa.formula import Formula, Function, formula
from rspverify.isa.lines import Tags
from rspverify.source import InputError, Problem, Source, Span

_HEAD = re.compile(r'instructions (\w+) "([^"]*)"')
_LINE = re.compile(r"(.+?)\s+: (.+?)(?: as (\S+))?(?: tags (.+))?")
_FUNCTION = re.compile(r"(\w+)\(([\w, ]*)\) = (.+)")
_CHOICE = re.compile(r"\{([^{}]*)\}")
_LETTER = re.compile(r"[a-zA-Z]")
_OPERANDS = re.compile(r"(?:\[[^\]]*\]|[^\s,\[])+")
_PARTS = re.compile(r"'(\w+)'|\b([a-zA-Z])\b|(\w+|.)")
_SPELLED = re.compile(r"((?:LOCK |lock )?\S+) *(.*)")
_PLACE = re.compile(r"\[(\w)(?: \+ (\w))?\]")
_ANY = "..."


class Form(Struct, frozen=True, eq=False):
    """One spelling of an instruction, and what it does.

    operands: letters, and words that stand there as they are; any_operands: or any others. name:
    what machines call it. reads: whether it reads memory; result: into which operand. written: what
    it writes, where its condition holds. address, offset: the operands that say where. sets: what
    other operands and registers become. target: the label that it goes to, where `branch` is not 0.
    words: the rest of its effects.
    """

    mnemonic: str
    operands: tuple[str, ...]
    name: str
    any_operands: bool = False
    reads: bool = False
    result: str | None = None
    address: str | None = None
    offset: str | None = None
    written: Formula | None = None
    sets: tuple[tuple[str, Formula], ...] = ()
    target: str | None = None
    branch: Formula | None = None
    words: frozenset[str] = frozenset()
    tags: Tags = Tags()

    def fits(self, operands: Sequence[str]) -> bool:
        """Whether it may be written with these operands."""
        return self.any_operands or (
            len(operands) == len(self.operands)
            and None not in map(_matched, self.operands, operands)
        )

    def bound(self, operands: Sequence[str]) -> Mapping[str, str]:
        """The operands by their letters."""
        found: dict[str, str] = {}
        for mine, its in zip(self.operands, operands, strict=False):
            found |= _matched(mine, its) or {}
        return found


def _matched(mine: str, its: str) -> Mapping[str, str] | None:
    """What the letters of an operand in a spelling stand for; None if it is another operand."""
    if _LETTER.fullmatch(mine):
        return {mine: its}
    found = _pattern(mine).fullmatch(its)
    return None if found is None else found.groupdict()


@cache
def _pattern(operand: str) -> re.Pattern[str]:
    parts = (
        f"(?P<{letter}>[^,()\\[\\]]+)" if letter else re.escape(quoted or word)
        for quoted, letter, word in _PARTS.findall(operand)
    )
    return re.compile("".join(parts))


class InstructionSet(Struct, frozen=True, eq=False, dict=True):
    """The instructions of a kind of processor. forms: those of each mnemonic. functions: of its
    formulas."""

    name: str
    summary: str
    forms: Mapping[str, tuple[Form, ...]]
    functions: Mapping[str, Function]

    def form(self, mnemonic: str, operands: Sequence[str]) -> Form | None:
        """The instruction that is written so, or in small letters where the set has capitals."""
        forms = self.forms.get(mnemonic) or self.forms.get(mnemonic.upper(), ())
        return next((it for it in forms if it.fits(operands)), None)

    @cached_property
    def names(self) -> frozenset[str]:
        """What machines call these instructions, without modifiers."""
        return frozenset(form.name for forms in self.forms.values() for form in forms)

    @cached_property
    def tags(self) -> frozenset[str]:
        """The sets that a model may name, beside those that all have."""
        every = (form.tags for forms in self.forms.values() for form in forms)
        return frozenset(tag for tags in every for tag in tags.read | tags.write)


@lru_cache
def instruction_set(name: str) -> InstructionSet:
    """The one of a name. Raises InputError with every mistake of its file."""
    file = SETS / f"{name}{ENDING}"
    return read_instruction_set(Source(file.name, file.read_text(encoding="utf-8")))


def read_instruction_set(source: Source) -> InstructionSet:
    """A set by its text. Raises InputError with every line that is no instruction."""
    problems: list[Problem] = []
    forms: dict[str, tuple[Form, ...]] = {}
    functions: dict[str, Function] = {}
    head = None
    for number, text in enumerate(source.text.split("\n"), start=1):
        bare = text.partition("#")[0].strip()
        span = Span(source, number, 1, number, len(text) + 1)
        if not bare:
            continue
        if head is None:
            head = _HEAD.fullmatch(bare)
            if head is None:
                message = 'the first line must be `instructions NAME "SUMMARY"`'
                problems.append(Problem(span, f"{message}, not `{bare}`"))
                break
            continue
        try:
            if match := _FUNCTION.fullmatch(bare):
                functions[match[1]] = _function(match[2].split(", "), formula(match[3]), functions)
                continue
            for form in _forms(bare):
                forms[form.mnemonic] = (*forms.get(form.mnemonic, ()), form)
        except ValueError as error:
            problems.append(Problem(span, str(error)))
    if problems or head is None:
        raise InputError(problems)
    return InstructionSet(head[1], head[2], forms, functions)


def _function(names: Sequence[str], means: Formula, others: Mapping[str, Function]) -> Function:
    return lambda *given: means.value(dict(zip(names, given, strict=True)).__getitem__, others)


def _forms(line: str) -> Iterator[Form]:
    """The instructions of a line, one for each choice of its spelling. Raises ValueError."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"an instruction must be written `SPELLING : EFFECTS`, not `{line}`")
    spelling, effects, name, tags = match.groups()
    choices = [it.split("|") for it in _CHOICE.findall(spelling)]
    for chosen in product(*choices):
        parts = [each.partition("=") for each in chosen]
        texts = iter(text for text, _, _ in parts)
        words = [tag for _, _, own in parts for tag in own.split("+") if tag]
        written = _CHOICE.sub(lambda _, texts=texts: next(texts), spelling)
        spelled = _SPELLED.fullmatch(written)
        assert spelled is not None
        mnemonic, rest = spelled.groups()
        done = effects
        for number, (text, _, _) in enumerate(parts, start=1):
            done = done.replace(f"{{{number}}}", text)
        operands = tuple(_OPERANDS.findall(rest))
        yield _form(mnemonic, operands, name or mnemonic, done, [*words, *(tags or "").split()])


def _form(
    mnemonic: str, operands: tuple[str, ...], name: str, effects: str, tags: Sequence[str]
) -> Form:
    reads, result, written, target, branch = False, None, None, None, None
    address, offset = None, None
    sets: list[tuple[str, Formula]] = []
    words: set[str] = set()
    for effect in (it.strip() for it in effects.split(";")):
        left, equals, right = (it.strip() for it in effect.partition(" = "))
        place, stored = _PLACE.fullmatch(right), _PLACE.fullmatch(left)
        goes = re.fullmatch(r"(?:if (.+) )?goto (\w)", effect)
        if goes:
            branch, target = formula(goes[1] or "1"), goes[2]
        elif equals and place:
            reads, (address, offset) = True, place.groups()
            named = len(left) > 1 and left != "old"
            result = left if named or left in operands else None
        elif equals and stored:
            written, (address, offset) = formula(right), stored.groups()
        elif equals:
            sets.append((left, formula(right)))
        elif re.fullmatch(r"\w+", effect):
            words.add(effect)
        else:
            raise ValueError(f"an effect must be an assignment, a branch or a word, not `{effect}`")
    letters = {letter for it in operands for _, letter, _ in _PARTS.findall(it)}
    for letter in filter(None, (result, address, offset, target)):
        if len(letter) == 1 and letter not in letters and _ANY not in operands:
            raise ValueError(f"an operand of {mnemonic} must be {letter}, and none is")
    return Form(
        mnemonic,
        tuple(it for it in operands if it != _ANY),
        name,
        _ANY in operands,
        reads,
        result,
        address,
        offset,
        written,
        tuple(sets),
        target,
        branch,
        frozenset(words),
        Tags.of(tags),
    )
