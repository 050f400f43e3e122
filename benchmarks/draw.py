#!/usr/bin/env python3
"""Draws the newest measurement of every row: tileopt's speed as a part of the fastest peer's, beside its target.

    draw.py RESULTS.jsonl PICTURE.svg
"""

import html
import json
import math
import pathlib
import sys

LEFT, WIDTH, STEP, TOP = 230, 520, 20, 46
LARGEST = 4.0  # ratios above it are drawn as it, with their number


def newest(path):
    rows = {}
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        try:
            record = json.loads(line)
            rows[record["row"]] = record
        except (ValueError, KeyError) as error:
            print(f"{path}:{number}: skipped: {error}", file=sys.stderr)
    return rows


def place(ratio):
    """Ratios on a scale where 1 stands in the middle: logarithmic from 1/LARGEST to LARGEST."""
    clipped = min(max(ratio, 1 / LARGEST), LARGEST)
    return LEFT + WIDTH * (0.5 + 0.5 * math.log(clipped) / math.log(LARGEST))


def draw(rows):
    height = TOP + STEP * len(rows) + 20
    some = next(iter(rows.values()))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 190}" height="{height}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="8" y="16">Speed of tileopt over that of the fastest peer (right is better; the tick is the target)</text>',
             f'<text x="8" y="32" fill="#666">{html.escape(some["cpu"])}, medians, contenders interleaved</text>',
             f'<line x1="{place(1):.1f}" x2="{place(1):.1f}" y1="{TOP - 6}" y2="{height - 14}" stroke="#444"/>']
    for i, (name, record) in enumerate(rows.items()):
        y = TOP + STEP * i
        ratio, target = record["ratio"], record["target"]
        x = place(ratio) if ratio > 0 else place(1)
        colour = "#2a7" if ratio >= target else "#c63"
        parts.append(f'<text x="{LEFT - 8}" y="{y + 10}" text-anchor="end">{html.escape(name)}</text>')
        parts.append(f'<rect x="{min(x, place(1)):.1f}" y="{y}" width="{abs(x - place(1)):.1f}" height="12" fill="{colour}"/>')
        parts.append(f'<line x1="{place(target):.1f}" x2="{place(target):.1f}" y1="{y - 2}" y2="{y + 14}" stroke="#000" stroke-width="2"/>')
        note = f"{ratio:.2f} of {record['peer']}" if record["peer"] else "no peer"
        parts.append(f'<text x="{LEFT + WIDTH + 8}" y="{y + 10}" fill="#333">{html.escape(note)}</text>')
    return "\n".join(parts + ["</svg>"]) + "\n"


def main():
    rows = newest(sys.argv[1])
    if not rows:
        sys.exit(f"{sys.argv[1]}: nothing to draw")
    pathlib.Path(sys.argv[2]).write_text(draw(rows))


if __name__ == "__main__":
    main()
