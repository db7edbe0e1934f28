# Front door; CMake presets and scripts/ do the work. `make help` lists what there is.
SHELL := bash
.DEFAULT_GOAL := build
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc)
CUDA_ARCH ?=
WERROR ?=
options := $(if $(CUDA_ARCH),-DCMAKE_CUDA_ARCHITECTURES=$(CUDA_ARCH)) \
           $(if $(WERROR),-DGRAPHSAN_WERROR=$(WERROR))

.PHONY: help setup setup-build build run test gpu-bundle format format-check lint layers clean

help: ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

setup: ## install what is missing for building and testing
	@scripts/setup.sh

setup-build:
	@scripts/setup.sh --build-only

build: setup-build ## the program at build/graphsan, and the tests (options: CUDA_ARCH=86-real, WERROR=ON)
	@if [ ! -f build/build.ninja ] || [ -n "$(strip $(options))" ]; then \
	  cmake --preset dev $(options); fi
	@cmake --build build -j $(JOBS)

run: setup-build ## build the program and show the seed's fault; the report lies in build/report
	@scripts/run_seed.sh build build/report $(JOBS)

test: setup build ## build, then run every test
	@scripts/run_tests.sh build $(JOBS)

gpu-bundle: setup-build ## a folder and an archive in dist/ that test a GPU on another machine
	@scripts/make_gpu_bundle.sh "$(or $(CUDA_ARCH),90-real)" $(JOBS)

format: setup ## clang-format all sources in place
	@scripts/format.sh

format-check: setup ## fail where clang-format would change something
	@scripts/format.sh --check

lint: setup build ## clang-tidy over what has changed since it last passed
	@python3 scripts/lint.py --build build --jobs $(JOBS)

layers: ## check every include against the layers
	@python3 tests/layers_test.py

clean: ## remove what was built
	rm -rf build build-* dist
