"""What the documents show is what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import PAGES, blocks
from typer.testing import CliRunner

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.catalogue import shipped_models
from rspverify.axiomatic.vocabulary import MO, OF_LANGUAGES, RELATIONS, RF
from rspverify.cli import app
from rspverify.drawing.violation import usual
from rspverify.litmus.reader import read_program
from rspverify.scheme.reader import read_scheme
from rspverify.source import Source
from rspverify.verdict import ProgressWord, Word

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
DRAW = (ROOT / "docs/outcomes.md").read_text()


@pytest.mark.parametrize("name", shipped_models())
def test_what_is_drawn_is_named(name: str) -> None:
    (paragraph,) = [each for each in DRAW.split("\n\n") if "Drawn are sb, rf" in each]
    assert set(usual(load_model(name))) <= set(re.findall(r"\w+", paragraph))


def test_the_pictures_of_the_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    commands = re.findall(r"^\$ rspverify (draw .*) -o (\S+)$", DRAW, re.MULTILINE)
    pictures = {each.name: each for each in (ROOT / "docs/pictures").iterdir()}
    assert pictures.keys() <= {name for _, name in commands}
    for command, name in commands:
        if name in pictures:
            drawn = CliRunner().invoke(app, command.split()).stdout
            assert drawn == pictures[name].read_text(), command


def test_the_scheme_of_the_document() -> None:
    (text,) = [each.text for each in blocks(ROOT / "docs/schemes.md") if "name: mine" in each.text]
    assert [str(row) for row in read_scheme(Source("mine.yaml", text)).rows] == [
        "load na, load WG,_",
        "load DV,N (acquire)",
        "rmw DV,_ (acq_rel)",
        "fence DV,_ (release)",
    ]


def test_the_tests_of_the_litmus_document() -> None:
    tests = [
        each.text
        for each in blocks(ROOT / "docs/litmus-language.md")
        if each.text.startswith("OpenCL")
    ]
    titles = [read_program(Source("t.litmus", test)).title for test in tests]
    assert titles == ["counter", "elements", "unsafe"]


def test_the_corpus_is_as_large_as_the_readme_says() -> None:
    count = len(list((ROOT / "litmus/rsp").rglob("*.litmus")))
    assert f"our {count} litmus tests" in README
    assert f"; {count} tests ship" in README


def test_every_model_and_base_name_is_documented() -> None:
    models = (ROOT / "docs/models.md").read_text()
    assert all(f"`{name}`" in models for name in shipped_models())
    fragment = (ROOT / "docs/cat-fragment.md").read_text()
    for name in (*OF_LANGUAGES, *RELATIONS, RF, MO):
        assert f"`{name}`" in fragment, name


def test_every_word_of_a_verdict_is_in_the_glossary() -> None:
    verdicts, glossary = ((ROOT / f"docs/{it}.md").read_text() for it in ("check", "glossary"))
    for word in (*Word, *ProgressWord):
        assert f"\n| {word} | " in verdicts
        assert re.search(rf"^\b.*\b{word}\b.*\n:   ", glossary, re.MULTILINE)


def test_every_machine_is_documented() -> None:
    """And each instruction of the paper's machine and its variants; `show` lists the others'."""
    from rspverify.architecture.machines import MACHINES

    text = (ROOT / "docs/machine.md").read_text()
    for machine in MACHINES.values():
        assert f"`{machine.name}`" in text or machine.name == "rsp"
        for it in machine.instructions if machine.name.startswith("rsp") else ():
            assert re.search(f"`{re.escape(it)}[ `]", text), it


def test_dependencies_are_documented() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(each for extra in extras for each in extra)]
    text = (ROOT / "docs/dependencies.md").read_text().lower()
    for requirement in wanted:
        name = re.split(r"[<>=\[]", requirement)[0].lower()
        assert name in text, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    """`make docs` looks at those within pages, too."""
    for target in re.findall(r"\]\(([^)#:\s]+)[)#]", page.read_text()):
        assert (page.parent / target).exists(), target


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
