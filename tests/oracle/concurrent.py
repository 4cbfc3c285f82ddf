"""Small programs that wait for each other, drawn at random, and as litmus tests."""

import re

from .schedulers import (
    Add,
    Barrier,
    CompareExchange,
    Concurrent,
    Exchange,
    If,
    Load,
    Repeat,
    Store,
)

_LOCATIONS = ("x", "y")
_KINDS = ("store", "store", "add", "load", "if", "wait", "wait", "lock", "lock", "try", "take")
_GOES_ON = ((True, 0), (True, 0), (True, 1), (False, 1), (False, 2))


def drawn(random):
    """A program of 2 to 4 work-groups of 1 or 2 threads, with loops that only spin."""
    groups = random.choice((2, 2, 3, 3, 4))
    threads = [random.choice((1, 1, 1, 2)) for _ in range(groups)]
    most = 3 if sum(threads) < 4 else 2
    codes = [[_code(random, most) for _ in range(count)] for count in threads]
    for group in codes if random.random() < 0.2 else ():
        if len(group) > 1:
            for code in group:
                code.insert(random.randint(0, len(code)), Barrier())
    for location in _LOCATIONS:  # Mostly, what is waited for is written by somebody.
        if random.random() < 0.8 and not any(
            Store(location, 1) in code for group in codes for code in group
        ):
            code = random.choice(random.choice(codes))
            code.insert(random.choice((0, len(code))), Store(location, 1))
    return Concurrent(tuple(tuple(map(tuple, group)) for group in codes))


def _code(random, most):
    code = []
    for _ in range(random.randint(1, most)):
        code += _statement(random, nested=False)
    return code


def _statement(random, nested):
    location = random.choice(_LOCATIONS)
    match random.choice(_KINDS[:3] if nested else _KINDS):
        case "store":
            return [Store(location, random.choice((1, 1, 2)))]
        case "add":
            return [Add("r1", location, 1)]
        case "load":
            return [Load("r2", location)]
        case "if":
            then = tuple(_statement(random, nested=True))
            otherwise = tuple(_statement(random, nested=True)) if random.random() < 0.3 else ()
            return [Load("r2", location), If("r2", random.choice((0, 1)), then, otherwise)]
        case "wait":
            body, conditions = [Load("r0", location)], [("r0", *random.choice(_GOES_ON))]
            if random.random() < 0.2:
                body.append(Load("r1", random.choice(_LOCATIONS)))
                conditions.append(("r1", *random.choice(_GOES_ON)))
            return [Repeat(tuple(body), tuple(conditions))]
        case "lock":
            inside = _statement(random, nested=True) if random.random() < 0.5 else []
            free = [Store("l", 0)] if random.random() < 0.8 else []
            return [_taken(random), *inside, *free]
        case "try":
            return [Exchange("r1", "l", 1), If("r1", 0, (Store("l", 0),))]
        case _:
            return [_taken(random)] if random.random() < 0.3 else []


def _taken(random):
    """A spin lock that is taken: by an exchange, or by a compare-exchange."""
    if random.random() < 0.5:
        return Repeat((Exchange("r0", "l", 1),), (("r0", False, 0),))
    return Repeat((CompareExchange("r0", "l", 0, 1),), (("r0", True, 0),))


# ---- as a litmus test ---------------------------------------------------------------------------

_EXPECTED = ("zero", "one")
_PARAMETERS = ", ".join(
    [f"global atomic_int* {name}" for name in (*_LOCATIONS, "l")]
    + [f"global int* {name}" for name in _EXPECTED]
)


def litmus(program, in_register=False):
    """The text of a program as a litmus test; its work-groups are of one device.

    in_register: whether what a compare-exchange expects is in a register, or in a location.
    """
    lines = ["OpenCL concurrent", "{ [zero]=0; [one]=1; }"]
    for number, (group, code) in enumerate(program.threads):
        lines.append(f"P{number}@wg {group}, dev 0 ({_PARAMETERS}) {{")
        lines += ["  int r0, r1, r2, e;", *_lines(code), "}"]
    text = "\n".join(lines) + "\n"
    return (
        re.sub(r"(\w+ = atomic_compare_exchange_strong\(\w+, )(zero|one)", _held, text)
        if in_register
        else text
    )


def _held(call):
    return f"e = {_EXPECTED.index(call[2])}; {call[1]}&e"


def _lines(code):
    for each in code:
        for line in _written(each):
            yield f"  {line}"


def _written(statement):
    match statement:
        case Load(register, location):
            return [f"{register} = atomic_load({location});"]
        case Store(location, value):
            return [f"atomic_store({location}, {value});"]
        case Add(register, location, amount):
            return [f"{register} = atomic_fetch_add({location}, {amount});"]
        case Exchange(register, location, value):
            return [f"{register} = atomic_exchange({location}, {value});"]
        case CompareExchange(register, location, expected, desired):
            call = f"atomic_compare_exchange_strong({location}, {_EXPECTED[expected]}, {desired})"
            return [f"{register} = {call};"]
        case Barrier():
            return ["barrier(CLK_GLOBAL_MEM_FENCE);"]
        case If(register, value, then, otherwise):
            other = ["} else {", *_lines(otherwise)] if otherwise else []
            return [f"if ({register} == {value}) {{", *_lines(then), *other, "}"]
        case Repeat(body, conditions):
            words = [
                f"{name} {'==' if equal else '!='} {value}" for name, equal, value in conditions
            ]
            return ["do {", *_lines(body), f"}} while ({' || '.join(words)});"]
