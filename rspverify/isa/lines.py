"""Lines of code: instructions, labels, directives; and the sets that events are in by a name."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rspverify.source import Span


class Tags(Struct, frozen=True):
    """The sets of a model that an instruction's read, and its write or fence, are in by name."""

    read: frozenset[str] = frozenset()
    write: frozenset[str] = frozenset()

    def also(self, word: str) -> Tags:
        """With one more, of both."""
        return Tags(self.read | {word}, self.write | {word})

    def without(self, words: frozenset[str]) -> Tags:
        """But for some words."""
        return Tags(self.read - words, self.write - words)

    @staticmethod
    def of(words: Sequence[str]) -> Tags:
        """Words as a file has them: `ACQ`, `R:ACQ`, `W:REL`."""
        return Tags(
            frozenset(it.removeprefix("R:") for it in words if not it.startswith("W:")),
            frozenset(it.removeprefix("W:") for it in words if not it.startswith("R:")),
        )


class Instruction(Struct, frozen=True):
    """An instruction: `global_load_dword v0, v[0:1], off sc1` has three operands and a modifier."""

    mnemonic: str
    operands: tuple[str, ...]
    modifiers: tuple[str, ...]
    span: Span

    def __str__(self) -> str:
        operands = ", ".join(self.operands)
        return " ".join(filter(None, (self.mnemonic, operands, *self.modifiers)))


class Label(Struct, frozen=True):
    """A place in the code, to which branches go."""

    name: str
    span: Span


class Directive(Struct, frozen=True):
    """What is said to the assembler: `.amdgcn_target "amdgcn-amd-amdhsa--gfx942"`."""

    name: str
    argument: str
    span: Span


class Jump(Struct, frozen=True):
    """Where a thread goes on, as no instruction says: to the code that was emitted behind it."""

    target: str
    span: Span


Line = Instruction | Label | Directive | Jump
