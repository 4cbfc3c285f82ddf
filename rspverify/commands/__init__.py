"""Commands, one file each, and how they end."""
