"""All tests within bounds, each up to symmetry once: what is listed depends on no scheme."""
