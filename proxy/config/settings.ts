// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { addressRange } from './fields/address-range.ts'
import type { Field } from './fields/field.ts'
import {
  boolean,
  byteSize,
  duration,
  filePath,
  integer,
  oneOf,
  remoteAddress,
  switchableAddress,
  switchableDuration,
  text,
} from './fields/fields.ts'
import { urlWithoutPort } from './fields/address.ts'

/** Default port of the cache service. */
export const cachePort = 20_100

export const strategies = [
  'balanced',
  'latency',
  'sync-freshness',
  'availability',
  'round-robin',
] as const
export const integrityLevels = ['off', 'envelope', 'core', 'full'] as const
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export const logFormats = ['json', 'text'] as const

/**
 * A process-wide setting: a key at the top of the file and a flag of the same name.
 *
 * @param defaultText as written in a file; null when unset by default
 * @param repeatable a repeatable flag, and a list in the file
 * @param variable environment variable that also sets it: overrides the file, yields to the flag
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

/** As in `Origin` headers: lower case, without path or default port. */
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

/** Every process-wide setting, under the headings of `--help`. */
export const settingGroups = {
  Chains: {
    'use-static-spec': setting(specSource, null, {
      repeatable: true,
      variable: 'SR_SPEC',
    }).describe(
      'Chain specs beside the bundled ones: a file, a directory, or the URL of a repository archive. A later spec of the same id replaces an earlier one, also a bundled one.',
    ),
    'skip-websocket-verification': setting(boolean, 'false').describe(
      'Start although a chain with subscriptions has no upstream with a WebSocket URL. A client that subscribes there gets an error.',
    ),
  },
  /** Settings that an endpoint can override under `relay`. */
  Relaying: {
    strategy: setting(oneOf(strategies), 'balanced').describe('How upstreams are chosen.'),
    'set-relay-retry-limit': setting(integer(0, 100), '2').describe(
      'Retries after the first attempt. 0: no retry and no hedge.',
    ),
    'max-relay-attempts': setting(integer(1, 1000), '10').describe(
      'Attempts of all kinds for one call, hedges included. Writes have no such limit: they go to every eligible upstream.',
    ),
    'default-processing-timeout': setting(duration('1ms', '24h'), '30s').describe(
      'The whole time that one call may take.',
    ),
    'min-relay-timeout': setting(duration('0s', '24h'), '1s').describe(
      'The least time that the router itself gives an attempt.',
    ),
    integrity: setting(oneOf(integrityLevels), 'core').describe(
      'How answers are checked: `off`, `envelope` (complete and in the form of the interface), `core` (and against the request), `full` (and hashes of Ethereum are worked out).',
    ),
    'retry-missing-blocks': setting(boolean, 'false').describe(
      'Ask another upstream also when one answers null for a tag, or for a block that the tip says exists and its own head has not reached.',
    ),
  },
  Clients: {
    'max-request-bytes': setting(byteSize('1B', '1GiB'), '10MiB').describe(
      'The largest request body that is taken.',
    ),
    'max-buffered-bytes': setting(byteSize('1MiB', '1024GiB'), null).describe(
      'Bytes of requests and answers that the process holds at once. With more, new requests with a body are refused. Unset: a third of the heap limit of Node.js.',
    ),
    'allowed-origins': setting(origin, null, { repeatable: true }).describe(
      'Origins of the pages that are served, over HTTP and WebSocket. Unset: any. Clients that are no browsers send no origin, and are always served.',
    ),
    'trusted-proxies': setting(addressRange, null, { repeatable: true }).describe(
      'Addresses of the proxies in front of the router, as ranges. Behind them, `X-Forwarded-For` names the client whose WebSockets share the last tenth of `subscription-max-topics`. Unset: each connection counts as a client.',
    ),
    'max-calls-per-connection': setting(integer(1, 100_000), '128').describe(
      'Calls in flight on one connection: streams of gRPC, and messages of a WebSocket. More wait. Over HTTP/1 it is one.',
    ),
    'grpc-idle-timeout': setting(switchableDuration('1s', '24h', '10m'), '10m').describe(
      'A stream whose client has not ended its request is ended when neither side has sent anything for this long. `off`: never.',
    ),
    'websocket-max-message-bytes': setting(byteSize('1B', '1GiB'), '10MiB').describe(
      'The largest message that is taken from a client.',
    ),
    'websocket-max-calls': setting(integer(1, 100_000), null).describe(
      'Calls in flight on one connection. More wait, and the connection is not read meanwhile. Unset: `max-calls-per-connection`.',
    ),
    'websocket-max-subscriptions': setting(integer(0, 100_000), '100').describe(
      'Subscriptions of one connection.',
    ),
    'websocket-max-buffered-bytes': setting(byteSize('1KiB', '1GiB'), '8MiB').describe(
      'Answers and notifications that wait for a client which does not read. With more, no more calls are taken on, and it is closed with 1008.',
    ),
    'websocket-idle-timeout': setting(switchableDuration('1s', '24h', '10m'), '10m').describe(
      'A connection without a call or a subscription for this long is closed with 1000. `off`: never.',
    ),
  },
  Subscriptions: {
    'subscription-max-gap-blocks': setting(integer(1, 100_000), '1000').describe(
      'Missed blocks that are made up for when a subscription moves to another upstream. With more, its clients are disconnected with a reason.',
    ),
    'subscription-stall-blocks': setting(integer(1, 10_000), '3').describe(
      'Block times without events, at least 3s, after which the upstream of a subscription is checked for a stall.',
    ),
    'subscription-max-topics': setting(integer(1, 1_000_000), '10000').describe(
      'Different subscriptions of all clients of one chain and interface. Clients can still join those that exist.',
    ),
  },
  Upstreams: {
    'max-sessions-per-provider': setting(integer(1, 1_000_000), '1000').describe(
      'Calls at once to one upstream; then it is full, not failed.',
    ),
    'upstream-failure-threshold': setting(integer(1, 1_000_000), '5').describe(
      'Failures in a row that disable an upstream.',
    ),
    'epoch-duration': setting(duration('1s', '24h'), '15m').describe(
      'Length of an epoch. At its end disabled upstreams are tried again.',
    ),
    'health-check-interval': setting(duration('100ms', '24h'), '5m').describe(
      'Time between two checks of an upstream.',
    ),
    'liveness-probe-interval': setting(switchableDuration('100ms', '24h', '5s'), 'off').describe(
      'A light probe between health checks. `on` means every 5s.',
    ),
  },
  'Sharing and caching': {
    'cache-bytes': setting(byteSize('0B', '1024GiB'), '32MiB').describe(
      'Memory for answers of upstreams that are kept. The least recently used go first. 0: none are kept, and identical calls at the same time are not joined.',
    ),
    'cache-be': setting(remoteAddress(cachePort), null).describe(
      `Address of the cache service (\`router cache\`) that replicas share. With \`resp-cache\` beside it, that keeps the sessions. Without a port: ${cachePort}.`,
    ),
    'shared-state': setting(boolean, 'false').describe(
      'Share sticky sessions between replicas in the store of `resp-cache` or `cache-be`. Without both each replica keeps them to itself.',
    ),
  },
  Process: {
    'metrics-listen-address': setting(switchableAddress(7779), 'off').describe(
      'Where metrics and health are served.',
    ),
    'admin-page': setting(oneOf(['on', 'off']), 'on').describe(
      'Show upstreams and failed calls to browsers there, as the page `/`.',
    ),
    'admin-hosts': setting(hostName, null, { repeatable: true }).describe(
      'Public host names by which that address may be opened, such as that of an Ingress. Other public names are refused for all but metrics and probes.',
    ),
    'enable-selection-stats': setting(boolean, 'false').describe(
      'Say in a response header how the upstream was chosen.',
    ),
    'drain-timeout': setting(duration('0s', '1h'), '25s').describe(
      'How long a stop waits for calls in flight.',
    ),
    'log-level': setting(oneOf(logLevels), 'info', { variable: 'SR_LOG_LEVEL' }).describe(
      'The least level that is logged.',
    ),
    'log-format': setting(oneOf(logFormats), 'json', { variable: 'SR_LOG_FORMAT' }).describe(
      'How the log is written: `json` for programs, `text` for people.',
    ),
    'env-file': setting(filePath, null, { repeatable: true }).describe(
      'A file of NAME=value lines for placeholders, or a directory with a file for each; see Env files. The environment beats it; of several, later ones win.',
    ),
  },
} as const

/** Source of the file's top-level keys, the flags, `--help`, the JSON Schema and the reference. */
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

/** A resolved setting; null when it is disabled, or unset by default. */
export type SettingValue<N extends SettingName> =
  z.output<(typeof settings)[N]['field']> | Extract<(typeof settings)[N]['default'], null>

/** Whether the text names a setting. */
export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settings, name)
}

/** Command-line values by setting: each as written, in order. */
export type FlagValues = Readonly<Partial<Record<SettingName, readonly string[]>>>
