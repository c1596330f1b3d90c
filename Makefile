# All commands for contributors. `make` without a target lists them.
# Requires Node 20 or newer with npm, which installs Node 26 for everything here.

SHELL := /bin/sh
BIN := node_modules/.bin
NODE := $(BIN)/node
STAMP := node_modules/.installed
export PATH := $(CURDIR)/$(BIN):$(PATH)

# Further arguments, for example: make test TEST_ARGS=proxy/relay
TEST_ARGS ?=
BENCH_ARGS ?=
CONFIG ?= examples/minimal.yml

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

.PHONY: help
help:
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\nNew here? make demo, then make test. Each installs what it needs.\n'

##@ See it work

.PHONY: demo
demo: install ## real Ethereum nodes behind one URL die without an effect on clients (KEEP=1 leaves it running)
	@$(NODE) e2e/demo/demo.ts

.PHONY: run
run: install ## start the router with CONFIG=file.yml (default: examples/minimal.yml)
	@$(NODE) proxy/main.ts $(CONFIG)

##@ Change it

.PHONY: install
install: $(STAMP) ## install the packages of package-lock.json, including Node 26, unless they are up to date
	@sh scripts/check-install.sh

$(STAMP): package-lock.json
	@sh scripts/install.sh

.PHONY: test
test: build redis ## all tests (TEST_ARGS=path for some); needs Go, which builds real nodes and a Kubernetes API on first use
	@$(BIN)/vitest run $(TEST_ARGS)

.PHONY: redis
redis:
	@sh scripts/install-redis.sh

.PHONY: test-unit
test-unit: build ## all tests except those on a real Kubernetes API
	@$(BIN)/vitest run --project plain $(TEST_ARGS)

.PHONY: test-kube
test-kube: build ## the tests on a real Kubernetes API, which is built on first use (needs Go; KUBE=1.31 or 1.37)
	@KUBE=$(KUBE) $(BIN)/vitest run --project kube $(TEST_ARGS)

.PHONY: test-state
test-state: build redis ## the tests on real Redis processes: standalone, Sentinel, Cluster
	@$(BIN)/vitest run --project state $(TEST_ARGS)

.PHONY: kube-assets
kube-assets: install
	@$(NODE) e2e/kube/build.ts

.PHONY: chaos-kube
chaos-kube: install ## the operator under schedules of faults on a real API (SEEDS=200 FROM=1)
	@SEEDS=$(or $(SEEDS),200) FROM=$(FROM) $(BIN)/vitest run --config vitest.slow.config.ts e2e/kube/chaos

.PHONY: test-slow
test-slow: install ## the tests that take minutes (TEST_ARGS=path for some); needs Go
	@$(BIN)/vitest run --config vitest.slow.config.ts $(TEST_ARGS)

.PHONY: hostile
hostile: install ## attacks next to an innocent client, each for SECONDS=5
	@HOSTILE_SECONDS=$(or $(SECONDS),5) $(BIN)/vitest run --config vitest.slow.config.ts e2e/hostile

.PHONY: fuzz
fuzz: install ## mutated documents, requests, HTTP heads and configs for MINUTES=10, with a Go decoder (SEED=n repeats a failure)
	@FUZZ_MINUTES=$(or $(MINUTES),10) SEED=$(SEED) $(BIN)/vitest run --config vitest.slow.config.ts e2e/fuzz

.PHONY: soak
soak: install ## mixed traffic with faults and attacks for MINUTES=30: memory, open files and delays must not grow
	@SOAK_MINUTES=$(or $(MINUTES),30) $(BIN)/vitest run --config vitest.slow.config.ts e2e/soak

.PHONY: fmt
fmt: install ## format the sources, and apply the linter's fixes
	@$(BIN)/oxlint --type-aware --fix --quiet || true
	@$(BIN)/prettier --write --log-level warn .

.PHONY: golden
golden: install ## update the operator's golden files; review the diff before you commit it
	@GOLDEN=write $(BIN)/vitest run --project plain operator/translate/golden.test.ts operator/resources/golden.test.ts

.PHONY: golden-chart
golden-chart: install ## update the chart's golden files and deploy/install.yaml (needs Go)
	@GOLDEN=write $(BIN)/vitest run --project kube e2e/kube/chart/rendered.test.ts

