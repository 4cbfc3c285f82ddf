"""The pages that are made from the code, and what the site is built of (`make docs` builds it)."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from typer.main import get_command

import rspverify
from rspverify.cli import app
from rspverify.render.schemas import DOCUMENTS
from website import commands, schemas


def test_the_page_of_commands_has_each_command_and_each_option() -> None:
    text = commands.page()
    parts = {part.split("\n", 1)[0]: part for part in text.split("\n## ")[1:]}
    group = get_command(app)
    assert parts.keys() == group.commands.keys()
    for name, command in group.commands.items():
        shown = re.findall(r"^`([^`]+)`\n: ", parts[name], re.MULTILINE)
        options = {each for it in command.params for each in it.opts if each.startswith("-")}
        said = {each for line in shown for each in re.findall(r"(?<!\S)(--?[\w-]+)", line)}
        assert options - {"--help"} <= said, name


def test_the_page_of_documents_has_each_schema_and_each_field(root: Path) -> None:
    files = {each.name: each for each in (root / "rspverify").rglob("*.schema.json")}
    text = schemas.page(files)
    titles = {name.replace("-", " --") for name in DOCUMENTS}
    assert {f"## {name}\n" for name in titles} <= set(re.findall(r"^## .+\n", text, re.M))
    for name in files:
        assert f"[{name}]({name})" in text
    assert "| `verdict` | Word |" in text
    assert "One of `ERROR`, `OPEN`, `RACY`, `SOUND`, " in text


def test_every_name_of_the_package_is_in_its_reference(root: Path) -> None:
    text = (root / "docs/api-reference.md").read_text()
    said = re.findall(r"^::: rspverify\.(\w+)$", text, re.MULTILINE)
    assert set(rspverify.__all__) - {"__version__"} <= set(said)


def test_every_page_has_its_place(root: Path) -> None:
    text = (root / "mkdocs.yml").read_text()
    nav = yaml.safe_load(text[text.index("\nnav:") :])["nav"]
    listed = re.findall(r"[\w-]+\.md", str(nav))
    assert {page.name for page in (root / "docs").glob("*.md")} <= set(listed)
    assert len(listed) == len(set(listed))


def test_no_address_is_loaded_from_elsewhere(root: Path) -> None:
    """Nor does a page contact one: fonts are the system's, style and script the site's."""
    config = (root / "mkdocs.yml").read_text()
    assert "font: false" in config
    assert not re.search(r"https?://", config)
    assert not re.search(r"url\(|@import", (root / "docs/style.css").read_text())
