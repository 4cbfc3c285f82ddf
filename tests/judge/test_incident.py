"""The report of an internal error: what is in it, what is not, and that it always comes about."""

from __future__ import annotations

import json
import shlex
import tempfile
from pathlib import Path

import pytest

from rspverify.answers import Internal
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.library import model_texts
from rspverify.judge import incident as bundle
from rspverify.judge.incident import Incident, ReportedError, reported, reporting
from rspverify.limits import LimitReached
from rspverify.soundness.settings import L2, Engine, Settings
from rspverify.source import InputError, InternalError

ROOT = Path(__file__).resolve().parents[2]
FIG4 = str(ROOT / "litmus/rsp/paper/Fig4.litmus")
ORIGINAL = str(ROOT / "schemes/original.yaml")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def failed(message: str = "no", evidence: dict[str, str] | None = None) -> InternalError:
    try:
        raise InternalError(message, evidence)
    except InternalError as error:
        return error


def incident(settings: Settings | None = None) -> Incident:
    return Incident("explain", (FIG4,), (ORIGINAL,), settings or Settings())


def texts(internal: Internal) -> dict[str, str]:
    assert internal.bundle is not None
    place = Path(internal.bundle)
    return {
        each.relative_to(place).as_posix(): each.read_text()
        for each in sorted(place.rglob("*"))
        if each.is_file()
    }


def test_all_that_a_stranger_needs() -> None:
    internal = reported(failed("1 is 2", {"outcome": "x=1", "schedule": "1  ST r x"}), incident())
    assert internal.message == "1 is 2"
    assert str(internal) == f"internal error: 1 is 2; please report it with {internal.bundle}"
    found = texts(internal)
    model = {f"model/{name}" for name in model_texts("opencl-rsp")}
    inputs = {"Fig4.litmus", "original.yaml", "README.md", "error.json", "traceback.txt"}
    assert set(found) == inputs | model and "model/opencl-hb-common.cat" in model
    assert found["Fig4.litmus"] == Path(FIG4).read_text()
    assert found["original.yaml"] == Path(ORIGINAL).read_text()
    readme = found["README.md"]
    for part in (
        "    1 is 2",
        "## The outcome",
        "    x=1",
        "    1  ST r x",
        "* z3 ",
        "* python 3.",
    ):
        assert part in readme
    document = json.loads(found["error.json"])
    assert document["evidence"] == {"outcome": "x=1", "schedule": "1  ST r x"}
    assert set(document["versions"]) == {"rspverify", "python", "z3", "pysmt"}
    assert document["command"] in readme
    assert "InternalError: 1 is 2" in found["traceback.txt"]


def test_nothing_of_the_place_where_it_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home of someone"))
    monkeypatch.setenv("SECRET", "swordfish")
    (tmp_path / "work" / "mine.cat").write_text('include "opencl-hb-common.cat"')
    words = f"{FIG4} and {Path.cwd()}/a/b and {Path.home()}/c and {Path(FIG4).parent}/d"
    settings = Settings(model=str(tmp_path / "work" / "mine.cat"))
    try:
        json.loads(words)
    except ValueError as inner:
        error = InternalError(words, {"outcome": words})
        error.__cause__ = inner
    internal = reported(error, incident(settings))
    assert internal.message == "Fig4.litmus and a/b and ~/c and d"
    for name, text in texts(internal).items():
        for private in (str(tmp_path), str(ROOT), "swordfish", "someone"):
            assert private not in text, name
    trace = texts(internal)["traceback.txt"]
    assert 'File "json/decoder.py"' in trace


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        (Settings(), "--engine {engine} --model model/opencl-rsp.cat"),
        (
            Settings(Engine.EXPLICIT, "opencl-hrf", 2.5, None, "rsp-st-waits", L2.REAL, 99),
            "--engine explicit --model model/opencl-hrf.cat --timeout 2.5 "
            "--machine rsp-st-waits --l2 real --states 99",
        ),
    ],
)
def test_the_command_has_what_was_chosen(settings: Settings, options: str) -> None:
    document = json.loads(texts(reported(failed(), incident(settings)))["error.json"])
    wanted = options.format(engine=Settings().engine)
    assert document["command"] == f"rspverify explain original.yaml Fig4.litmus {wanted}"


