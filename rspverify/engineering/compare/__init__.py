"""What an edit of a scheme changes: verdicts, outcomes and costs, deciding only what it touches."""