.PHONY: generate
generate: install ## generate reference documentation, crds/ and parts of the chart from the code
	@$(NODE) scripts/generate.ts

SITE := scripts/site
.PHONY: docs
docs: install $(SITE)/node_modules/.package-lock.json ## the documentation as a site in dist/docs, searchable offline (PREVIEW=1 serves it; SOURCE=URL of the repository)
	@cd $(SITE) && SOURCE=$(SOURCE) node_modules/.bin/vitepress build
	@$(if $(PREVIEW),cd $(SITE) && node_modules/.bin/vitepress preview)

$(SITE)/node_modules/.package-lock.json: $(SITE)/package-lock.json
	@npm ci --prefix $(SITE) --no-audit --no-fund --ignore-scripts && touch $@

##@ Check it

.PHONY: verify
verify: lint drift ## all checks except the tests: lint, and no stale generated files

.PHONY: lint
lint: lint-format lint-code lint-types lint-unused lint-law lint-english lint-workflows ## format, typed lint rules, types, unused code, import rules, English, workflows

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

.PHONY: lint-english
lint-english: install
	@$(BIN)/textlint README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md SUPPORT.md '{bench,charts,docs,e2e,examples,specs}/**/*.md'

.PHONY: lint-workflows
lint-workflows:
	@sh scripts/lint-workflows.sh

.PHONY: audit
audit: ## known vulnerabilities of the packages that users run, as the npm registry in use reports them
	@sh scripts/audit.sh

.PHONY: sbom
sbom: build ## an SBOM of each program with hashes and licences: dist/IMAGE.cdx.json (CycloneDX)
	@$(NODE) scripts/sbom.ts $(VERSION) $$($(NODE) --version)

.PHONY: sim
sim: install ## the engine in virtual time against misbehaving nodes (SEEDS=5000 FROM=1, or SEED=n TRACE=1)
	@SEEDS=$(SEEDS) FROM=$(FROM) SEED=$(SEED) TRACE=$(TRACE) $(NODE) e2e/simulation/sim.ts

.PHONY: sim-subscriptions
sim-subscriptions: install ## subscriptions in virtual time: failovers, reorganisations, stalls, wrong heads (SEEDS=500 FROM=1, or SEED=n TRACE=1)
	@SEEDS=$(SEEDS) FROM=$(FROM) SEED=$(SEED) TRACE=$(TRACE) $(NODE) e2e/simulation/sim.ts subscriptions

.PHONY: mutants
mutants: install ## mutation tests of the engine with Stryker, for hours (MUTATE=proxy/tracker/tip.ts for some)
	@$(BIN)/stryker run $(if $(MUTATE),--mutate $(MUTATE))

.PHONY: drift
drift: install
	@$(NODE) scripts/generate.ts --check

##@ Ship it

# Prefix of the images, such as IMAGES=registry.example.com/rpc/, and their bases: see Dockerfile.
IMAGES ?=
VERSION ?= $(shell sed -n 's/^  "version": "\(.*\)",/\1/p' package.json)
REVISION ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)
SOURCE ?=
DOCKER_ARGS ?=

.PHONY: build
build: install ## bundle the programs into an empty dist/bin
	@mkdir -p dist && touch dist/.started && $(NODE) scripts/build.ts
	@find dist/bin -type f ! -newer dist/.started -exec rm {} +

.PHONY: images
images: build ## images of router, operator and cache, each with its SBOM (IMAGES=registry/path/ VERSION BASE_IMAGE NODE_IMAGE DOCKER_ARGS)
	@docker version >/dev/null 2>&1 || { echo 'make images needs docker, and its daemon in reach (DOCKER_HOST).' >&2; exit 1; }
	@for name in router operator cache; do \
	  docker build $(DOCKER_ARGS) --quiet --target $$name \
	    $(if $(BASE_IMAGE),--build-arg BASE=$(BASE_IMAGE)) $(if $(NODE_IMAGE),--build-arg NODE=$(NODE_IMAGE)) \
	    --build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION) --build-arg SOURCE=$(SOURCE) \
	    --tag $(IMAGES)rpc-router$$([ $$name = router ] || echo -$$name):$(VERSION) . || exit 1; \
	done
	@node=$$(docker run --rm --network none --entrypoint /usr/local/bin/node $(IMAGES)rpc-router:$(VERSION) --version) && \
	  $(NODE) scripts/sbom.ts $(VERSION) $$node
	@docker images --format '{{.Repository}}:{{.Tag}}  {{.Size}}' --filter reference='$(IMAGES)rpc-router*:$(VERSION)'

