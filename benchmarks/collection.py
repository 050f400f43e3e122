"""Times the kernels of benchmarks/kernels on this machine's CPU, beside our own print of the loops as written, a process a kernel.

collection.py TOOL RESULTS.jsonl [NAME...]

Sizes are those of demo.sh. A line a kernel is appended to RESULTS, with the time, that of the loops as written, and their ratio; what is below 1
is shown at the end. $PREFIX: words before the tool, e.g. "chrt -f 10" where other work goes on.
"""

import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
root = here.parent


def sizes_of_demo():
    text = (root / "demo.sh").read_text()
    listed = re.search(r"sizes=\((.*?)\n\)", text, re.S).group(1).split()
    return dict(entry.split(":", 1) for entry in listed)


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def time_kernel(tool, name, sizes):
    """The line of one kernel; where it fails, with `failure` in place of times."""
    command = os.environ.get("PREFIX", "").split() + [tool, "run", str(here / "kernels" / (name + ".tile")), "--json", "--size", sizes]
    done = subprocess.run(command, capture_output=True, text=True)
    line = {"date": datetime.date.today().isoformat(), "commit": os.environ.get("TILEOPT_COMMIT", ""), "cpu": processor(),
            "load": pathlib.Path("/proc/loadavg").read_text().strip(), "command": "benchmarks/collection.py", "kernel": name, "threads": 1}
    result = json.loads(done.stdout)["results"][0] if done.stdout else {}
    if "seconds" not in result:
        return {**line, "failure": result.get("message", done.stderr[-400:])}
    return {**line, "sizes": result["sizes"], "seconds": result["seconds"], "original_seconds": result["original_seconds"],
            "ratio": result["original_seconds"] / result["seconds"], "bytes": result["bytes"], "operations": result["operations"]}


def main():
    tool, results, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    sizes = sizes_of_demo()
    names = names or sorted(path.stem for path in (here / "kernels").glob("*.tile"))
    unknown = [name for name in names if name not in sizes]
    if unknown:
        sys.exit("demo.sh has no sizes of " + ", ".join(unknown))
    slow = []
    with open(results, "a") as file:
        for name in names:
            line = time_kernel(tool, name, sizes[name])
            file.write(json.dumps(line) + "\n")
            file.flush()
            if "failure" in line:
                slow.append(f"{name}: {line['failure']}")
                print(f"{name:24} failed", flush=True)
                continue
            print(f"{name:24} {line['seconds'] * 1e3:10.3f} ms  as written {line['original_seconds'] * 1e3:10.3f} ms  ratio {line['ratio']:6.2f}", flush=True)
            if line["ratio"] < 1:
                slow.append(f"{name}: {line['ratio']:.3f}")
    for text in slow:
        print("below 1:", text)


if __name__ == "__main__":
    main()
