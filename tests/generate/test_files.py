"""`rspverify generate` as users meet it: files, refusals, the list."""

from __future__ import annotations

import re
from pathlib import Path

from typer.testing import CliRunner, Result

from rspverify.cli import app
from rspverify.generate.annotations import chosen_annotations
from rspverify.generate.family import FAMILIES, chosen


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["generate", *map(str, arguments)])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.litmus")}


def test_a_family_goes_into_the_folder_and_all_into_folders_of_their_own(tmp_path: Path) -> None:
    one, every = tmp_path / "deep" / "one", tmp_path / "every"
    result = run("MP", one)
    assert result.exit_code == 0
    assert result.stdout == f"{one}: 72 tests of the family MP\n"
    assert run("all", every, "--scopes", "DV").exit_code == 0
    assert contents(every / "MP").items() < contents(one).items()
    assert sorted(path.name for path in every.iterdir()) == sorted(FAMILIES)
    families = chosen("all", chosen_annotations(["DV"])).values()
    assert len(contents(every)) == sum(1 for each in families for _ in each.tests())


def test_a_foreign_file_is_left_and_nothing_is_written(tmp_path: Path) -> None:
    names = [test.file for test in FAMILIES["MP"].tests()][:8]
    for name in names:
        (tmp_path / name).write_text("mine")
    result = run("MP", tmp_path)
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert lines[:5] == [
        f"{tmp_path / name}: must be the test of this name, or not exist" for name in names[:5]
    ]
    assert lines[5:] == [
        "and 3 more files are in the way",
        "  hint: nothing was written; name another folder, or move these files away",
    ]
    assert contents(tmp_path) == dict.fromkeys(names, b"mine")


def test_an_edited_test_is_foreign(tmp_path: Path) -> None:
    run("MP", tmp_path)
    (edited,) = tmp_path.glob("MP+st.na-st.DV+ld.DV-ld.na.litmus")
    edited.write_text(edited.read_text().replace("x = 5", "x = 6"))
    assert run("MP", tmp_path).exit_code == 2
    assert "x = 6" in edited.read_text()


def test_what_an_interrupted_run_left_is_finished(tmp_path: Path) -> None:
    run("MP", tmp_path)
    before = contents(tmp_path)
    assert run("MP", tmp_path).exit_code == 0
    assert contents(tmp_path) == before
    first, second, *_ = sorted(tmp_path.iterdir())
    first.write_bytes(first.read_bytes()[:100])
    second.unlink()
    assert run("MP", tmp_path).exit_code == 0
    assert contents(tmp_path) == before


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / next(FAMILIES["MP"].tests()).file).symlink_to(target)
    assert run("MP", folder).exit_code == 2
    assert not target.exists()


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("MP", tmp_path / "file" / "below")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"{tmp_path / 'file'}")
    assert "cannot be written" in result.stderr


def test_the_list_shows_every_family_with_its_shapes() -> None:
    result = run("--list")
    assert result.exit_code == 0
    for name, family in FAMILIES.items():
        total = sum(count for _, count in family.counts())
        assert f"{name}  {total} tests: {family.meaning}" in result.stdout
        for notation, count in family.counts():
            shown = re.escape(notation.replace("||", "‖"))
            assert re.search(rf"^ +{count} +{shown} *$", result.stdout, re.MULTILINE)


def test_the_document_shows_every_family(root: Path) -> None:
    text = (root / "docs/suites.md").read_text()
    for name in FAMILIES:
        assert re.search(rf"^\| [^|]*(?<!\S){re.escape(name)}(,| \|)", text, re.MULTILINE), name


def test_only_counted(tmp_path: Path) -> None:
    """With --count nothing is written, and what is said is what would be."""
    words = ["SB", "--scopes", "DV,ALL", "--orders", "rlx,sc", "--distinct"]
    counted = run(*words[:1], tmp_path, *words[1:], "--count")
    assert counted.exit_code == 0 and not list(tmp_path.iterdir())
    written = run(*words[:1], tmp_path, *words[1:])
    (said,) = re.findall(r"^SB  (\d+) tests: ", counted.stdout, re.MULTILINE)
    assert written.stdout == f"{tmp_path}: {said} tests of the family SB\n"
    assert len(contents(tmp_path)) == int(said)
