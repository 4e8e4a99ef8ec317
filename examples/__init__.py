"""Runnable examples: a gateway, a Brain that replays real dialogue, and a demo to watch."""
