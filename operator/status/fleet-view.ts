// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'

/** Path of a router's status page, on its metrics port. */
export const statusPath = '/status'

const word = z.string().max(256)

/** The router's reason for a state, on one line. Older routers give none. */
const why = z
  .string()
  .transform((text) => text.slice(0, 256).replaceAll(/\p{C}/gu, ' '))
  .nullish()
  .catch(null)

/** The parts of a router's page `/status` that we use. Pods are not trusted, so all is bounded. */
const page = z.object({
  config: z.object({
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    refused: z.object({ sha256: word.optional(), retries: z.boolean().optional() }).nullish(),
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

/** State of one upstream in one pod. */
export type UpstreamView = z.output<typeof page>['upstreams'][number]

/** Status of one pod: its config and the state of its upstreams. */
export interface PodView {
  readonly pod: string
  /** SHA-256 of the config file's text. */
  readonly configSha256: string
  /** Whether the pod refuses to reload its changed config file. */
  readonly isRefusing: boolean
  /** SHA-256 of a config that the pod refuses and does not retry; null if there is none. */
  readonly refusedSha256?: string | null
  readonly upstreams: readonly UpstreamView[]
}

/** One observation of the running pods of a router. */
export interface FleetView {
  readonly pods: readonly PodView[]
  /** Pods without a valid answer, each with the reason. */
  readonly silent: readonly { readonly pod: string; readonly problem: string }[]
}

/** Parses the status page of a pod; null if it is invalid. */
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
  const refusedSha256 = (refused?.retries === true ? null : refused?.sha256) ?? null
  const isRefusing = Boolean(refused)
  return { pod, configSha256: sha256, isRefusing, refusedSha256, upstreams: data.upstreams }
}
