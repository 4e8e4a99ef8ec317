"""What of a conversation is still there after it was summarised; run `python -m benchmarks.summaries PATH...`."""
