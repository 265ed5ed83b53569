# Everything a developer or CI runs. `make help` lists the targets.
# Needs Go (the version in go.mod) and, for `make test`, what `make deps` names.
SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-print-directory

GO       ?= go
BIN      := bin/cursortray
PKG      := cursortray/app/cmd/cursortray
VERSION  ?= $(shell packaging/version.sh)
LDFLAGS  := -s -w -X main.version=$(VERSION)
GOBUILD  := $(GO) build -trimpath -ldflags '$(LDFLAGS)'
FUZZTIME ?= 10s
ARGS     ?=

# Only the menu bar of macOS needs cgo. Without it the program starts faster,
# takes less memory and is what the packages hold.
CGO := $(if $(filter darwin,$(shell $(GO) env GOOS)),1,0)

# What is compiled for this machine without the race detector gets the flags of
# the packages everywhere, so that the compiler does it once.
PLAIN := CGO_ENABLED=$(CGO) GOFLAGS="$${GOFLAGS:-} -trimpath" $(GO)

# What is cross-built in every `make test`, with the same flags. macOS with a menu
# bar needs cgo and so a Mac; vet still type-checks the rest for it.
CROSS := linux/amd64 linux/arm64 windows/amd64 windows/arm64

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## Start the tray application (ARGS="serve" for the proxy alone)
	@$(BIN) $(ARGS)

.PHONY: demo
demo: build ## Start it with a simulated Cursor: no account, nothing is real
	@$(BIN) --demo $(ARGS)

.PHONY: build
build: ## Build bin/cursortray for this machine
	@CGO_ENABLED=$(CGO) $(GOBUILD) -o $(BIN) ./app/cmd/cursortray

.PHONY: test
test: deps-ready ## All that must hold before a change lands; CI runs this
	@for part in check e2e cross package-test; do \
	  SECONDS=0; $(MAKE) $$part; echo "make test: $$part passed in $$SECONDS s"; \
	done

.PHONY: check
check: lint ## gofmt, vet, staticcheck, then all Go tests with the race detector
	$(GO) test -race -timeout 10m ./...

.PHONY: lint
lint: ## gofmt, vet, staticcheck, architecture tests
	@bad=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	  if [ -n "$$bad" ]; then echo "not formatted with gofmt:" >&2; echo "$$bad" >&2; exit 1; fi
	$(PLAIN) vet ./...
	$(PLAIN) vet -tags e2e ./...
	$(PLAIN) tool staticcheck -tags e2e ./...
	$(PLAIN) test -count=1 -run '^TestArch' ./app/cmd/cursortray

.PHONY: e2e
e2e: ## End-to-end tests: real clients from npm, a real session bus and tray host
	@.ci/deps check
	$(PLAIN) test -tags e2e -count=1 -timeout 15m -parallel 4 ./app/e2e/... ./tray/... ./keychain/... ./proxy/cursor/cursorsim/simserver/...

.PHONY: cross
cross: ## Build for linux and windows (amd64, arm64); vet for windows and macOS
	@for target in $(CROSS); do \
	  echo "build $$target"; \
	  CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -trimpath -o /dev/null ./...; \
	done
	GOOS=windows CGO_ENABLED=0 $(GO) vet -trimpath ./...
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) vet -trimpath ./...

.PHONY: bench
bench: ## Speed beside the least that could do it, with targets (BENCHARGS="-only rate")
	$(GO) run ./app/bench $(BENCHARGS)

.PHONY: fuzz
fuzz: ## Run every fuzz test for FUZZTIME (default 10s)
	@for pkg in $$($(GO) list ./...); do \
	  for name in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "fuzz $$pkg $$name"; $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$pkg; \
	  done; \
	done

.PHONY: cover
cover: ## Test coverage, per package and in cover.out
	$(GO) test -coverpkg=./... -coverprofile cover.out ./...
	$(GO) tool cover -func cover.out | tail -1

.PHONY: package
package: ## .deb, .rpm, Windows executables and the macOS app into dist/
	packaging/build.sh

.PHONY: package-test
package-test: package ## Install, run and remove the .deb; check the other packages
	packaging/test.sh

.PHONY: icons
icons: ## Draw the icons in assets again
	$(GO) generate ./assets/...

.PHONY: deps
deps: ## Install the Debian packages that `make test` uses (as root)
	.ci/deps install

.PHONY: deps-ready
deps-ready:
	@.ci/deps ready

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin dist cover.out
