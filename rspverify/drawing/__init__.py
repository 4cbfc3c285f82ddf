"""Pictures of executions as plain data: what `draw` finds. How they are drawn is for `render`."""

from rspverify.drawing.picture import Arrow, Picture, PlacedEvent, PlacedThread

__all__ = ["Arrow", "Picture", "PlacedEvent", "PlacedThread"]
