#!/usr/bin/env python3
"""check.py CURSORTRAY.app reads the bundle as macOS would: property list, the
program it names, and every picture of the icon it names."""
import os
import plistlib
import struct
import sys


def main(app):
    contents = os.path.join(app, "Contents")
    with open(os.path.join(contents, "Info.plist"), "rb") as f:
        info = plistlib.load(f)
    wanted = {
        "CFBundlePackageType": "APPL",
        "CFBundleShortVersionString": os.environ["NUMERIC"],
        "LSUIElement": True,
        "NSHighResolutionCapable": True,
    }
    for key, want in wanted.items():
        if info.get(key) != want:
            sys.exit(f"Info.plist: {key} is {info.get(key)!r}, want {want!r}")
    for key in ("CFBundleIdentifier", "LSMinimumSystemVersion"):
        if not info.get(key):
            sys.exit(f"Info.plist: {key} is missing")

    program = os.path.join(contents, "MacOS", info["CFBundleExecutable"])
    with open(program, "rb") as f:
        if f.read(4) != b"\xcf\xfa\xed\xfe":
            sys.exit(f"{program} is no 64-bit Mach-O program")

    icon = os.path.join(contents, "Resources", info["CFBundleIconFile"] + ".icns")
    with open(icon, "rb") as f:
        data = f.read()
    if data[:4] != b"icns" or struct.unpack(">I", data[4:8])[0] != len(data):
        sys.exit(f"{icon} is no icon file")
    at, pictures = 8, 0
    while at < len(data):
        size = struct.unpack(">I", data[at + 4 : at + 8])[0]
        if size < 16 or data[at + 8 : at + 16] != b"\x89PNG\r\n\x1a\n":
            sys.exit(f"{icon}: the entry at {at} is no picture")
        at += size
        pictures += 1
    if pictures < 5:
        sys.exit(f"{icon} has {pictures} pictures only")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
