"""Imported by the process that workers are forked from: they begin with all that this has read."""

from __future__ import annotations

import gc

from rspverify.server import worker as worker
from rspverify.server.answering import warm_up

warm_up()
gc.freeze()  # What is there now is never garbage, and stays shared between processes.
