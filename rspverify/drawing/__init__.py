"""Executions as pictures: what `draw` finds. How they are drawn is for `render`."""
