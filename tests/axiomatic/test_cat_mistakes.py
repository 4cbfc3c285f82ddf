"""What is said of .cat files that are wrong, or right and beyond what we read: mistakes.txt."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from rspverify.axiomatic.cat import read_model
from rspverify.source import InputError, Severity, Source

MODEL = "let hb = sb\nacyclic hb as Hb\n"


def mistakes() -> Iterator[tuple[str, list[str]]]:
    """Each text, and what must be said of it."""
    before = ""
    lines = Path(__file__).with_name("mistakes.txt").read_text().split("\n")
    for blank, group in groupby(lines, lambda line: not line):
        entry = list(group)
        if entry[0].startswith("#"):
            before = MODEL if entry[-1].startswith("# after") else ""
        elif not blank:
            text = [line[4:] for line in entry if line.startswith("    ")]
            yield before + "\n".join(text), entry[len(text) :]


def said(text: str) -> Iterator[str]:
    with pytest.raises(InputError) as caught:
        read_model(Source("", text), "t")
    for each in caught.value.problems:
        beyond = "(unsupported) " * (each.severity is Severity.UNSUPPORTED)
        hint = f" ({each.hint})" if each.hint else ""
        yield f"{each.span}: {beyond}{each.message}{hint}".removeprefix(":")
        for span, words in each.related:
            yield f"and {f'{span}'.removeprefix(':')}: {words}"


@pytest.mark.parametrize(("text", "expected"), [*mistakes()])
def test_all_mistakes_are_told_at_their_places(text: str, expected: list[str]) -> None:
    assert list(said(text)) == expected
