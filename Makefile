# SPDX-License-Identifier: Apache-2.0
# `make` builds the exporter, `make run` serves the demo, `make test` runs every test;
# `make help` lists the rest.
#
#   VARIANT=plain|asan|tsan|cover   CC=gcc|clang   beside each other, never over each other
#   BUILD=dir   a tree of your own   JOBS=n   V=1 shows the commands   REVISION=1a2b3c
#   ONLY=map    one unit test (or a pattern)   FUZZ_SECONDS=30

VARIANT      ?= plain
BUILD        ?= build
FUZZ_SECONDS ?= 30
JOBS         ?= $(shell nproc 2>/dev/null || echo 2)
ifeq ($(origin CC),default)
CC := gcc
endif
B := $(BUILD)/$(VARIANT)-$(notdir $(CC))
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$(2)')

MAKEFLAGS += --no-print-directory
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif
ifneq ($(filter clean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
export MAKE BUILD JOBS FUZZ_SECONDS
# Where tests/setup.sh unpacks programs that it must not install; what is installed comes first.
export PATH := $(PATH):$(abspath $(BUILD))/tools/usr/bin

# ---- flags ---------------------------------------------------------------------------------------

LANGUAGE := -std=gnu17 -D_GNU_SOURCE -I.
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
            -Wold-style-definition -Wvla -Wwrite-strings -Wundef -Wformat=2 -Wpointer-arith \
            -Wcast-qual -Wswitch-enum
HARDEN   := -D_FORTIFY_SOURCE=2 -fstack-clash-protection -fPIE \
            $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine 2>/dev/null)),-fcf-protection)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

FLAGS.plain := $(HARDEN)
LINK.plain  := -pie -Wl,-z,relro,-z,now
FLAGS.asan  := $(SANITIZE)
LINK.asan   := $(SANITIZE)
FLAGS.tsan  := -fsanitize=thread -fno-omit-frame-pointer
LINK.tsan   := -fsanitize=thread
FLAGS.cover := --coverage -O0
LINK.cover  := --coverage
FLAGS.fuzz  := $(SANITIZE) -fsanitize=fuzzer-no-link
LINK.fuzz   := $(SANITIZE)
$(if $(filter $(VARIANT),plain asan tsan cover fuzz),,$(error VARIANT is '$(VARIANT)'; it may be plain, asan, tsan or cover))

FLAGS := $(LANGUAGE) -O2 -g -fno-common -fstack-protector-strong $(WARNINGS) $(FLAGS.$(VARIANT))
LIBS  := -lmicrohttpd -lcurl -lcjson -lyaml -lz -lcrypt -lgnutls -lseccomp -lpthread -lm
ifeq ($(origin REVISION),undefined)
REVISION := $(word 2,$(shell exporter/deploy/source.sh))
endif
# What the caller sets in CPPFLAGS, CFLAGS and LDFLAGS comes on top.
compile = $(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
link    = $(CC) $(FLAGS) $(CFLAGS) $(LINK.$(VARIANT)) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) $(1) $(LIBS) -o $@

# ---- what there is -------------------------------------------------------------------------------

