"""`check` as JUnit XML: a test suite for each suite, a test case for each test and scheme."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from rspverify.answers import ModelAnswer, Result, SuiteReport
from rspverify.render.document import Document
from rspverify.render.findings import UNEXPECTED, Finding, findings
from rspverify.render.words import unfinished
from rspverify.verdict import Word
from rspverify.wording import visible

_TAGS: Mapping[str, str] = {
    Word.ERROR: "error",
    Word.OPEN: "skipped",
    Word.UNKNOWN: "error",
    Word.VACUOUS: "error",
    Word.UNSUPPORTED: "skipped",
}
"""What a finding is where nothing is expected; all else is a failure."""
_COUNTED = (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))


def write(it: Document) -> str:
    """All reports as one document, which is well-formed whatever names and reasons hold."""
    root = Element("testsuites", name="rspverify check")
    for report in it.reports:
        _suite(root, report)
    _count(root, sum(each.seconds for each in it.reports))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, "unicode")}\n'


def _suite(root: Element, report: SuiteReport) -> None:
    name = report.folder or "rspverify check"
    it = SubElement(root, "testsuite", name=visible(name))
    found = list(findings(report))
    by_result = {id(each.result): each for each in found if each.result}
    titles = Counter((each.test, each.column) for each in report.results)
    for each in report.results:
        alone = titles[each.test, each.column] == 1
        title = each.test if alone else f"{each.test} ({each.file})"
        case = _case(it, [report.folder, each.column], title, each.file, each.seconds)
        if finding := by_result.get(id(each)):
            _outcome(case, _tag(finding), finding.kind, "\n".join(_lines(finding, each)))
    for finding in found:
        if finding.result is None:
            case = _case(it, [report.folder], finding.subject, finding.subject, 0.0)
            _outcome(case, "failure", UNEXPECTED, finding.text)
    if words := unfinished(report):
        _outcome(_case(it, [name], "the whole run", "", 0.0), "error", "UNFINISHED", words)
    _count(it, report.seconds)


def _case(suite: Element, within: Sequence[str], name: str, file: str, seconds: float) -> Element:
    told = {"classname": "/".join(filter(None, within)), "name": name, "file": file}
    attributes = {key: visible(value) for key, value in told.items() if value}
    return SubElement(suite, "testcase", attributes, time=f"{seconds:.4f}")


def _outcome(case: Element, tag: str, kind: str, text: str) -> None:
    first, *_ = text.split("\n")
    SubElement(case, tag, type=kind, message=visible(first)).text = visible(text)


def _tag(it: Finding) -> str:
    if it.internal or it.kind == Word.ERROR:
        return "error"
    return "failure" if it.expectation else _TAGS.get(it.kind, "failure")


def _lines(finding: Finding, it: Result | ModelAnswer) -> Iterator[str]:
    yield finding.text
    if isinstance(it, Result) and it.outcome is not None:
        yield f"outcome: {it.outcome}"
        if it.axioms:
            yield f"axioms: {', '.join(it.axioms)}"


def _count(it: Element, seconds: float) -> None:
    """The totals of a suite, or of all."""
    it.set("tests", str(len(list(it.iter("testcase")))))
    for attribute, tag in _COUNTED:
        it.set(attribute, str(len(list(it.iter(tag)))))
    it.set("time", f"{seconds:.4f}")
