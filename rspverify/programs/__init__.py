"""Litmus tests to be written down: in a line, as files in herd's language, and what they mean."""
