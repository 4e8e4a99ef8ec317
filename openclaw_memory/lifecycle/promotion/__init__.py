"""Promotion ("dreaming"): what proves useful again and again goes into MEMORY.md (seed 003 section 26.4.4)."""
