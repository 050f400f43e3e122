"""Plants every bug of the table, one at a time, and says what catches it. Exit code 1 where a bug is caught by nothing.

    run.py TOOL KERNELS [NUMBER...]      TOOL: a tileopt-schedule of a build with TILEOPT_PLANTED_BUGS=ON

Each of a bug's kernels is compiled, proved, built and compared with the reference interpreter at many sizes, as the suite does.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

import bugs

HERE = pathlib.Path(__file__).parent
# What a run without any bug must give; what else a run with one may give.
CAUGHT = {1: "refused", 2: "refused", 3: "proof", 4: "the C compiler", 70: "check inside the compiler", 124: "time limit"}


def run(tool, kernels, number, words):
    """(exit code, what was said)"""
    environment = dict(os.environ, TILEOPT_PLANTED=str(number), TMPDIR=os.environ.get("TMPDIR", "/tmp"))
    command = [tool, "check", str(pathlib.Path(kernels) / (words[0] + ".tile")), "--machine", "x86-64-v3", *words[1:]]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return 124, "time limit"
    text = [line for line in done.stderr.splitlines() if line.strip()]
    return done.returncode, text[0] if text else ""


def judge(tool, kernels, bug):
    for words in bug.runs:
        code, text = run(tool, kernels, bug.number, words)
        if code == 0:
            continue
        sane, _ = run(tool, kernels, 0, words)
        by = CAUGHT.get(code, f"signal or exit code {code}")
        if code == 3 and "not proved" not in text:
            by = "execution"
        if code in (1, 2) and sane == code:
            continue  # the options are refused without the bug too
        return by, " ".join(words), text
    return None, ", ".join(" ".join(words) for words in bug.runs), ""


def main():
    tool, kernels = sys.argv[1:3]
    wanted = {int(number) for number in sys.argv[3:]}
    table = [bug for bug in bugs.read_bugs(HERE / "bugs.txt") if not wanted or bug.number in wanted]
    missed = 0
    print("| bug | what | caught by | in |\n| --- | --- | --- | --- |")
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for bug, (by, where, text) in zip(table, pool.map(lambda bug: judge(tool, kernels, bug), table)):
            missed += by is None
            print(f"| {bug.number} | {bug.what} | {by or 'NOTHING'} | {where} |", flush=True)
            print(f"{bug.number}: {text[:300]}", file=sys.stderr, flush=True)
    print(f"\n{len(table) - missed} of {len(table)} caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