.PHONY: node-image
node-image: install ## build localhost/node:26 from FROM_IMAGE and the Node of npm, if node:26 cannot be pulled
	@rm -rf dist/node-image && mkdir -p dist/node-image/lib
	@cp -L $(NODE) dist/node-image/node
	@cp -L $$(ldd $(NODE) | grep -oE '/[^ ]*lib(atomic|stdc|gcc_s)[^ ]*') dist/node-image/lib/
	@if command -v strip >/dev/null; then strip dist/node-image/node; fi
	@printf 'ARG FROM_IMAGE\nFROM $${FROM_IMAGE}\nCOPY lib /usr/local/lib/\nCOPY node /usr/local/bin/\nRUN ldconfig\n' > dist/node-image/Dockerfile
	@docker build $(DOCKER_ARGS) --quiet --build-arg FROM_IMAGE=$(or $(FROM_IMAGE),debian:bookworm-slim) --tag localhost/node:26 dist/node-image

.PHONY: package
package: build ## dist/rpc-router-VERSION.tgz, the npm package with router and rpc-operator (SOURCE=URL of the repository)
	@$(NODE) scripts/package.ts $(SOURCE)

# The links of the README lead out of the packaged chart, so they become URLs or plain text.
HELM ?= helm
.PHONY: chart
chart: ## dist/rpc-router-chart-VERSION.tgz, the chart (SOURCE=URL of the repository; needs helm)
	@rm -rf dist/chart && mkdir -p dist/chart && cp -R charts/rpc-router dist/chart/source
	@if [ -n "$(SOURCE)" ]; then \
	  links='s#](../../#]($(SOURCE)/blob/v$(VERSION)/#g'; \
	  printf 'home: %s\nsources: [%s]\n' $(SOURCE) $(SOURCE) >> dist/chart/source/Chart.yaml; \
	else links='s#\[\([^]]*\)\](../../[^)]*)#\1#g'; fi; \
	sed "$$links" charts/rpc-router/README.md > dist/chart/source/README.md
	@$(HELM) package dist/chart/source --destination dist/chart >/dev/null
	@mv dist/chart/rpc-router-*.tgz dist/rpc-router-chart-$(VERSION).tgz

.PHONY: krew
krew: package ## dist/rpc.yaml, the krew manifest of kubectl rpc for that package (SOURCE=URL of the repository)
	@[ -n "$(SOURCE)" ] || { echo 'make krew needs SOURCE, the URL of the repository with the release.' >&2; exit 1; }
	@sum=$$(openssl dgst -sha256 -r dist/rpc-router-$(VERSION).tgz | cut -d' ' -f1) && \
	  sed -e 's#{SOURCE}#$(SOURCE)#g' -e 's#{VERSION}#$(VERSION)#g' -e "s#{SHA256}#$$sum#g" deploy/krew/rpc.yaml > dist/rpc.yaml

##@ On a cluster that runs pods: kind, or another in KUBECONFIG

# Loads images. For another cluster: LOAD='docker push' IMAGES=registry.example.com/rpc/
LOAD ?= kind load docker-image --name $(or $(KIND_CLUSTER),rpc-router)

.PHONY: e2e
e2e: ## images, chart and fleets under load, in half an hour (TEST_ARGS=path, KEEP=1 skips the cleanup; needs docker and Go)
	@for tool in docker go; do command -v $$tool >/dev/null || { echo "make e2e needs $$tool." >&2; exit 1; }; done
	@docker version >/dev/null 2>&1 || { echo 'make e2e needs the daemon of docker in reach (DOCKER_HOST).' >&2; exit 1; }
	@for image in $(or $(NODE_IMAGE),$(shell sed -n 's/^ARG NODE=//p' Dockerfile)) $(or $(DEBIAN_IMAGE),$(BASE_IMAGE),debian:bookworm-slim); do \
	  docker image inspect $$image >/dev/null 2>&1 || docker pull --quiet $$image >/dev/null 2>&1 || \
	  { echo "make e2e cannot pull $$image: set DEBIAN_IMAGE to an image of Debian, and NODE_IMAGE to one with Node 26 (make node-image builds it)." >&2; exit 1; }; done
	@$(MAKE) kube-assets
	@$(if $(KUBECONFIG),,sh scripts/with-kind.sh) $(MAKE) e2e-tests

