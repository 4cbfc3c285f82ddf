"""Litmus tests: herd's languages for OpenCL and C11, and PTX in columns, and their programs."""