PURE    := $(sort $(wildcard metrics/*.c metrics/*/*.c metrics/*/*/*.c))
WORLD   := $(filter-out exporter/main.c,$(sort $(wildcard exporter/*.c exporter/*/*.c exporter/*/*/*.c)))
HEADERS := $(sort $(wildcard metrics/*.h metrics/*/*.h metrics/*/*/*.h exporter/*.h exporter/*/*.h exporter/*/*/*.h))
UNIT    := $(sort $(foreach d,unit unit/*,$(wildcard tests/$d/test_$(or $(ONLY),*).c)))
# The longest first: at the end it would keep one processor alone.
UNIT    := $(filter %/test_sim.c,$(UNIT)) $(filter-out %/test_sim.c,$(UNIT))
SUPPORT := $(filter-out tests/unit/test_%,$(sort $(wildcard tests/unit/*.c)))
FUZZ    := $(sort $(wildcard tests/fuzz/fuzz_*.c))
# What unit tests make random objects with; the rest of their support has a main().
FUZZ_SUPPORT := $(foreach s,page random_object random_status world,tests/unit/$s.c)
BENCHES := $(sort $(wildcard tests/bench/bench_*.c))
BENCH_SUPPORT := $(filter-out tests/bench/bench_%,$(sort $(wildcard tests/bench/*.c)))
FAULTS  := tests/faults/follow.c
SIM     := $(sort $(wildcard tests/sim/*.c))
CONFORMANCE := $(sort $(wildcard tests/conformance/*.c))
SIM_SEEDS ?= 1-10000
E2E     := $(sort $(foreach d,stories e2e conformance deploy alerts boards browser,$(wildcard tests/$d/$(or $(ONLY),*).test)))
# Tests that hold what they make against a file in the repository.
# test_family: METRICS.md is right only if all families are valid.
HOLDING := $(shell grep -l golden $(UNIT) $(E2E)) tests/unit/expose/test_family.c
SOURCES := $(PURE) $(WORLD) $(wildcard exporter/main.c)
ALL_C   := $(SOURCES) $(UNIT) $(SUPPORT) $(FUZZ) $(BENCHES) $(BENCH_SUPPORT) $(FAULTS) $(SIM) $(CONFORMANCE) $(wildcard tests/bench/preload/*.c)
OURS    := $(ALL_C) $(HEADERS) $(sort $(wildcard tests/*/*.h))

PROGRAM  := $(BUILD)/karmada-policy-exporter
LIBRARY  := $(B)/libexporter.a $(B)/libmetrics.a
programs  = $(1:%.c=$(B)/%)
export EXPORTER := $(B)/karmada-policy-exporter
export CONFORMANCE_PROGRAM := $(B)/tests/conformance/conformance

# ---- build ---------------------------------------------------------------------------------------

.PHONY: all
all: $(if $(filter $(BUILD)/plain-gcc,$(B)),$(PROGRAM),$(EXPORTER)) ## build build/karmada-policy-exporter (the default)

$(PROGRAM): $(BUILD)/plain-gcc/karmada-policy-exporter
	$(Q)ln -f $< $@

$(B)/karmada-policy-exporter: $(B)/exporter/main.o $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(call link)

$(B)/libmetrics.a: $(PURE:%.c=$(B)/%.o) $(B)/metrics.list
$(B)/libexporter.a: $(WORLD:%.c=$(B)/%.o) $(B)/exporter.list
$(B)/lib%.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

# A list changes when a source comes or goes, so that no archive keeps a file that is gone.
$(B)/metrics.list: list := $(PURE)
$(B)/exporter.list: list := $(WORLD)
$(B)/%.list: FORCE
	@mkdir -p $(@D)
	@echo '$(list)' | cmp -s - $@ || echo '$(list)' >$@

# Changes with the commit, and version.o with it.
$(B)/revision: FORCE
	@mkdir -p $(@D)
	@echo '$(REVISION)' | cmp -s - $@ || echo '$(REVISION)' >$@
$(B)/exporter/version.o: $(B)/revision
$(B)/exporter/version.o: FLAGS += $(if $(REVISION),-DEXPORTER_REVISION='"$(REVISION)"')

