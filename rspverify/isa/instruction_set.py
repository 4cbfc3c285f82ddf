"""Instruction sets: how instructions are spelled and what they do, whatever executes them.

A set is a file in `sets/`, a line for each instruction:

    SPELLING OPERANDS : EFFECTS [as NAME] [needs EXTENSION] [tags TAGS]

Operands are single letters, or have them inside as memory is written: `[x]`, `[x,i]`, `o(x)`.
`$v` is for a number alone. Any other word stands there as it is, as does a letter in quotes, and
`...` is for any operands. `{a|b}` in a spelling is one of these, and `{a=T|b=U}` puts an event into
the set T or U as well; of a read-modify-write `R:T` is for its read and `W:T` for its write.

Effects, joined by `;`, are `r = [x]` and `[x] = FORMULA` (together a read-modify-write, which has
read `old`), where `[x + o]` adds an offset to an address; `r = FORMULA`, also for a register of a
longer name, as `flags = FORMULA`; `goto L`, `if FORMULA goto L`; `meet b`, where the threads of a
work-group wait for each other at the barrier of that name, and `meet b, i, q` with its resource and
how many must come; and words: `fence`, `event`, which is in the sets of its tags alone, `end`,
`nothing`, and those of a dialect. Of these, a load that says `reserve` and a store of `v if
exclusive` are a pair, in which the store may fail: `exclusive` is whether it succeeds. Where the
store says `dependent`, what is made of this depends on it. A fence that says `fetch` orders fetches
of instructions, and no accesses. A read-modify-write that says `whole` is one event everywhere; of
one that says `carried`, what it writes depends on what it has read. `release` is the end of a
reservation without a store; `forget`, that of what was compared last, `left` and `right`, and as
numbers without a sign `high` and `low`; `uncarried`, of these two alone; `byte` says that only the
low byte is accessed, which of locations is not read.

NAME is what machines call the instruction, if it is not its mnemonic. `{1}` in effects is what was
chosen first in the spelling, as in `{1}_(a, b)`, an operator by its word. A line `NAME(a, b) =
FORMULA` is a function that formulas may use; `NAME_() = FORMULA` stands for a formula over
registers wherever an effect has it, `A_|B_() = FORMULA` by two names. After a line `NAME =
{a|b}{c|d}`, in capitals, `{NAME}` stands for these choices. A line `zero r0 at x z` says that r0 is
the number 0 where one of these letters stands. After a line `conditional {a|b} : FORMULA` any
instruction may have one of these at its end, and is then executed where the formula holds, in which
`{1}` is that.

What is stronger is said of tags, weaker ones first, and with what they add to the cost of an
instruction, which is 1 without: `strength Q=1 < A=3`. Spellings of one instruction are compared by
it, and fences. A `slip` line is of what is stronger in fences, and in an access may be or not: a
mutant has it. Two lines compare others: `instead MOV [x],v < MOV t,v; XCHG [x],t` has what may
stand in the place of an access, and leave no execution more; `branch cmpw r,r; beq L; L:` is code
that looks at r and changes nothing, so that what follows depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import chain, pairwise, product
from math import prod
from typing import Any

from msgspec import Struct

from rspverify.isa.catalogue import ENDING, SETS
from rspverify.isa.formula import Formula, Function, formula
from rspverify.isa.lines import Tags
from rspverify.records import replace
from rspverify.source import InputError, Problem, Source, Span

_HEAD = re.compile(r'instructions (\w+) "([^"]*)"')
_LINE = re.compile(r"(.+?)\s+: (.+?)(?: as (\S+))?(?: needs (\S+))?(?: tags (.+))?")
_STRENGTH = re.compile(r"(strength|slip|instead|branch) (.+)")
_WORD = re.compile(r"([\w.]+)(?:=(\d+))?")
_NAMED = re.compile(r"([A-Z]+) = (.+)")
_ZERO = re.compile(r"zero (\w+) at (.+)")
_CONDITIONAL = re.compile(r"conditional \{(.+)\} : (.+)")
_FUNCTION = re.compile(r"(\w+)\(([\w, ]+)\) = (.+)")
_STANDS = re.compile(r"([\w|]+)\(\) = (.+)")
_STANDING = re.compile(r"\b(\w+)\(\)")
_CHOICE = re.compile(r"\{([^{}]*)\}")
_LETTER = re.compile(r"[a-zA-Z]")
_OPERANDS = re.compile(r"(?:\[[^\]]*\]|[^\s,\[])+")
_PARTS = re.compile(r"'(\w+)'|\b([a-zA-Z])\b|(\w+|.)")
_NUMBER = re.compile(r"\$(\w)")
_MEETING = re.compile(r"meet (\w)(?:, (\w))?(?:, (\w))?")
_SPELLED = re.compile(r"((?:LOCK |lock )?\S+) *(.*)")
_PLACE = re.compile(r"\[(\w)(?: \+ (\w))?\]")
_ANY = "..."


class Form(Struct, frozen=True, eq=False):
    """One spelling of an instruction, and what it does.

    operands: letters, and words that stand there as they are; any_operands: or any others. name:
    what machines call it. reads: whether it reads memory; result: into which operand. written: what
    it writes, where its condition holds. address, offset: the operands that say where. sets: what
    other operands and registers become. target: the label that it goes to, where `branch` is not 0.
    meets: of a barrier, its operands. words: the rest of its effects. family: what it is but for
    its strength, which its tags say. needs: an extension of the architecture, if not all have it.
    when: where it is executed; None of what always is.
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
    meets: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    tags: Tags = Tags()
    family: tuple[str, ...] = ()
    needs: str = ""
    when: Formula | None = None

    @property
    def every_tag(self) -> frozenset[str]:
        """The sets that its events are in."""
        return self.tags.read | self.tags.write

    @property
    def is_fence(self) -> bool:
        """Whether it orders accesses and does nothing else."""
        return self.words == {"fence"} and not self.meets

    @property
    def spelled(self) -> str:
        """Its mnemonic, with the words that stand there as they are: `DMB ISH`, `fence r,rw`."""
        words = (it.strip("'") for it in self.operands if re.fullmatch(r"\w\w+|'\w+'", it))
        return f"{self.mnemonic} {','.join(words)}".strip()

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
    if number := _NUMBER.fullmatch(mine):
        return {number[1]: its} if re.fullmatch("-?[0-9]+", its) else None
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


