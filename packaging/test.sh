#!/usr/bin/env bash
# Checks the packages in dist/: installs, runs and removes the .deb, compares
# the .rpm with it, reads back the resources of the Windows programs and the
# macOS app, and builds one package twice to see the same bytes. As root under
# CI the .deb goes into the system, elsewhere into a folder.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(packaging/version.sh)
numeric=${version%%[-+]*}
work=$(mktemp -d)
proxy=
cleanup() {
	[ -z "$proxy" ] || kill "$proxy" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
fail() { echo "package test: $*" >&2; exit 1; }
say() { echo "package test: $*"; }

# --- what a desktop reads
desktop-file-validate packaging/linux/cursortray.desktop
appstreamcli validate --no-net packaging/linux/io.github.cursortray.metainfo.xml >"$work/appstream" 2>&1 ||
	{ cat "$work/appstream" >&2; fail "the metainfo file is not valid"; }
say "desktop entry and metainfo are valid"

# --- the .deb
arch=$(dpkg --print-architecture)
deb=dist/cursortray_$arch.deb
[ -f "$deb" ] || fail "$deb is missing; this machine is $arch"
mapfile -t files < <(dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -n 's,^\./,/,; /[^/]$/p')

if [ "$(id -u)" = 0 ] && [ "${CI:-}" = true ] && ! dpkg -s cursortray >/dev/null 2>&1; then
	root=
	dpkg=(dpkg)
else
	root=$work/root
	mkdir -p "$root"/var/lib/dpkg/{info,updates,triggers}
	: >"$root/var/lib/dpkg/status"
	dpkg=(dpkg "--root=$root" --force-not-root)
	# Files of a package belong to root; a user namespace is enough to say so.
	[ "$(id -u)" = 0 ] || dpkg=(unshare --map-root-user "${dpkg[@]}")
fi
"${dpkg[@]}" -i "$deb" >"$work/dpkg" 2>&1 || { cat "$work/dpkg" >&2; fail "the .deb does not install"; }
for file in "${files[@]}"; do
	[ -e "$root$file" ] || fail "$file is not there after the install"
done
program=$root/usr/bin/cursortray

have=$("$program" version)
[[ $have == *"$version"* ]] || fail "the version is \"$have\", want $version"
man -l --warnings=w "$root/usr/share/man/man1/cursortray.1.gz" >/dev/null 2>"$work/man" || fail "man cannot show the page"
[ ! -s "$work/man" ] || { cat "$work/man" >&2; fail "the man page has faults"; }

# One question to the simulated Cursor, with a home of its own.
mkdir "$work/home"
env -u DBUS_SESSION_BUS_ADDRESS HOME="$work/home" XDG_CONFIG_HOME="$work/home/.config" XDG_RUNTIME_DIR="$work/home" \
	CURSORTRAY_API_KEY=package-test "$program" serve --demo --addr 127.0.0.1:0 >"$work/serve" 2>"$work/serve.log" &
proxy=$!
url=
for _ in $(seq 100); do
	url=$(sed -n 's/^listening on //p' "$work/serve")
	[ -z "$url" ] || break
	kill -0 "$proxy" 2>/dev/null || { cat "$work/serve.log" >&2; fail "serve ended"; }
	sleep 0.1
done
[ -n "$url" ] || fail "serve did not say where it listens within 10 s"
ask() { curl -sS --fail --max-time 20 -H 'Authorization: Bearer package-test' "$@"; }
model=$(ask "$url/v1/models" | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"][0]["id"])')
[[ $model == demo-* ]] || fail "the first model of the simulation is $model"
ask "$url/v1/chat/completions" -H 'Content-Type: application/json' \
	-d "{\"model\": \"$model\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}" |
	python3 -c 'import json, sys; assert json.load(sys.stdin)["choices"][0]["message"]["content"]' ||
	fail "no answer from the installed program"
kill -TERM "$proxy"
wait "$proxy" || fail "serve ended with code $? on SIGTERM"
proxy=

"${dpkg[@]}" --purge cursortray >"$work/dpkg" 2>&1 || { cat "$work/dpkg" >&2; fail "the .deb cannot be removed"; }
for file in "${files[@]}"; do
	[ ! -e "$root$file" ] || fail "$file is left after the removal"
done
if [ -n "$root" ]; then
	left=$(find "$root" -path "$root/var/lib/dpkg" -prune -o -type f -print)
	[ -z "$left" ] || fail "left after the removal: $left"
fi
say "the .deb installs, answers, and leaves nothing (${#files[@]} files)"

# --- the .rpm holds the same
for arch in amd64 arm64; do
	dpkg-deb --fsys-tarfile "dist/cursortray_$arch.deb" | tar -t | sed -n 's,^\./,/,; /[^/]$/p' | grep -v /lintian/ | sort >"$work/deb"
	rpm -qpl "dist/cursortray_$arch.rpm" | grep -v '^/usr/share/doc/cursortray$' | sort >"$work/rpm"
	diff "$work/deb" "$work/rpm" || fail "the $arch .rpm and .deb differ"
	rpm -K --nosignature "dist/cursortray_$arch.rpm" >/dev/null || fail "the $arch .rpm is damaged"
done
[ "$(rpm -qp --queryformat '%{ARCH}' dist/cursortray_arm64.rpm)" = aarch64 ] || fail "the arm64 .rpm is for another machine"
say "the .rpm holds the same files"

# --- Windows and macOS, as far as they can be read here
unzip() { python3 -m zipfile -e "$1" "$2"; }
# built FILE OS ARCH fails unless the program is for that system.
built() {
	go version -m "$1" >"$work/build"
	grep -q "GOOS=$2\$" "$work/build" && grep -q "GOARCH=$3\$" "$work/build" || fail "$1 is not for $2/$3"
}
for arch in amd64 arm64; do
	dir=$work/windows-$arch
	unzip "dist/cursortray_windows_$arch.zip" "$dir"
	for exe in cursortray cursortrayw; do
		built "$dir/$exe.exe" windows "$arch"
		go tool go-winres extract --dir "$dir/$exe" "$dir/$exe.exe"
		VERSION=$version NUMERIC=$numeric python3 packaging/windows/check.py "$dir/$exe.exe" "$dir/$exe/winres.json"
	done
done
say "the Windows programs have icon, manifest and version"

for arch in amd64 arm64; do
	dir=$work/darwin-$arch
	unzip "dist/cursortray_darwin_$arch.zip" "$dir"
	built "$dir/cursortray.app/Contents/MacOS/cursortray" darwin "$arch"
	NUMERIC=$numeric python3 packaging/darwin/check.py "$dir/cursortray.app"
done
say "the macOS app has a valid property list and icon"

# --- the same commit gives the same bytes
arch=$(dpkg --print-architecture)
OUT=$work/again TARGETS="linux/$arch" packaging/build.sh >/dev/null
for format in deb rpm; do
	cmp "dist/cursortray_$arch.$format" "$work/again/cursortray_$arch.$format" || fail "a second build of the .$format differs"
done
say "a second build gives the same bytes"
