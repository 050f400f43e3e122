"""Reads the table of planted bugs, and makes sources that hold them.

    bugs.py check ROOT TABLE             every text is found once
    bugs.py plant ROOT TABLE FOLDER      FOLDER/<file> for every file of the table, with all of its bugs; prints the files
"""

import collections
import pathlib
import sys

Bug = collections.namedtuple("Bug", "number what file runs old new")


def read_bugs(table):
    bugs, current = [], {}
    for line in pathlib.Path(table).read_text().splitlines() + ["bug"]:
        if line.startswith("bug"):
            if current:
                bugs.append(Bug(**current))
            if line != "bug":
                number, what = line[4:].split(": ", 1)
                current = {"number": int(number), "what": what}
        elif line.startswith("file "):
            current["file"] = line[5:]
        elif line.startswith("run "):
            current["runs"] = split_runs(line[4:])
        elif line.startswith("- "):
            current["old"] = line[2:]
        elif line.startswith("+ "):
            current["new"] = line[2:]
    return bugs


def split_runs(text):
    """"a, b --pin f(\"x\",\"y\")": commas inside brackets stay."""
    runs, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            runs.append(text[start:i].split())
            start = i + 1
    return runs + [text[start:].split()]


def planted_source(root, file, bugs):
    text = (pathlib.Path(root) / file).read_text()
    for bug in bugs:
        if text.count(bug.old) != 1:
            sys.exit(f"planted bug {bug.number} ({bug.what}): its text stands {text.count(bug.old)} times in {file}; mend tests/planted/bugs.txt")
        text = text.replace(bug.old, bug.new.replace("PLANTED", f"::tileopt_planted({bug.number})"))
    return '#include "planted.h"\n#line 1 "' + str(pathlib.Path(root) / file) + '"\n' + text


HEADER = """#pragma once
#include <cstdlib>
inline bool tileopt_planted(int number) {
  static const char* const chosen = std::getenv("TILEOPT_PLANTED");
  return chosen != nullptr && std::atoi(chosen) == number;
}
"""


def main():
    command, root, table = sys.argv[1:4]
    by_file = collections.defaultdict(list)
    for bug in read_bugs(table):
        by_file[bug.file].append(bug)
    for file, bugs in by_file.items():
        source = planted_source(root, file, bugs)
        if command == "plant":
            target = pathlib.Path(sys.argv[4]) / file
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_text() != source:
                target.write_text(source)
            print(file)
    if command == "plant":
        header = pathlib.Path(sys.argv[4]) / "planted.h"
        if not header.exists() or header.read_text() != HEADER:
            header.write_text(HEADER)


if __name__ == "__main__":
    main()
