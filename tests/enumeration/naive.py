"""Every program of a small space, written down without symmetry, growth or filters.

A program is a tuple of threads `(device, group, steps)`; a step is `(name, location, test)`, a test
`(place, base, plus)`: the read of the thread that an `if` tests, the store that made the value by
thread and place (None: the initial value), and the increments since.
"""

from __future__ import annotations

from itertools import permutations, product


def programs(names, events, threads, locations):
    """All programs with exactly so many operations, up to renaming: their keys."""
    found = set()
    for lengths in _compositions(events, threads):
        count = len(lengths)
        for groups in product(range(count), repeat=count):
            for chosen in product(names, repeat=events):
                for places in product(range(locations), repeat=events):
                    steps = list(zip(chosen, places, strict=True))
                    if any(
                        (a[0][3:] == "na") != (b[0][3:] == "na")
                        for a in steps
                        for b in steps
                        if a[1] == b[1]
                    ):
                        continue
                    for program in _with_tests(lengths, groups, steps):
                        if buildable(program):
                            found.add(key(program))
    return found


def _compositions(events, threads):
    if threads == 0:
        return
    for count in range(1, threads + 1):
        for cut in product(range(1, events + 1), repeat=count):
            if sum(cut) == events:
                yield cut


def _with_tests(lengths, groups, steps):
    bodies, at = [], 0
    for length in lengths:
        bodies.append(steps[at : at + length])
        at += length
    stores = [
        (thread, place)
        for thread, body in enumerate(bodies)
        for place, (name, _) in enumerate(body)
        if name.startswith("st")
    ]
    incs = sum(name.startswith("inc") for name, _ in steps)
    options = []
    for body in bodies:
        for place in range(len(body)):
            reads = [p for p in range(place) if not body[p][0].startswith("st")]
            options.append([None, *product(reads, [None, *stores], range(incs + 1))])
    for tests in product(*options):
        rest = iter(tests)
        threads = tuple(
            (0, group, tuple((name, x, next(rest)) for name, x in body))
            for group, body in zip(groups, bodies, strict=True)
        )
        if all(_once(thread) for thread in threads):
            yield threads


def _once(thread):
    tested = [test[0] for _, _, test in thread[2] if test]
    return len(set(tested)) == len(tested)


def buildable(program):
    """Whether some order of the operations lets each `if` ask for a value that there can be."""
    seen, stack = set(), [(0,) * len(program)]
    lengths = tuple(len(thread[2]) for thread in program)
    while stack:
        done = stack.pop()
        if done == lengths:
            return True
        if done in seen:
            continue
        seen.add(done)
        for number, (_, _, steps) in enumerate(program):
            if done[number] < lengths[number]:
                test = steps[done[number]][2]
                if test is None or _can_be(program, done, number, test):
                    stack.append(tuple(n + (i == number) for i, n in enumerate(done)))
    return False


def _can_be(program, done, number, test):
    place, base, plus = test
    own = program[number][2]
    x = own[place][1]
    others = [
        (thread, p, name)
        for thread, (_, _, steps) in enumerate(program)
        if thread != number
        for p, (name, y, _) in enumerate(steps[: done[thread]])
        if y == x and not name.startswith("ld")
    ]
    if not others:
        return False
    added = sum(name.startswith("inc") for _, _, name in others)
    before = [(p, name) for p, (name, y, _) in enumerate(own[:place]) if y == x]
    stores = [p for p, name in before if name.startswith("st")]
    last = stores[-1] if stores else None
    if base is not None and base[0] != number:
        mine = sum(name.startswith("inc") for _, name in before)
        known = any((thread, p) == base and name.startswith("st") for thread, p, name in others)
        return known and plus <= mine + added
    since = sum(name.startswith("inc") for p, name in before if last is None or p > last)
    wanted = None if last is None else (number, last)
    return base == wanted and since <= plus <= since + added


def key(program):
    """The least of all ways to name threads, work-groups and locations."""
    return min(_named(program, order) for order in permutations(range(len(program))))


def _named(program, order):
    place = {old: new for new, old in enumerate(order)}
    groups, locations, found = {}, {}, []
    for old in order:
        _, group, steps = program[old]
        groups.setdefault(group, len(groups))
        body = []
        for name, x, test in steps:
            locations.setdefault(x, len(locations))
            told = ()
            if test is not None:
                base = (-1, -1) if test[1] is None else (place[test[1][0]], test[1][1])
                told = (test[0], base, test[2])
            body.append((name, locations[x], told))
        found.append((0, groups[group], tuple(body)))
    return tuple(found)


def of_shape(shape, space):
    """A shape of the package as one of these programs, by its key."""
    threads = []
    for device, group, steps in shape.threads:
        body = []
        for step in steps:
            test = None
            if step.tests >= 0:
                base = None if step.of < 0 else (step.of, step.at)
                test = (step.tests, base, step.plus)
            body.append((space.operations[step.operation], step.location, test))
        threads.append((device, group, tuple(body)))
    return key(tuple(threads))


def to_shape(program, space):
    """A program, by its key, as a shape of the package."""
    from rspverify.enumeration.packed import PackedAccess, PackedTest, PackedThread

    atomic = {
        x: name[3:] != "na" and not name.endswith(".na")
        for _, _, steps in program
        for name, x, _ in steps
    }
    threads = tuple(
        PackedThread(
            device,
            group,
            tuple(
                PackedAccess(
                    space.operations.index(name), x, *((test[0], *test[1], test[2]) if test else ())
                )
                for name, x, test in steps
            ),
        )
        for device, group, steps in program
    )
    return PackedTest(threads, tuple(atomic[x] for x in sorted(atomic)))
