"""Systematic families of litmus tests: every scope and every grouping of a few shapes."""
