#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The rpc-router Authors
#
# Installs the packages of package-lock.json for `make install`, and reports missing tools.
set -eu

node_help='Get Node 20 or newer with npm: https://nodejs.org/en/download (or: nvm install --lts).'

fail() {
  printf 'rpc-router: %s\n' "$*" >&2
  exit 1
}

# `make` puts node_modules/.bin first in PATH, but this needs the machine's own Node.
PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -v '/node_modules/\.bin$' | paste -sd: -)

command -v node >/dev/null 2>&1 || fail "node is not installed. $node_help"
command -v npm >/dev/null 2>&1 || fail "npm is not installed. $node_help"

version=$(node --version 2>/dev/null) || fail "node does not run. $node_help"
major=${version#v}
major=${major%%.*}
[ "$major" -ge 20 ] || fail "node $version is too old: npm needs Node 20 or newer, and installs the Node 26 that the router runs on. $node_help"

# A symlink means that another checkout owns the packages, and updates them.
[ ! -L node_modules ] || exit 0

echo 'Installing packages (npm ci) ...'
npm ci --no-audit --no-fund || fail 'npm ci failed; its own message is above. Without a network, or behind a proxy, npm needs its registry or proxy set (npm config).'
touch node_modules/.installed
