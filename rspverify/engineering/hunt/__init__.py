"""Every program within bounds: enumerated up to symmetry, filtered, and decided under schemes."""
