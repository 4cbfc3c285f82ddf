"""An experiment: the program that breaks a scheme as an unknown (docs/performance.md)."""
