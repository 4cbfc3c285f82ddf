"""Forms that have results one by one, which only `check` gives."""
