// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { upstreamsFile } from './pod-paths.ts'
import type { UpstreamPlan } from './router-document.ts'

/** Raised whenever the form changes: what another version of the operator wrote is then not taken for good. */
const version = 1

const secret = z.object({ name: z.string(), key: z.string() })

const storedUpstreams = z.object({
  version: z.literal(version),
  upstreams: z.array(
    z.object({
      provider: z.string(),
      tier: z.enum(['primary', 'backup']),
      serves: z.string(),
      entry: z.record(z.string(), z.json()),
      variables: z.array(z.object({ name: z.string(), secret })),
      files: z.array(z.object({ path: z.string(), secret })),
      /** Names of texts that stand beside it in the ConfigMap. */
      copies: z.array(z.string()),
    }),
  ),
})

/** How each upstream of a config came about, as it is kept beside the config. */
export function writeUpstreams(plans: readonly UpstreamPlan[]): string {
  const upstreams = plans.map(({ copies, ...plan }) => ({
    ...plan,
    copies: copies.map(({ name }) => name),
  }))
  return `${JSON.stringify({ version, upstreams }, null, 1)}\n`
}

/**
 * The upstreams of a ConfigMap that was applied earlier. None when they cannot be read: then there is no last good
 * form to go back to, and the providers are taken as if they were new.
 */
export function readUpstreams(data: Readonly<Record<string, string>>): readonly UpstreamPlan[] {
  const read = storedUpstreams.safeParse(jsonOf(data[upstreamsFile] ?? ''))
  if (!read.success) return []
  const { upstreams } = read.data
  if (upstreams.some(({ copies }) => copies.some((name) => data[name] === undefined))) return []
  return upstreams.map((plan) => ({
    ...plan,
    copies: plan.copies.map((name) => ({ name, text: data[name] ?? '' })),
  }))
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
