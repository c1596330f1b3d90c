// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { addressRange } from './fields/address-range.ts'
import type { Field } from './fields/field.ts'
import {
  address,
  adminAddress,
  boolean,
  byteSize,
  duration,
  filePath,
  integer,
  integerOrAuto,
  oneOf,
  remoteAddress,
  switchableDuration,
  text,
} from './fields/fields.ts'
import { urlWithoutPort } from './fields/address.ts'

export const cachePort = 20_100
/** Port of listeners that specify none. */
export const defaultPort = 3360

export const strategies = [
  'balanced',
  'latency',
  'sync-freshness',
  'availability',
  'round-robin',
] as const
export const integrityLevels = ['off', 'envelope', 'core', 'full'] as const
export const logVerifications = ['off', 'sample', 'always'] as const
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export const logFormats = ['json', 'text'] as const

/**
 * A process-wide setting: a top-level key of the file, and a flag of the same name.
 *
 * @param defaultText as written in a file; null if unset by default
 * @param repeatable the flag may be repeated, and the file has a list
 * @param variable environment variable that also sets it; overrides the file, yields to the flag
 */
function setting<F extends Field<unknown>, D extends string | null>(
  field: F,
  defaultText: D,
  { repeatable = false, variable = null }: { repeatable?: boolean; variable?: string | null } = {},
) {
  const rest = { field, default: defaultText, repeatable, variable }
  return { describe: (description: string) => ({ ...rest, description }) }
}

const specSource = text({
  kind: 'file, directory or URL',
  pattern: new RegExp(String.raw`^(?![a-z]+://[^/]*@|${urlWithoutPort})[^\0\r\n]{1,4096}$`),
  fault: 'cannot be a spec source',
  hint: 'Write a file, a directory or a URL without a user name and password in it. A port is 1 to 65535.',
})

