"""One way to ask: a question, its answer, who decides it, and where it is kept."""
