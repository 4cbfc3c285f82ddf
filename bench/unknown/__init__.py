"""Both ways to decide programs that are hunted, side by side (docs/performance.md)."""
