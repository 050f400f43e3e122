#!/usr/bin/env bash
# Builds everything and runs the suite: all tests but those labelled `long` or `device`. Installs missing Debian packages
# first; safe to repeat. Further arguments go to ctest, e.g. ./test.sh -R driver
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=cmake/packages.sh
source cmake/packages.sh

install_packages "${build_packages[@]}" "${test_packages[@]}"
echo "building (the first time takes some minutes) ..." >&2
build build/test -DTILEOPT_TESTS=ON -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG"

exec ctest --test-dir build/test --label-exclude '^(long|device)$' --output-on-failure --no-tests=error -j "$(nproc)" "$@" </dev/null
