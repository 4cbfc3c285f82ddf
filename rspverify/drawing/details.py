"""What findings rest on, to be shown step by step: asked after the verdicts, and apart."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from rspverify.answers import Detail, Observed, Result
from rspverify.judge.cache import Question, digest
from rspverify.judge.judge import Judge
from rspverify.judge.reading import read_inputs
from rspverify.limits import LOST
from rspverify.picture import Picture
from rspverify.soundness.settings import Settings, explain_command
from rspverify.source import MAX_SCHEME_BYTES, InputError, read_source
from rspverify.verdict import ProgressWord, Word

if TYPE_CHECKING:
    from rspverify.answers import Explanation
    from rspverify.axiomatic import MemoryModel
    from rspverify.judge.loaded_test import LoadedTest
    from rspverify.judge.verdicts import NamedScheme, Verdicts


@dataclass(frozen=True)
class Forbidden:
    """A picture of an execution that the model forbids, or why there is none."""

    picture: Picture | None
    reason: str = ""


def details(
    results: Sequence[Result], settings: Settings, judge: Judge
) -> Generator[Detail, None, None]:
    """The detail of each of some UNSOUND or STUCK results, in their order. Close it when done.

    The verdicts come from the cache where it has them. Raises InputError.
    """
    asked = _Details(results, settings, judge)
    if results:
        _ = asked.parsed
    none = [(None,)] * len(results)
    yield from judge.completed(none, asked.decided, results, lambda it: [asked.missing(it, LOST)])


class _Details:
    """The judge, asked about the schemes and the model of some results."""

    def __init__(self, results: Sequence[Result], settings: Settings, judge: Judge) -> None:
        self._settings = replace(settings, confirm=None, smt_dir=None)
        files = list(dict.fromkeys(each.scheme_file for each in results))
        self._inputs = read_inputs(files, self._settings, judge)
        self._judge = judge

    @cached_property
    def parsed(self) -> tuple[dict[str, NamedScheme], Verdicts]:
        """The schemes by file, and who decides: read before workers are forked."""
        from rspverify.judge.verdicts import Verdicts
        from rspverify.litmus import warm_up

        warm_up()
        schemes, model = self._inputs.parsed()
        return {it.file: it for it in schemes}, Verdicts(self._judge, model, self._settings)

    def decided(self, result: Result) -> list[Detail]:
        """The detail; what goes wrong meanwhile is why something is not there."""
        from rspverify.judge.attempt import Undecided, attempt
        from rspverify.judge.verdicts import incident_of

        incident = incident_of(result.file, result.scheme_file, self._settings)
        found = attempt(lambda: self._explained(result), incident)
        if isinstance(found, Undecided):
            return [self.missing(result, found.reason)]
        test, explanation = found
        detail = replace(self.missing(result, ""), explanation=explanation)
        outcome = explanation.result.outcome
        if outcome is None:
            return [replace(detail, reason=_unlike(result, explanation))]
        drawn = attempt(lambda: self._forbidden(test, outcome), incident)
        if isinstance(drawn, Undecided):
            return [replace(detail, reason=f"no picture: {drawn.reason}")]
        return [replace(detail, picture=drawn.picture, reason=drawn.reason)]

    def missing(self, result: Result, reason: str) -> Detail:
        """What is known without asking: the texts, and the command."""
        stuck = result.progress is ProgressWord.STUCK and result.verdict is not Word.UNSOUND
        command = explain_command(result.scheme_file, result.file, self._settings, progress=stuck)
        try:
            test = read_source(result.file).text
            scheme = read_source(result.scheme_file, MAX_SCHEME_BYTES).text
        except InputError as error:  # a file has gone meanwhile
            return Detail("", "", command, reason="\n".join(map(str, error.problems)))
        return Detail(test, scheme, command, reason=reason)

    def _explained(self, result: Result) -> tuple[LoadedTest, Explanation]:
        from rspverify.judge.explain import explain
        from rspverify.judge.loaded_test import read_test

        schemes, verdicts = self.parsed
        test = read_test(read_source(result.file), self._settings)
        return test, explain(test, schemes[result.scheme_file], verdicts)

    def _forbidden(self, test: LoadedTest, outcome: Observed) -> Forbidden:
        settings = replace(self._settings, model=self._inputs.model_facts.name, seconds=None)
        content = (
            digest(test.source.text),
            self._inputs.model_facts.digest,
            settings,
            str(outcome),
        )
        question = Question("forbidden", content, Forbidden)
        model = self.parsed[1].model
        return self._judge.ask(question, lambda: _drawn(test, model, str(outcome), self._settings))


def _drawn(test: LoadedTest, model: MemoryModel, outcome: str, settings: Settings) -> Forbidden:
    from rspverify.drawing.draw import NoExecutionError, Wanted, Which, draw

    try:
        wanted = Wanted(Which.FORBIDDEN, outcome)
        (picture,) = draw(test.program, model, wanted, settings.limits())
    except NoExecutionError as error:
        return Forbidden(None, f"no picture: {error}")
    return Forbidden(picture)


def _unlike(result: Result, explanation: Explanation) -> str:
    """Why an outcome is not shown, where there was one."""
    if result.outcome is None:
        return ""
    return f"not found again: {explanation.verdict.reason}"
