#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The rpc-router Authors
#
# bin/router, bin/rpc-operator and bin/kubectl-rpc of the npm package. It follows symlinks to the
# Node that npm installed inside the package or next to it. Variables and options are as in
# bin/router.mjs.
self=$(readlink -f -- "$0")
package=${self%/*/*}
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}" MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-131072}"
PATH="$package/node_modules/.bin:$package/../.bin:$PATH" exec node --max-semi-space-size=16 -- "$self.mjs" "$@"
