"""Compilation schemes: tables in YAML from source operations to assembly code (Tab. 3)."""