class Spelling(Struct, frozen=True, eq=False):
    """A line of a set. choices: of each, its texts and the tags of each of them. stands: formulas
    by the names that stand for them. needs: as of a form."""

    mnemonic: str
    operands: str
    effects: str
    name: str | None
    tags: tuple[str, ...]
    choices: tuple[Mapping[str, tuple[str, ...]], ...]
    stands: Mapping[str, str]
    needs: str = ""

    @property
    def mnemonics(self) -> Iterator[str]:
        """All that it may be called."""
        in_name = self.choices[: len(_CHOICE.findall(self.mnemonic))]
        return (_chosen(self.mnemonic, texts) for texts in product(*in_name))

    def forms(self, mnemonic: str) -> Iterator[Form]:
        """Its instructions that are called so, one for each choice of their operands."""
        if not mnemonic.startswith(self.mnemonic.partition("{")[0]):  # A pattern takes longer.
            return
        match = _alternatives(self.mnemonic).fullmatch(mnemonic)
        if match is None:
            return
        texts = match.groups()
        for others in product(*self.choices[len(texts) :]):
            yield self._form((*texts, *others))

    def first(self) -> Form:
        """That with the first text of each choice. Raises ValueError for what is no instruction."""
        return self._form(tuple(next(iter(means)) for means in self.choices))

    def _form(self, texts: tuple[str, ...]) -> Form:
        effects, tags = self.effects, [*self.tags]
        for number, (text, means) in enumerate(zip(texts, self.choices, strict=True), start=1):
            effects = effects.replace(f"{{{number}}}", text.strip("."))
            tags += means[text]
        effects = _spelled_out(effects, self.stands)
        mnemonic = _chosen(self.mnemonic, texts)
        operands = _chosen(self.operands, texts[len(_CHOICE.findall(self.mnemonic)) :])
        made = _form(
            mnemonic, tuple(_OPERANDS.findall(operands)), self.name or mnemonic, effects, tags
        )
        pairs = zip(texts, self.choices, strict=True)
        plain = ("" if any(means.values()) else text for text, means in pairs)
        family = (_chosen(f"{self.mnemonic} {self.operands}", plain), effects)
        return replace(made, family=family, needs=self.needs)


def _chosen(spelling: str, texts: Iterable[str]) -> str:
    """A spelling, with a text for each of its choices."""
    given = iter(texts)
    return _CHOICE.sub(lambda _: next(given), spelling)


