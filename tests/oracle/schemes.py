"""The compilation schemes of Tab. 3 of the RSP paper (one device: no ALL scope).

A row is keyed by the kind of the operation and by its scope and remoteness: "WG" stands for
non-atomic and WG-scoped operations, remote or not.  ``x`` stands for the operation's location;
"LD", "ST", "INC_L1" and "INC_L2" are the access itself.  Memory orders play no part in Tab. 3.
"""

x = "the location of the operation"

ORIGINAL = {
    ("load", "WG"): [("LD", x)],
    ("load", "DV,N"): [("INV_L1", "WG"), ("LD", x)],
    ("load", "DV,R"): [
        ("LK_L2", x),
        ("FLU_L1", "DV"),
        ("INV_L1", "WG"),
        ("LD", x),
        ("UL_L2", x),
    ],
    ("store", "WG"): [("ST", x)],
    ("store", "DV,N"): [("FLU_L1", "WG"), ("ST", x)],
    ("store", "DV,R"): [
        ("LK_L2", x),
        ("FLU_L1", "WG"),
        ("ST", x),
        ("INV_L1", "DV"),
        ("UL_L2", x),
    ],
    ("rmw", "WG"): [("INC_L1", x)],
    ("rmw", "DV,N"): [("FLU_L1", "WG"), ("INV_L1", "WG"), ("INC_L2", x)],
    ("rmw", "DV,R"): [
        ("LK_rmw", "DV"),
        ("LK_L2", x),
        ("FLU_L1", "DV"),
        ("INV_L1", "WG"),
        ("INC_L2", x),
        ("INV_L1", "DV"),
        ("UL_L2", x),
        ("UL_rmw", "DV"),
    ],
}

PROPOSED = {
    ("load", "WG"): [("LD", x)],
    ("load", "DV,N"): [("LD", x), ("INV_L1", "WG")],
    ("load", "DV,R"): [("LD", x), ("FLU_L1", "DV"), ("INV_L1", "WG")],
    ("store", "WG"): [("ST", x)],
    ("store", "DV,N"): [("FLU_L1", "WG"), ("ST", x)],
    ("store", "DV,R"): [
        ("LK_rmw", "DV"),
        ("FLU_L1", "DV"),
        ("INV_L1", "DV"),
        ("ST", x),
        ("FLU_L1", "WG"),
        ("INV_L1", "DV"),
        ("UL_rmw", "DV"),
    ],
    ("rmw", "WG"): [("INC_L1", x)],
    ("rmw", "DV,N"): [("FLU_L1", "WG"), ("INC_L2", x), ("INV_L1", "WG")],
    ("rmw", "DV,R"): [
        ("LK_rmw", "DV"),
        ("FLU_L1", "DV"),
        ("INV_L1", "DV"),
        ("INC_L2", x),
        ("FLU_L1", "DV"),
        ("INV_L1", "DV"),
        ("UL_rmw", "DV"),
    ],
}

# For ``quickrelease``: nothing is invalidated by instructions, and a release waits for both levels.
_DOWN, _ALL_DOWN = [[("FLU_L1", reach), ("FLU_L2", "DV")] for reach in ("WG", "DV")]
QUICKRELEASE = {
    ("load", "WG"): [("LD", x)],
    ("load", "DV,N"): [("LD", x)],
    ("load", "DV,R"): [("LD", x), *_ALL_DOWN],
    ("store", "WG"): [("ST", x)],
    ("store", "DV,N"): [*_DOWN, ("ST", x)],
    ("store", "DV,R"): [("LK_rmw", "DV"), *_ALL_DOWN, ("ST", x), *_DOWN, ("UL_rmw", "DV")],
    ("rmw", "WG"): [("INC_L1", x)],
    ("rmw", "DV,N"): [*_DOWN, ("INC_L2", x)],
    ("rmw", "DV,R"): [("LK_rmw", "DV"), *_ALL_DOWN, ("INC_L2", x), *_ALL_DOWN, ("UL_rmw", "DV")],
}


def row_of(operation):
    """The key of the row of Tab. 3 for an operation."""
    scope = operation["scope"]
    if scope in (None, "WG"):
        return operation["kind"], "WG"
    if scope == "DV":
        return operation["kind"], "DV,R" if operation["remote"] else "DV,N"
    raise ValueError(f"Tab. 3 has no row for scope {scope!r}")


def compile_operation(operation, scheme):
    """The (guard, instruction) pairs for one operation (a scheme maps row keys to rows)."""
    code = []
    for mnemonic, operand in scheme[row_of(operation)]:
        location = operation["location"]
        if mnemonic == "LD":
            instruction = ("LD", operation["id"], location)
        elif mnemonic == "ST":
            instruction = ("ST", operation["value"], location)
        elif mnemonic in ("INC_L1", "INC_L2"):
            instruction = (mnemonic, operation["id"], location, operation["value"])
        else:
            instruction = (mnemonic, location if operand is x else operand)
        code.append((operation["guard"], instruction))
    return code


def compile_program(source, scheme):
    """The assembly program (see ``machine``) for a source program (see ``model``)."""
    return {
        "initial": {name: loc["initial"] for name, loc in source["locations"].items()},
        "threads": [
            {
                "device": thread["device"],
                "workgroup": thread["workgroup"],
                "code": [
                    entry
                    for operation in thread["operations"]
                    for entry in compile_operation(operation, scheme)
                ],
            }
            for thread in source["threads"]
        ],
    }
