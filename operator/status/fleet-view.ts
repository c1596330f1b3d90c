// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'

/** Path of a router's status page, on its metrics port. */
export const statusPath = '/status'

const word = z.string().max(256)

/** The router's words, on one line. */
const words = (most: number) =>
  z.string().transform((text) => text.slice(0, most).replaceAll(/\p{C}/gu, ' '))
/** The router's reason. Older routers give none. */
const why = (most = 256) => words(most).nullish().catch(null)

const count = z.int().min(0).max(10_000)

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
        why: why(),
      }),
    )
    .max(10_000),
  // Older routers lack the rest.
  at: z.iso.datetime().optional(),
  listeners: z
    .array(
      z.object({
        chain: word,
        interface: word,
        serving: count,
        total: count,
        darkSince: z.iso.datetime().nullable(),
        why: why(1_024),
      }),
    )
    .max(1_000)
    .default([]),
  stores: z
    .array(z.object({ name: words(256), feature: word, why: words(512) }))
    .max(16)
    .default([]),
})

type Page = z.output<typeof page>

/** State of one upstream in one pod. */
export type UpstreamView = Page['upstreams'][number]

/** One listener in one pod. */
export interface ListenerView extends Omit<Page['listeners'][number], 'darkSince'> {
  /** How long no upstream has served, by the clock of the pod; null while one serves. */
  readonly darkMs: number | null
}

/** Longer than pods need for the first verification of an upstream that works. */
const longMs = 20_000

/** Whether it is dark, and not because its pod just started. */
export function isDarkForLong({ darkMs }: ListenerView): boolean {
  return darkMs !== null && darkMs >= longMs
}

/** Status of one pod: its config, and the state of its listeners, upstreams and stores. */
export interface PodView {
  readonly pod: string
  /** Hash of its template, which identifies its ReplicaSet. */
  readonly template?: string | undefined
  /** SHA-256 of the config file's text. */
  readonly configSha256: string
  /** Whether the pod refuses to reload its changed config file. */
  readonly isRefusing: boolean
  /** SHA-256 of a config that the pod refuses and does not retry; null if there is none. */
  readonly refusedSha256?: string | null
  readonly upstreams: readonly UpstreamView[]
  readonly listeners?: readonly ListenerView[]
  /** Stores that fail. */
  readonly stores?: Page['stores']
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
  const { config, at = '', upstreams, stores } = data
  const { sha256, refused } = config
  const refusedSha256 = (refused?.retries === true ? null : refused?.sha256) ?? null
  const isRefusing = Boolean(refused)
  const listeners = data.listeners.map(({ darkSince, ...each }): ListenerView => {
    const darkMs = darkSince === null ? null : Math.max(0, Date.parse(at) - Date.parse(darkSince))
    return { ...each, darkMs }
  })
  const health = { upstreams, listeners, stores }
  return { pod, configSha256: sha256, isRefusing, refusedSha256, ...health }
}
