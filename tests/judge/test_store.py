"""The file under the cache: what damage, foreign files and company do to it."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from caching import QUICK, ROOT, ran
from hypothesis import given, settings
from hypothesis import strategies as st

from rspverify.convert import keep, read
from rspverify.engineering.setup import read_setup
from rspverify.judge import judge as judge_module
from rspverify.judge.fingerprint import LIBRARIES, PACKAGE, fingerprint, rooms_up_to
from rspverify.judge.judge import Judge
from rspverify.judge.store import FILE, Store, clear
from rspverify.judge.verdicts import Answer
from rspverify.records import replace
from rspverify.verdict import Entry, Outcome, Verdict, Word

SCHEMES = [ROOT / f"schemes/{name}.yaml" for name in ("original", "proposed")]
TESTS = [ROOT / f"litmus/rsp/paper/{name}.litmus" for name in ("Fig4", "Ex4")]
VALUES = {f"key {number}": "x" * number for number in range(40)}


def stored(folder: Path, **options: int) -> tuple[Store, list[str]]:
    warnings: list[str] = []
    return Store(folder, warnings.append, **options), warnings


def filled(folder: Path) -> Path:
    """A folder with a store of VALUES."""
    store, warnings = stored(folder)
    for key, value in VALUES.items():
        store.put(key, value)
    store.close()
    assert not warnings
    return folder / FILE


# ---- what it keeps -------------------------------------------------------------------------------


def test_it_keeps_the_last_value_of_a_key(tmp_path: Path) -> None:
    filled(tmp_path / "new" / "folder")
    store, warnings = stored(tmp_path / "new" / "folder")
    assert {key: store.get(key) for key in VALUES} == VALUES
    assert store.get("no such key") is None
    store.put("key 1", "another")
    assert store.get("key 1") == "another"
    assert store.size()[0] == len(VALUES)
    store.close()
    assert store.get("key 1") is None
    assert not warnings


def test_its_size_is_bounded_and_the_oldest_go(tmp_path: Path) -> None:
    store, _ = stored(tmp_path, max_bytes=200_000)
    for number in range(2_000):
        store.put(str(number), "x" * 1_000)
    entries, size = store.size()
    assert size < 200_000 + 256 * 2_000
    assert 50 < entries < 600
    assert store.get("1999") == "x" * 1_000
    assert store.get("0") is None


def _put_many(folder: Path, first: int) -> None:
    store, warnings = stored(folder)
    for number in range(first, first + 100):
        store.put(str(number), str(number))
    store.close()
    assert not warnings


def test_processes_that_start_and_write_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [
        context.Process(target=_put_many, args=(tmp_path, first)) for first in range(0, 600, 100)
    ]
    for each in processes:
        each.start()
    for each in processes:
        each.join()
        assert each.exitcode == 0
    store, _ = stored(tmp_path)
    assert [store.get(str(number)) for number in range(600)] == [
        str(number) for number in range(600)
    ]


# ---- damage --------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(data=st.data())
def test_damage_never_changes_a_value(data: st.DataObject, tmp_path_factory: object) -> None:
    """Whatever happens to the bytes of the file: each key has its value, or none."""
    assert isinstance(tmp_path_factory, pytest.TempPathFactory)
    folder = tmp_path_factory.mktemp("damage")
    place = filled(folder)
    content = bytearray(place.read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content)))]
    for _ in range(data.draw(st.integers(0, 40)) if content else 0):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    place.write_bytes(content)
    store, _ = stored(folder)
    for key, value in VALUES.items():
        assert store.get(key) in (value, None)
    store.put("another", "1")
    assert store.get("another") in ("1", None)
    store.close()
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("column", "value"),
    [("value", '"SOUND"'), ("value", "["), ("value", b"\xff"), ("value", 7), ("sum", "0" * 64)],
)
def test_an_entry_that_was_written_over_is_noticed(
    column: str, value: object, tmp_path: Path
) -> None:
    place = filled(tmp_path)
    with sqlite3.connect(place) as connection:
        connection.execute(f"UPDATE entries SET {column} = ? WHERE key = 'key 7'", (value,))
    connection.close()
    store, warnings = stored(tmp_path)
    assert [store.get("key 7"), store.get("key 7")] == [None, None]
    assert store.get("key 8") == VALUES["key 8"]
    assert warnings == [f"{place}: an entry of the cache is damaged and is decided anew"]


def test_values_that_change_places_are_noticed(cache_folder: Path) -> None:
    """Each answer has a right checksum, but for another question."""
    truth = ran(SCHEMES, TESTS)
    with sqlite3.connect(cache_folder / FILE) as connection:
        rows = connection.execute("SELECT number, value, sum FROM entries").fetchall()
        for (number, _, _), (_, value, checksum) in zip(rows, rows[1:] + rows[:1], strict=True):
            connection.execute(
                "UPDATE entries SET value = ?, sum = ? WHERE number = ?", (value, checksum, number)
            )
    connection.close()
    again = ran(SCHEMES, TESTS)
    assert again.plain == truth.plain
    assert len(again.decided) == 4
    assert [each.split(": ")[1] for each in set(again.warnings)] == [
        "an entry of the cache is damaged and is decided anew"
    ]
    assert not ran(SCHEMES, TESTS).decided


def connected(place: Path, *statements: str) -> None:
    with sqlite3.connect(place) as connection:
        for each in statements:
            connection.execute(each)
    connection.close()


def as_truncated(place: Path) -> None:
    place.write_bytes(filled(place.parent).read_bytes()[:5_000])


def as_other_layout(place: Path) -> None:
    filled(place.parent)
    connected(place, "DROP TABLE entries", "CREATE TABLE entries (words TEXT)")


FOREIGN = "CREATE TABLE entries (key TEXT, value TEXT, sum TEXT)"
SPOILT: dict[str, Callable[[Path], object]] = {
    "garbage": lambda place: place.write_bytes(b"not a database, but long enough " * 130),
    "truncated": as_truncated,
    "of another program": lambda place: connected(place, FOREIGN),
    "marked by another": lambda place: connected(place, "PRAGMA application_id = 7"),
    "of another layout": as_other_layout,
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
}


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_file_that_is_no_store_is_ignored_with_one_warning(spoil: str, tmp_path: Path) -> None:
    place = tmp_path / FILE
    SPOILT[spoil](place)
    store, warnings = stored(tmp_path)
    store.put("key 1", "one")
    assert store.get("key 1") is None
    (warning,) = warnings
    assert warning.startswith(f"{place}: the cache cannot be used and is ignored: ")
    if not place.is_dir():
        clear(tmp_path)
        assert filled(tmp_path) == place


def test_a_run_goes_on_without_a_store(cache_folder: Path) -> None:
    cache_folder.mkdir()
    SPOILT["garbage"](cache_folder / FILE)
    found = ran(SCHEMES, TESTS, jobs=2)
    assert [each.verdict for each in found.results] == [Word.UNSOUND, Word.SOUND] * 2
    assert len(found.decided) == 4 and len({*found.warnings}) == 1


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RSPVERIFY_CACHE", str(tmp_path / "file" / "cache"))
    found = ran(SCHEMES, TESTS)
    assert len(found.decided) == 4
    assert len(set(found.warnings)) == 1
    assert "cannot be used and is ignored" in found.warnings[0]


def _read_only(folder: Path, told: object) -> None:
    if os.geteuid() == 0:
        os.setuid(65_534)
    store, warnings = stored(folder)
    store.put("key 1", "changed")
    told.send((store.get("key 1"), warnings))  # type: ignore[attr-defined]


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    place = filled(tmp_path)
    place.chmod(0o444)
    for folder in (tmp_path, *tmp_path.parents):
        if not os.access(folder, os.W_OK) or folder.stat().st_uid != os.geteuid():
            break
        folder.chmod(folder.stat().st_mode | 0o555)
        if folder.name.startswith("pytest-of"):
            break
    tmp_path.chmod(0o555)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_read_only, args=(tmp_path, there))
    process.start()
    value, warnings = here.recv()
    process.join()
    tmp_path.chmod(0o755)
    assert value is None
    (warning,) = warnings
    assert warning == (
        f"{place}: the cache cannot be used and is ignored: attempt to write a readonly database; "
        "rspverify cache --clear begins it anew"
    )


# ---- the version of an answer --------------------------------------------------------------------


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package."""
    place = tmp_path_factory.mktemp("copied") / "rspverify"
    leave_out = shutil.ignore_patterns("__pycache__", "data")
    return Path(shutil.copytree(PACKAGE, place, ignore=leave_out))