.PHONY: e2e-tests
e2e-tests:
	@command -v $(firstword $(LOAD)) >/dev/null || { echo 'make e2e needs $(firstword $(LOAD)), or LOAD.' >&2; exit 1; }
	@$(MAKE) images e2e-images IMAGES=$(or $(IMAGES),localhost/)
	@E2E_IMAGES=$(or $(IMAGES),localhost/) E2E_LOAD='$(LOAD)' $(BIN)/vitest run --config vitest.cluster.config.ts \
	  $(or $(TEST_ARGS),--exclude e2e/cluster/custom-metrics.test.ts)

.PHONY: e2e-metrics
e2e-metrics: ## a fleet that scales with a custom metric, by Prometheus and its adapter (PROMETHEUS_IMAGE, ADAPTER_IMAGE; not part of e2e)
	@$(MAKE) e2e TEST_ARGS=e2e/cluster/custom-metrics

# Clients and nodes for pods, and a real Ethereum node and a Redis on DEBIAN_IMAGE.
.PHONY: e2e-images
e2e-images:
	@rm -rf dist/e2e && mkdir -p dist/e2e && cp -L node_modules/@foundry-rs/anvil-*/bin/anvil dist/e2e/
	@$(BIN)/esbuild e2e/upstream-sim/main.ts e2e/cluster/pods/*.ts --bundle --platform=node --format=esm --entry-names=[name] \
	  --outdir=dist/e2e/programs --out-extension:.js=.mjs --log-level=warning \
	  --banner:js="import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"
	@for name in pods anvil redis; do \
	  docker build $(DOCKER_ARGS) --quiet --network host --target $$name --file e2e/cluster/Dockerfile \
	    --build-arg ROUTER=$(IMAGES)rpc-router:$(VERSION) $(if $(or $(DEBIAN_IMAGE),$(BASE_IMAGE)),--build-arg BASE=$(or $(DEBIAN_IMAGE),$(BASE_IMAGE))) \
	    --tag $(IMAGES)rpc-router-$$name:e2e dist/e2e || exit 1; \
	done

##@ With real nodes (needs Go and a C compiler)

.PHONY: nodes
nodes: install ## build geth, btcd, wasmd and test clients into ~/.cache/rpc-router, once, in about ten minutes
	@$(NODE) e2e/nodes/main.ts

.PHONY: test-nodes
test-nodes: nodes ## tests with real nodes and real clients, byte for byte (TEST_ARGS=path for some)
	@$(BIN)/vitest run --config vitest.nodes.config.ts $(TEST_ARGS)

##@ Measure it

.PHONY: bench
bench: install ## compare the router with nginx and a bare pass-through (BENCH_ARGS)
	@$(NODE) scripts/build.ts && $(NODE) bench/bench.ts $(BENCH_ARGS)

.PHONY: bench-big
bench-big: install ## memory for four concurrent answers of 50 MB, and for a query of a million logs
	@$(NODE) bench/big-answers.ts
	@$(NODE) bench/million-logs.ts

.PHONY: bench-hedge
bench-hedge: install ## the client's p99 with hedging and without, when one answer in twenty takes 2 s
	@$(NODE) bench/hedge.ts

.PHONY: bench-kube
bench-kube: install kube-assets ## the operator with 1,000 routers of 10 providers each: time, memory, writes
	@$(NODE) bench/operator-scale.ts $(BENCH_ARGS)

.PHONY: bench-interfaces
bench-interfaces: install ## cost of a call through each interface, and of 5,000 clients on one subscription
	@$(NODE) bench/interfaces.ts
	@$(NODE) bench/fan-out.ts

.PHONY: flame
flame: install ## a flame graph of the router under load
	@$(NODE) bench/flame.ts $(BENCH_ARGS)
