"""The jobs of a memory, in the order in which a heartbeat runs them."""

from __future__ import annotations

from openclaw_memory.lifecycle.jobs import Job
from openclaw_memory.lifecycle.memory_jobs import memory_jobs
from openclaw_memory.lifecycle.retention import Retention
from openclaw_memory.lifecycle.summaries.job import Summaries
from openclaw_memory.lifecycle.summaries.making import Maker
from openclaw_memory.lifecycle.task_cleanup import TaskArchive, TaskCleanup
from openclaw_memory.lifecycle.tools import Tools


def jobs_of(tools: Tools) -> tuple[Job, ...]:
    """Make the jobs that the configuration asks for.

    What adds to memory comes before what condenses it, and what moves things away comes last.
    """
    config = tools.config
    jobs: list[Job] = []
    if config.summaries.enabled:
        jobs.append(Summaries(tools, Maker(tools)))
    jobs += memory_jobs(tools)
    jobs += [TaskCleanup(tools), TaskArchive(tools)]
    if config.retention_days is not None:
        jobs.append(Retention(tools, config.retention_days))
    return tuple(jobs)
