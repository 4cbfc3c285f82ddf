"""What the documents show is what the program does."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rspverify.axiomatic import load_model, shipped_models
from rspverify.axiomatic.vocabulary import MO, RELATIONS, RF, SETS
from rspverify.cli import app
from rspverify.drawing.edges import usual
from rspverify.litmus import read_program
from rspverify.scheme import read_scheme
from rspverify.source import Source

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def blocks(text: str) -> list[str]:
    """The indented blocks of a document, without their indentation."""
    found = re.findall(r"(?:^(?: {4}.*)?\n)+", text, re.MULTILINE)
    return [textwrap.dedent(each).strip("\n") for each in found if each.strip()]


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def test_the_counterexample_of_the_readme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (screen,) = [each for each in blocks(README) if each.startswith("$ rspverify explain")]
    command, *shown = lines(screen)
    words = command.split()[2:]
    assert lines(CliRunner().invoke(app, words).stdout) == shown


@pytest.mark.parametrize("options", ["--format herd", "--races"])
def test_the_outcomes_of_the_readme(monkeypatch: pytest.MonkeyPatch, options: str) -> None:
    monkeypatch.chdir(ROOT)
    start = f"$ rspverify outcomes {options}"
    (screen,) = [each for each in blocks(README) if each.startswith(start)]
    command, *shown = lines(screen)
    found = lines(CliRunner().invoke(app, command.split()[2:]).stdout)
    if options == "--format herd":  # the last line is the time
        found, shown = found[:-1], shown[:-1]
    assert found == shown


@pytest.mark.parametrize("command", ["mutate schemes/proposed.yaml", "hunt schemes/original.yaml"])
def test_the_scheme_engineering_of_the_readme(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands between two `…` is there, in this order; times may be others."""
    monkeypatch.chdir(ROOT)
    (screen,) = [each for each in blocks(README) if each.startswith(f"$ rspverify {command}")]
    first, *shown = lines(screen)
    words = first.split()[2:]
    found = _without_times("\n".join(lines(CliRunner().invoke(app, words).stdout)))
    for part in "\n".join(shown).split("…\n"):
        part = _without_times(part.rstrip("\n…"))
        assert part in found, part
        found = found[found.index(part) + len(part) :]


def _without_times(text: str) -> str:
    return re.sub(r"; \d+(\.\d+)? s$", "; … s", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", shipped_models())
def test_the_readme_names_what_is_drawn(name: str) -> None:
    (paragraph,) = [each for each in README.split("\n\n") if "Drawn are sb, rf" in each]
    assert set(usual(load_model(name))) <= set(re.findall(r"\w+", paragraph))


def test_the_pictures_of_the_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    commands = re.findall(r"^    rspverify (draw .* -o (docs/pictures/\S+))$", README, re.MULTILINE)
    assert {place for _, place in commands} == {
        str(each.relative_to(ROOT)) for each in (ROOT / "docs/pictures").iterdir()
    }
    for command, place in commands:
        words = command.split()[:-2]
        assert CliRunner().invoke(app, words).stdout == (ROOT / place).read_text(), command


def test_the_scheme_of_the_readme() -> None:
    (text,) = [each for each in blocks(README) if each.startswith("name: mine")]
    assert [str(row) for row in read_scheme(Source("mine.yaml", text)).rows] == [
        "load na, load WG,_",
        "load DV,N",
        "store na, store WG,_",
        "store DV,N",
    ]


def test_the_test_of_the_litmus_document() -> None:
    text = (ROOT / "docs/litmus-language.md").read_text()
    (test,) = [each for each in blocks(text) if each.startswith("OpenCL")]
    assert read_program(Source("MP.litmus", test)).title == "MP"


def test_the_corpus_is_as_large_as_the_readme_says() -> None:
    count = len(list((ROOT / "litmus/rsp").rglob("*.litmus")))
    assert f"our {count} litmus tests" in README
    assert f"{count} tests, 2 schemes" in README


def test_every_model_and_base_name_is_documented() -> None:
    models = (ROOT / "docs/models.md").read_text()
    assert all(f"`{name}`" in models for name in shipped_models())
    fragment = (ROOT / "docs/cat-fragment.md").read_text()
    for name in (*SETS, *RELATIONS, RF, MO):
        assert f"`{name}`" in fragment, name


def test_every_command_is_documented() -> None:
    from rspverify.commands.registry import COMMANDS

    assert all(f"| `rspverify {each.name}" in README for each in COMMANDS)


def test_every_instruction_is_documented() -> None:
    from rspverify.assembly import MACHINES

    text = (ROOT / "docs/machine.md").read_text()
    for machine in MACHINES.values():
        assert f"`{machine.name}`" in text or machine.name == "rsp"
        assert all(f"`{name} " in text for name in machine.instructions)


def test_dependencies_are_documented() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(each for extra in extras for each in extra)]
    text = (ROOT / "docs/dependencies.md").read_text().lower()
    for requirement in wanted:
        name = re.split(r"[<>=]", requirement)[0].lower()
        assert name in text, name


def test_links_lead_somewhere() -> None:
    prose = re.sub(r"^ {4}.*$", "", README, flags=re.MULTILINE)
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        assert (ROOT / target).exists(), target


_FILE = re.compile(r"(?<![\w.])\w[\w./+@-]*\.(?:cat|cff|json|lark|litmus|md|py|svg|toml|yaml)\b")
_FOLDER = re.compile(r"\b(?:bench|docs|litmus|rspverify|schemes|tests)/[\w./+@-]*")
_MODULE = re.compile(r"\brspverify(?:\.\w+)+")
_CITATION = re.compile(r"docs/semantics\.md, ([A-Z][a-z]+(?: [a-z]+)*)")
TOPS = ("docs", "litmus", "rspverify", "tests")
GUIDES = ("CONTRIBUTING.md", "docs/semantics.md", "docs/architecture.md")


@pytest.mark.parametrize("document", GUIDES)
def test_what_a_guide_names_exists(document: str) -> None:
    """Files by their path, from the top or from the package, or by a name alone; and modules.

    A name in capitals, as in `schemes/NAME.yaml`, is the reader's.
    """
    text = (ROOT / document).read_text()
    known = {each.name for top in TOPS for each in (ROOT / top).rglob("*.*")}
    named = {*_FILE.findall(text), *(each.rstrip("./") for each in _FOLDER.findall(text))}
    tops = (ROOT, ROOT / "rspverify", ROOT / "tests")
    missing = {
        each
        for each in named
        if not any((top / each).exists() for top in tops)
        and each not in known
        and not any(part.partition(".")[0].isupper() for part in each.split("/"))
    }
    modules = {each.removesuffix(".py").replace(".", "/") for each in _MODULE.findall(text)}
    missing |= {
        each
        for each in modules
        if not (ROOT / each).is_dir() and not (ROOT / each).with_suffix(".py").exists()
    }
    assert not missing


def test_what_is_cited_of_the_semantics_is_a_section() -> None:
    text = (ROOT / "docs/semantics.md").read_text()
    sections = set(re.findall(r"^#+ (?:\d+\. )?(.+)$", text, re.MULTILINE))
    for top in ("rspverify", "tests", "docs", "schemes", "bench"):
        for each in (ROOT / top).rglob("*"):
            if each.suffix in {".py", ".md", ".cat", ".yaml"}:
                for section in _CITATION.findall(each.read_text()):
                    assert section in sections, f"{each}: {section}"


def test_how_to_cite() -> None:
    import yaml

    from rspverify import __version__

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == __version__
    assert citation["license"] == "MIT"
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text()
