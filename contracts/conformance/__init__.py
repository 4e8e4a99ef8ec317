"""The conformance kit: drives somebody's Memory or Brain and tells where it departs from the contract."""

from __future__ import annotations

from contracts.conformance.report import Outcome, Report, Result
from contracts.conformance.verify import verify_brain, verify_memory

__all__ = ["Outcome", "Report", "Result", "verify_brain", "verify_memory"]
