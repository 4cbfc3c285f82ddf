"""`import rspverify`: questions, what is given to them, and what comes back."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from collections.abc import Callable, Generator
from importlib import import_module
from itertools import islice
from pathlib import Path
from pkgutil import iter_modules
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner

import rspverify
from rspverify import InputError, SchemeBuilder, Settings, TestBuilder, Word, api, commands
from rspverify.api.asked import Asked
from rspverify.api.inputs import settled
from rspverify.cli import app
from rspverify.judge.run import Run
from rspverify.limits import LimitReached
from rspverify.litmus.program import Program
from rspverify.records import replace
from rspverify.scheme.writer import scheme_text

FIG4 = "litmus/rsp/paper/Fig4.litmus"


def judge() -> Any:
    return rspverify.judge_of(1, cache=False)


def message_passing() -> Program:
    made = TestBuilder("MP")
    producer, consumer = made.thread(), made.thread()
    producer.store("x", 1)
    producer.store("flag", 1, "dv")
    with consumer.when(consumer.load("flag", "dv") == 1):
        consumer.load("x")
    return made.test("exists (1:r0=1 /\\ 1:r1=0)")


def printed(*words: str) -> str:
    return CliRunner().invoke(app, list(words)).stdout


def without_seconds(text: str) -> Any:
    """A JSON document but for what differs from run to run."""

    def cleaned(it: Any) -> Any:
        if isinstance(it, dict):
            left = {"seconds", "cached"}
            return {key: cleaned(value) for key, value in it.items() if key not in left}
        return [cleaned(each) for each in it] if isinstance(it, list) else it

    return cleaned(json.loads(text))


# ---- names --------------------------------------------------------------------------------------


def test_every_name_is_there_and_nothing_is_loaded_before() -> None:
    code = (
        "import sys, rspverify\n"
        "assert not any(each.startswith('rspverify.') for each in sys.modules), sys.modules\n"
        "for name in rspverify.__all__: getattr(rspverify, name)\n"
        "assert set(rspverify.__all__) <= set(dir(rspverify))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert set(rspverify._NAMES) | {"__version__"} == set(rspverify.__all__)
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        rspverify.chekc  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("name", rspverify.__all__)
def test_every_name_is_documented(name: str) -> None:
    if name != "__version__":
        assert getattr(rspverify, name).__doc__


# ---- the same as commands -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            lambda: rspverify.check(["original", "proposed"], FIG4, judge=judge()),
            ["check", "original", "proposed", FIG4],
        ),
        (
            lambda: rspverify.outcomes(FIG4, "proposed", judge=judge()),
            ["outcomes", FIG4, "--scheme", "proposed"],
        ),
        (lambda: rspverify.progress(FIG4, judge=judge()), ["progress", FIG4]),
        (lambda: rspverify.prove("original", judge=judge()), ["prove", "original"]),
        (
            lambda: rspverify.mutate("proposed", FIG4, proof=False, judge=judge()),
            ["mutate", "proposed", FIG4, "--no-proof"],
        ),
        (
            lambda: rspverify.compare("original", "proposed", FIG4, judge=judge()),
            ["compare", "original", "proposed", FIG4],
        ),
        (
            lambda: rspverify.hunt("original", events=2, judge=judge()),
            ["hunt", "original", "--events", "2"],
        ),
    ],
    ids=lambda it: it[0] if isinstance(it, list) else "",
)
def test_reports_are_what_commands_print(asked: Callable[[], Asked[Any, Any]], words: list[str]):
    without = [] if words[0] == "outcomes" else ["--no-cache"]
    document = printed(*words, *without, "-j", "1", "--format", "json")
    question = asked()
    assert without_seconds(question.json()) == without_seconds(document)
    assert str(question).strip() and "<iframe" in question._repr_html_()


def test_an_unknown_form() -> None:
    with pytest.raises(ValueError, match=r"the form must be .*sarif.*, not pdf"):
        rspverify.check("original", FIG4, judge=judge()).form("pdf")


# ---- asked lazily -------------------------------------------------------------------------------


def test_nothing_is_decided_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    results = Run.results

    def noted(self: Run, files: Any) -> Generator[Any, None, None]:
        for each in results(self, files):
            asked.append(each.file)
            yield each

    monkeypatch.setattr(Run, "results", noted)
    question = rspverify.check(["original", "proposed"], [FIG4, "Fig5"], judge=judge())
    assert asked == []
    first = next(iter(question))
    assert (first.verdict, len(asked)) == (Word.UNSOUND, 1)
    assert list(islice(question, 1)) == [first], "what is known is not asked again"
    assert len(asked) == 1
    report = question.report()
    assert len(report.results) == 4 == len(list(question)) and report.stopped is None
    assert len(asked) == 4


ENDS = pytest.mark.parametrize(
    ("error", "interrupted", "limit"),
    [(KeyboardInterrupt(), True, None), (LimitReached("too long"), False, "too long")],
)


def end_after_one(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every check end so after one result."""
    results = Run.results

    def some(self: Run, files: Any) -> Generator[Any, None, None]:
        yield from islice(results(self, files), 1)
        raise error

    monkeypatch.setattr(Run, "results", some)


