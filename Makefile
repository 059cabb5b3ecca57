# The front door: two commands to remember, `make run` and `make test`. CMake does the work.
# SPDX-License-Identifier: Apache-2.0
SCENE ?= scenes/station.json
CMAKE_FLAGS ?=
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)

# The presets say Ninja; where there is none, make. Asked when the recipe runs, as install-deps may
# just have brought it.
cmake = command -v ninja >/dev/null || generator="-G Unix Makefiles"; \
	cmake --preset $(1) $${generator:+"$$generator"} $(CMAKE_FLAGS) >$(2)/configure.log 2>&1 \
		|| { cat $(2)/configure.log; exit 1; }; \
	cmake --build $(2) -j $(JOBS)
ctest = ctest --preset $(1) -j $(JOBS)

.PHONY: run studio build python test test-long mutants bench format check sanitize fuzz install clean help
.DEFAULT_GOAL := help

run: build ## install what is missing, build, run the default scene (SCENE=file for another)
	build/throng run $(SCENE)
	@echo
	@echo "See it live: make studio, or build/throng studio $(SCENE)"

studio: build ## the same scene live in the browser, edited while it runs
	build/throng studio $(SCENE)

build: deps ## build the program: build/throng
	@mkdir -p build && $(call cmake,release,build) --target throng

.PHONY: everything
everything: deps # tests and examples too
	@mkdir -p build && $(call cmake,release,build)

test: everything ## build and run every test
	$(call ctest,release)

test-long: everything ## tests that take minutes; every scene over ten seeds, and with every model (an hour)
	ctest --test-dir build -L long --output-on-failure -j $(JOBS)
	tools/test-long --jobs $(JOBS) --csv docs/data
	tools/update-docs

mutants: everything ## break every rule of every model on purpose; tests must notice (half an hour)
	tools/mutants --jobs $(JOBS)
	-tools/mutants --generate 60 --jobs $(JOBS) # faults by chance, others each time: survivors are questions, no failure

python: ci-deps ## the Python package: wheel, virtual environment (build/python/venv), its tests
	@mkdir -p build && $(call cmake,release,build) --target throng throng_validate
	THRONG_NEED_PYTHON=1 TH_PROGRAM=$(CURDIR)/build/throng python3 tests/check_python.py

bench: build ## measure the speed of every stage
	build/throng bench

format: ## format the sources in place
	tools/check-format --fix

check: ## formatting, layers, documentation, formulas as CUDA
	tools/check-format
	python3 tests/check_layers.py build
	python3 tests/check_docs.py
	tools/check-formulas

sanitize: ci-deps ## the tests under ASan+UBSan, then under TSan
	@mkdir -p build-asan && $(call cmake,asan,build-asan)
	$(call ctest,asan)
	@mkdir -p build-tsan && $(call cmake,tsan,build-tsan)
	$(call ctest,tsan)

fuzz: ci-deps ## fuzz everything that takes bytes, a minute each (SECONDS_EACH=n for longer)
	@mkdir -p build-fuzz && $(call cmake,fuzz,build-fuzz)
	tools/fuzz $(or $(SECONDS_EACH),60)

install: everything ## install program, library and headers (DESTDIR, CMAKE_FLAGS=-DCMAKE_INSTALL_PREFIX=...)
	cmake --install build

.PHONY: wasm
wasm: build ## the engine for pages without a server: studio/dist/app.html, and `throng export --app`
	@tools/install-deps --wasm
	tools/wasm
	cd studio && node build.mjs --engine
	@$(call cmake,release,build) --target throng

.PHONY: wheel
wheel: build ## a Python wheel that carries its libraries, in build/wheel
	@tools/install-deps --ci --package
	tools/wheel

.PHONY: package
package: deps ## Debian packages and the source archive, in build/package
	@tools/install-deps --package
	tools/package

clean: ## remove every build folder that make makes
	rm -rf build build-debug build-clang build-asan build-tsan build-fuzz build-arm64 build-windows build-compiled build-wasm

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

.PHONY: deps ci-deps
deps:
	@tools/install-deps
ci-deps:
	@tools/install-deps --ci
