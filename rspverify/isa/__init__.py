"""Instruction sets, told once in files, and the executor that follows code in any of them."""