# It contains the runbooks.
$(B)/exporter/web/page_runbook.o: $(wildcard alerts/runbooks/*.md)

$(B)/tests/fuzz/%.o: FLAGS += -Wno-missing-prototypes
$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(compile)

$(call programs,$(UNIT)): %: %.o $(SUPPORT:%.c=$(B)/%.o) $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(call link,-lcmocka)

$(B)/tests/bench/bench_%: $(B)/tests/bench/bench_%.o $(BENCH_SUPPORT:%.c=$(B)/%.o) $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(call link)

$(B)/tests/faults/follow: $(B)/tests/faults/follow.o $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(call link)

# All but its main is also a unit test's.
$(filter %/test_sim,$(call programs,$(UNIT))): $(filter-out %/sim.o,$(SIM:%.c=$(B)/%.o))
$(B)/tests/sim/sim: $(SIM:%.c=$(B)/%.o) $(B)/tests/unit/world.o $(B)/tests/unit/page.o $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(call link,-lcmocka)

$(B)/tests/conformance/conformance: $(CONFORMANCE:%.c=$(B)/%.o) $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(call link)

$(B)/tests/fuzz/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(FUZZ_SUPPORT:%.c=$(B)/%.o) $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(call link,-fsanitize=fuzzer -lcmocka)

.SECONDARY:
.PHONY: FORCE
-include $(ALL_C:%.c=$(B)/%.d)

# ---- run and test --------------------------------------------------------------------------------

DEMO := 127.0.0.1:19180

.PHONY: run demo boards pictures all-pictures chart setup test check unit sim conformance filter-vectors faults e2e rules3 soak restores handover controllers golden mutants bench bench-report cover fuzz fuzz-replay fuzz-run
run: ## set up, build, and serve the demo manifests on 127.0.0.1:19180
	@tests/setup.sh build
	@$(MAKE) VARIANT=plain CC=gcc all
	@printf '%s\n' 'Serving exporter/manifests/demo on http://$(DEMO)/ until Ctrl-C.' \
		'Open that page first: it has the open problems. Explain one of them in another terminal:' \
		'  $(PROGRAM) explain cm/default/my-config --server http://$(DEMO)' \
		'exporter/docs/get-started.md continues from here to the first alert.'
	@exec $(PROGRAM) --manifests exporter/manifests/demo --web.listen-address $(DEMO)

demo: ## set up, build, and play stories to an exporter, a Prometheus and an Alertmanager; shows the alerts
	@tests/setup.sh demo
	@$(MAKE) VARIANT=plain CC=gcc all
	@EXPORTER=$(PROGRAM) dashboards/demo/demo.py

boards: ## set up, build, and draw every board with Grafana's own panels (large: npm packages, Chromium, Go)
	@tests/setup.sh boards
	@$(MAKE) VARIANT=plain CC=gcc all
	@EXPORTER=$(PROGRAM) dashboards/render/render.py

pictures: $(EXPORTER) ## draw each page of the exporter into exporter/docs (Chromium)
	@tests/browser/pictures.py

all-pictures: $(EXPORTER) ## draw each page in two worlds, two widths, light and dark, into build/pictures (Chromium)
	@tests/browser/pictures.py all

chart: $(EXPORTER) ## lint and render the Helm chart, once it has built helm of its Go module: that takes minutes
	@GOLDEN=write tests/deploy/render.py
	@tests/deploy/release.py

setup: ## install the Debian packages that building and testing need
	@tests/setup.sh test

test: ## set up, then run every gate and every test
	@tests/run.sh all

check: ## run every gate, no test
	@tests/run.sh gates

unit: $(call programs,$(UNIT)) ## run the unit tests of one VARIANT: the quick loop
	@tests/run-units.sh $(VARIANT)-$(notdir $(CC)) $^

sim: $(B)/tests/sim/sim ## simulate API servers that misbehave, in virtual time: SIM_SEEDS=1-10000
	@$< --seeds=$(SIM_SEEDS) --jobs=$(JOBS)

conformance: $(B)/tests/conformance/conformance ## compare the rules with the answers of Karmada's functions: RULE=, RELEASE=
	@tests/run-conformance.sh $< '$(RULE)' '$(RELEASE)'

filter-vectors: ## write the vectors of the scheduler's filters with Karmada's Go module, or with a repository: KARMADA_GIT=, RELEASE=v1.18.2
	@tests/conformance/filters/generate.sh $(RELEASE)

faults: $(call programs,$(FAULTS)) $(B)/tests/sim/sim $(EXPORTER) ## the simulation, then a server that misbehaves, over HTTP/2 and TLS
	@SIM='$(B)/tests/sim/sim --seeds=$(SIM_SEEDS)' tests/run-faults.sh $< '$(ONLY)'

e2e: $(EXPORTER) $(B)/tests/conformance/conformance ## run the executables tests/{stories,e2e,conformance,deploy,alerts,boards,browser}/*.test
	@tests/build-go.sh tests/e2e/apiserver >/dev/null || true # The tests that need it say so.
	@tests/build-go.sh tests/e2e/kubectl >/dev/null || true
	@tests/build-go.sh tests/deploy/helm >/dev/null || true
	@tests/run-e2e.sh $(E2E)

rules3: $(EXPORTER) ## run the alerts' tests and a scrape with Prometheus 3, built once: it takes minutes
	@tests/alerts/rules3.sh

soak: $(EXPORTER) ## 1,000 changes a second with faults for SOAK_SECONDS=1200, then compare with a fresh start
	@mkdir -p $(BUILD)
	@SOAK_SECONDS=$${SOAK_SECONDS:-1200} SOAK_TABLE=$${SOAK_TABLE:-$(BUILD)/soak.tsv} tests/e2e/soak.test

restores: $(EXPORTER) ## put a real etcd back to an older state, RESTORE_ROUNDS=20 times in each of four ways
	@RESTORE_ROUNDS=$${RESTORE_ROUNDS:-20} tests/e2e/cluster_restore.test

handover: $(EXPORTER) ## kill the exporter that writes Events, HANDOVER_ROUNDS=100 times, and count what is written
	@HANDOVER_ROUNDS=$${HANDOVER_ROUNDS:-100} tests/e2e/cluster_events.test

controllers: $(EXPORTER) ## controllers_stuck in real time at five control planes, side by side: 18 minutes
	@WHOLE_STORIES=1 tests/e2e/cluster_controllers.test

golden: all $(B)/tests/conformance/conformance $(call programs,$(filter %.c,$(HOLDING))) ## rewrite METRICS.md and all that tests compare with; then see git diff
	@export GOLDEN=write; tests/run-units.sh golden $(call programs,$(filter %.c,$(HOLDING))); \
		units=$$?; tests/run-e2e.sh $(filter %.test,$(HOLDING)) && exit $$units

mutants: $(EXPORTER) $(call programs,$(UNIT)) ## change alerts, exporter/kube and exporter/web for the worse: do tests notice?
	@MUTANTS=all tests/alerts/mutants.test
	@$(MAKE) VARIANT=asan unit-programs
	@MUTANT_FLAGS='$(LANGUAGE)' LIBS='$(LIBS)' CC=$(CC) tests/mutants/mutants.py

.PHONY: unit-programs
unit-programs: $(call programs,$(UNIT))

bench: $(EXPORTER) $(call programs,$(BENCHES)) ## run the benchmarks, or some: BENCH='load start'; compare with tests/bench/baseline.json
	@tests/bench/run.py --only '$(BENCH)' --json $(BUILD)/bench.json \
		$(call programs,$(BENCHES)) $(sort $(wildcard tests/bench/*.bench))

bench-report: ## take build/bench.json as the baseline; write its tables and curves into exporter/docs/sizing.md
	@tests/bench/report.py --write

cover: ## print the unit tests' line coverage, file by file
	@[ ! -d $(BUILD)/cover-gcc ] || find $(BUILD)/cover-gcc -name '*.gcda' -delete
	@$(MAKE) VARIANT=cover CC=gcc unit
	@tests/cover.sh $(BUILD)/cover-gcc $(PURE) $(WORLD)

fuzz: ## fuzz each target of tests/fuzz for FUZZ_SECONDS
	@$(MAKE) VARIANT=fuzz CC=clang fuzz-run

fuzz-replay: ## feed each fuzz target its corpus once
	@$(MAKE) VARIANT=fuzz CC=clang FUZZ_SECONDS=0 fuzz-run

fuzz-run: $(call programs,$(FUZZ))
	@tests/run-fuzz.sh $^

# ---- gates ---------------------------------------------------------------------------------------

.PHONY: format reformat tidy layers headers sizes modules comments prose sentences words
format: ## gate: clang-format has nothing to change
	$(if $(OURS),@clang-format --dry-run -Werror $(OURS))

reformat: ## let clang-format change it
	$(if $(OURS),@clang-format -i $(OURS))

# How many states of a function the analyzer follows before it moves on. Its own limit is 225000, which
# takes more than twice as long, a fifth of all of make test: make tidy TIDY_STATES=225000.
TIDY_STATES ?= 75000
ANALYZER := -Xclang -analyzer-config -Xclang max-nodes=$(TIDY_STATES)

tidy: $(SOURCES:%.c=$(B)/tidy-$(TIDY_STATES)/%.ok) ## gate: clang-tidy; only what changed is looked at again

# The object stands for the source and all it includes.
$(B)/tidy-$(TIDY_STATES)/%.ok: %.c $(B)/%.o .clang-tidy
	@mkdir -p $(@D)
	$(call say,TIDY,$<)
	$(Q)clang-tidy --quiet $(ANALYZER:%=--extra-arg=%) $< -- $(LANGUAGE) >$@.log 2>&1 || { cat $@.log; exit 1; }
	$(Q)touch $@

layers: $(PURE:%.c=$(B)/%.o) $(WORLD:%.c=$(B)/%.o) ## gate: metrics/ is pure, includes point one way, no circles, no globals
	@tests/gates/layers.sh $^
	@python3 tests/gates/rooms.py

headers: ## gate: each header compiles alone, with gcc and with clang
	@tests/gates/headers.sh '$(LANGUAGE) $(WARNINGS)' $(HEADERS)

sizes: ## gate: files of at most 1,000 lines, functions of at most 60
	@python3 tests/gates/sizes.py $(SOURCES) $(HEADERS)

modules: ## gate: names of files and structs occur once, no small module with one user
	@python3 tests/gates/modules.py

comments: ## gate: block comments only, an SPDX line first
	@python3 tests/gates/comments.py $(OURS)

prose: ## gate: comments name their subject, in the folders that are finished
	@python3 tests/gates/prose.py

sentences: ## print every text that users see: program, alerts, boards
	@python3 tests/gates/sentences.py

words: ## gate: no unfinished business, no path of somebody's machine
	@tests/gates/words.sh

# ---- packages ------------------------------------------------------------------------------------

.PHONY: install uninstall dist image release-check release-files release-login release-push release-verify release-publish packages
install: $(EXPORTER) ## install below PREFIX=/usr/local, in DESTDIR= if it is set
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' exporter/deploy/install.sh install $(EXPORTER)

uninstall: ## remove what install puts there, and nothing else
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' exporter/deploy/install.sh uninstall

dist: ## write build/karmada-policy-exporter-VERSION.tar.gz, the sources of the commit
	@exporter/deploy/dist.sh

image: ## build the container image for ARCHITECTURES='amd64 arm64' and its SBOMs into build/image
	@tests/setup.sh image
	@exporter/deploy/image/build.sh $(ARCHITECTURES)

release-check: ## compare TAG=v1.2.3 with the versions of program, chart and changelog
	@exporter/deploy/release/release.sh check '$(TAG)'

release-files: ## write the files of a release of build/image into build/release; helm is built once in minutes
	@tests/setup.sh release
	@exporter/deploy/release/release.sh files

release-login: ## log in to REGISTRY= as LOGIN=, with the password from standard input
	@REGISTRY='$(REGISTRY)' exporter/deploy/release/release.sh login '$(LOGIN)'

release-push: ## push image and chart to REGISTRY=, signed with KEY= or keyless; builds cosign and oras once
	@REGISTRY='$(REGISTRY)' KEY='$(KEY)' exporter/deploy/release/release.sh push

release-verify: ## verify the signatures in REGISTRY= with the public KEY= or the identity of the workflow
	@REGISTRY='$(REGISTRY)' KEY='$(KEY)' exporter/deploy/release/release.sh verify

release-publish: ## create the release of the public repository with build/release, by gh
	@exporter/deploy/release/release.sh publish

packages: $(EXPORTER) image ## test the image, a release, installation by each way and the service under systemd: it takes minutes
	@tests/setup.sh packages
	@$(MAKE) release-files
	@TEST_TIMEOUT=1800 tests/run-e2e.sh $(sort $(wildcard tests/packages/$(or $(ONLY),*).test))

# ---- comforts ------------------------------------------------------------------------------------

.PHONY: compile_commands.json clean help
compile_commands.json: ## write build/compile_commands.json for clangd
	@mkdir -p $(BUILD)
	@for c in $(ALL_C); do printf ',\n{"directory":"%s","file":"%s","command":"%s -c %s"}' \
		'$(CURDIR)' "$$c" '$(CC) $(LANGUAGE) $(WARNINGS)' "$$c"; done \
		| sed '1s/.*/[/; $$a]' >$(BUILD)/$@

clean: ## remove what was built; unpacked tools stay
	@[ ! -d $(BUILD) ] || find $(BUILD) -mindepth 1 -maxdepth 1 ! -name tools -exec rm -rf {} +

help: ## this list
	@sed -n 's/^\([a-z0-9_.-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 26
