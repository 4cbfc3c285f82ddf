"""Tests in files: which a command line means, suites of them, and what is expected of them."""
