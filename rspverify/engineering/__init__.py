"""Scheme engineering: what each instruction is for, what breaks a scheme, what would mend it."""
