"""One file per output form; each turns plain data into text and decides nothing."""
