#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The rpc-router Authors
#
# Two packages are programs that their install scripts put in place. npm runs none of these with
# `ignore-scripts`, and succeeds all the same: so look whether the programs are there.
set -eu

check() { # program, package
  if ! "node_modules/.bin/$1" --version >/dev/null 2>&1; then
    cat >&2 <<END
rpc-router: the program $1 of the npm package $2 is not in place, so its install script was not run.
Remedy: npm rebuild --ignore-scripts=false node esbuild @foundry-rs/anvil
If that changes nothing: rm -rf node_modules && make install (there may be no build for this machine).
END
    exit 1
  fi
}

check node node
check anvil @foundry-rs/anvil