@pytest.mark.parametrize(("room", "every"), [("judge", 1), ("engineering", 3), ("drawing", 3)])
def test_an_edit_discards_the_answers_that_depend_on_it_and_no_others(
    room: str, every: int, package: Path
) -> None:
    """Of files of each kind in each room; of rooms above the judge in every third."""
    before, below = fingerprint(room, package), rooms_up_to(room)
    assert before == fingerprint(room)
    assert {"soundness", "machine", "axiomatic", "smt", "litmus", "compilers"} <= below.keys()
    assert not {"api", "cli", "commands", "render", "server", "terminal", "testing"} & below.keys()
    different = {(it.parts[:-1], it.suffix): it for it in sorted(package.rglob("*.*"))}
    for path in list(different.values())[::every]:
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        of = path.relative_to(package).parts[0].removesuffix(".py")
        assert (fingerprint(room, package) != before) == (of in below), path
        path.write_bytes(content)
    (package / "render" / "new.css").write_bytes(b"")
    os.utime(package / "verdict.py", (0, 0))
    assert fingerprint(room, package) == before
    new = package / "machine" / "new.py"
    new.write_bytes(b"")
    assert fingerprint(room, package) != before
    new.unlink()


def test_all_of_the_package_is_compared_with_workers_elsewhere(package: Path) -> None:
    before = fingerprint(package=package)
    (package / "api" / "new.py").write_bytes(b"")
    assert fingerprint(package=package) != before


