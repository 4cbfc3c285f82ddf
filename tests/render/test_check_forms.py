"""The forms of `check` that other tools read: what they say, and that no name breaks them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import jsonschema
import pytest
from hostile_names import HOSTILE
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from results import report, result, told

from rspverify.answers import (
    Difference,
    Held,
    Internal,
    ModelAnswer,
    Observed,
    ReadValue,
    Result,
    RowAtFault,
    RowsAtFault,
    SuiteReport,
)
from rspverify.commands.check import FORMS as NAMED
from rspverify.records import replace
from rspverify.render.check import document
from rspverify.render.findings import findings
from rspverify.render.forms import FORMS as OF_ANY
from rspverify.render.forms import OF_RESULTS, write
from rspverify.verdict import ProgressWord, Word
from rspverify.wording import visible

FORMS = {
    form: lambda reports, form=form: write(form, document(reports))
    for form in (*OF_ANY, *OF_RESULTS)
}
SCHEMA = json.loads(Path(__file__).with_name("sarif_as_emitted.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
"""Of SARIF 2.1.0 the parts that are written, with the names, types and words of the standard."""


def answer(word: str, reason: str = "") -> ModelAnswer:
    return ModelAnswer("t", "t", "m", word, reason, {}, 0.25)


UNSOUND = replace(
    result(Word.UNSOUND),
    test="Fig4",
    file="litmus/Fig4.litmus",
    scheme="original",
    scheme_file="schemes/original.yaml",
    reason="1:r0=1 breaks Narf",
    outcome=Observed((ReadValue(1, 18, 12, "y", 1),), {"1:r0": 1}, {"y": 1}),
    axioms=("Narf",),
    seconds=0.125,
)
ROW = RowAtFault(2, "load DV,N", ("INV_L1 WG", "LD r x"), 12, 5, 12, 70)
FAULTS = {("litmus/Fig4.litmus", "schemes/original.yaml"): RowsAtFault((ROW,))}


def expecting(
    it: Result | ModelAnswer, expected: str | None, *others: Result | ModelAnswer, **more: Any
) -> SuiteReport:
    held = Held("expected.yaml", (Difference(it, expected),), **more)
    return report(it, *others, held=held, folder="litmus/rsp")


def test_a_file_is_a_form() -> None:
    assert (
        set(FORMS) == set(NAMED) == {"text", "json", "html", "markdown", "junit", "sarif", "github"}
    )


# ---- JUnit ---------------------------------------------------------------------------------------


def cases(*reports: SuiteReport) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(FORMS["junit"](reports).encode("utf-8"))
    suites = [root, *root.iter("testsuite")]
    for suite in suites:
        found = list(suite.iter("testcase"))
        assert suite.get("tests") == str(len(found))
        for attribute, tag in (
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ):
            assert suite.get(attribute) == str(len(list(suite.iter(tag))))
    return list(root.iter("testcase"))


def outcome(case: ElementTree.Element) -> tuple[str, str | None] | None:
    return next(((each.tag, each.get("type")) for each in case), None)


@pytest.mark.parametrize(
    ("it", "expected"),
    [
        (result(Word.SOUND), None),
        (result(Word.SOUND, ProgressWord.LIVE), None),
        (result(Word.RACY), None),
        (result(Word.UNSOUND), ("failure", "UNSOUND")),
        (result(Word.SOUND, ProgressWord.STUCK), ("failure", "STUCK")),
        (result(Word.UNSOUND, ProgressWord.STUCK), ("failure", "UNSOUND")),
        (result(Word.SOUND, ProgressWord.UNKNOWN), ("error", "UNKNOWN")),
        (result(Word.UNKNOWN), ("error", "UNKNOWN")),
        (result(Word.VACUOUS), ("error", "VACUOUS")),
        (result(Word.ERROR), ("error", "ERROR")),
        (result(Word.UNKNOWN, internal=Internal("x", None)), ("error", "UNKNOWN")),
        (result(Word.UNSUPPORTED), ("skipped", "UNSUPPORTED")),
        (answer("Sometimes racy"), None),
        (answer("UNSUPPORTED"), ("skipped", "UNSUPPORTED")),
        (answer("UNKNOWN"), ("error", "UNKNOWN")),
    ],
)
def test_what_junit_makes_of_a_word(
    it: Result | ModelAnswer, expected: tuple[str, str] | None
) -> None:
    (case,) = cases(report(it))
    assert outcome(case) == expected


@pytest.mark.parametrize(
    ("it", "expected", "found", "words"),
    [
        (UNSOUND, "SOUND", ("failure", "UNSOUND"), "expected SOUND, got UNSOUND"),
        (result(Word.SOUND), "UNSOUND", ("failure", "UNEXPECTED"), "got SOUND"),
        (
            replace(result(Word.SOUND), within={"steps": 3}),
            "SOUND",
            ("failure", "UNEXPECTED"),
            "got SOUND within 3 steps",
        ),
        (
            answer("Never"),
            None,
            ("failure", "UNEXPECTED"),
            "expected nothing (no answer is written down), got Never",
        ),
        (result(Word.ERROR), "SOUND", ("error", "ERROR"), "got ERROR"),
    ],
)
def test_what_junit_makes_of_what_is_expected(
    it: Result | ModelAnswer, expected: str | None, found: tuple[str, str], words: str
) -> None:
    case, *rest = cases(expecting(it, expected, result(Word.UNSUPPORTED), gone=("litmus/old",)))
    assert outcome(case) == found and words in case[0].get("message", "")
    as_expected, missing = rest
    assert outcome(as_expected) is None
    assert outcome(missing) == ("failure", "UNEXPECTED") and missing.get("name") == "litmus/old"


def test_an_internal_error_is_never_as_expected() -> None:
    internal = result(Word.UNKNOWN, internal=Internal("x", None))
    (ours,) = cases(report(internal, held=Held("expected.yaml", ())))
    assert outcome(ours) == ("error", "UNKNOWN")


def test_tests_of_one_title_are_told_apart() -> None:
    """GitLab takes the cases of one class and name for one."""
    two = [replace(result(Word.SOUND), file=each) for each in ("a/t.litmus", "b/t.litmus")]
    assert [it.get("name") for it in cases(report(*two))] == ["t (a/t.litmus)", "t (b/t.litmus)"]


# ---- GitHub --------------------------------------------------------------------------------------

_COMMAND = re.compile(r"::(error|warning|notice) (\w+=[^:,]*(?:,\w+=[^:,]*)*)::(.*)")


def commands(*reports: SuiteReport) -> list[tuple[str, dict[str, str], str]]:
    """As the runner reads them: lines, and what is escaped in them."""
    text = FORMS["github"](reports)
    assert text.endswith("\n")
    found = []
    for line in text[:-1].split("\n"):
        read = _COMMAND.fullmatch(line)
        assert read, line
        properties = dict(each.split("=", 1) for each in read[2].split(","))
        properties = {key: decoded(value) for key, value in properties.items()}
        found.append((read[1], properties, decoded(read[3])))
    return found


def decoded(text: str) -> str:
    assert not re.search("%(?!25|0A|0D|3A|2C)", text)
    return re.sub("%(..)", lambda it: chr(int(it[1], 16)), text)


def test_a_row_of_several_lines_has_no_columns() -> None:
    """GitHub refuses them."""
    row = replace(ROW, end_line=14)
    found = commands(report(UNSOUND, faults={key: RowsAtFault((row,)) for key in FAULTS}))[0][1]
    assert (found["line"], found["endLine"]) == ("12", "14")
    assert not {"col", "endColumn"} & found.keys()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (RowsAtFault(()), "neither a row of it nor two mend it, made as strong as can be"),
        (RowsAtFault((), "timeout of 1 s"), "no row is told to be at fault: timeout of 1 s"),
    ],
)
def test_where_no_row_is_at_fault_it_stands_at_the_test(fault: RowsAtFault, words: str) -> None:
    found = commands(report(UNSOUND, faults=dict.fromkeys(FAULTS, fault)))[0]
    assert found[1]["file"] == "litmus/Fig4.litmus"
    assert found[2].endswith(words)


@pytest.mark.parametrize(
    ("reason", "line", "column"),
    [
        ("t:3:27: an expression must stand here\n  …", "3", "27"),
        ("line 14: scheme s has no row", "14", None),
        ("lines 15, 19: scheme s has no row", "15", None),
        ("timeout of 1 s", None, None),
        ("u:3:27: another file", None, None),
    ],
)
def test_an_annotation_stands_where_the_reason_says(
    reason: str, line: str | None, column: str | None
) -> None:
    found = commands(report(replace(result(Word.ERROR), reason=reason)))[0][1]
    assert (found["file"], found.get("line"), found.get("col")) == ("t", line, column)


def test_errors_come_before_warnings() -> None:
    """GitHub shows ten of a kind."""
    words = (Word.UNKNOWN, Word.UNSOUND, Word.VACUOUS, Word.UNSUPPORTED, Word.ERROR, Word.SOUND)
    found = commands(report(*map(result, words)))
    assert [name for name, _, _ in found] == ["error"] * 2 + ["warning"] * 3 + ["notice"]
    internal = result(Word.UNKNOWN, internal=Internal("x", None))
    assert commands(report(internal))[0][0] == "error"
    assert commands(expecting(result(Word.UNKNOWN), "SOUND"))[0][0] == "error"


# ---- Markdown ------------------------------------------------------------------------------------


def tables(text: str) -> list[list[list[str]]]:
    """The tables of a text as a reader of Markdown sees them: rows of cells of plain text."""
    found: list[list[list[str]]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and found:
            found[-1][-1].append("".join(_plain(each) for each in token.children or ()))
    return found


def _plain(token: Any) -> str:
    if token.type == "html_inline":
        assert token.content in ("<code>", "</code>", "<br>"), token.content
        return "\n" if token.content == "<br>" else ""
    assert token.type in ("text", "text_special"), token.type
    return str(token.content)


def test_markdown_of_suites() -> None:
    suite = report(answer("Sometimes racy"), folder="litmus/models", held=Held("e.yaml", ()))
    text = FORMS["markdown"]([expecting(UNSOUND, "SOUND", result(Word.UNSUPPORTED)), suite])
    schemes, models, found, rest = tables(text)
    assert schemes[0] == ["suite", "scheme", "UNSOUND", "UNSUPPORTED"]
    assert models == [
        ["suite", "model", "Sometimes", "racy"],
        ["litmus/models", "m", "1", "1"],
    ]
    assert found[1][3] == "expected SOUND, got UNSOUND\n1:r0=1 breaks Narf"
    assert [row[2] for row in rest[1:]] == ["UNSUPPORTED", "Sometimes racy"]
    assert "2 suites, 2 tests, 3 results, 1 not as expected" in text


# ---- SARIF ---------------------------------------------------------------------------------------


def log(*reports: SuiteReport) -> Any:
    document = json.loads(FORMS["sarif"](reports))
    VALIDATOR.validate(document)
    (run,) = document["runs"]
    rules = [each["id"] for each in run["tool"]["driver"]["rules"]]
    assert all(rules[each["ruleIndex"]] == each["ruleId"] for each in run["results"])
    return run


def test_sarif_has_a_rule_for_each_word() -> None:
    VALIDATOR.check_schema(SCHEMA)
    rules = [each["id"] for each in log(report())["tool"]["driver"]["rules"]]
    assert rules == [*Word, "STUCK", "UNEXPECTED"]


def test_a_result_of_sarif_stands_at_the_row() -> None:
    (found,) = log(report(UNSOUND, faults=FAULTS))["results"]
    (place,) = found["locations"]
    scheme = {"uri": "schemes/original.yaml", "uriBaseId": "%SRCROOT%"}
    assert place["physicalLocation"] == {
        "artifactLocation": scheme,
        "region": {"startLine": 12, "startColumn": 5, "endLine": 12, "endColumn": 70},
    }
    test, read = found["relatedLocations"]
    assert test["physicalLocation"]["artifactLocation"]["uri"] == "litmus/Fig4.litmus"
    assert read["physicalLocation"]["region"] == {"startLine": 18, "startColumn": 12}
    assert read["message"]["text"] == "reads 1 from y"
    assert found["message"]["text"].startswith("Fig4 under original: 1:r0=1 breaks Narf\nat fault")


def test_what_ships_is_at_no_place_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    of_ours = replace(UNSOUND, file="litmus/rsp/paper/Fig4.litmus")
    (found,) = log(report(of_ours))["results"]
    artifact = found["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact.keys() == {"uri"} and artifact["uri"].startswith("file:///")


def test_two_rows_at_fault_must_both_change() -> None:
    """So SARIF understands several locations of a result."""
    rows = (ROW, replace(ROW, number=5, line=20, end_line=20))
    (found,) = log(report(UNSOUND, faults={key: RowsAtFault(rows) for key in FAULTS}))["results"]
    lines = [each["physicalLocation"]["region"]["startLine"] for each in found["locations"]]
    assert lines == [12, 20]


def test_which_results_sarif_has() -> None:
    words = log(report(*map(result, Word)))["results"]
    assert [(each["ruleId"], each["level"]) for each in words] == [
        ("UNSOUND", "error"),
        ("OPEN", "note"),
        ("VACUOUS", "warning"),
        ("UNKNOWN", "warning"),
        ("ERROR", "error"),
    ]
    (stuck,) = log(report(result(Word.SOUND, ProgressWord.STUCK)))["results"]
    assert stuck["ruleId"] == "STUCK"
    differs, gone = log(expecting(result(Word.SOUND), "UNSOUND", gone=("old.litmus",)))["results"]
    assert differs["ruleId"] == gone["ruleId"] == "UNEXPECTED"
    assert gone["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "expected.yaml"


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("./a//b.litmus", "a/b.litmus"),
        ("a b/c#d?e%.litmus", "a%20b/c%23d%3Fe%25.litmus"),
        ("c:d.litmus", "c%3Ad.litmus"),
        ("ß.litmus", "%C3%9F.litmus"),
        ("\udcff.litmus", "%FF.litmus"),
        ("/x y.litmus", "file:///x%20y.litmus"),
    ],
)
def test_a_path_as_a_reference(file: str, uri: str) -> None:
    (found,) = log(report(replace(result(Word.UNSOUND), file=file)))["results"]
    artifact = found["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact["uri"] == uri
    assert ("uriBaseId" in artifact) == (not file.startswith("/"))


# ---- whatever names and reasons hold -------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_a_form(name: str) -> None:
    fault = {(name, name): RowsAtFault((replace(ROW, operations=name),))}
    held = Held(name, (Difference(told(result(Word.SOUND), name), name),), gone=(name,))
    words = (Word.UNSOUND, Word.ERROR, Word.UNSUPPORTED, Word.RACY)
    alone = [told(result(word), name) for word in words]
    everything = [
        report(*alone, faults=fault, folder=name, about=name),
        report(held.differences[0].result, held=held, folder=name, interrupted=True, total=3),
    ]
    for form, function in FORMS.items():
        text = function(everything)
        if form not in ("text", "json"):
            assert visible(text) == text, form


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_read_back(name: str) -> None:
    shown, it = visible(name), told(result(Word.UNSOUND), name)
    (case,) = cases(report(it))
    assert (case.get("name"), case.get("file"), case.get("classname")) == (shown,) * 3
    assert case[0].text == shown
    (_, properties, message) = commands(report(it))[0]
    assert (properties["file"], properties["title"]) == (shown, f"UNSOUND: {shown} under {shown}")
    assert message == shown
    _, found, *_ = tables(FORMS["markdown"]([report(it)]))
    assert [each.strip() for each in found[1][2:]] == [shown.strip()] * 2
    (result_,) = log(report(it))["results"]
    uri = result_["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert urlsplit(uri).path == uri and uri.isascii()
    assert result_["message"]["text"] == f"{shown} under {shown}: {shown}"
    if "/" not in name:
        assert unquote(uri, errors="surrogateescape") == name


@example("x" * 300)
@given(st.text(st.characters(exclude_categories=["Cs"]) | st.just("\udcff"), min_size=1))
def test_no_text_breaks_a_form(name: str) -> None:
    it = told(result(Word.UNSOUND), name)
    assert outcome(cases(report(it))[0]) == ("failure", "UNSOUND")
    assert commands(report(it))[0][1]["file"] == visible(name)
    assert log(report(it))["results"][0]["message"]["text"].endswith(visible(name))
    _, found, *_ = tables(FORMS["markdown"]([report(it)]))
    assert len(found) == 2 and len(found[1]) == 4


def test_nothing_in_markdown_means_more_than_itself() -> None:
    it = told(result(Word.UNSOUND), "@you <b> `x` | https://e.example\nnext")
    text = FORMS["markdown"]([report(it)])
    assert not re.search(r"[@`]|<(?!/?code>|br>|/?details>|/?summary>)|://", text)
    assert all(line.startswith("|") for line in text.splitlines() if "you" in line)


# ---- after an interrupt, and at a limit ----------------------------------------------------------


@pytest.mark.parametrize(
    ("stopped", "words"),
    [
        ({"interrupted": True}, "interrupted: 1 of 3 verdicts decided, the rest not"),
        ({"limit": "out of memory"}, "out of memory: 1 of 3 verdicts decided, the rest not"),
    ],
)
def test_a_run_that_ended_early_says_so(stopped: dict[str, Any], words: str) -> None:
    it = report(result(Word.SOUND), total=3, **stopped)
    case, whole = cases(it)
    assert outcome(case) is None and outcome(whole) == ("error", "UNFINISHED")
    assert whole[0].get("message") == words
    assert commands(it)[0] == ("error", {"title": "rspverify check"}, words)
    assert f"\n**{words}**\n" in FORMS["markdown"]([it])
    (invocation,) = log(it)["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification == {"level": "error", "message": {"text": words}}
    assert words in FORMS["text"]([it]) and words in FORMS["html"]([it])
    document = json.loads(FORMS["json"]([it]))
    assert document["interrupted"] is True
    assert log(report(result(Word.SOUND)))["invocations"][0]["executionSuccessful"] is True


def test_where_nothing_is_known() -> None:
    it = report(total=3, interrupted=True)
    assert list(findings(it)) == []
    for function in FORMS.values():
        assert function([it])
    assert [outcome(each) for each in cases(it)] == [("error", "UNFINISHED")]
