"""Soundness of a table for programs of any size, decided from the table alone (docs/proof.md)."""
