#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The rpc-router Authors
#
# Lints .github/workflows with actionlint, whose build Go caches, and with zizmor, a wheel that is
# cached in ~/.cache/rpc-router. Reports a linter that it skips because Go or pip is missing.
set -eu
cd "$(dirname "$0")/workflows"

if command -v go >/dev/null; then
  go tool actionlint
else
  echo 'lint-workflows: actionlint did not run, because Go is not installed.' >&2
fi

pinned=$(grep '^zizmor==' requirements.txt)
folder=${RPC_ROUTER_CACHE:-$HOME/.cache/rpc-router}/zizmor-${pinned#*==}
if ! [ -x "$folder/bin/zizmor" ]; then
  if ! python3 -m pip --version >/dev/null 2>&1; then
    echo 'lint-workflows: zizmor did not run, because Python with pip is not installed.' >&2
    exit 0
  fi
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
    --only-binary :all: --target "$folder" "$pinned"
fi
"$folder/bin/zizmor" --offline --quiet --no-progress ../../.github