def _spelled_out(effects: str, stands: Mapping[str, str]) -> str:
    """Effects, with a formula for each name that stands for one. Raises ValueError."""

    def of(it: re.Match[str]) -> str:
        if it[1] not in stands:
            raise ValueError(f"{it[0]} must stand for a formula, and no line says which")
        return f"({stands[it[1]]})"

    return _STANDING.sub(of, effects)


@cache
def _alternatives(mnemonic: str) -> re.Pattern[str]:
    """How the instructions of a spelling may be called, a group for each choice."""
    parts = re.split(r"(\{[^{}]*\})", mnemonic)
    return re.compile(
        "".join(
            f"({'|'.join(map(re.escape, _texts(each[1:-1])))})" if at % 2 else re.escape(each)
            for at, each in enumerate(parts)
        )
    )


def _texts(choice: str) -> Mapping[str, tuple[str, ...]]:
    """The texts of a choice, `a=T+U|b`, each with its tags."""
    parts = (each.partition("=") for each in choice.split("|"))
    return {text: tuple(filter(None, tags.split("+"))) for text, _, tags in parts}


class InstructionSet(Struct, frozen=True, eq=False, dict=True):
    """The instructions of a kind of processor. functions: of its formulas. prices: what tags add to
    the cost of an instruction. orders: those that say how strong one is; slips: of these, those
    that say so of fences alone. above: of a tag those that are stronger. instead: an access, and
    what may stand in its place. branch: what makes the rest of the code depend on r.
    conditional: when an instruction is executed that ends with these. zeros: by its letter, the
    operand that is the number 0 there.
    """

    name: str
    summary: str
    spellings: tuple[Spelling, ...]
    functions: Mapping[str, Function]
    prices: Mapping[str, int] = {}
    orders: frozenset[str] = frozenset()
    slips: frozenset[str] = frozenset()
    above: Mapping[str, frozenset[str]] = {}
    instead: tuple[tuple[str, tuple[str, ...]], ...] = ()
    branch: tuple[str, ...] = ()
    conditional: Mapping[str, Formula] = {}
    zeros: Mapping[str, str] = {}

    def written(self, text: str) -> Form | None:
        """The instruction of a text such as `LOCK XADD [x], r`."""
        spelled = _SPELLED.fullmatch(text)
        return spelled and self.form(spelled[1], tuple(_OPERANDS.findall(spelled[2])))

    def form(self, mnemonic: str, operands: Sequence[str]) -> Form | None:
        """The instruction that is written so, or in small letters where the set has capitals."""
        forms = self.forms(mnemonic) or self.forms(mnemonic.upper())
        return next((it for it in forms if it.fits(operands)), None)

    def has(self, spelled: str) -> bool:
        """Whether an instruction is spelled so, as a form says it."""
        parts = _SPELLED.fullmatch(spelled)
        return parts is not None and any(it.spelled == spelled for it in self.forms(parts[1]))

    @cached_property
    def size(self) -> int:
        """How many instructions it has, those counted twice that two lines have."""
        return sum(prod(map(len, it.choices)) for it in self.spellings)

    @property
    def patterns(self) -> tuple[str, ...]:
        """Regular expressions for what its instructions are called."""
        return tuple(dict.fromkeys(_alternatives(it.mnemonic).pattern for it in self.spellings))

    def forms(self, mnemonic: str) -> tuple[Form, ...]:
        """The instructions that are called so."""
        if mnemonic not in self._known:
            found = tuple(chain(*(it.forms(mnemonic) for it in self.spellings)))
            self._known[mnemonic] = found or self._conditional(mnemonic)
        return self._known[mnemonic]

    def _conditional(self, mnemonic: str) -> tuple[Form, ...]:
        for ending, when in self.conditional.items():
            if mnemonic.endswith(ending):
                always = self.forms(mnemonic.removesuffix(ending))
                return tuple(replace(it, when=when) for it in always if it.when is None)
        return ()

    @cached_property
    def _known(self) -> dict[str, tuple[Form, ...]]:
        return {}

    @cached_property
    def mnemonics(self) -> frozenset[str]:
        """What its instructions are called."""
        return frozenset(chain(*(it.mnemonics for it in self.spellings)))

    @cached_property
    def tags(self) -> frozenset[str]:
        """The sets that a model may name, beside those that all have."""
        every = (tags for it in self.spellings for means in it.choices for tags in means.values())
        words = (*chain(*every), *chain(*(it.tags for it in self.spellings)))
        named = Tags.of(words)
        return named.read | named.write

    @cached_property
    def every(self) -> tuple[Form, ...]:
        """Its instructions, in the order of its file."""
        names = dict.fromkeys(name for it in self.spellings for name in it.mnemonics)
        return tuple(chain(*map(self.forms, names)))

    def stronger(self, one: Form, other: Form, *, loosely: bool = False) -> bool:
        """Whether the one may stand in the place of the other and leaves no execution more.
        loosely: or does so but for slips."""
        mine, its, fences = one.tags, other.tags, one.is_fence and other.is_fence
        comparable = one.family == other.family or fences
        sides = ((mine.read, its.read), (mine.write, its.write))
        if not (fences or loosely):
            comparable &= all(strong & self.slips == weak & self.slips for strong, weak in sides)
        return comparable and all(
            tag in strong or strong & self.above.get(tag, frozenset())
            for strong, weak in sides
            for tag in weak
        )

    def alike(self, form: Form) -> list[Form]:
        """The spellings of one instruction that differ in their strength alone, or all such fences;
        of two of one strength the first, but for the instruction itself."""
        found: dict[Tags, Form] = {}
        for each in self._families["" if form.is_fence else form.family]:
            if each.tags.without(self.orders) == form.tags.without(self.orders):
                found.setdefault(each.tags, each)
        return [*({**found, form.tags: form}).values()]

    @cached_property
    def _families(self) -> Mapping[str | tuple[str, ...], list[Form]]:
        """Its instructions by what they are but for their strength; fences are one family."""
        found: dict[str | tuple[str, ...], list[Form]] = {"": []}
        for each in self.every:
            found.setdefault("" if each.is_fence else each.family, []).append(each)
        return found

    def cost(self, form: Form) -> int:
        """What an instruction costs: 1, and what its tags add."""
        return 1 + sum(map(self._price, form.every_tag))

    def offered(self, form: Form) -> bool:
        """Whether the file says what its strength costs, so that it may be put into code."""
        ordering = form.every_tag & self.orders
        return ordering <= self.prices.keys() and bool(ordering or not form.is_fence)

    def _price(self, tag: str) -> int:
        """That of a tag, or where the file has none, of the dearest that is weaker."""
        weaker = (price for it, price in self.prices.items() if tag in self.above.get(it, ()))
        return self.prices.get(tag, max(weaker, default=0))


