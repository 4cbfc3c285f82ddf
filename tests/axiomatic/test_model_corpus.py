"""What is expected of each model on each test of litmus/models, and that the documents say the same.

`make check-all` asks the models, as it does for every suite.
"""

import re
from pathlib import Path

import pytest

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.catalogue import shipped_models
from rspverify.axiomatic.coverage import require_covered
from rspverify.corpus.expected import read_expected
from rspverify.corpus.suite import Kind, find_suites
from rspverify.litmus.reader import read_program, read_program_file
from rspverify.source import InputError, Severity, read_source

ROOT = Path(__file__).resolve().parents[2]
SUITES = find_suites(str(ROOT / "litmus/models"))
EXPECTED = {
    str(Path(suite.folder, test)): (suite, words)
    for suite in SUITES
    for test, words in read_expected(suite.expected, kind=Kind.MODELS).verdicts.items()
}
"""What is expected of each test, by its file."""
IN_DOCUMENTS = {
    str(Path(test).relative_to(suite.folder)): test
    for test, (suite, _) in EXPECTED.items()
    if Path(suite.folder).name in ("c11", "opencl")
}
DOCUMENTS = ("docs/models.md", "docs/findings.md")
MODELS = {name: load_model(name) for name in shipped_models()}
LANGUAGES = {"aarch64": "AArch64", "arm": "ARM", "power": "PPC", "ptx": "PTX", "riscv": "RISCV"}
LANGUAGES |= {"c11": "C", "opencl": "OpenCL", "vulkan": "Vulkan", "x86": "X86"}


def test_every_shipped_model_is_asked() -> None:
    assert {name for suite in SUITES for name in suite.columns} == set(shipped_models())


def test_every_test_is_expected() -> None:
    tests = {path for suite in SUITES for path in suite.tests()}
    assert tests == set(EXPECTED)


def test_a_test_is_called_after_its_file_and_speaks_the_language_of_its_models() -> None:
    for test, (suite, _) in EXPECTED.items():
        source = read_source(Path(test))
        assert read_program(source, assembly=True).title == Path(test).stem
        assert source.text.split()[0] == LANGUAGES[Path(suite.folder).name]


def shown() -> dict[str, dict[str, str]]:
    """What the tables of the documents say: test → model → word."""
    found: dict[str, dict[str, str]] = {}
    models: list[str] = []
    for document in DOCUMENTS:
        for line in (ROOT / document).read_text().splitlines():
            cells = [each.strip().strip("`") for each in line.strip("|").split("|")]
            if cells[0] == "test":
                models = [each for each in cells if each in shipped_models()]
            elif test := IN_DOCUMENTS.get(f"{cells[0]}.litmus"):
                said = found.setdefault(test, {})
                for model, word in zip(models, cells[1:], strict=False):
                    assert said.setdefault(model, word) == word, (document, cells[0])
    return found


def test_the_documents_say_the_same() -> None:
    words = {
        test: {
            model: "racy" if answer.endswith(" racy") else answer
            for model, answer in answers.items()
        }
        for test, (_, answers) in EXPECTED.items()
    }
    for test, said in shown().items():
        silent = {model for model, word in said.items() if word == "–"}
        assert not silent & {model for model, word in words[test].items() if word != "UNSUPPORTED"}
        assert {model: word for model, word in said.items() if model not in silent} == {
            model: word for model, word in words[test].items() if model in said.keys() - silent
        }, test
        for model in silent:
            with pytest.raises(InputError) as caught:
                require_covered(read_program_file(Path(test)), MODELS[model])
            assert caught.value.severity is Severity.UNSUPPORTED
    assert len(shown()) >= 17


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_tests_that_documents_name_exist(document: str) -> None:
    text = (ROOT / document).read_text()
    for name in re.findall(r"litmus/models/[^\s`*…\")]+", text):
        assert (ROOT / name.rstrip(".,;:")).exists(), name
