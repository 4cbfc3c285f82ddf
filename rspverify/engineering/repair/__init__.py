"""Cheapest sound and progressing schemes near a broken one, by counterexample-guided search."""
