// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'

/** Where routers serve it, on their port of metrics. */
export const statusPath = '/status'

const word = z.string().max(256)

/** The router's reason for a state, on one line. Older routers give none. */
const why = z
  .string()
  .transform((text) => text.slice(0, 256).replaceAll(/\p{C}/gu, ' '))
  .nullish()
  .catch(null)

/** The page `/status` of a router, as far as it is read. Pods are not trusted: all is bounded. */
const page = z.object({
  config: z.object({
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    refused: z
      .object({ sha256: word.optional(), at: word.optional(), retries: z.boolean().optional() })
      .nullish(),
  }),
  upstreams: z
    .array(
      z.object({
        chain: word,
        interface: word,
        name: word,
        state: word,
        since: z.iso.datetime(),
        why,
      }),
    )
    .max(10_000),
})

/** How one pod sees one upstream. */
export type UpstreamView = z.output<typeof page>['upstreams'][number]

/** The answer of one pod: which config serves, and how its upstreams are. */
export interface PodView {
  readonly pod: string
  /** Of the text of its config file. */
  readonly configSha256: string
  /** Its file was changed in a way that it does not take over. */
  readonly isRefusing: boolean
  /** The config that it refuses and does not retry. Older routers report only the time. */
  readonly refusal?: { readonly sha256: string | null; readonly atMs: number } | null
  readonly upstreams: readonly UpstreamView[]
}

/** One look at the pods of a router that run. */
export interface FleetView {
  readonly pods: readonly PodView[]
  /** Those that did not answer as a router does, and a clause that says why. */
  readonly silent: readonly { readonly pod: string; readonly problem: string }[]
}

/** Reads the page of a pod; null when it is none. */
export function podView(pod: string, text: string): PodView | null {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return null
  }
  const { data } = page.safeParse(json)
  if (data === undefined) return null
  const { sha256, refused } = data.config
  const refusal =
    refused && refused.retries !== true
      ? { sha256: refused.sha256 ?? null, atMs: Date.parse(refused.at ?? '') }
      : null
  const isRefusing = Boolean(refused)
  return { pod, configSha256: sha256, isRefusing, refusal, upstreams: data.upstreams }
}
