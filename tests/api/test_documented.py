"""Every example of docs/api.md, run in its order."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_examples_of_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs/api.md").read_text()
    examples = "\n".join(re.findall(r"^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    found = doctest.DocTestParser().get_doctest(examples, {}, "docs/api.md", None, 0)
    assert len(found.examples) > 20
    said: list[str] = []
    doctest.DocTestRunner().run(found, out=said.append)
    assert not said, "".join(said)


def test_no_example_stands_elsewhere() -> None:
    text = (ROOT / "docs/api.md").read_text()
    assert text.count("```") == 2 * text.count("```pycon")
