#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The rpc-router Authors
#
# Installs redis-server with apt if possible. Otherwise prints instructions.
set -eu
command -v redis-server >/dev/null && exit 0
as_root=""
[ "$(id -u)" -eq 0 ] || as_root="sudo -n"
if command -v apt-get >/dev/null && $as_root true 2>/dev/null; then
	echo "installing redis-server for the tests of shared state"
	export DEBIAN_FRONTEND=noninteractive
	{ $as_root apt-get update && $as_root apt-get install -y --no-install-recommends redis-server; } >/dev/null 2>&1 || true
fi
command -v redis-server >/dev/null && exit 0
echo "redis-server is missing, which the tests of shared state need: install the package redis-server (redis on macOS and Fedora), version 7 or later" >&2
exit 1
