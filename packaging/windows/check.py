#!/usr/bin/env python3
"""check.py PROGRAM.exe WINRES.json compares the resources that go-winres read
back from PROGRAM.exe with what build.sh put in, and the kind of program."""
import json
import os
import struct
import sys

CONSOLE, WINDOW = 3, 2


def subsystem(path):
    with open(path, "rb") as f:
        data = f.read(4096)
    pe = struct.unpack_from("<I", data, 0x3C)[0]
    return struct.unpack_from("<H", data, pe + 24 + 68)[0]


def main(exe, resources):
    with open(resources, encoding="utf-8") as f:
        res = json.load(f)
    version = next(iter(res["RT_VERSION"]["#1"].values()))
    info = next(iter(version["info"].values()))
    name = os.path.basename(exe)
    icon = next(iter(res["RT_GROUP_ICON"]["APP"].values()))
    checks = {
        "ProductVersion": (info["ProductVersion"], os.environ["VERSION"]),
        "OriginalFilename": (info["OriginalFilename"], name),
        "fixed version": (version["fixed"]["file_version"], os.environ["NUMERIC"] + ".0"),
        "manifest": (bool(res["RT_MANIFEST"]["#1"]), True),
        "icon": (bool(icon), True),
        "subsystem": (subsystem(exe), WINDOW if name == "cursortrayw.exe" else CONSOLE),
    }
    for what, (have, want) in checks.items():
        if have != want:
            sys.exit(f"{exe}: {what} is {have!r}, want {want!r}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
