"""docs/cat-fragment.md lists exactly the names that there are."""

import re
from pathlib import Path

from rspverify.axiomatic.library import LIBRARY, standard_library
from rspverify.axiomatic.reader import Reader
from rspverify.axiomatic.syntax import REFUSED
from rspverify.axiomatic.vocabulary import BASE_RELATIONS, FINAL_WRITES, OF_LANGUAGES


def section(root: Path, title: str) -> str:
    text = (root / "docs/cat-fragment.md").read_text()
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def quoted(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


def test_base_names(root: Path) -> None:
    assert quoted(section(root, "Base names")) == {*OF_LANGUAGES, FINAL_WRITES, *BASE_RELATIONS}


def test_the_library(root: Path) -> None:
    names = {
        binding.name
        for statement in standard_library().parts
        if statement.kind == "let"
        for binding in statement.parts
    }
    files = {path.name for path in LIBRARY.glob("*.cat")}
    said = quoted(section(root, "herd's library"))
    assert names | files | {"co", "rspverify/axiomatic/library"} == said


def test_the_library_is_without_mistakes() -> None:
    assert Reader().problems == []


def test_every_construct_that_is_refused_is_listed(root: Path) -> None:
    said = quoted(section(root, "Not supported, and named at its line"))
    words = {word for each in REFUSED.values() for word in re.findall(r"^[a-z]+$", each)}
    assert words <= said
