"""Decides whether a compilation scheme from OpenCL with remote-scope promotion is sound."""

__version__ = "0.1.0"
