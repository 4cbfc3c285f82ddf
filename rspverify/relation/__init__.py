"""Relational algebra over the events of a program: expressions, and what evaluates them."""
