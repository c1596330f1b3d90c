# Everything a contributor runs. `make` alone lists the targets.
# Needed: Node 20 or newer with npm, which installs the Node 26 that everything here runs on.

SHELL := /bin/sh
BIN := node_modules/.bin
NODE := $(BIN)/node
STAMP := node_modules/.installed
export PATH := $(CURDIR)/$(BIN):$(PATH)

# Further arguments, e.g. make test TEST_ARGS=proxy/relay
TEST_ARGS ?=
BENCH_ARGS ?=
CONFIG ?= examples/minimal.yml

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

.PHONY: help
help:
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\nNew here? make demo, then make test. Each installs what it needs.\n'

##@ See it work

.PHONY: demo
demo: install ## real Ethereum nodes behind one URL: they die, no client notices, no block is missed (KEEP=1 leaves it running)
	@$(NODE) e2e/demo/demo.ts

.PHONY: run
run: install ## start the router with CONFIG=file.yml (default: examples/minimal.yml)
	@$(NODE) proxy/main.ts $(CONFIG)

##@ Change it

.PHONY: install
install: $(STAMP) ## install the packages of package-lock.json, Node 26 among them; does nothing when they are there
	@sh scripts/check-install.sh

$(STAMP): package-lock.json
	@sh scripts/install.sh

.PHONY: test
test: install redis ## all tests (TEST_ARGS=path for some); those on real nodes and a real Kubernetes API need Go, which builds them on first use
	@$(BIN)/vitest run $(TEST_ARGS)

.PHONY: redis
redis:
	@sh scripts/install-redis.sh

.PHONY: test-unit
test-unit: install ## all tests but those on a real Kubernetes API
	@$(BIN)/vitest run --project plain $(TEST_ARGS)

.PHONY: test-kube
test-kube: install ## the tests on a real Kubernetes API, which is built on first use (needs Go)
	@$(BIN)/vitest run --project kube $(TEST_ARGS)

.PHONY: test-state
test-state: install redis ## the tests on real Redis processes: standalone, Sentinel, Cluster
	@$(BIN)/vitest run --project state $(TEST_ARGS)

.PHONY: kube-assets
kube-assets: install
	@$(NODE) e2e/kube/build.ts

.PHONY: chaos-kube
chaos-kube: install ## the operator through schedules of faults on a real API (SEEDS=200 FROM=1)
	@SEEDS=$(or $(SEEDS),200) FROM=$(FROM) $(BIN)/vitest run --config vitest.slow.config.ts e2e/kube/chaos

.PHONY: test-slow
test-slow: install ## the tests that take minutes (TEST_ARGS=path for some); needs Go
	@$(BIN)/vitest run --config vitest.slow.config.ts $(TEST_ARGS)

.PHONY: hostile
hostile: install ## attacks beside an innocent client, each for SECONDS=5
	@HOSTILE_SECONDS=$(or $(SECONDS),5) $(BIN)/vitest run --config vitest.slow.config.ts e2e/hostile

.PHONY: fuzz
fuzz: install ## mutated documents, HTTP heads and configs for MINUTES=10 (SEED=n for one failure again)
	@FUZZ_MINUTES=$(or $(MINUTES),10) SEED=$(SEED) $(BIN)/vitest run --config vitest.slow.config.ts e2e/fuzz

.PHONY: soak
soak: install ## mixed traffic with faults and attacks for MINUTES=30: memory, open files and delays must not grow
	@SOAK_MINUTES=$(or $(MINUTES),30) $(BIN)/vitest run --config vitest.slow.config.ts e2e/soak

.PHONY: fmt
fmt: install ## put the sources into the project's form and mend what the linter can mend
	@$(BIN)/oxlint --type-aware --fix --quiet || true
	@$(BIN)/prettier --write --log-level warn .

.PHONY: golden
golden: install ## write the expected outputs of the operator's golden files anew; read the difference before you commit it
	@GOLDEN=write $(BIN)/vitest run --project plain operator/translate/golden.test.ts operator/resources/golden.test.ts

.PHONY: golden-chart
golden-chart: install ## write what the chart renders anew: expected outputs and deploy/install.yaml (needs Go)
	@GOLDEN=write $(BIN)/vitest run --project kube e2e/kube/chart/rendered.test.ts

