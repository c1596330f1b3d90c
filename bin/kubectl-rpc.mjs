#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
//
// kubectl runs this program as `kubectl rpc`; what it does is in operator/cli/kubectl.ts.
process.argv.splice(2, 0, 'kubectl')
await import('./rpc-operator.mjs')
