"""Forgetting: what is asked for is removed from everything that is kept, and what was removed does not come back."""
