"""Files for users: whole or not at all, never over other people's, and in words what goes wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rspverify.files import make_folder, require_folder, write, write_beside, write_new, written
from rspverify.source import InputError


def test_a_file_is_there_once_all_is_written(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("before")
    with pytest.raises(KeyboardInterrupt), written(place) as stream:
        stream.write("half")
        raise KeyboardInterrupt
    assert place.read_text() == "before"
    assert list(tmp_path.iterdir()) == [place]
    write(place, "after\n")
    assert place.read_bytes() == b"after\n"


def test_a_link_is_followed_where_the_user_has_named_it(tmp_path: Path) -> None:
    target, link, others = tmp_path / "target", tmp_path / "link", tmp_path / "target.part"
    link.symlink_to(target)
    others.write_text("mine")
    write(link, "text")
    assert link.is_symlink() and target.read_text() == "text"
    assert others.read_text() == "mine"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_said_in_words() -> None:
    with pytest.raises(InputError, match=r"^/dev/full: cannot be written: No space left on device"):
        write("/dev/full", "text")


def test_a_folder_that_is_missing_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        write(tmp_path / "nowhere" / "file", "text")


@pytest.mark.parametrize("path", ["", "."])
def test_a_folder_is_no_file(path: str) -> None:
    with pytest.raises(InputError, match="must be a file to write to"):
        write(path, "text")


def test_all_or_none_and_only_what_is_ours(tmp_path: Path) -> None:
    same, begun, new = (tmp_path / name for name in ("same", "begun", "new"))
    same.write_text("text")
    begun.write_text("te")
    texts = dict.fromkeys((same, begun, new), "text")
    write_new(texts, "the text")
    assert [each.read_text() for each in texts] == ["text"] * 3
    same.write_text("mine")
    new.unlink()
    with pytest.raises(InputError) as caught:
        write_new(texts, "the text")
    assert str(caught.value).splitlines()[0] == f"{same}: must be the text, or not exist"
    assert not new.exists()


def test_a_pipe_or_a_link_is_not_ours(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "elsewhere")
    for each in (pipe, link):
        with pytest.raises(InputError, match="must be the text"):
            write_new({each: "text"}, "the text")


def test_a_number_is_added_where_the_name_is_taken(tmp_path: Path) -> None:
    (tmp_path / "it.b").write_text("mine")
    for _ in range(2):
        assert write_beside(
            str(tmp_path), "it", lambda name: {".a": f"include {name}.b", ".b": "two"}
        ) == [tmp_path / "it-2.a", tmp_path / "it-2.b"]
    assert (tmp_path / "it-2.a").read_text() == "include it-2.b"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["it-2.a", "it-2.b", "it.b"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("")
    with pytest.raises(InputError, match="cannot be written to"):
        make_folder(place / "below")
    with pytest.raises(InputError, match="must be a folder to write programs to"):
        require_folder(str(place), "programs")
    require_folder(str(tmp_path / "nothing yet"), "programs")
