"""The limits of the fields, each in one place."""

from __future__ import annotations

MAX_CONTENT_CHARS = 1_000_000
"""Longest text of one message, note or summary. One message always fits into one conversation file of 5 MB."""
MAX_VALUE_CHARS = 100_000
"""Longest value of a fact."""
MAX_QUERY_CHARS = 100_000
MAX_DESCRIPTION_CHARS = 20_000
"""Longest description of a task."""
MAX_REASON_CHARS = 2_000
MAX_NAME_CHARS = 200
MAX_TOPIC_CHARS = 100
MAX_TITLE_CHARS = 500
MAX_WIDE_NAME_CHARS = 50
"""Longest name of a file that is not all ASCII: its characters take up to 4 bytes, and file systems 255 a name."""
MAX_PATH_CHARS = 1_000
MAX_BATCH_ITEMS = 500
"""Most items of one batch: as many entries as the write buffer holds in all (seed 000 section 5.2)."""
MAX_STEPS = 200
MAX_TAGS = 50
MAX_TOKENS = 10_000_000
MAX_RESULTS = 1_000
MAX_LINES = 100_000
"""Most lines that one `memory:get` asks for."""
FIRST_YEAR, LAST_YEAR = 1900, 2999
"""Years that a time may lie in; within them every change of time zone stays inside what `datetime` can hold."""
