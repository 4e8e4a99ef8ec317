"""The jobs that look after MEMORY.md and HISTORY.md."""

from __future__ import annotations

from openclaw_memory.lifecycle.consolidation.job import Consolidation
from openclaw_memory.lifecycle.history_months import HistoryMonths
from openclaw_memory.lifecycle.jobs import Job
from openclaw_memory.lifecycle.tools import Tools


def memory_jobs(tools: Tools) -> tuple[Job, ...]:
    """Make the jobs that the configuration asks for, in their order.

    Conversations are consolidated where a model is configured, and in any case where HISTORY.md is kept.
    """
    config = tools.config
    jobs: list[Job] = []
    if tools.models.configured or config.history_file:
        jobs.append(Consolidation(tools))
    jobs.append(HistoryMonths(tools))
    return tuple(jobs)
