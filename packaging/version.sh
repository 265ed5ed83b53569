#!/usr/bin/env bash
# Prints the version of this work tree: the tag without its "v", or the next
# version with the commit, such as 0.1.0-dev+1a2b3c4. VERSION overrides it.
set -euo pipefail
cd "$(dirname "$0")/.."
next=0.1.0

if [ -n "${VERSION:-}" ]; then
	echo "$VERSION"
elif tag=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null); then
	echo "${tag#v}"
elif commit=$(git rev-parse --short=7 HEAD 2>/dev/null); then
	echo "$next-dev+$commit"
else
	echo "$next-dev"
fi
