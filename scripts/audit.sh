#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The rpc-router Authors
#
# Fails on a known vulnerability of high severity in what users run, for `make audit`. Without an
# answer of the registry, as from a mirror that has no advisories, it fails too.
set -eu
if report=$(npm audit --audit-level=high --omit=dev 2>&1); then
  printf '%s\n' "$report"
elif printf '%s\n' "$report" | grep -q 'audit endpoint returned an error\|audit request .* failed\|ENOAUDIT'; then
  echo 'make audit: not checked, because the npm registry in use does not answer audit requests.' >&2
  exit 2
else
  printf '%s\n' "$report" >&2
  exit 1
fi