@lru_cache
def instruction_set(name: str) -> InstructionSet:
    """The one of a name, which ships. That its lines are right is tested."""
    file = SETS / f"{name}{ENDING}"
    source = Source(file.name, file.read_text(encoding="utf-8"))
    return read_instruction_set(source, tested=True)


def read_instruction_set(source: Source, *, tested: bool = False) -> InstructionSet:
    """A set by its text. Raises InputError with every line that is no instruction.

    tested: what its lines do is known to be right, and is read when it is asked for.
    """
    problems: list[Problem] = []
    spellings: list[Spelling] = []
    choices: dict[str, str] = {}
    functions: dict[str, Function] = {}
    stands: dict[str, str] = {}
    conditional: dict[str, Formula] = {}
    zeros: dict[str, str] = {}
    strengths: dict[str, list[str]] = {"strength": [], "slip": [], "instead": [], "branch": []}
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
            bare = re.sub(r"\{([A-Z]+)\}", lambda it: choices.get(it[1], it[0]), bare)
            if match := _NAMED.fullmatch(bare):
                choices[match[1]] = match[2]
                continue
            if match := _ZERO.fullmatch(bare):
                zeros |= dict.fromkeys(match[2].split(), match[1])
                continue
            if match := _CONDITIONAL.fullmatch(bare):
                for it in match[1].split("|"):
                    means = _spelled_out(match[2].replace("{1}", it), stands)
                    conditional[it] = formula(means)
                continue
            if match := _STANDS.fullmatch(bare):
                formula(match[2])
                stands |= dict.fromkeys(match[1].split("|"), match[2])
                continue
            if match := _FUNCTION.fullmatch(bare):
                functions[match[1]] = _function(match[2].split(", "), formula(match[3]), functions)
                continue
            if match := _STRENGTH.fullmatch(bare):
                strengths[match[1]].append(match[2])
                continue
            spellings.append(_spelling(bare, stands))
            if not tested:
                spellings[-1].first()
        except ValueError as error:
            problems.append(Problem(span, str(error)))
    if problems or head is None:
        raise InputError(problems)
    prices, above = _strengths([*strengths["strength"], *strengths["slip"]])
    orders, slips = (_ordering(strengths[word]) for word in ("strength", "slip"))
    instead = (each.split(" < ") for each in strengths["instead"])
    return InstructionSet(
        head[1],
        head[2],
        tuple(spellings),
        functions,
        prices,
        orders | slips,
        slips,
        above,
        tuple((weak, tuple(strong.split("; "))) for weak, strong in instead),
        tuple(strengths["branch"][0].split("; ")) if strengths["branch"] else (),
        conditional,
        zeros,
    )


