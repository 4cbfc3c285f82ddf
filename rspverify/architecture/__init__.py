"""Machines as files: what a `.machine` file says, and the machines that ship."""
