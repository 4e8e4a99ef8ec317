"""Write what was measured as Markdown tables and a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from xml.sax.saxutils import escape

from benchmarks.recall.measure import BUDGETS, Row

RANKS = ("R@5", "R@10", "MRR")
MAIN_BUDGET = "within 2000"
_FONT = 'font-family="sans-serif"'
_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2")


def tables(rows: Sequence[Row], baseline: str) -> str:
    """Give a table of all systems over all stores, one by store, and one by kind of question."""
    tokens = any(MAIN_BUDGET in row.figures[0] for row in rows)
    main = MAIN_BUDGET if tokens else "R@10"
    names = [*(f"within {budget}" for budget in BUDGETS), *RANKS] if tokens else list(RANKS)
    systems = list(dict.fromkeys(row.system for row in rows))
    stores = list(dict.fromkeys(row.store for row in rows))
    kinds = sorted({kind for row in rows for kind in row.kinds})
    head = ["", *names, f"{main}: x {baseline}", *(f"{main}: {store}" for store in stores if len(stores) > 1)]
    head += [f"{main}: {kind}" for kind in kinds if len(kinds) > 1] + ["ms"]
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    base = _mean([row for row in rows if row.system == baseline], main)
    for system in systems:
        own = [row for row in rows if row.system == system]
        value = _mean(own, main)
        cells = [_shown(_mean(own, name)) for name in names]
        cells.append(_shown(value / base if base else math.nan))
        if len(stores) > 1:
            cells += [_shown(_mean([row for row in own if row.store == store], main)) for store in stores]
        if len(kinds) > 1:
            cells += [_shown(_mean(own, main, kind)) for kind in kinds]
        cells.append(f"{fmean(row.milliseconds for row in own):.1f}")
        lines.append("| " + " | ".join([system, *cells]) + " |")
    return "\n".join(lines) + "\n"


def picture(rows: Sequence[Row], systems: Sequence[str], title: str) -> str:
    """Draw, as SVG, the figures of some systems side by side: within each budget, or the ranks."""
    shown = [name for name in systems if any(row.system == name for row in rows)]
    tokens = any(MAIN_BUDGET in row.figures[0] for row in rows)
    names = [f"within {budget}" for budget in BUDGETS] if tokens else list(RANKS)
    width, height, left, top = 760, 330, 50, 64
    group, base = (width - left - 20) / len(names), height - 36
    bar, tall = group * 0.8 / max(1, len(shown)), base - top
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {_FONT} font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{left}" y="20" font-size="14">{escape(title)}</text>',
    ]
    for tick in range(0, 11, 2):
        y = base - tall * tick / 10
        parts.append(f'<line x1="{left}" x2="{width - 20}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tick / 10:.1f}</text>')
    for number, system in enumerate(shown):
        x, colour = left + number * 172, _COLOURS[number % len(_COLOURS)]
        parts.append(f'<rect x="{x}" y="34" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{x + 17}" y="44">{escape(system)}</text>')
        for place, name in enumerate(names):
            value = _mean([row for row in rows if row.system == system], name)
            if math.isnan(value):
                continue
            at, tip = left + place * group + group * 0.1 + number * bar, base - tall * value
            parts.append(
                f'<rect x="{at:.1f}" y="{tip:.1f}" width="{bar * 0.92:.1f}" height="{base - tip:.1f}" fill="{colour}"/>'
            )
            place_of = f'x="{at + bar * 0.46:.1f}" y="{tip - 3:.1f}" text-anchor="middle" font-size="10"'
            parts.append(f"<text {place_of}>{value:.2f}</text>")
    for place, name in enumerate(names):
        label = f"{name} tokens" if tokens else name
        parts.append(
            f'<text x="{left + (place + 0.5) * group:.1f}" y="{base + 20}" text-anchor="middle">{label}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def write(path: Path, text: str) -> None:
    """Write a file, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _mean(rows: Sequence[Row], name: str, kind: str | None = None) -> float:
    """Give the mean over stores of the mean over questions; not a number where nothing was measured."""
    able = [row for row in rows if name in row.figures[0] and (kind is None or kind in row.kinds)]
    return fmean(row.mean(name, kind) for row in able) if able else math.nan


def _shown(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"
