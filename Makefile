# SPDX-License-Identifier: BSD-3-Clause
# The front door. CMake does the building; this does the set-up and remembers the commands.
.DEFAULT_GOAL := help
# nproc obeys OMP_NUM_THREADS and OMP_THREAD_LIMIT, which are meant for OpenMP programs.
JOBS ?= $(shell env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
PREFIX ?= /usr/local
SETUP ?= yes
CMAKE_FLAGS ?=
CTEST_FLAGS ?=
CONFORMANCE_SOURCES ?=
CONFORMANCE_FLAGS ?=
FUZZ_SECONDS ?= 3600
FUZZ_FLAGS ?=
TIDY_SECONDS ?=
APPS_FLAGS ?=
PYTHON := $(CURDIR)/.venv/bin/python

.PHONY: help announce-demo setup setup-build setup-demo setup-python configure build build-demo build-installed \
        build-wheel test test-mpis fuzz demo bench bench-apps bench-cores bench-collectives bench-loops bench-phases \
        bench-report bench-tasks bench-together bench-waits conformance sanitize sanitize-address sanitize-thread \
        format check check-constants check-format check-environment check-functions check-layers check-length \
        bench-soga bench-papers check-prose check-spdx check-tests check-links tidy docs deb wheel abi install clean

help:  ## This list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1 \t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 26
	@echo
	@echo '  JOBS=$(JOBS)  PREFIX=$(PREFIX)  SETUP=yes|no (no: use what is there)'
	@echo '  CMAKE_FLAGS=  CTEST_FLAGS=  FUZZ_SECONDS=$(FUZZ_SECONDS)'

setup:  ## Install what is missing to build and test (as root), or say what to install
ifneq ($(SETUP),no)
	@tools/setup.sh
endif

# The part of it that the word names.
setup-build setup-demo setup-python: setup-%:
ifneq ($(SETUP),no)
	@tools/setup.sh $*
endif

configure: setup
	@cmake --preset default $(CMAKE_FLAGS)

build: configure  ## Build everything in build/: libraries, command, tests, benchmarks, examples
	@cmake --build build -j $(JOBS)

# One of these targets of CMake alone. A build directory that has tests keeps them; another one gets none, nor needs
# GoogleTest.
has_tests = $(and $(wildcard build/build.ninja),$(shell grep -s STEELYARD_TESTS:BOOL=ON build/CMakeCache.txt))
build-demo: setup-demo
build-installed build-wheel: setup-build
build-demo build-installed build-wheel: build-%:
	@cmake --preset $(if $(has_tests),default,install) $(CMAKE_FLAGS)
	@cmake --build build -j $(JOBS) --target $*


# Two cores have five slots of ctest: cmake/SteelyardTargets.cmake.
test: build  ## Build everything and run every test, on every MPI that was found
	@ctest --test-dir build --output-on-failure -j $$(((5 * $(JOBS) + 1) / 2)) $(CTEST_FLAGS)

test-mpis: build  ## End-to-end tests on Open MPI 5, MPICH 5 and Intel MPI from PyPI
	@set -a && . tools/mpi.env && tests/packaging/check-pypi-mpis.sh $(CURDIR)/build $(CURDIR)/build/mpis $(PYTHON) all

fuzz: build  ## Random OpenMP and MPI programs, and both in one, for FUZZ_SECONDS each, with fresh seeds
	@failed=0; for generator in openmp.py mpi.py "openmp.py --mpi openmpi,mpich"; do \
	  $(PYTHON) tests/fuzz/$$generator --build build --seconds $(FUZZ_SECONDS) --strict $(FUZZ_FLAGS) || failed=1; \
	done; exit $$failed

# The build prints progress, but not how long it takes. README.md has the same figure.
announce-demo:
	@[ -x build/bin/steelyard ] || \
	  echo 'demo: installs missing packages, builds, then runs a program without and with Steelyard: under 4 minutes'

demo: announce-demo build-demo  ## Build one program and what it needs, run it without and with Steelyard
	@tools/demo.sh build

BENCHMARKS := bench-cores bench-waits bench-phases bench-loops bench-tasks bench-collectives bench-together bench-report
bench: $(BENCHMARKS)  ## Run every benchmark beside its target

bench-apps: build  ## Applications natively, under DLB and under Steelyard: APPS_FLAGS="--sources=DIR --dlb=LIBRARY"
	@$(PYTHON) bench/apps.py --build build $(APPS_FLAGS)

bench-cores: build  ## Benchmarks of `cores`: writes build/bench/cores.json
	@$(PYTHON) bench/cores.py --build build

bench-waits: build  ## Benchmarks of waits in MPI: writes build/bench/waits.json
	@$(PYTHON) bench/waits.py --build build

bench-phases: build  ## Benchmarks of `phases`: writes build/bench/phases.json
	@$(PYTHON) bench/phases.py --build build

bench-loops: build  ## Benchmarks of `loops`: writes build/bench/loops.json
	@$(PYTHON) bench/loops.py --build build

bench-collectives: build  ## Benchmarks of `collectives`: writes build/bench/collectives.json
	@$(PYTHON) bench/collectives.py --build build

bench-soga: build  ## The experiment of Soga et al., their rule and our default: SOGA_FLAGS="--mpi=mpich --only=soga-8"
	@$(PYTHON) bench/collectives.py --build build --out build/bench/soga.json $(or $(SOGA_FLAGS),--mpi=openmpi --only=soga)

bench-papers: build  ## The papers' figures, their rules here and our default: PAPERS_FLAGS="--short sabo kale"
	@$(PYTHON) bench/papers.py --build build $(PAPERS_FLAGS)

bench-tasks: build  ## Benchmarks of `tasks`: writes build/bench/tasks.json
	@$(PYTHON) bench/tasks.py --build build

bench-together: build  ## All five capabilities in one program: writes build/bench/together.json
	@$(PYTHON) bench/together.py --build build

bench-report: setup  ## Benchmarks of `steelyard report`: writes build/bench/report.json
	@$(PYTHON) bench/report.py --build build

conformance: build  ## Public OpenMP conformance suites, natively and under Steelyard: CONFORMANCE_SOURCES=DIR
	@$(PYTHON) tests/conformance/conformance.py --build build $(addprefix --sources=,$(CONFORMANCE_SOURCES)) \
	  $(CONFORMANCE_FLAGS)

sanitize: sanitize-address sanitize-thread  ## Unit tests under AddressSanitizer, UBSan and ThreadSanitizer

sanitize-address sanitize-thread: sanitize-%: setup
	@tools/sanitize.sh $* $(JOBS) $(CMAKE_FLAGS)

format:  ## Format the sources
	@tools/sources.sh | xargs clang-format-19 -i

CHECKS := check-constants check-format check-environment check-functions check-layers check-length check-prose \
          check-spdx check-tests
check: $(CHECKS)  ## Format, words, lengths, layers, constants, licence lines, stray getenv: quick, needs no build

check-format:  ## Complain about files that `make format` would change
	@tools/check-format.sh

check-constants:
	@tools/list-constants.py --check

check-environment:
	@tools/check-environment.sh

check-functions:
	@tools/check-functions.py

check-layers:
	@tools/check-layers.py

check-length:
	@tools/check-length.py

check-prose:
	@tools/check-prose.py

check-spdx:
	@tools/add-spdx.py --check

check-tests:
	@tools/check-tests.py

tidy: configure  ## clang-tidy over every source of src/ that it has not found clean before
	@tools/tidy.py build $(JOBS) $(TIDY_SECONDS)

docs: setup-python build-installed  ## The manual: site and man pages in build/docs
	@tools/docs.sh build $(PYTHON)

check-links: setup  ## Links to other places, all of them anew: needs the network
	@$(PYTHON) tests/manual/links.py --fresh build/links.json

deb: build-installed  ## A Debian package in build/
	@cd build && cpack -G DEB

wheel: setup-python build-wheel  ## A wheel for pip in dist/: the command, preload libraries, the Python package
	@tools/wheel.sh build $(PYTHON) dist

abi: setup build-installed  ## Write the ABI of libsteelyard anew: packaging/abi
	@packaging/abi/dump.sh build

install: build-installed  ## Build what is installed, and install it to PREFIX
	@cmake --install build --prefix $(PREFIX)

clean:  ## Remove the build directories and the Python environment
	@rm -rf build build-address build-thread .venv
