"""LLVM's IR to assembly, by llvmlite in a process of its own, as LLVM ends a process that it fails.

`python -P emit.py CPU FEATURES LEVEL [OPTION…]`: from standard input to standard output. LEVEL is
how much is optimised before code is generated, as 2; nothing is where it is empty. An option is one
of LLVM's for how assembly is written. Without arguments it says which LLVM it is.
"""

from __future__ import annotations

import os
import sys
from typing import Any


def main(arguments: list[str]) -> str:
    """What the process prints."""
    os.environ["LLVMLITE_ENABLE_OPAQUE_POINTERS"] = "1"  # of LLVM 15
    import llvmlite
    from llvmlite import binding

    if not arguments:
        version = ".".join(map(str, binding.llvm_version_info))
        return f"LLVM {version} by llvmlite {llvmlite.__version__}"
    cpu, features, level, *options = arguments
    for each in options:
        binding.set_option("", each)
    return _emitted(binding, sys.stdin.read(), cpu, features, level)


def _emitted(binding: Any, text: str, cpu: str, features: str, level: str) -> str:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    module = binding.parse_assembly(text)
    module.verify()
    target = binding.Target.from_triple(module.triple)
    number = int(level or 2)
    machine = target.create_target_machine(cpu=cpu, features=features, opt=number)
    if level:
        module.data_layout = str(machine.target_data)
        _optimise(binding, module, machine, number)
    assembly: str = machine.emit_assembly(module)
    return assembly


def _optimise(binding: Any, module: Any, machine: Any, level: int) -> None:
    """By LLVM's passes for a level, in the way that this llvmlite has for them."""
    if hasattr(binding, "create_pass_builder"):
        tuning = binding.create_pipeline_tuning_options(speed_level=level)
        builder = binding.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
        return
    older = binding.create_pass_manager_builder()
    older.opt_level = level
    passes = binding.create_module_pass_manager()
    machine.add_analysis_passes(passes)
    older.populate(passes)
    passes.run(module)


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1:]))
