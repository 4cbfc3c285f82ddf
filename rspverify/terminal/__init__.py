"""The command line: how commands are made of what questions declare, how they print and end."""
