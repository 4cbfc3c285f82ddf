"""Every example of the API's docstrings, run."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import rspverify
from rspverify import api, commands

ROOT = Path(__file__).resolve().parents[2]
FOUND = [
    example
    for room in (api, commands)
    for module in iter_modules(room.__path__, f"{room.__name__}.")
    for example in doctest.DocTestFinder().find(
        import_module(module.name), extraglobs={"rspverify": rspverify}
    )
    if example.examples
]


@pytest.mark.parametrize("example", FOUND, ids=lambda example: example.name)
def test_the_examples(example: doctest.DocTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    said: list[str] = []
    doctest.DocTestRunner().run(example, out=said.append)
    assert not said, "".join(said)


def test_there_are_examples() -> None:
    assert len(FOUND) >= 5
