"""Readers of other programs' formats, one a module: names and bytes in, values that say where each stands out."""
