"""`repair`: The cheapest sound schemes near a broken one."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rspverify.api.asked import Asked, Ending, Stop
from rspverify.api.details import MOST, known, known_details
from rspverify.api.inputs import AScheme, schemes_given, tests_given
from rspverify.api.judges import chosen
from rspverify.api.parameters import COSTS, OfSchemeAndTests, question
from rspverify.corpus.inputs import inputs_meant
from rspverify.engineering.hunt.assumptions import alone_may_break
from rspverify.engineering.repair.answer import RepairReport, SchemeFound
from rspverify.engineering.repair.constraints import EVERY_ROW, Constraints
from rspverify.engineering.repair.hunting import Hunt
from rspverify.engineering.repair.run import Repair, settings_for
from rspverify.engineering.setup import Setup, read_setup
from rspverify.limits import LimitReached
from rspverify.options import option
from rspverify.scheme.cost import read_costs
from rspverify.soundness.settings import explain_command
from rspverify.source import Problems, require
from rspverify.terminal.command import EVERYWHERE, OF_A_CASE, PAGES, Command
from rspverify.verdict import WRONG

if TYPE_CHECKING:
    from rspverify.render.document import Document

Repairing: TypeAlias = Asked[SchemeFound, RepairReport]
"""The schemes that were found, once the search is over."""


@dataclass(frozen=True)
class RepairParameters(OfSchemeAndTests):
    """What candidates may be, and what they are put to.

    constraints: in Python, all in one of what candidates may be.
    """

    than: AScheme | None = option(
        None, "Say whether any scheme found is cheaper than this.", metavar="SCHEME"
    )
    rows: str | None = option(
        None,
        "The rows that may change, joined by commas, or `all`. Default: those that have "
        "more than an access to memory.",
    )
    allow: Sequence[str] = option(
        (),
        "Make codes of these instructions alone, joined by commas, with their reach "
        "(`INV_L1 WG`) or without it. Accesses need not be named.",
        commas=True,
    )
    forbid: Sequence[str] = option(
        (), "Make no code of these instructions, joined by commas.", commas=True
    )
    max_length: int | None = option(
        None,
        "The most instructions of a code. Default: as many as the scheme's longest has, "
        "but 7 at least.",
        least=1,
        most=16,
    )
    store_again: int | None = option(
        None,
        "How often the code of a row that writes may store the same again. Default: as "
        "often as a row of the scheme does.",
        least=0,
        most=3,
    )
    set_aside: bool = option(False, "Leave out the tests that no candidate passes, and name them.")
    costs: str | Path | None = option(None, COSTS, metavar="FILE")
    count: int = option(5, "So many schemes of the least cost at most.", least=1)
    sample: int = option(
        8,
        "So many tests for each row that may change, the smallest, are decided by the "
        "explicit engine, too.",
        least=0,
    )
    hunt_events: int | None = option(
        None,
        "Put what passes every test to all programs of so many operations, too (hunt); 0: to none. "
        "Default: 3, of a table for a target 2.",
        least=0,
    )
    write: str | Path | None = option(None, "Write each scheme found as a file.", metavar="DIR")
    constraints: Constraints | None = None

    def wanted(self) -> Constraints:
        """What is asked of candidates. Raises InputError."""
        if self.constraints is not None:
            return self.constraints
        numbers = [each.strip() for each in (self.rows or "").split(",") if each.strip()]
        every = self.rows is not None and numbers == [EVERY_ROW]
        right = all(each.isascii() and each.isdigit() for each in numbers)
        require(
            every or (right and (self.rows is None or bool(numbers))),
            f"--rows must be the numbers of rows, joined by commas, or {EVERY_ROW}, "
            f"not {self.rows!r}",
        )
        return Constraints(
            None if self.rows is None or every else tuple(map(int, numbers)),
            tuple(self.allow),
            tuple(self.forbid),
            self.max_length,
            every,
            self.store_again,
            self.set_aside,
        )


@question(RepairParameters)
def repair(asked: RepairParameters) -> Repairing:
    """Repair a scheme: the cheapest schemes near it that pass every test and never get stuck.

    Candidates change the code of rows. The cheapest that nothing learnt rules out is put to the
    tests; of a test that it fails all codes are learnt that fail it as surely. So no scheme of the
    candidates is cheaper than those found. Their cost is the sum over all rows.

    In Python: RepairParameters has what can be chosen. Raises InputError.
    """
    named = schemes_given(asked.scheme)
    require(len(named) == 1, f"one scheme must be given, not {len(named)}")
    others = schemes_given(asked.than) if asked.than else []
    wanted = asked.wanted()
    meant = inputs_meant([*named, *others], tests_given(asked.tests))
    weights = read_costs(asked.costs)
    given = settings_for(asked.settings)
    setup = read_setup(meant.schemes, meant.tests, given, chosen(asked.judge, given))
    table = setup.schemes[0].scheme
    again = bool(wanted.repeats) or alone_may_break(table)
    events = asked.hunt_events
    if events is None:
        events = 3 if table.machine is not None else 2
    if table.language is not None:
        events = 0  # Programs of hunts are in another language.
    hunt = Hunt(setup.verdicts, table, events, again=again) if events else None
    search = Repair(
        setup,
        wanted,
        weights,
        count=asked.count,
        sample=asked.sample,
        hunt=hunt,
    )
    unwritten, prepared = Problems(), False

    def answers(shown: Any) -> Generator[SchemeFound, None, None]:
        from rspverify.render.repair import before

        def tried(candidates: int, least: int) -> None:
            words = f"{candidates} candidates tried, none passes that costs less than {least:,}"
            shown.step(words)

        nonlocal prepared
        shown.count("tests under the scheme itself", len(setup.tests))
        search.prepare(lambda done, _: shown.at(done), tried)
        prepared = True
        shown.count("", 0)
        shown.say(before(search.report()))
        search.run()
        yield from search.report().found

    def report(it: Repairing) -> RepairReport:
        if not prepared and it.stopped.interrupted:
            raise KeyboardInterrupt
        if not prepared:  # nothing is known that could be reported
            raise LimitReached(f"before the search began: {it.stopped.reason or 'not asked'}")
        with unwritten:
            if asked.write:
                return search.written_to(str(asked.write), search.report())
        return search.report()

    def ending(report: RepairReport) -> Ending:
        hunted = any(each.hunted and each.hunted.unknown for each in report.found)
        undecided = bool(found.stopped.limit or report.claim.stopped or hunted)
        undecided |= not report.claim.exact
        wanting = not report.found and not undecided
        internal = bool(report.internal)
        return Ending(internal, found=wanting, undecided=undecided, unwritten=unwritten)

    found = Asked(
        answers,
        report,
        "repair",
        document=lambda report, _: _detailed(report, setup, search, found.stopped),
        ending=ending,
        notes=(*meant.notes, *setup.verdicts.model.notes),
    )
    return found


def _detailed(report: RepairReport, setup: Setup, search: Repair, stop: Stop) -> Document:
    """All of it, the schemes, and the tests that the one given fails."""
    from rspverify.drawing.details import Broken, faults
    from rspverify.judge.faults import of_one_run
    from rspverify.render.repair import document

    scheme, verdicts = setup.schemes[0], setup.verdicts
    broken: dict[str, Broken] = {}
    for file in list(dict.fromkeys(each.file for each in report.effort.killers))[:MOST]:
        word = verdicts.answer(search.tests[file], scheme).verdict.word
        command = explain_command(scheme.file, file, verdicts.settings)
        broken[file] = Broken(search.tests[file].source, scheme, word, True, command)
    seen = known_details(broken, verdicts, stop)
    hunted = seen.keys() - {each.file for each in setup.tests}
    unsound = {it: broken[it] for it in seen if broken[it].word in WRONG and it not in hunted}
    at_fault = known(unsound, faults(unsound.values(), verdicts), verdicts.judge, stop)
    return document(report, seen, of_one_run(at_fault))


COMMAND = Command(
    repair,
    ends="1 no candidate passes; 3 something was not decided, so that there may be a cheaper one; "
    "0 otherwise",
    takes=OF_A_CASE,
    forms=PAGES,
    also=EVERYWHERE,
)
