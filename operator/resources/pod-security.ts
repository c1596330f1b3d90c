// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { V1PodSecurityContext, V1SecurityContext } from '@kubernetes/client-node'
import type { Plain } from './kinds.ts'

/** What the profile "restricted" of Pod Security wants of a pod. The image says which user. */
export const podSecurity: Plain<V1PodSecurityContext> = {
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}

/** What the profile "restricted" of Pod Security wants of a container, and a root that nobody writes to. */
export const containerSecurity: V1SecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}
