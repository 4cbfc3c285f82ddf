"""Which values reach which location: by derivation, and by candidate executions."""

from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rspverify.limits import LimitReached, Limits
from rspverify.value import Binary, Constant, Expression, Read, Select, evaluate
from rspverify.value.domain import Access, Domains, admissible, derivable, may_cause_itself

LIMITS = Limits()


def load(index: int, location: str) -> Access:
    return Access(index, location, True, None)


def store(index: int, location: str, value: Expression | int) -> Access:
    written = Constant(value) if isinstance(value, int) else value
    return Access(index, location, False, written)


def add(index: int, location: str, amount: int = 1) -> Access:
    return Access(index, location, True, Binary("+", Read(index), Constant(amount)))


def found(domains: Domains, location: str) -> list[int]:
    return sorted(domains.locations[location])


# ---- derivable -----------------------------------------------------------------------------------


def test_a_location_nobody_writes_keeps_its_initial_value() -> None:
    domains = derivable({"x": 7, "y": -1}, [load(0, "x"), store(1, "y", 3)], LIMITS)
    assert found(domains, "x") == [7]
    assert found(domains, "y") == [-1, 3]
    assert dict(domains.written) == {1: {3}}


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_each_increment_counts_once(number: int) -> None:
    domains = derivable({"x": 0}, [add(index, "x") for index in range(number)], LIMITS)
    assert found(domains, "x") == list(range(number + 1))
    for index in range(number):
        assert domains.written[index] == set(range(1, number + 1))


def test_additions_of_different_amounts_give_every_sum() -> None:
    accesses = [add(0, "x", 1), add(1, "x", 10), add(2, "x", 100)]
    domains = derivable({"x": 0}, accesses, LIMITS)
    assert found(domains, "x") == [0, 1, 10, 11, 100, 101, 110, 111]
    assert domains.written[1] == {10, 11, 110, 111}


def test_increments_wrap() -> None:
    domains = derivable({"x": 2**31 - 1}, [add(0, "x")], LIMITS)
    assert found(domains, "x") == [-(2**31), 2**31 - 1]


def test_values_travel_through_other_locations() -> None:
    accesses = [
        store(0, "x", 5),
        load(1, "x"),
        store(2, "y", Binary("*", Read(1), Constant(2))),
        load(3, "y"),
        store(4, "z", Binary("+", Read(1), Read(3))),
    ]
    domains = derivable({"x": 1, "y": 0, "z": 0}, accesses, LIMITS)
    assert found(domains, "y") == [0, 2, 10]
    # A superset: Read(1) may be 1 in one operand while Read(3) follows from a Read(1) of 5.
    assert set(found(domains, "z")) >= {0, 1, 5, 3, 15}
    assert domains.written[4] == {1, 5} | {1 + 2, 1 + 10, 5 + 2, 5 + 10}


def test_a_value_that_would_only_cause_itself_is_not_derivable() -> None:
    # Load buffering with copies: 42 could only come from itself.
    accesses = [load(0, "x"), store(1, "y", Read(0)), load(2, "y"), store(3, "x", Read(2))]
    domains = derivable({"x": 0, "y": 0, "z": 42}, accesses, LIMITS)
    assert found(domains, "x") == found(domains, "y") == [0]


def test_no_operation_twice_along_a_derivation() -> None:
    # x := y + 1 and y := x + 1: closed under the expressions there would be no end.
    accesses = [
        load(0, "y"),
        store(1, "x", Binary("+", Read(0), Constant(1))),
        load(2, "x"),
        store(3, "y", Binary("+", Read(2), Constant(1))),
    ]
    domains = derivable({"x": 0, "y": 0}, accesses, LIMITS)
    assert found(domains, "x") == [0, 1, 2]
    assert found(domains, "y") == [0, 1, 2]


def test_no_read_twice_along_a_derivation() -> None:
    # Both stores follow from one load, which cannot see one of them and then cause the other.
    accesses = [
        load(0, "x"),
        store(1, "x", Binary("+", Read(0), Constant(1))),
        store(2, "x", Binary("+", Read(0), Constant(10))),
    ]
    domains = derivable({"x": 0}, accesses, LIMITS)
    assert found(domains, "x") == [0, 1, 10]


