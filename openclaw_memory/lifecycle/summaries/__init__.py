"""Summaries of days, weeks and months: what is summarised, by whom, and when (seed 000 section 2.4)."""
