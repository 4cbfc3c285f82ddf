"""Programs in the assembly language of a machine."""
