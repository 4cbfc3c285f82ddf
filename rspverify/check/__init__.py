"""The theorem: verdicts on tests under schemes, what they rest on, and runs of many of them."""
