"""LLVM's IR to assembly, by llvmlite in a process of its own, as LLVM ends a process that it fails.

`python -P emit.py CPU FEATURES`: from standard input to standard output. Without
arguments it says which LLVM it is.
"""

from __future__ import annotations

import sys
from typing import Any


def main(arguments: list[str]) -> str:
    """What the process prints."""
    import llvmlite
    from llvmlite import binding

    if not arguments:
        version = ".".join(map(str, binding.llvm_version_info))
        return f"LLVM {version} by llvmlite {llvmlite.__version__}"
    cpu, features = arguments
    return _emitted(binding, sys.stdin.read(), cpu, features)


def _emitted(binding: Any, text: str, cpu: str, features: str) -> str:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    module = binding.parse_assembly(text)
    module.verify()
    target = binding.Target.from_triple(module.triple)
    machine = target.create_target_machine(cpu=cpu, features=features, opt=2)
    assembly: str = machine.emit_assembly(module)
    return assembly


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1:]))