.PHONY: generate
generate: install ## write what is made from the code: reference documentation, crds/, parts of the chart
	@$(NODE) scripts/generate.ts

##@ Judge it

.PHONY: verify
verify: lint drift ## everything but the tests: lint, and no generated file is stale

.PHONY: lint
lint: lint-format lint-code lint-types lint-unused lint-law ## form, typed lint rules, types, unused code, the law of imports

.PHONY: lint-format
lint-format: install
	@$(BIN)/prettier --check --log-level warn . || { echo 'Remedy: make fmt' >&2; exit 1; }

.PHONY: lint-code
lint-code: install
	@$(BIN)/oxlint --type-aware --deny-warnings

.PHONY: lint-types
lint-types: install
	@$(BIN)/tsc -p .

.PHONY: lint-unused
lint-unused: install
	@$(BIN)/knip --no-progress

.PHONY: lint-law
lint-law: install
	@$(BIN)/vitest run --reporter=dot scripts/law

.PHONY: sbom
sbom: install ## a list of all that the programs are made from, with hashes, in dist/sbom.cdx.json (CycloneDX)
	@mkdir -p dist && npm sbom --sbom-format cyclonedx --omit dev --package-lock-only > dist/sbom.cdx.json

.PHONY: sim
sim: install ## the engine in virtual time against misbehaving nodes (SEEDS=5000 FROM=1, or SEED=n TRACE=1)
	@SEEDS=$(SEEDS) FROM=$(FROM) SEED=$(SEED) TRACE=$(TRACE) $(NODE) e2e/simulation/sim.ts

.PHONY: sim-subscriptions
sim-subscriptions: install ## subscriptions in virtual time: failovers, reorganisations, stalls, wrong heads (SEEDS=500 FROM=1, or SEED=n TRACE=1)
	@SEEDS=$(SEEDS) FROM=$(FROM) SEED=$(SEED) TRACE=$(TRACE) $(NODE) e2e/simulation/sim.ts subscriptions

.PHONY: mutants
mutants: install ## mutation testing of the engine by Stryker; hours for all of it (MUTATE=proxy/upstream/tip.ts for some)
	@$(BIN)/stryker run $(if $(MUTATE),--mutate $(MUTATE))

.PHONY: drift
drift: install
	@$(NODE) scripts/generate.ts --check

##@ With real nodes (Go and a C compiler are needed)

.PHONY: nodes
nodes: install ## build geth, btcd, wasmd and test clients into ~/.cache/rpc-router, once; some ten minutes
	@$(NODE) e2e/nodes/main.ts

.PHONY: run-nodes
run-nodes: install ## start one chain of each kind, and print a config of the router for them
	@$(NODE) e2e/nodes/main.ts run

.PHONY: test-nodes
test-nodes: nodes ## real nodes and real clients, byte for byte (TEST_ARGS=path for some)
	@$(BIN)/vitest run --config vitest.nodes.config.ts $(TEST_ARGS)

##@ Measure it

.PHONY: bench
bench: install ## the router beside nginx and a bare pass-through (BENCH_ARGS)
	@$(NODE) scripts/build.ts && $(NODE) bench/bench.ts $(BENCH_ARGS)

.PHONY: bench-big
bench-big: install ## how much memory four answers of 50 MB at once need
	@$(NODE) bench/big-answers.ts

.PHONY: bench-hedge
bench-hedge: install ## the client's p99 with hedging and without, when one answer in twenty takes 2 s
	@$(NODE) bench/hedge.ts

.PHONY: bench-kube
bench-kube: install kube-assets ## the operator with 1,000 routers of 10 providers each: time, memory, writes
	@$(NODE) bench/operator-scale.ts $(BENCH_ARGS)

.PHONY: bench-interfaces
bench-interfaces: install ## what a call costs through each interface, and 5,000 clients on one subscription
	@$(NODE) bench/interfaces.ts
	@$(NODE) bench/fan-out.ts

.PHONY: flame
flame: install ## a flame graph of the router under load
	@$(NODE) bench/flame.ts $(BENCH_ARGS)
