"""Axiomatic memory models: the .cat language, candidate executions, and questions about them."""
