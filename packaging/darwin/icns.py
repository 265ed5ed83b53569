#!/usr/bin/env python3
"""icns.py OUT.icns PNG... puts PNG pictures into an Apple icon file.

The type of an entry says its size in pixels; sizes without a type of their own
are an error, so that no picture is left out silently.
"""
import struct
import sys

# Entries that hold a PNG as it is, by edge in pixels. 64 and 1024 exist only
# as the doubled 32 and 512.
TYPES = {16: b"icp4", 32: b"icp5", 64: b"ic12", 128: b"ic07", 256: b"ic08", 512: b"ic09", 1024: b"ic10"}


def main(out, *pngs):
    entries = b""
    for name in pngs:
        with open(name, "rb") as f:
            data = f.read()
        if data[:8] != b"\x89PNG\r\n\x1a\n":
            sys.exit(f"{name} is no PNG")
        width, height = struct.unpack(">II", data[16:24])
        if width != height or width not in TYPES:
            sys.exit(f"{name}: {width}x{height} is no size of an Apple icon")
        entries += TYPES[width] + struct.pack(">I", 8 + len(data)) + data
    with open(out, "wb") as f:
        f.write(b"icns" + struct.pack(">I", 8 + len(entries)) + entries)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
