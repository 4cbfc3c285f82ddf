"""What `prove` says: what is proved of each scheme, and the tests that refute it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rspverify.answers import Detail
from rspverify.proof.covered import Pair
from rspverify.proof.lemmas import LemmaAnswer
from rspverify.proof.proof import BrokenObligation, Proof, ProofReport, ProofTest
from rspverify.render import document as doc
from rspverify.render.document import Block, Document, Line, Told, line
from rspverify.render.evidence import explained
from rspverify.render.words import (
    PROOF_STYLES,
    counted,
    internal_errors,
    progress_class,
    rows_named,
)
from rspverify.verdict import ProgressWord

UNNEEDED = "no obligation: soundness does not need it"


def document(it: ProofReport, details: Mapping[str, Detail] | None = None) -> Document:
    """All of it. details: what tests rest on, by their texts."""
    title = (
        it.proofs[0].subject.titled if len(it.proofs) == 1 else counted(len(it.proofs), "scheme")
    )
    return Document("prove", title, told(lambda _: details or {}).whole(it.proofs, it), answer=it)


def summary(it: Proof) -> Iterator[Line]:
    """The word, the operations that it is about, and what is no part of it."""
    yield line((it.word, PROOF_STYLES.get(it.word, it.word)), f"  {it.subject}", kind="head")
    kinds = ", ".join(f"{number} {kind}" for kind, number in it.obligations.items())
    yield line(f"  {it.reason}{f' ({kinds})' if kinds else ''}")
    if it.obligations:
        yield line(
            "  for programs of any size on one device, with atomics on atomic locations and atomic "
            f"stores that release, of {_operations(it.operations)}"
        )
    if it.progress is not None:
        word = (it.progress.value, progress_class(it.progress))
        yield line("  progress: ", word, f", {it.progress_reason}")
    if it.missing:
        yield line(f"  without a row: {', '.join(it.missing)}", kind="UNSUPPORTED")
    for each in it.refused:
        yield line(f"  {each}", kind="UNSUPPORTED")
    yield from internal_errors(it.internal)


def in_a_line(it: Proof) -> Line:
    """What is known of all programs, for those who show it beside other things."""
    parts: list[str | tuple[str, str]] = [(it.word, PROOF_STYLES.get(it.word, it.word))]
    parts.append(f" for programs of any size: {it.reason}")
    if it.progress is not None:
        parts += ["; ", (it.progress.value, progress_class(it.progress))]
        parts.append("" if it.progress is ProgressWord.LIVE else f": {it.progress_reason}")
    return line(*parts)


def _operations(names: Iterable[str]) -> str:
    """Operations by their names, with `_` where they may be remote or not."""
    known = dict.fromkeys(names)
    either = {
        f"{name[:-1]}N" for name in known if f"{name[:-1]}R" in known and f"{name[:-1]}N" in known
    }
    shown = (f"{name[:-1]}_" if f"{name[:-1]}N" in either else name for name in known)
    return ", ".join(dict.fromkeys(shown))


def _reasons(it: Proof) -> Iterator[Block]:
    """What each instruction is needed for."""
    if not it.reasons:
        return
    rows = [
        [f"{each.row}", each.instruction, each.change, in_words(each.broken) or UNNEEDED]
        for each in it.reasons
    ]
    yield line()
    heads = ("row", "instruction", "change", "obligations that it breaks")
    title = f"What each instruction of {it.subject.scheme} is needed for"
    yield doc.Table(heads, rows, [0], head=title, gap=2)


def in_words(pairs: Iterable[Pair]) -> str:
    """Obligations, those of like operations in one."""
    firsts: dict[tuple[str, str], list[str]] = {}
    for each in pairs:
        firsts.setdefault((each.kind, each.second), []).append(each.first)
    seconds: dict[tuple[str, str], list[str]] = {}
    for (kind, second), those in firsts.items():
        seconds.setdefault((kind, _operations(those)), []).append(second)
    return "; ".join(
        f"{kind} {first} → {_operations(them)}" for (kind, first), them in seconds.items()
    )


def _findings(it: Proof, details: Mapping[str, Detail]) -> Iterator[doc.Article]:
    """The obligations that are broken, those of one test together."""
    by_test: dict[ProofTest | None, list[BrokenObligation]] = {}
    for each in it.broken:
        by_test.setdefault(each.test, []).append(each)
    return (_article(it, test, those, details) for test, those in by_test.items())


def _article(
    it: Proof,
    test: ProofTest | None,
    broken: Sequence[BrokenObligation],
    details: Mapping[str, Detail],
) -> doc.Article:
    found = test is not None and test.refutes
    lines = [line()]
    for each in broken:
        rows = rows_named(sorted({*each.rows}))
        lines.append(line((each.kind, "head"), f"  {each.meaning} ({rows})"))
    if test is not None:
        lines.append(line((f"  {test.verdict}", test.verdict), f"  {test.program}"))
        lines.append(line(f"    {test.reason}"))
    if not found:
        lines.append(line(f"  it would be broken so: {'; '.join(broken[0].order)}", kind="note"))
    name = broken[0].meaning if test is None else test.text
    article = doc.Article(
        name,
        "UNSOUND" if found else "UNKNOWN",
        broken[0].meaning if test is None else test.program,
        lines,
        broken=found,
        open=True,
    )
    return explained(article, it.subject.file, None, details.get(name))


def _last(it: ProofReport) -> Iterator[Block]:
    """The lemmas, if they were asked, and why no more schemes were."""
    if it.lemmas:
        yield doc.Listing([*map(_lemma, it.lemmas)], "Lemmas")
        proved = sum(each.proved for each in it.lemmas)
        seconds = sum(each.seconds for each in it.lemmas)
        yield line(f"{proved} of {counted(len(it.lemmas), 'answer')} proved, {seconds:.1f} s")
    if it.stopped is not None:
        yield line(f"stopped, other schemes were not asked: {it.stopped}", kind="ERROR")


def _lemma(it: LemmaAnswer) -> Line:
    word = ("proved", "SOUND") if it.proved else (f"not proved: {it.answer}", "UNKNOWN")
    return line(f"{it.solver:5}", word, "  ", (it.name, "head"), f": {it.idea}")


def told(details: Callable[[Proof], Mapping[str, Detail]]) -> Told:
    """What is said of each scheme. details: what some of its tests rest on, by text."""

    def each(it: Proof) -> Iterator[Block]:
        yield doc.Summary([*summary(it)])
        yield from _reasons(it)
        if found := [*_findings(it, details(it))]:
            yield doc.Articles(found, "Obligations that are broken")

    return Told(each, _last)