@ENDS
def test_a_question_that_was_stopped_never_looks_whole(
    error: BaseException, interrupted: bool, limit: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt of a loop ends what is decided: later reports say so."""
    end_after_one(error, monkeypatch)
    question = rspverify.check(["original", "proposed"], FIG4, judge=judge())
    with pytest.raises(type(error)):
        list(question)
    report = question.report()
    assert (len(report.results), report.interrupted, report.limit) == (1, interrupted, limit)
    assert (str(error) or "interrupted") in str(question)
    assert question.report() == report


def test_a_question_that_was_closed_never_looks_whole() -> None:
    question = rspverify.check(["original", "proposed"], FIG4, judge=judge())
    next(iter(question))
    question.close()
    assert question.report().stopped == "closed before it was done"
    mutants = rspverify.mutate("proposed", FIG4, judge=judge())
    next(iter(mutants))
    mutants.close()
    assert mutants.report().stopped == "closed before it was done"
    assert len(mutants.known) == 1
    with pytest.raises(LimitReached, match="closed before it was done: these are not all"):
        list(mutants)
    repairing = rspverify.repair("original", FIG4, judge=judge())
    repairing.close()
    with pytest.raises(LimitReached, match="before the search began: closed"):
        str(repairing)
    outcomes = rspverify.outcomes([FIG4, "Fig5"], judge=judge())
    next(iter(outcomes))
    outcomes.close()
    assert "closed before it was done" in outcomes.json()
    assert "other tests were not asked" in str(outcomes)


def test_an_explanation() -> None:
    found = rspverify.explain("original", FIG4)
    assert found.explanation.verdict.word is Word.UNSOUND
    assert str(found).splitlines()[0] == printed("explain", "original", FIG4).splitlines()[0]
    assert (svg := found._repr_svg_()) and svg.startswith("<svg")
    assert "srcdoc=" in found._repr_html_()
    sound = rspverify.explain("proposed", FIG4)
    assert sound.picture is None and sound._repr_svg_() is None
    assert sound.reached()[0].all
    assert str(sound).strip() == printed("explain", "proposed", FIG4).strip()


def test_pictures() -> None:
    found = rspverify.draw(FIG4)
    assert found.svg() == printed("draw", FIG4)
    assert found.dot().startswith("digraph")
    assert found._repr_svg_() == found.svg()
    with pytest.raises(rspverify.NoExecutionError):
        rspverify.draw(FIG4, race=True)


# ---- what is given ------------------------------------------------------------------------------


def test_what_was_read_can_be_asked_about() -> None:
    scheme, test = rspverify.read_scheme("original"), rspverify.read_test("Fig4")
    (result,) = rspverify.check(scheme, test, judge=judge())
    assert (result.verdict, result.file) == (Word.UNSOUND, FIG4)
    assert result.scheme_file == "schemes/original.yaml"


def test_an_edited_scheme_is_what_it_is_now() -> None:
    original, proposed = rspverify.read_scheme("original"), rspverify.read_scheme("proposed")
    assert [row.shapes for row in original.rows] == [row.shapes for row in proposed.rows]
    for row in proposed.rows:
        original = original.with_code(row.number, row.code)
    (result,) = rspverify.check(original, "Fig4", judge=judge())
    assert (result.verdict, result.scheme_file) == (Word.SOUND, "<original>")


def test_a_test_that_python_made() -> None:
    test = message_passing()
    results = list(rspverify.check(["original", "proposed"], [test, "Fig4"], judge=judge()))
    assert [each.verdict for each in results] == [Word.UNSOUND, Word.SOUND] * 2
    assert [each.file for each in results[::2]] == ["<MP>", FIG4]
    (answer,) = rspverify.outcomes(test, judge=judge())
    assert answer.condition == "exists (1:r0=1 /\\ 1:r1=0)"
    assert answer.final is not None and answer.final.positive == 0
    assert "<MP>" in str(rspverify.check("original", test, judge=judge()))


def test_findings_of_what_is_no_file_have_their_reasons() -> None:
    original = rspverify.read_scheme("original")
    edited = original.with_code(5, original.rows[4].code[1:])
    checked = rspverify.check(edited, message_passing(), judge=judge())
    sarif = json.loads(checked.form("sarif"))
    assert "row 5" in json.dumps(sarif["runs"][0]["results"])
    page = checked.form("html")
    assert "INV_L1 WG" in page and "1:r0=1 1:r1=0" in page and "<svg" in page
    assert "no such file" not in page and "not found again" not in page


def test_a_scheme_that_python_made() -> None:
    """The same table as one that ships gives the same verdicts."""
    made = SchemeBuilder("made", note="row by row")
    words = {"na": "na", "WI": "wi", "WG": "wg", "DV": "dv", "ALL": "all"}
    given = rspverify.read_scheme("proposed")
    for row in given.rows:
        scopes = [words[each.value if each else "na"] for each in row.scopes]
        remote = (True in row.remotes) if len(row.remotes) == 1 else None
        code = [str(each) for each in row.code]
        made.row(row.kind.value, scopes, code, remote=remote)
    scheme = made.scheme()
    assert [(each.shapes, list(map(str, each.code))) for each in scheme.rows] == [
        (each.shapes, list(map(str, each.code))) for each in given.rows
    ]
    (result,) = rspverify.check(scheme, "Fig4", judge=judge())
    assert (result.verdict, result.scheme) == (Word.SOUND, "made")
    assert scheme_text(scheme).startswith("name: made")


def test_all_mistakes_of_a_scheme_at_once() -> None:
    made = SchemeBuilder("mi ne")
    made.row("lod", "dv", ["LD r x", "INVL1 WG"])
    with pytest.raises(InputError) as caught:
        made.scheme()
    words = str(caught.value)
    assert "name must be a word, not 'mi ne'" in words
    assert "did you mean load?" in words and "did you mean INV_L1?" in words


def test_mistakes_in_what_is_given_are_told_together() -> None:
    with pytest.raises(InputError) as caught:
        rspverify.check(["orignal", "proposed"], ["Fig44", FIG4], judge=judge())
    words = str(caught.value)
    assert "did you mean original?" in words and "Fig44: no such file" in words


def test_settings_that_cannot_be_used() -> None:
    assert settled(None) == Settings()
    with pytest.raises(
        InputError, match=r"the machine must be .*rsp, .* or a .machine file, not rps"
    ):
        rspverify.check("proposed", FIG4, Settings(machine="rps"))
    with pytest.raises(InputError, match="the second solver must be"):
        rspverify.explain("proposed", FIG4, Settings(confirm="nosuch"))
    with pytest.raises(InputError, match="--steps must go with --engine unroll"):
        rspverify.hunt("proposed", Settings(steps=3))


# ---- values of tests ----------------------------------------------------------------------------


def test_values_are_calculated_by_the_program() -> None:
    made = TestBuilder("values", {"x": 5})
    one = made.thread()
    read = one.load("x", "wg")
    one.store("y", -(read + 1) * 2 - 1, "wg")
    with one.when((3 - read) < 0):
        one.exchange("z", read ^ 1, "wg", order="relaxed")
    (answer,) = rspverify.outcomes(made.test(), judge=judge())
    assert answer.outcomes is not None
    (row,) = answer.outcomes
    assert row.outcome.memory == {"x": 5, "y": -13, "z": 4}


def test_a_value_is_no_truth() -> None:
    made = TestBuilder("bool")
    read = made.thread().load("x")
    with pytest.raises(TypeError, match=r"use ThreadBuilder.when"):
        if read == 1:
            pass
    with pytest.raises(TypeError, match="must be compared with an integer or a value"):
        read == "1"  # noqa: B015


def test_a_thread_calculates_with_what_it_has_read_itself() -> None:
    made = TestBuilder("two")
    one, other = made.thread(), made.thread()
    value, own = one.load("x", "dv"), other.load("y", "dv")
    for wrong in (lambda: other.store("z", value), lambda: own + value):
        with pytest.raises(InputError, match="with what it has read itself"):
            wrong()
    with pytest.raises(InputError, match="with what it has read itself"), other.when(value == 1):
        pass
    with pytest.raises(TypeError, match="a value must be an integer"):
        one.store("x", 1.9)  # type: ignore[arg-type]


def test_read_modify_writes_are_what_they_are_in_a_file(tmp_path: Path) -> None:
    made = TestBuilder("inc", {"x": 10})
    thread = made.thread()
    thread.store("y", thread.fetch_add("x", 5, "wg"), "wg")
    thread.fence("seq_cst")
    (answer,) = rspverify.outcomes(made.test(), judge=judge())
    assert answer.outcomes is not None
    assert [each.outcome.memory for each in answer.outcomes] == [{"x": 15, "y": 10}]
    with pytest.raises(InputError, match="a rmw must have a scope"):
        thread.fetch_add("x", 5, None)  # type: ignore[arg-type]


def test_two_tests_of_one_name_are_no_question() -> None:
    """Their reasons would be told of each other."""
    other = TestBuilder("MP")
    other.thread().store("x", 1)
    with pytest.raises(InputError, match="<MP>: two tests must have two names"):
        rspverify.check("original", [message_passing(), other.test()], judge=judge())
    same = rspverify.check("original", [message_passing(), message_passing()], judge=judge())
    assert len(list(same)) == 1


def test_a_program_that_was_changed_is_refused() -> None:
    program = rspverify.read_test("Fig4")
    changed = replace(program, threads=program.threads[:1])
    with pytest.raises(InputError, match="a Program must be as it was read, not changed"):
        rspverify.check("original", changed, judge=judge())
    few = rspverify.read_test("Fig4", Settings(unroll=3))
    assert len(list(rspverify.check("original", few, judge=judge()))) == 1


def test_two_edits_of_one_scheme_are_told_apart() -> None:
    given = rspverify.read_scheme("proposed")
    codes = {5: given.rows[4].code[1:], 2: given.rows[1].code[:1]}
    edits = [given.with_code(number, code) for number, code in codes.items()]
    compared = rspverify.compare(*edits, [FIG4, "Fig5"], judge=judge())
    report = compared.report()
    assert [report.old.file, report.new.file] == ["<proposed>", "<proposed> (new)"]
    assert "not found again" not in compared.form("html")
    with pytest.raises(InputError, match="a row of proposed must be from 1 to 9, not 99"):
        given.with_code(99, ())


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (
            lambda: rspverify.hunt("original", events=0),
            "--events must be a whole number from 1 to 7, not 0",
        ),
        (lambda: rspverify.check("original", []), "at least one test must be given"),
        (
            lambda: rspverify.check("original", FIG4, Settings(unroll=0)),
            "--unroll must be a whole number, 1 or more",
        ),
        (lambda: rspverify.judge_of(0), "--jobs must be 1 or more"),
    ],
)
def test_bounds_that_mean_nothing(ask: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ask()


@pytest.mark.parametrize("given", [None, b"Fig4", TestBuilder("t"), SchemeBuilder("s")])
def test_what_is_no_scheme_and_no_test(given: Any) -> None:
    with pytest.raises(TypeError, match="a scheme must be a name, a path or a Scheme, not"):
        rspverify.check(given, FIG4, judge=judge())
    if given is not None:
        with pytest.raises(TypeError, match="a test must be a name, a path or a Program, not"):
            rspverify.check("original", given, judge=judge())


def test_a_second_solver_is_asked_each_time(cache_folder: Path) -> None:
    pytest.importorskip("cvc5")
    cached = rspverify.judge_of(1)
    settings = Settings(confirm="cvc5")
    for _ in range(2):
        (result,) = rspverify.check("proposed", FIG4, settings, judge=cached)
        assert (result.confirmed, result.cached) == ("cvc5", False)


def test_a_question_may_be_asked_by_several_threads() -> None:
    question = rspverify.check(["original", "proposed"], "litmus/rsp/paper", judge=judge())
    found: list[int] = []
    threads = [Thread(target=lambda: found.append(len(list(question)))) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [question.total] * 3


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda it: it.load("x", "device"), "the scope must be one of wi, wg, dv, all, not device"),
        (lambda it: it.load("x", "dv", order="strong"), "the order must be one of relaxed, "),
        (lambda it: it.load("x", remote=True), "a plain operation must have no order"),
        (lambda it: it.fetch("/", "x", 1), "the operator must be one of"),
    ],
)
def test_mistakes_in_a_test(build: Callable[[Any], object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        build(TestBuilder("wrong").thread())


def test_a_test_must_have_operations() -> None:
    made = TestBuilder("empty")
    with pytest.raises(InputError, match="a test must have a thread"):
        made.test()
    made.thread()
    with pytest.raises(InputError, match="each thread must have an operation"):
        made.test()


def test_work_groups_and_devices() -> None:
    made = TestBuilder("places")
    for thread in (made.thread(0), made.thread(0), made.thread(), made.thread(device=1)):
        thread.load("x", "all")
    threads = made.test().threads
    assert [(each.device, each.workgroup) for each in threads] == [(0, 0), (0, 0), (0, 1), (1, 0)]


# ---- examples of docstrings ----------------------------------------------------------------------

EXAMPLES = [
    example
    for room in (api, commands)
    for module in iter_modules(room.__path__, f"{room.__name__}.")
    for example in doctest.DocTestFinder().find(
        import_module(module.name), extraglobs={"rspverify": rspverify}
    )
    if example.examples
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
@pytest.mark.usefixtures("in_repository")
def test_the_examples(example: doctest.DocTest) -> None:
    said: list[str] = []
    doctest.DocTestRunner().run(example, out=said.append)
    assert not said, "".join(said)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5
