"""`python -m contracts`: generate what is committed, or verify somebody's Memory or Brain."""

from __future__ import annotations

import sys

from contracts.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
