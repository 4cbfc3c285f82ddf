"""What a picture shows: edges that tell the others, and the edges that break an axiom.

Executions are evaluated anew here, by the plain sets of tests/relation/concrete.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import networkx
import pytest
from relation.concrete import World, closed

from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.model import Axiom, Let, MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.axiomatic.vocabulary import RELATIONS, SETS
from rspverify.drawing.draw import Drawn, Pictures
from rspverify.drawing.violation import EvaluatedExecution, Violation
from rspverify.limits import Limits
from rspverify.litmus.formula import Atom, Formula, Junction
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program_file
from rspverify.relation.expression import Sort
from rspverify.relation.expression import Test as Kind
from rspverify.source import Source
from rspverify.value import evaluate
from rspverify.verdict import Outcome

CORPUS = Path(__file__).resolve().parents[2] / "litmus/rsp"
TESTS = sorted(CORPUS.glob("*/*.litmus"))[::6]
RSP = load_model("opencl-rsp")
SC = read_model(
    Source("sc.cat", "let fr = rf^-1; mo\nlet hb = sb+\nacyclic sb | rf | mo | fr as Sc\n"), "sc"
)
FREE = read_model(Source("free.cat", "let hb = (sb | rf)+\nirreflexive hb as Hb\n"), "free")


def world(execution: EvaluatedExecution, model: MemoryModel) -> tuple[World, set[str]]:
    """The execution by plain sets, and which axioms do not hold of it."""
    events = list(enumerate(execution.events))
    sets = {name: {i for i, it in events if test(it)} for name, test in SETS.items()}
    relations = {
        name: {(i, j) for i, a in events for j, b in events if test(a, b)}
        for name, test in RELATIONS.items()
    }
    relations |= {name: set(execution.pairs(name)) for name in ("rf", "mo")}
    broken = set()
    for statement in model.statements:
        now = World({i for i, _ in events}, dict(sets), dict(relations))
        if isinstance(statement, Let):
            for name, expression in statement.definitions:
                if expression.sort is Sort.SET:
                    sets[name] = set(now.members(expression))
                else:
                    relations[name] = set(now.pairs(expression))
        elif isinstance(statement, Axiom) and not now.holds(statement.test, statement.expression):
            broken.add(statement.name)
    return World({i for i, _ in events}, sets, relations), broken


def pictures(program: Program, model: MemoryModel) -> Pictures:
    return Pictures(program, model, Limits(), None)


def formula(program: Program, outcome: Outcome) -> Formula:
    """What the registers and the memory of an outcome satisfy."""
    values = dict(outcome.reads)
    atoms: list[Formula] = [
        Atom(thread.index, name, evaluate(expression, values))
        for thread in program.threads
        for name, expression in thread.registers.items()
    ]
    atoms += [Atom(None, name, value) for name, value in outcome.memory]
    return Junction(True, tuple(atoms))


def forbidden(path: Path, model: MemoryModel) -> Iterator[Drawn]:
    """A few executions that the model forbids, for values that no axiom rules out by itself."""
    program = read_program_file(path)
    allowed = set(Questions(program, model, Limits()).outcomes())
    others = sorted(set(Questions(program, FREE, Limits()).outcomes()) - allowed)
    source = pictures(program, model)
    for outcome in islice(others, 0, None, max(1, len(others) // 3)):
        try:
            drawn = source.forbidden(formula(program, outcome))
        except ValueError:  # registers do not tell all that is read
            continue
        assert drawn is not None
        yield drawn


def breaks_the_axiom(it: Violation, plain: World) -> None:
    """The events break the axiom, each edge is one, and the edges hang together."""
    pairs = plain.pairs(it.axiom.expression)
    if it.axiom.test is Kind.ACYCLIC:
        assert set(zip(it.events, it.events[1:] + it.events[:1], strict=True)) <= pairs
    elif it.axiom.test is Kind.IRREFLEXIVE:
        (event,) = it.events
        assert (event, event) in pairs
    else:
        assert (it.events[0], it.events[-1]) in pairs
    for edge in it.edges:
        assert (edge.source, edge.target) in plain.relations[edge.name], edge
    graph = networkx.Graph((edge.source, edge.target) for edge in it.edges)
    assert networkx.is_connected(graph)
    assert set(it.events) <= set(graph)


@pytest.mark.parametrize("model", [RSP, SC], ids=lambda model: model.name)
def test_what_is_bold_breaks_the_axiom(model: MemoryModel) -> None:
    seen: Counter[str] = Counter()
    for path in TESTS:
        for drawn in forbidden(path, model):
            plain, broken = world(drawn.execution, model)
            assert {it.axiom.name for it in drawn.violations} == broken - {"Dr"}
            bold = {(it.name, it.source, it.target) for it in drawn.picture.arrows if it.bold}
            assert bold == {
                (edge.name, edge.source, edge.target)
                for it in drawn.violations
                for edge in it.edges
            }
            for each in drawn.violations:
                breaks_the_axiom(each, plain)
                seen[each.axiom.name] += 1
    assert sum(seen.values()) >= 20
    if model is RSP:
        assert {"Coh", "Narf", "Rmw"} <= seen.keys(), seen


def test_a_cycle_goes_round() -> None:
    """Of an acyclic union the bold edges are a cycle, each in its own direction."""
    path = CORPUS / "IRIW/IRIW+st.DV+st.DV+ld.DV-ld.DV+ld.DV-ld.DV.litmus"
    program = read_program_file(path)
    assert program.condition is not None
    drawn = pictures(program, SC).forbidden(program.condition.formula)
    assert drawn is not None
    (violation,) = drawn.violations
    graph = networkx.DiGraph((edge.source, edge.target) for edge in violation.edges)
    assert all(graph.in_degree(each) == graph.out_degree(each) == 1 for each in graph)
    assert Counter(edge.name for edge in violation.edges) == {"rf": 2, "fr": 2, "sb": 2}


def test_the_stale_read_of_message_passing() -> None:
    """Fig. 4: the plain read reads the initial value, though the new one was written before."""
    program = read_program_file(CORPUS / "paper/Fig4.litmus")
    assert program.condition is not None
    drawn = pictures(program, RSP).forbidden(program.condition.formula)
    assert drawn is not None
    texts = [event.text for event in drawn.picture.events]
    bold = [(it.name, texts[it.source], texts[it.target]) for it in drawn.picture.arrows if it.bold]
    assert bold == [
        ("rf", "W(x, 0) initial", "R[na](x, 0)"),
        ("hb", "W(x, 0) initial", "W[na](x, 42)"),
        ("hb", "W[na](x, 42)", "R[na](x, 0)"),
    ]


def test_edges_that_follow_from_others_are_left_out() -> None:
    for path in TESTS:
        program = read_program_file(path)
        drawn = pictures(program, RSP).consistent(None)
        assert drawn is not None
        plain, broken = world(drawn.execution, RSP)
        assert broken <= {"Dr"}
        initial = {i for i, event in enumerate(drawn.execution.events) if event.initial}
        shown: dict[str, set[tuple[int, int]]] = {"sb": set(), "mo": set(), "hb": set()}
        for arrow in drawn.picture.arrows:
            pair = arrow.source, arrow.target
            assert pair not in shown.setdefault(arrow.name, set()), "an edge is there once"
            shown[arrow.name].add(pair)
        assert shown.get("rf", set()) == plain.relations["rf"]
        gsw = shown.get("gsw", set())  # it may be an order, too
        assert gsw <= plain.relations["gsw"] <= closed(gsw)
        for name in ("sb", "mo"):
            whole = {it for it in plain.relations[name] if name == "mo" or it[0] not in initial}
            assert closed(shown[name]) == whole
            assert all(closed(shown[name] - {pair}) != whole for pair in shown[name])
        assert not shown["hb"] & (plain.relations["sb"] | plain.relations["gsw"])
        told = closed(shown["sb"] | shown.get("gsw", set()) | shown["hb"])
        assert told == {it for it in plain.relations["hb"] if it[0] not in initial}


def test_the_racy_execution() -> None:
    program = read_program_file(CORPUS / "paper/Ex3.litmus")
    drawn = pictures(program, RSP).racy()
    assert drawn is not None and drawn.condition == "Dr"
    plain, broken = world(drawn.execution, RSP)
    assert broken == {"Dr"}
    marked = [n for n, event in enumerate(drawn.picture.events) if event.marked]
    assert tuple(marked) in plain.relations["dr"]
    (race,) = [arrow for arrow in drawn.picture.arrows if arrow.mutual]
    assert (race.name, race.source, race.target) == ("dr", *marked)


def test_what_is_allowed_is_not_forbidden() -> None:
    program = read_program_file(CORPUS / "paper/Ex4.litmus")
    source = pictures(program, RSP)
    with pytest.raises(ValueError, match="satisfies"):
        source.forbidden(Atom(None, "x", 2))
    assert source.forbidden(Atom(None, "x", 5)) is None
    assert source.consistent(Atom(None, "x", 1)) is None


def test_every_consistent_execution_is_drawn_once() -> None:
    for path in TESTS[:12]:
        program = read_program_file(path)
        source = pictures(program, RSP)
        found = list(source.every(200))
        arrows = {(it.picture.events, it.picture.arrows, it.outcome) for it in found}
        assert (
            len(arrows) == len(found) == sum(1 for _ in Questions(program, RSP, Limits()).endings())
        )
