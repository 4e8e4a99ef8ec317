"""Sessions as they lie on disk: JSONL, a message a line (seed 003 section 26.2), our own and the real OpenClaw's.

Bytes in, values and bytes out: no disk, no clock. A line that can't be understood is kept as it is, and told.
"""
