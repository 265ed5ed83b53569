#!/usr/bin/env bash
# Builds the packages of this work tree into dist/ (or the folder of OUT):
# .deb and .rpm, a zip with the Windows programs, a zip with the macOS app, each
# for amd64 and arm64. The same commit gives the same bytes. TARGETS picks some:
# TARGETS="linux/amd64 windows/arm64" packaging/build.sh
set -euo pipefail
cd "$(dirname "$0")/.."

targets=${TARGETS:-linux/amd64 linux/arm64 windows/amd64 windows/arm64 darwin/amd64 darwin/arm64}
out=${OUT:-dist}
# Outside go.mod: it is a program of its own with many dependencies. Later
# versions need modules that the Go module proxy does not hand out.
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4

VERSION=$(packaging/version.sh)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export VERSION SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# icon SIZE prints the application icon's file of that edge in pixels.
icon() {
	local file=assets/icons/app/cursortray-$1.png
	[ -f "$file" ] || { echo "no icon of $1 pixels ($file); run make icons" >&2; exit 1; }
	echo "$file"
}

# compile OS ARCH OUT [LINKERFLAG]
compile() {
	CGO_ENABLED=0 GOOS=$1 GOARCH=$2 go build -trimpath -buildvcs=false \
		-ldflags "-s -w -X main.version=$VERSION ${4:-}" -o "$3" ./app/cmd/cursortray
}

# numeric prints the version's three numbers, which is all that Windows' fixed
# fields and macOS take.
numeric() { echo "${VERSION%%[-+]*}"; }

linux() { # ARCH
	local stage=$work/linux-$1 size format
	mkdir -p "$stage/icons/scalable/apps"
	compile linux "$1" "$stage/cursortray"
	for size in 16 22 24 32 48 64 128 256; do
		mkdir -p "$stage/icons/${size}x$size/apps"
		cp "$(icon "$size")" "$stage/icons/${size}x$size/apps/cursortray.png"
	done
	cp assets/icons/app/cursortray.svg "$stage/icons/scalable/apps/cursortray.svg"
	gzip -9n <packaging/linux/cursortray.1 >"$stage/cursortray.1.gz"
	debian_changelog | gzip -9n >"$stage/changelog.gz"
	for format in deb rpm; do
		STAGE=$stage ARCH=$1 go run "$nfpm" package --config packaging/linux/nfpm.yaml \
			--packager "$format" --target "$out/cursortray_$1.$format" >"$work/nfpm" 2>&1 || { cat "$work/nfpm" >&2; exit 1; }
	done
	echo "$out/cursortray_$1.deb $out/cursortray_$1.rpm"
}

debian_changelog() {
	cat <<-END
		cursortray (${VERSION/-/\~}) unstable; urgency=low

		  * Changes are listed in CHANGELOG.md of the source.

		 -- the cursortray authors <noreply@cursortray.invalid>  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
	END
}

# A Windows program either has a console or has none, and a double click on one
# with a console opens a black window. So there are two, as with Python:
# cursortray.exe for the command line and cursortrayw.exe for the tray.
windows() { # ARCH
	local stage=$work/windows-$1 res=$work/winres-$1 exe size
	mkdir -p "$stage" "$res"
	for size in 16 24 32 48 64 256; do cp "$(icon "$size")" "$res/$size.png"; done
	compile windows "$1" "$stage/cursortray.exe"
	compile windows "$1" "$stage/cursortrayw.exe" -H=windowsgui
	for exe in cursortray.exe cursortrayw.exe; do
		sed -e "s/@VERSION@/$VERSION/; s/@NUMERIC_VERSION@/$(numeric).0/; s/@EXE@/$exe/" \
			-e 's/"@ICO@"/["16.png", "24.png", "32.png", "48.png", "64.png", "256.png"]/' \
			packaging/windows/winres.json >"$res/winres.json"
		# Patching the built program leaves no .syso file among the sources.
		go tool go-winres patch --no-backup --in "$res/winres.json" "$stage/$exe"
	done
	cp LICENSE README.md "$stage"
	pack "$stage" "cursortray_windows_$1.zip"
}

darwin() { # ARCH
	local stage=$work/darwin-$1 app size
	app=$stage/cursortray.app/Contents
	mkdir -p "$app/MacOS" "$app/Resources"
	compile darwin "$1" "$app/MacOS/cursortray"
	sed "s/@SHORT_VERSION@/$(numeric)/" packaging/darwin/Info.plist >"$app/Info.plist"
	local pictures=()
	for size in 16 32 64 128 256; do pictures+=("$(icon "$size")"); done
	python3 packaging/darwin/icns.py "$app/Resources/cursortray.icns" "${pictures[@]}"
	pack "$stage" "cursortray_darwin_$1.zip"
}

pack() { # FOLDER ZIP
	rm -f "$out/$2"
	python3 packaging/zip.py "$out/$2" "$1"
	echo "$out/$2"
}

for target in $targets; do
	"${target%/*}" "${target#*/}"
done