def test_a_condition_that_is_decided_hides_the_other_value() -> None:
    accesses = [load(0, "x"), store(1, "y", Select(Read(0), Constant(3), Constant(4)))]
    assert found(derivable({"x": 0, "y": 0}, accesses, LIMITS), "y") == [0, 4]
    assert found(derivable({"x": 9, "y": 0}, accesses, LIMITS), "y") == [0, 3]
    both = [*accesses, store(2, "x", 1)]
    assert found(derivable({"x": 0, "y": 0}, both, LIMITS), "y") == [0, 3, 4]


def test_a_short_circuit_is_a_value_whatever_the_other_side() -> None:
    either = store(1, "y", Binary("||", Read(0), Read(2)))
    accesses = [load(0, "x"), either, load(2, "z")]
    assert found(derivable({"x": 3, "y": 5, "z": 0}, accesses, LIMITS), "y") == [1, 5]
    assert found(derivable({"x": 0, "y": 5, "z": 0}, accesses, LIMITS), "y") == [0, 5]


def test_a_short_circuit_needs_no_value_of_the_other_side() -> None:
    # The load of y cannot follow from itself, but `x || y` does not wait for it.
    either = store(2, "y", Binary("||", Read(0), Read(1)))
    accesses = [load(0, "x"), load(1, "y"), either, store(3, "z", Read(1))]
    assert found(derivable({"x": 3, "y": 0, "z": 0}, accesses, LIMITS), "z") == [0, 1]
    assert found(derivable({"x": 0, "y": 0, "z": 0}, accesses, LIMITS), "z") == [0]


def test_too_many_values_of_a_location() -> None:
    accesses = [store(index, "x", index) for index in range(1, 5)]
    assert len(derivable({"x": 0}, accesses, Limits(values=5)).locations["x"]) == 5
    with pytest.raises(LimitReached, match=r"^x may take more than 4 values$"):
        derivable({"x": 0}, accesses, Limits(values=4))


def test_too_many_derivations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rspverify.value.domain._MAX_DERIVATIONS", 200)
    accesses = [Access(it, "x", True, Binary("&", Read(it), Constant(it))) for it in range(9)]
    message = (
        r"^the values of the program have more than 200 derivations, a limit that no option "
        r"lifts; a smaller --unroll, or fewer different read-modify-writes of a location, have fewer$"
    )
    with pytest.raises(LimitReached, match=message):
        derivable({"x": 0}, accesses, LIMITS)


@st.composite
def threads(draw: st.DrawFn) -> list[Access]:
    """Threads of a few sorts, some of which are equal: what each does goes on from what it reads."""
    sorts = draw(st.lists(st.sampled_from(SORTS), min_size=1, max_size=4))
    found: list[Access] = []
    for sort in sorts:
        found += sort(len(found))
    return found


SORTS = [
    lambda at: [add(at, "x")],
    lambda at: [add(at, "x"), store(at + 1, "y", Read(at))],
    lambda at: [load(at, "y"), store(at + 1, "x", Binary("*", Read(at), Constant(3)))],
    lambda at: [add(at, "y", 2), add(at + 1, "x"), store(at + 2, "y", Read(at + 1))],
]


