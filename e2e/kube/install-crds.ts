// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { join } from 'node:path'
import { type Kubectl, printed } from './kubectl.ts'

const crds = join(import.meta.dirname, '../../crds')

/** Installs the kinds of `crds/` as a user would, and waits until they are served. */
export async function installCrds(kubectl: Kubectl): Promise<void> {
  await printed(kubectl(['apply', '--server-side', '--force-conflicts', '-f', crds]))
  const wait = ['wait', '--for=condition=Established', '--timeout=30s', '-f', crds]
  // Left to itself, wait looks into the folders below as well, and apply does not.
  await printed(kubectl([...wait, '--recursive=false']))
}
