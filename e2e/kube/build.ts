// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ensureAssets } from './assets.ts'

/*
 * Builds missing programs of a Kubernetes API: `make kube-assets`.
 */

try {
  await ensureAssets(process.env)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
