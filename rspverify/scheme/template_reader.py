"""Reads one instruction of a row's code, in the paper's notation: `LD r x`, `LK_rmw DV`."""

from __future__ import annotations

from rspverify.architecture.architecture import InstructionSet, Mnemonic
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Template
from rspverify.source import Problem, Span
from rspverify.wording import alternatives, guess, quoted
from rspverify.yaml_reader import Node, Text, found

_INCREMENT = ("increment", "n", "the operation's own operand")
_OPERATION = ("operation", "f", "the source operation's own")


def read_template(
    node: Node, instructions: InstructionSet, problems: list[Problem]
) -> Template | None:
    """The instruction that is written at a node, or None and a problem more."""
    if not isinstance(node, Text) or not node.words:
        message = f"an instruction must be text such as 'LD r x', not {found(node)}"
        problems.append(Problem(node.span, message))
        return None
    (name, at), *operands = node.words
    alike = [each for each in instructions.values() if each.stem == name]
    alike.sort(key=lambda it: -len(it.modifiers))
    if not alike:
        known = list(dict.fromkeys(each.stem for each in instructions.values()))
        message = f"an instruction must be one of {alternatives(known)}, not {quoted(name)}"
        problems.append(Problem(at, message, guess(name, known)))
        return None
    words = tuple(word for word, _ in operands)
    mnemonic = next((it for it in alike if _ends(words, it)), None)
    behind = len(mnemonic.modifiers) if mnemonic else 0
    operands = operands[: len(operands) - behind]
    number = mnemonic and _number_problem(mnemonic, operands, node.span)
    if mnemonic is None or (number and len(alike) > 1):  # What was meant may be another of them.
        usage = alternatives([way for each in alike for way in each.spellings])
        message = f"{name} must be written {usage}, not {' '.join((name, *words))}"
        problems.append(Problem(node.span, message))
        return None
    problem = number or _operand_problem(mnemonic, operands)
    if problem:
        problems.append(problem)
        return None
    reach = operands[mnemonic.operands.index("s")][0] if mnemonic.reaches else None
    return Template(mnemonic, reach, node.span)


def _ends(words: tuple[str, ...], mnemonic: Mnemonic) -> bool:
    """Whether words are as many operands as an instruction has, and its modifiers.

    One without any may have more operands, or less: that is told of these.
    """
    left = len(words) - len(mnemonic.modifiers)
    if not mnemonic.modifiers:
        return left >= 0
    return left >= len(mnemonic.operands) and words[left:] == mnemonic.modifiers


def spellings_with_operand(mnemonic: Mnemonic) -> list[str]:
    """How it may be written besides, with the operand that goes without saying: `INC_L1 r x n`."""
    if not (mnemonic.reads and mnemonic.writes):
        return []
    return [f"{each} {_operand(mnemonic)[1]}" for each in mnemonic.spellings]


def _operand(mnemonic: Mnemonic) -> tuple[str, str, str]:
    return _OPERATION if mnemonic.operator is None else _INCREMENT


def _usage(mnemonic: Mnemonic) -> str:
    return alternatives(mnemonic.spellings)


def _number_problem(
    mnemonic: Mnemonic, operands: list[tuple[str, Span]], whole: Span
) -> Problem | None:
    wanted = len(mnemonic.operands)
    most = wanted + 1 if mnemonic.reads and mnemonic.writes else wanted
    if wanted <= len(operands) <= most:
        return None
    plural = "operand" if wanted == 1 else "operands"
    message = f"{mnemonic.name} must have {wanted} {plural}, not {len(operands)}"
    span = operands[most][1] if len(operands) > most else whole
    return Problem(span, message, f"write {_usage(mnemonic)}")


def _operand_problem(mnemonic: Mnemonic, operands: list[tuple[str, Span]]) -> Problem | None:
    """The first operand that is not what its place wants."""
    for letter, (word, span) in zip(mnemonic.operands, operands, strict=False):
        allowed = list(mnemonic.reaches) if letter == "s" else [letter]
        if word in allowed:
            continue
        what = {"r": "register", "x": "location", "s": "reach"}[letter]
        message = (
            f"the {what} of {mnemonic.name} must be {alternatives(allowed)}, not {quoted(word)}"
        )
        system = "SY reaches every device" if "SY" in allowed and word.upper() == "ALL" else None
        hint = (system or guess(word, allowed)) if letter == "s" else f"write {_usage(mnemonic)}"
        return Problem(span, message, hint)
    what, name, meaning = _operand(mnemonic)
    for word, span in operands[len(mnemonic.operands) :]:
        if word != name:
            message = f"the {what} of {mnemonic.name} must be {name}, {meaning}, not {quoted(word)}"
            return Problem(span, message, f"leave it out: {_usage(mnemonic)}")
    return None


_ACCESS = {
    Op.LOAD: "reads into r",
    Op.STORE: "writes r",
    Op.RMW: "reads into r and writes",
    Op.CAS: "reads into r and writes whatever it is given",
}


def fits(kind: Op, mnemonic: Mnemonic) -> bool:
    """Whether an instruction accesses memory as an operation does that is no fence."""
    able = mnemonic.operator is None or kind is not Op.CAS
    does = mnemonic.reads, mnemonic.writes
    return does == (kind is not Op.STORE, kind is not Op.LOAD) and able


def repeats(kind: Op, mnemonic: Mnemonic) -> bool:
    """Whether an instruction may store again what an operation has written."""
    return kind is not Op.LOAD and mnemonic.writes and not mnemonic.reads


def access_problem(
    kind: Op, code: tuple[Template, ...], whole: Span, instructions: InstructionSet
) -> Problem | None:
    """A problem unless exactly one instruction accesses memory, and as the operation does.

    What has been written may be stored again by ST, any number of times. Of a fence no instruction
    accesses or names a location.
    """
    if kind is Op.FENCE:
        return _location_problem(code)
    accesses = [template for template in code if template.accesses]
    repeated = [each for each in accesses[1:] if repeats(kind, each.mnemonic)]
    once = [template for template in accesses if template not in repeated]
    misfits = [template for template in once if not fits(kind, template.mnemonic)]
    if len(once) == 1 and not misfits:
        return None
    names = alternatives([name for name, each in instructions.items() if fits(kind, each)])
    there = " and ".join(template.mnemonic.name for template in accesses) or "none"
    number = "at least" if kind is Op.STORE else "exactly"
    message = (
        f"the code of {kind.one} must have {number} one instruction that {_ACCESS[kind]} "
        f"({names}) and no other access, not {there}"
    )
    hint = "only after what writes may ST store the same again" if repeated else None
    return Problem((misfits or once[1:])[0].span if accesses else whole, message, hint)


def _location_problem(code: tuple[Template, ...]) -> Problem | None:
    """The first instruction in the code of a fence that has a location."""
    for template in code:
        if "x" in template.mnemonic.operands:
            name = template.mnemonic.name
            message = f"the code of a fence must have no location, as fences have none, not {name}"
            hint = "write FLU_L1, FLU_L2, INV_L1, LK_rmw and UL_rmw alone"
            return Problem(template.span, message, hint)
    return None
