"""Secrets in what is said: found by their shape, or by the words around them, and masked before anything is stored."""

from openclaw_memory.masking.mask import Masked, mask, mask_named

__all__ = ["Masked", "mask", "mask_named"]
