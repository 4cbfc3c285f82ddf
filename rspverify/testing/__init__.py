"""Tests under schemes as items of pytest."""