def _ordering(lines: Iterable[str]) -> frozenset[str]:
    """The tags that lines name."""
    return frozenset(tag for line in lines for tag, _ in _WORD.findall(line))


def _strengths(lines: Sequence[str]) -> tuple[dict[str, int], dict[str, frozenset[str]]]:
    """What tags cost that have a cost, and those that are stronger than each."""
    prices: dict[str, int] = {}
    above: dict[str, frozenset[str]] = {}
    for groups in ([_WORD.findall(group) for group in line.split("<")] for line in lines):
        prices |= {tag: int(price) for group in groups for tag, price in group if price}
        for weak, strong in pairwise(groups):
            for tag, _ in weak:
                above[tag] = above.get(tag, frozenset()) | {it for it, _ in strong}
    for middle in above:  # What is above that, too.
        for tag, its in above.items():
            if middle in its:
                above[tag] = its | above[middle]
    return prices, above


def _function(names: Sequence[str], means: Formula, others: Mapping[str, Function]) -> Function:
    return lambda *given: means.value(dict(zip(names, given, strict=True)).__getitem__, others)


def _spelling(line: str, stands: Mapping[str, str]) -> Spelling:
    """A line that says of instructions what they do. Raises ValueError."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"an instruction must be written `SPELLING : EFFECTS`, not `{line}`")
    spelling, effects, name, needs, tags = match.groups()
    spelled = _SPELLED.fullmatch(spelling)
    assert spelled is not None
    choices = tuple(map(_texts, _CHOICE.findall(spelling)))
    mnemonic, operands = spelled.groups()
    own = tuple((tags or "").split())
    return Spelling(mnemonic, operands, effects, name, own, choices, stands, needs or "")


def _form(
    mnemonic: str, operands: tuple[str, ...], name: str, effects: str, tags: Sequence[str]
) -> Form:
    found: dict[str, Any] = {}
    sets: list[tuple[str, Formula]] = []
    words: set[str] = set()
    for effect in (it.strip() for it in effects.split(";")):
        left, equals, right = (it.strip() for it in effect.partition(" = "))
        place, stored = _PLACE.fullmatch(right), _PLACE.fullmatch(left)
        goes = re.fullmatch(r"(?:if (.+) )?goto (\w)", effect)
        if equals and (at := place or stored):
            found |= {"address": at[1], "offset": at[2]}
        if meeting := _MEETING.fullmatch(effect):
            found["meets"] = tuple(filter(None, meeting.groups()))
        elif goes:
            found |= {"branch": formula(goes[1] or "1"), "target": goes[2]}
        elif equals and place:
            named = len(left) > 1 and left != "old"
            found |= {"reads": True, "result": left if named or left in operands else None}
        elif equals and stored:
            found["written"] = formula(right)
        elif equals:
            sets.append((left, formula(right)))
        elif re.fullmatch(r"\w+", effect):
            words.add(effect)
        else:
            raise ValueError(f"an effect must be an assignment, a branch or a word, not `{effect}`")
    letters = {letter for it in operands for _, letter, _ in _PARTS.findall(it)}
    needed = (found.get(it) for it in ("result", "address", "offset", "target"))
    for letter in filter(None, (*needed, *found.get("meets", ()))):
        if len(letter) == 1 and letter not in letters and _ANY not in operands:
            raise ValueError(f"an operand of {mnemonic} must be {letter}, and none is")
    own = tuple(it for it in operands if it != _ANY)
    found |= {"sets": tuple(sets), "words": frozenset(words), "tags": Tags.of(tags)}
    return Form(mnemonic, own, name, _ANY in operands, **found)
