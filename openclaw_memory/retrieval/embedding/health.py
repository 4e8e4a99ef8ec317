"""Whether an embedder works, and when it is tried again."""

from __future__ import annotations

from openclaw_memory.clock import Clock

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 300.0


class Health:
    """Pauses that double with each failure, from one second to five minutes, and end with a success.

    Shared by the background and by questions: while it pauses nobody waits for an embedder that does not answer.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._again = 0.0
        self.failures = 0
        """How many failed since the last success."""
        self.last_error: str | None = None
        """What went wrong last, also after later successes."""

    def failed(self, error: BaseException) -> None:
        """Note a failure and begin a pause."""
        self.failures += 1
        self.last_error = str(error) or repr(error)
        # The exponent is kept small: a float ends at 2 ** 1023.
        pause = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** min(self.failures - 1, 30))
        self._again = self._clock.monotonic() + pause

    def succeeded(self) -> None:
        """Note a success."""
        self.failures = 0
        self._again = 0.0

    def pause_left(self) -> float:
        """Give the seconds until it is tried again; 0.0 when it may be asked."""
        return max(0.0, self._again - self._clock.monotonic())

    async def pause(self) -> None:
        """Wait until it may be asked."""
        if self.pause_left():
            await self._clock.sleep_until(self._again)