@settings(max_examples=60)
@given(threads())
def test_equal_threads_are_told_apart_by_nothing(
    accesses: list[Access],
) -> None:
    """The values are those that are found with each access looked at for itself."""
    expected = derivable({"x": 0, "y": 1}, accesses, LIMITS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rspverify.value.domain._alike", lambda _: lambda used: used)
        assert derivable({"x": 0, "y": 1}, accesses, LIMITS) == expected


def test_equal_increments_are_no_limit() -> None:
    accesses = [add(index, "x") for index in range(60)]
    assert found(derivable({"x": 0}, accesses, LIMITS), "x") == list(range(61))


def test_too_long_a_derivation() -> None:
    """Longer than calls may be nested: each operation adds to what another has left."""
    accesses = [add(index, "x") for index in range(500)]
    with pytest.raises(LimitReached, match=r"^values of the program are derived in too many steps"):
        derivable({"x": 0}, accesses, LIMITS)


# ---- admissible ----------------------------------------------------------------------------------


def test_a_constant_may_cause_itself() -> None:
    accesses = [load(0, "x"), store(1, "y", Read(0)), load(2, "y"), store(3, "x", Read(2))]
    start = {"x": 0, "y": 0, "z": 42}
    domains = admissible(start, accesses, [], LIMITS, may_cause_itself(accesses))
    assert found(domains, "x") == found(domains, "y") == [0, 42]
    assert found(domains, "z") == [42]
    assert domains.written[1] == {0, 42}


def test_the_constants_of_guards_are_values_of_the_program() -> None:
    accesses = [load(0, "x"), store(1, "y", Read(0)), load(2, "y"), store(3, "x", Read(2))]
    guard = Binary("==", Read(0), Constant(17))
    domains = admissible({"x": 0, "y": 0}, accesses, [guard], LIMITS, may_cause_itself(accesses))
    assert found(domains, "x") == found(domains, "y") == [0, 17]


def test_only_what_a_write_can_supply_is_admissible() -> None:
    accesses = [load(0, "x"), store(1, "x", 2), store(2, "y", 3), add(3, "z")]
    domains = admissible({"x": 1, "y": 1, "z": 1}, accesses, [], LIMITS, may_cause_itself(accesses))
    assert found(domains, "x") == [1, 2]
    assert found(domains, "y") == [1, 3]
    # 1 + 1, once more from the constant 3, and then from its own values again
    assert set(found(domains, "z")) == {1, 2, 3, 4}


def test_what_is_derivable_is_admissible() -> None:
    accesses = [add(index, "x") for index in range(3)]
    domains = admissible({"x": 0}, accesses, [], LIMITS, circular=False)
    assert found(domains, "x") == [0, 1, 2, 3, 4]  # the constant 1 needs no derivation


def test_a_limit_of_admissible_values() -> None:
    accesses = [load(0, "x"), store(1, "y", Read(0)), load(2, "y"), store(3, "x", Read(2))]
    start = {"x": 0, "y": 0, "a": 1, "b": 2, "c": 3}
    assert found(
        admissible(start, accesses, [], Limits(values=4), may_cause_itself(accesses)), "x"
    ) == [0, 1, 2, 3]
    with pytest.raises(LimitReached, match=r"^[xy] may take more than 3 values$"):
        admissible(start, accesses, [], Limits(values=3), may_cause_itself(accesses))


# ---- both, against executions one by one ---------------------------------------------------------

LOCATIONS = ("x", "y")


@st.composite
def programs(draw: st.DrawFn) -> list[Access]:
    """Operations in one order; an expression speaks of its own read and of earlier ones."""
    accesses: list[Access] = []
    for index in range(draw(st.integers(1, 4))):
        location = draw(st.sampled_from(LOCATIONS))
        kind = draw(st.sampled_from(["load", "store", "rmw"]))
        readable = [it.index for it in accesses if it.reads] + [index] * (kind == "rmw")
        leaves = st.builds(Constant, st.integers(0, 3))
        if readable:
            leaves |= st.builds(Read, st.sampled_from(readable))
        value = draw(
            leaves
            | st.builds(Binary, st.sampled_from(["+", "*", "==", "&&"]), leaves, leaves)
            | st.builds(Select, leaves, leaves, leaves)
        )
        accesses.append(Access(index, location, kind != "store", None if kind == "load" else value))
    return accesses


def run_in_any_order(
    accesses: list[Access], start: dict[str, int]
) -> tuple[set[tuple[str, int]], set[tuple[int, int]]]:
    """What is seen per location and written per access, where reads may see any earlier write.

    Accesses run in the order of the list; another thread is not needed to tell supersets.
    """
    seen: set[tuple[str, int]] = set()
    written: set[tuple[int, int]] = set()

    def go(position: int, values: dict[int, int], supplies: dict[str, list[int]]) -> None:
        if position == len(accesses):
            seen.update((x, value) for x in supplies for value in supplies[x])
            return
        it = accesses[position]
        for read in supplies[it.location] if it.reads else [None]:
            after = values if read is None else {**values, it.index: read}
            if it.value is None:
                go(position + 1, after, supplies)
                continue
            value = evaluate(it.value, after)
            written.add((it.index, value))
            more = {**supplies, it.location: [*supplies[it.location], value]}
            go(position + 1, after, more)

    go(0, {}, {x: [value] for x, value in start.items()})
    return seen, written


def bounded(accesses: list[Access], start: dict[str, int]) -> bool:
    """Whether the values that may cause themselves, if any may, come to an end."""
    try:
        admissible(start, accesses, [], LIMITS, may_cause_itself(accesses))
    except LimitReached:
        return False
    return True


@settings(max_examples=50)
@given(programs(), st.integers(0, 2))
def test_what_happens_is_derivable_and_admissible(accesses: list[Access], initial: int) -> None:
    start = {"x": initial, "y": 0}
    seen, written = run_in_any_order(accesses, start)
    assume(bounded(accesses, start))
    for domains in (
        derivable(start, accesses, LIMITS),
        admissible(start, accesses, [], LIMITS, may_cause_itself(accesses)),
    ):
        assert all(value in domains.locations[x] for x, value in seen)
        assert all(value in domains.written[index] for index, value in written)


@settings(max_examples=50)
@given(programs(), st.integers(0, 2))
def test_what_is_admissible_can_be_supplied(accesses: list[Access], initial: int) -> None:
    """Each value comes from the initial state or from a write whose reads have admissible values."""
    start = {"x": initial, "y": 0}
    assume(bounded(accesses, start))
    domains = admissible(start, accesses, [], LIMITS, may_cause_itself(accesses))
    derived = derivable(start, accesses, LIMITS)
    reading = [it for it in accesses if it.reads]
    choices = [sorted(domains.locations[it.location]) for it in reading]
    supplied = set(start.items())
    for values in product(*choices):
        environment = {it.index: value for it, value in zip(reading, values, strict=True)}
        for it in accesses:
            if it.value is not None:
                supplied.add((it.location, evaluate(it.value, environment)))
    for x in LOCATIONS:
        assert derived.locations[x] <= domains.locations[x]
        # Supersets: an expression's operands are taken one by one.
        if all(len(reads_of(it)) <= 1 for it in accesses):
            assert {(x, value) for value in domains.locations[x]} <= supplied


def reads_of(access: Access) -> list[int]:
    """The reads that the value of an access mentions, each as often as it does."""

    def walk(expression: Expression) -> list[int]:
        match expression:
            case Read(index):
                return [index]
            case Binary(_, left, right):
                return walk(left) + walk(right)
            case Select(condition, then, otherwise):
                return walk(condition) + walk(then) + walk(otherwise)
        return []

    return walk(access.value) if access.value is not None else []


COPY = [load(0, "x"), store(1, "y", Read(0)), load(2, "y"), store(3, "x", Read(2))]


def test_what_may_cause_itself() -> None:
    """Copies in a circle may, and so may increments and own stores; one-way flow may not."""
    assert may_cause_itself(COPY)
    assert not may_cause_itself(COPY[:3])
    assert may_cause_itself([add(index, "x") for index in range(3)])
    assert not may_cause_itself([add(0, "x")])
    assert may_cause_itself([load(0, "x"), store(1, "x", Binary("+", Read(0), Constant(1)))])


def test_closed_where_values_may_cause_themselves() -> None:
    masked = Binary("&", Binary("+", Read(0), Constant(1)), Constant(15))
    accesses = [load(0, "x"), store(1, "y", masked), load(2, "y"), store(3, "x", Read(2))]
    domains = admissible({"x": 0, "y": 0}, accesses, [], LIMITS, may_cause_itself(accesses))
    assert found(domains, "x") == list(range(16))
    growing = [load(0, "x"), store(1, "y", Binary("+", Read(0), Constant(1))), *COPY[2:]]
    with pytest.raises(
        LimitReached, match=r"^values may cause themselves, and there are more than"
    ):
        admissible({"x": 0, "y": 0}, growing, [], LIMITS, may_cause_itself(growing))
