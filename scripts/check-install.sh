#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The rpc-router Authors
#
# Checks for two programs that may be missing although npm succeeded: Node, which is in an optional
# package of the platform, and anvil, which needs an install script that `ignore-scripts` disables.
set -eu

check() { # program, package, remedy
  if ! "node_modules/.bin/$1" --version >/dev/null 2>&1; then
    cat >&2 <<END
rpc-router: the program $1 of the npm package $2 is not in place.
Remedy: $3
If that changes nothing: rm -rf node_modules && make install (there may be no build for this machine).
END
    exit 1
  fi
}

check node 'node-*' 'npm ci --include=optional (it is one package for each platform)'
check anvil @foundry-rs/anvil 'npm rebuild --ignore-scripts=false esbuild @foundry-rs/anvil'