/** An origin as in `Origin` headers: lower case, without path or default port. */
const origin = text({
  kind: 'origin',
  pattern: /^(?:null|(?!http:.*:80$|https:.*:443$)[a-z][a-z\d+.-]*:\/\/[^\s/?#@A-Z]*)$/,
  fault: 'is not an origin',
  hint: 'Write what browsers send, such as https://app.example.org: a scheme and a host in lower case, the port unless it is the usual one, no path, no slash behind.',
})

const hostName = text({
  kind: 'host name',
  pattern: /^[a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?$/,
  fault: 'is not a host name',
  hint: 'Write one such as router.example.org: lower case, without a scheme, a port or a path.',
})

const headerName = text({
  kind: 'header name',
  pattern: /^[A-Za-z][A-Za-z\d-]{0,63}$/,
  fault: 'is not a header name',
  hint: 'Write one such as X-Forwarded-For, X-Real-IP or CF-Connecting-IP: letters, digits and hyphens.',
})

/** Every process-wide setting, under the headings of `--help`. */
export const settingGroups = {
  Chains: {
    'use-static-spec': setting(specSource, null, {
      repeatable: true,
      variable: 'SR_SPEC',
    }).describe(
      'Additional chain specs: a file, a directory, or the URL of a repository archive. A later spec replaces an earlier or bundled one of the same id.',
    ),
    'skip-websocket-verification': setting(boolean, 'false').describe(
      'Start even if a chain with subscriptions has no upstream with a WebSocket URL. Clients that subscribe there get an error.',
    ),
  },
  /** Settings that an endpoint can override under `relay`. */
  Relaying: {
    strategy: setting(oneOf(strategies), 'balanced').describe('How to select upstreams.'),
    'set-relay-retry-limit': setting(integer(0, 100), '2').describe(
      'Retries after the first attempt. 0: no retry and no hedge.',
    ),
    'max-relay-attempts': setting(integer(1, 1000), '10').describe(
      'Attempts of all kinds for one call, hedges included. Writes have no such limit: they go to every eligible upstream.',
    ),
    'default-processing-timeout': setting(duration('1ms', '24h'), '30s').describe(
      'Total time of one call.',
    ),
    'min-relay-timeout': setting(duration('0s', '24h'), '1s').describe(
      'Minimum timeout that the router computes for an attempt.',
    ),
    integrity: setting(oneOf(integrityLevels), 'core').describe(
      'How to check answers: `off`, `envelope` (complete and well-formed), `core` (also against the request), `full` (also recomputes Ethereum hashes).',
    ),
    'retry-missing-blocks': setting(boolean, 'false').describe(
      'Retry another upstream also when an answer is null for a tag, or for a block up to the tip that its own head has not reached.',
    ),
  },
  Clients: {
    'network-address': setting(address(defaultPort), null).describe(
      `Listen address of a config without \`endpoints\`, for its first chain; each further one has the next port. Unset: 127.0.0.1:${defaultPort}.`,
    ),
    'max-request-bytes': setting(byteSize('1B', '1GiB'), '10MiB').describe(
      'Largest request body accepted.',
    ),
    'max-buffered-bytes': setting(byteSize('1MiB', '1024GiB'), null).describe(
      'Bytes of requests and answers that the process buffers at once. Beyond this it refuses new requests with a body. Unset: a third of the heap limit of Node.js.',
    ),
    'allowed-origins': setting(origin, null, { repeatable: true }).describe(
      'Origins whose pages are served, over HTTP and WebSocket. Unset: any. Clients other than browsers send no origin, and are always served.',
    ),
    'trusted-proxies': setting(addressRange, null, { repeatable: true }).describe(
      'Addresses of the proxies in front of the router, as ranges. Behind them, `client-address-header` names the client, for the log, `explain`, `top`, and the share of `subscription-max-topics`. Unset: the address of the connection is the client, and each connection has a share.',
    ),
    'client-address-header': setting(headerName, 'X-Forwarded-For').describe(
      'Header in which `trusted-proxies` name the client, as an IP address or a list of them. Ignored from other addresses, which could forge it.',
    ),
    'max-calls-per-connection': setting(integer(1, 100_000), '128').describe(
      'Calls in flight on one connection: gRPC streams, and WebSocket messages. Further calls wait. HTTP/1 has one.',
    ),
    'grpc-idle-timeout': setting(switchableDuration('1s', '24h', '10m'), '10m').describe(
      'A stream with an open request ends after neither side has sent anything for this long. `off`: never.',
    ),
    'websocket-max-message-bytes': setting(byteSize('1B', '1GiB'), '10MiB').describe(
      'Largest message accepted from a client.',
    ),
    'websocket-max-calls': setting(integer(1, 100_000), null).describe(
      'Calls in flight on one connection. Further calls wait, and the router stops reading the connection. Unset: `max-calls-per-connection`.',
    ),
    'websocket-max-subscriptions': setting(integer(0, 100_000), '1000').describe(
      'Subscriptions per connection.',
    ),
    'websocket-max-buffered-bytes': setting(byteSize('1KiB', '1GiB'), '8MiB').describe(
      'Unread answers and notifications of one client. Beyond this the router accepts no more of its calls, and closes the connection with 1008.',
    ),
    'websocket-idle-timeout': setting(switchableDuration('1s', '24h', '10m'), '10m').describe(
      'A connection without calls and subscriptions for this long is closed with 1000. `off`: never.',
    ),
  },
  Subscriptions: {
    'subscription-max-gap-blocks': setting(integer(1, 100_000), '1000').describe(
      'Missed blocks to backfill when a subscription moves to another upstream. Beyond this its clients are disconnected with a reason.',
    ),
    'subscription-stall-blocks': setting(integer(1, 10_000), '3').describe(
      'Block times without events, at least 3s, after which the upstream of a subscription is checked for a stall.',
    ),
    'subscription-max-topics': setting(integer(1, 1_000_000), '10000').describe(
      'Distinct subscriptions of all clients of one chain and interface. Clients can still join existing ones.',
    ),
  },
  Upstreams: {
    'max-sessions-per-provider': setting(integer(1, 1_000_000), '1000').describe(
      'Calls in flight to one upstream; beyond this it is full, not failed.',
    ),
    'upstream-failure-threshold': setting(integer(1, 1_000_000), '5').describe(
      'Consecutive failures that disable an upstream.',
    ),
    'epoch-duration': setting(duration('1s', '24h'), '15m').describe(
      'Length of an epoch. At its end the router retries disabled upstreams.',
    ),
    'health-check-interval': setting(duration('100ms', '24h'), '5m').describe(
      'Interval between health checks of an upstream.',
    ),
    'liveness-probe-interval': setting(switchableDuration('100ms', '24h', '5s'), 'off').describe(
      'A light probe between health checks. `on` means every 5s.',
    ),
  },
  'Sharing and caching': {
    'cache-bytes': setting(byteSize('0B', '1024GiB'), '32MiB').describe(
      'Memory of the answer cache, which evicts the least recently used first. 0: no cache, and concurrent identical calls are not joined.',
    ),
    'cache-be': setting(remoteAddress(cachePort), null).describe(
      `Address of the cache service (\`router cache\`) that replicas share. If \`resp-cache\` is set too, it stores the sessions. Without a port: ${cachePort}.`,
    ),
    'shared-state': setting(boolean, 'false').describe(
      'Share sticky sessions between replicas through `resp-cache` or `cache-be`. Without either, each replica has its own.',
    ),
  },
  Process: {
    workers: setting(integerOrAuto(1, 256), '1', { variable: 'SR_WORKERS' }).describe(
      'Processes that serve the listen addresses together, each on a core. `auto`: as many as there are cores.',
    ),
    'metrics-listen-address': setting(adminAddress, 'auto').describe(
      'Address that serves metrics and health. `auto`: 127.0.0.1:7779, or none if that is in use. `off`: none.',
    ),
    'admin-page': setting(oneOf(['on', 'off']), 'on').describe(
      'Serve a page `/` there with upstreams and failed calls.',
    ),
    'admin-hosts': setting(hostName, null, { repeatable: true }).describe(
      'Public host names of that address, such as that of an Ingress. Under other public names it serves only metrics and probes.',
    ),
    'enable-selection-stats': setting(boolean, 'false').describe(
      'Report in a response header how the upstream was selected.',
    ),
    'drain-timeout': setting(duration('0s', '1h'), '25s').describe(
      'How long a stop waits for calls in flight, and for idle HTTP connections, which close after their next answer.',
    ),
    'log-level': setting(oneOf(logLevels), 'info', { variable: 'SR_LOG_LEVEL' }).describe(
      'Minimum level to log.',
    ),
    'log-format': setting(oneOf(logFormats), 'json', { variable: 'SR_LOG_FORMAT' }).describe(
      'Format of the log: `json` for programs, `text` for people.',
    ),
    'access-log': setting(boolean, 'false').describe(
      'Log a line for each call, at level `info`: client, method, status, outcome, time, upstream, bytes.',
    ),
    'env-file': setting(filePath, null, { repeatable: true }).describe(
      'A file of NAME=value lines for placeholders, or a directory with one file per variable; see Env files. The environment overrides it, and later files override earlier ones.',
    ),
  },
} as const

/** Source of the top-level keys, the flags, `--help`, the JSON Schema and the reference. */
export const settings = {
  ...settingGroups.Chains,
  ...settingGroups.Relaying,
  ...settingGroups.Clients,
  ...settingGroups.Subscriptions,
  ...settingGroups.Upstreams,
  ...settingGroups['Sharing and caching'],
  ...settingGroups.Process,
} as const

export type SettingName = keyof typeof settings
export const settingNames = Object.keys(settings) as readonly SettingName[]

/** A resolved setting; null if disabled, or if unset by default. */
export type SettingValue<N extends SettingName> =
  z.output<(typeof settings)[N]['field']> | Extract<(typeof settings)[N]['default'], null>

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settings, name)
}

/** Command-line values by setting, unparsed and in order. */
export type FlagValues = Readonly<Partial<Record<SettingName, readonly string[]>>>
