"""What each model says of each test of litmus/models, and that the documents say the same."""

import re
from pathlib import Path

import pytest

from rspverify.axiomatic import load_model, require_understood, shipped_models
from rspverify.check.settings import Settings
from rspverify.corpus.expected import read_expected
from rspverify.corpus.models import Asked, Asking
from rspverify.corpus.suite import Kind, read_suite
from rspverify.litmus import read_program_file
from rspverify.source import InputError, Severity, read_source

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "litmus/models"
SUITE = read_suite(str(FOLDER))
EXPECTED = read_expected(SUITE.expected, kind=Kind.MODELS).verdicts
DOCUMENTS = ("docs/models.md", "docs/findings.md")
ASKING = Asking({name: load_model(name) for name in SUITE.columns}, Settings(seconds=60))


@pytest.mark.parametrize("test", EXPECTED)
def test_as_expected(test: str) -> None:
    answers = ASKING.answers(Asked(read_source(FOLDER / test), SUITE.columns))
    assert {each.model: each.words for each in answers} == EXPECTED[test]


def test_every_shipped_model_is_asked() -> None:
    assert set(SUITE.columns) == set(shipped_models())


def test_every_test_is_expected() -> None:
    tests = {str(path.relative_to(FOLDER)) for path in FOLDER.glob("**/*.litmus")}
    assert tests == EXPECTED.keys()


def test_a_test_is_called_after_its_file() -> None:
    for test in EXPECTED:
        assert read_program_file(FOLDER / test).title == Path(test).stem


def shown() -> dict[str, dict[str, str]]:
    """What the tables of the documents say: test → model → word."""
    found: dict[str, dict[str, str]] = {}
    models: list[str] = []
    for document in DOCUMENTS:
        for line in (ROOT / document).read_text().splitlines():
            cells = [each.strip().strip("`") for each in line.strip("|").split("|")]
            if cells[0] == "test":
                models = [each for each in cells if each in shipped_models()]
            elif f"{cells[0]}.litmus" in EXPECTED:
                said = found.setdefault(f"{cells[0]}.litmus", {})
                for model, word in zip(models, cells[1:], strict=False):
                    assert said.setdefault(model, word) == word, (document, cells[0])
    return found


def test_the_documents_say_the_same() -> None:
    words = {
        test: {
            model: "racy" if answer.endswith(" racy") else answer
            for model, answer in answers.items()
        }
        for test, answers in EXPECTED.items()
    }
    for test, said in shown().items():
        silent = {model for model, word in said.items() if word == "–"}
        assert all(words[test][model] == "UNSUPPORTED" for model in silent)
        assert {model: word for model, word in said.items() if model not in silent} == {
            model: word for model, word in words[test].items() if model in said.keys() - silent
        }, test
        for model in silent:
            with pytest.raises(InputError) as caught:
                require_understood(read_program_file(FOLDER / test), load_model(model))
            assert caught.value.severity is Severity.UNSUPPORTED
    assert shown().keys() == EXPECTED.keys()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_tests_that_documents_name_exist(document: str) -> None:
    text = (ROOT / document).read_text()
    for name in re.findall(r"litmus/models/[^\s`*…\")]+", text):
        assert (ROOT / name.rstrip(".,;:")).exists(), name