def test_the_fingerprint_has_every_library_that_decides() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {each.split(">")[0] for each in project["dependencies"]}
    assert set(LIBRARIES) == names - {"jinja2", "markupsafe", "rich", "typer"}


@pytest.mark.parametrize(("room", "decided"), [("judge", 4), ("render", 0), ("drawing", 0)])
def test_other_code_of_a_room_decides_anew(
    room: str, decided: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran(SCHEMES, TESTS)
    other = {room: "another"}
    here = judge_module.fingerprint_here
    monkeypatch.setattr(judge_module, "fingerprint_here", lambda it: other.get(it) or here(it))
    assert len(ran(SCHEMES, TESTS).decided) == decided


# ---- what is read --------------------------------------------------------------------------------


def test_verdicts_are_read_as_they_were_kept() -> None:
    tests = [*TESTS, ROOT / "litmus/rsp/paper/Ex3.litmus"]
    setup = read_setup(
        [str(each) for each in SCHEMES], [str(each) for each in tests], QUICK, Judge()
    )
    for test in setup.tests:
        for scheme in setup.schemes:
            answer = replace(setup.verdicts.answer(test, scheme), seconds=0.5)
            assert read(Answer, keep(answer)) == answer


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Entry, '{"value":1,"dirty":true}'),
        (Entry, '{"value":1,"dirty":true,"valid":true,"more":true}'),
        (Entry, '{"value":1,"dirty":1,"valid":true}'),
        (Entry, '{"dirty":true,"value":1,"valid":true}'),
        (Entry, '{"value":1,"dirty":true,"valid":true} '),
        (Entry, ""),
        (Entry, "{"),
        (Entry, "[" * 100_000),
        (Outcome, '{"reads":[[1,"2"]],"memory":[]}'),
        (Outcome, '{"reads":[[1]],"memory":[]}'),
        (Verdict, keep(Verdict(Word.SOUND, "")).replace("SOUND", "FINE")),
        (Verdict, keep(Verdict(Word.SOUND, "")).replace('"within":{}', '"within":[]')),
        (Verdict, '{"word":"SOUND","reason":""}'),
    ],
)
def test_text_of_another_shape_is_refused(kind: type, text: str) -> None:
    with pytest.raises(ValueError):
        read(kind, text)


def test_text_that_no_encoding_has_is_kept() -> None:
    path = b"caf\xe9.cat".decode("utf-8", "surrogateescape")
    assert read(Verdict, keep(Verdict(Word.SOUND, path))).reason == path
    assert keep(path).isascii()