def test_the_command_of_outcomes(tmp_path: Path) -> None:
    """Two schemes of one name, and names that a shell would take apart."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "my scheme.yaml").write_text(f"name: {folder}")
    schemes = [str(tmp_path / folder / "my scheme.yaml") for folder in ("a", "b")]
    internal = reported(failed(), Incident("outcomes", (FIG4,), schemes, Settings()))
    found = texts(internal)
    words = shlex.split(json.loads(found["error.json"])["command"])
    assert words[:2] == ["rspverify", "outcomes"]
    named = ["Fig4.litmus", "--scheme", "my scheme.yaml", "--scheme", "other-my scheme.yaml"]
    assert words[2:7] == named
    assert (found["my scheme.yaml"], found["other-my scheme.yaml"]) == ("name: a", "name: b")


def test_the_same_error_is_the_same_report() -> None:
    error = failed()
    first, second = reported(error, incident()), reported(error, incident())
    assert first == second
    assert first.bundle != reported(failed("other"), incident()).bundle
    assert len(list(Path().iterdir())) == 2


def test_not_more_reports_than_someone_will_read() -> None:
    made = [reported(failed(f"number {i}"), incident()) for i in range(22)]
    assert [each.bundle is None for each in made] == [False] * 20 + [True] * 2
    assert str(made[-1]).endswith("number 21; please report it with the test and the scheme")
    assert len(list(Path().iterdir())) == 20


def test_elsewhere_if_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tempfile.mkdtemp

    def mkdtemp(prefix: str, dir: Path) -> str:
        if dir == Path():
            raise PermissionError("read-only")
        return real(prefix=prefix, dir=dir)

    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr(tempfile, "mkdtemp", mkdtemp)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "elsewhere"))
    internal = reported(failed(), incident())
    assert internal.bundle is not None
    assert Path(internal.bundle).parent == tmp_path / "elsewhere"
    assert "README.md" in texts(internal)


def test_no_error_about_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "versions", lambda: 1 / 0)
    assert reported(failed("first"), Incident("explain", ("gone.litmus",))) == Internal(
        "first", None
    )


def test_only_bugs_are_reported() -> None:
    for error in (InputError([]), LimitReached("time"), KeyboardInterrupt()):
        with pytest.raises(type(error)), reporting(incident()):
            raise error
    assert list(Path().iterdir()) == []
    expected = pytest.raises(ReportedError, match=r"^internal error: ZeroDivisionError: nothing; ")
    with expected as it, reporting(incident()):
        raise ZeroDivisionError("nothing")
    assert reported(it.value, Incident("other")) is it.value.internal
    assert len(list(Path().iterdir())) == 1


# ---- the texts of a model ------------------------------------------------------------------------

LATER = "let hb = (sb | sw)+\n"
MODELS = {
    "plain": {"m.cat": "let sw = rf\n" + LATER + "acyclic hb as Hb"},
    "beside": {"m.cat": 'include "parts/sw.cat"\n' + LATER + "acyclic hb as Hb",
               "parts/sw.cat": 'include "more.cat"\nlet sw = it', "parts/more.cat": "let it = rf"},
    "above": {"d/e/m.cat": 'include "../../sw.cat"\n' + LATER + "acyclic hb as Hb",
              "sw.cat": 'include "d/it.cat"\nlet sw = it', "d/it.cat": "let it = rf"},
    "shipped": {"m.cat": '(* include "not this" *)\nlet sw = rf\n' + LATER
                         + 'include "opencl-axioms-common.cat"'},
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_model_texts_are_a_model_of_their_own(name: str, tmp_path: Path) -> None:
    for path, text in MODELS[name].items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    start = next(iter(MODELS[name]))
    found = model_texts(str(tmp_path / start))
    place = tmp_path / "copy"
    for path, text in found.items():
        assert not path.startswith(("..", "/"))
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    assert load_model(str(place / next(iter(found)))) == load_model(str(tmp_path / start))
    if name == "shipped":
        assert set(found) == {"m.cat", "opencl-axioms-common.cat"}


def test_what_is_no_model_has_no_texts() -> None:
    assert model_texts("nowhere.cat") == {}
