"""Imported by the process that workers are forked from: they begin with all that this has read."""

from __future__ import annotations

import gc

from rspverify.api.judges import Judge
from rspverify.server import answering as answering
from rspverify.server import worker as worker
from rspverify.server.edit_session import EditSession

EditSession(Judge()).warm_up()
gc.freeze()  # What is there now is never garbage, and stays shared between processes.
