#!/usr/bin/env python3
"""zip.py OUT.zip FOLDER packs FOLDER's content the same way every time:
sorted, with the time of SOURCE_DATE_EPOCH and each file's mode."""
import os
import sys
import time
import zipfile


def main(out, folder):
    when = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for parent, folders, files in os.walk(folder):
            folders.sort()
            for name in sorted(files):
                path = os.path.join(parent, name)
                info = zipfile.ZipInfo(os.path.relpath(path, folder), when)
                info.create_system = 3  # Unix, so that the mode is kept
                info.external_attr = (0o100755 if os.access(path, os.X_OK) else 0o100644) << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                with open(path, "rb") as f:
                    archive.writestr(info, f.read())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
