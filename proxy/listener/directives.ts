// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { parseDuration } from '../config/units.ts'
import { type Directives, noDirectives } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { HeaderList } from '../upstream/wire.ts'

/* The directives of clients for the router: headers of a request. */

/** A list in `rpc-providers-block` with more names than this excludes no upstream. */
const maxBlocked = 2

/** The longest delay of a timer; a longer one would fire at once. */
const maxTimerMs = 2 ** 31 - 1

/** The request headers for the router, for `docs/reference/headers.md`. */
export const directiveHeaders = [
  {
    name: 'rpc-select-provider',
    value: 'the name of an upstream',
    effect:
      'This upstream is asked first, whatever its score. The others still take over if it fails.',
  },
  {
    name: 'rpc-providers-block',
    value: `up to ${maxBlocked} names of upstreams, separated by commas`,
    effect: `These upstreams are not asked. A list of more than ${maxBlocked} is ignored: no upstream is excluded and no error is given.`,
  },
  {
    name: 'rpc-extension',
    value: 'the name of an extension such as `archive`, in any case',
    effect: 'Only upstreams that declare it are asked.',
  },
  {
    name: 'rpc-relay-timeout',
    value: 'a duration such as `500ms`, `5s` or `1m30s`',
    effect:
      'The time of each attempt, verbatim: `--min-relay-timeout` does not raise it. A value that is not a duration above zero is refused with -32600.',
  },
  {
    name: 'rpc-cross-validation-max-participants',
    value: 'a whole number from 1',
    effect:
      'At most so many upstreams are asked the same, and an answer is given when enough of them match. Needs the next header; see [cross-validation](../concepts/cross-validation.md).',
  },
  {
    name: 'rpc-cross-validation-agreement-threshold',
    value: 'a whole number from 1',
    effect: 'So many answers must match. Needs the header before; one alone is refused.',
  },
  {
    name: 'rpc-min-block',
    value: 'a block number, such as the last `Provider-Latest-Block`',
    effect:
      'Only upstreams that have this block are asked; see [consistency](../concepts/consistency.md). A write ignores it.',
  },
  {
    name: 'rpc-stickiness',
    value: 'the id of a session, any text',
    effect:
      'Requests with the same id are served by one node, or fail: see [sticky sessions](../concepts/sticky-sessions.md). `rpc-select-provider` or cross-validation beside it wins.',
  },
  {
    name: 'rpc-force-cache-refresh',
    value: 'anything',
    effect:
      'The call goes to an upstream although its answer is kept, and the new answer is kept instead.',
  },
  {
    name: 'rpc-debug-relay',
    value: '`true`',
    effect:
      'A line in the log for each attempt of this request, and the reason in `Rpc-Cache`. `false`, `0` and nothing mean no.',
  },
] as const

/**
 * Reads the directives, or returns the error for a value that is invalid. Of a header that comes twice
 * the first counts, except for `rpc-providers-block`, whose lists are joined.
 */
export function readDirectives(headers: HeaderList): Directives | RelayError {
  let directives: { -readonly [Key in keyof Directives]: Directives[Key] } | null = null
  let blocked: string[] | null = null
  let timeoutMs: number | null = null
  const counts: Counts = {}
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    if (!isDirective(name)) continue
    const value = (headers[at + 1] as string).trim()
    directives ??= { ...noDirectives }
    const lower = name.toLowerCase()
    switch (lower) {
      case 'rpc-select-provider':
        directives.selectProvider ??= value || null
        break
      case 'rpc-providers-block':
        blocked ??= []
        blocked.push(...value.split(/\s*,\s*/).filter((each) => each !== ''))
        break
      case 'rpc-extension':
        directives.extension ??= value.toLowerCase() || null
        break
      case 'rpc-relay-timeout':
        timeoutMs ??= parseDuration(value) ?? 0
        break
      case 'rpc-cross-validation-max-participants':
      case 'rpc-cross-validation-agreement-threshold':
      case 'rpc-min-block':
        counts[lower] ??= value
        break
      case 'rpc-stickiness':
        directives.stickiness ??= value === '' ? null : hash('sha256', value, 'base64url')
        break
      case 'rpc-force-cache-refresh':
        directives.refreshCache = true
        break
      case 'rpc-debug-relay':
        directives.debugRelay ||= !['', '0', 'false'].includes(value.toLowerCase())
        break
    }
  }
  if (directives === null) return noDirectives
  if (blocked !== null && blocked.length <= maxBlocked) directives.blockProviders = blocked
  if (timeoutMs !== null && timeoutMs <= 0) {
    const message =
      'the header rpc-relay-timeout is not a duration above zero; write it like 500ms, 5s or 1m30s'
    return new RelayError(errorKinds.invalidRequest, message)
  }
  if (timeoutMs !== null) directives.relayTimeoutMs = Math.min(timeoutMs, maxTimerMs)
  const fault = faultOfCounts(counts)
  if (fault !== null) return new RelayError(errorKinds.badDirective, fault)
  const { [participantsHeader]: participants, [agreementHeader]: agreement } = counts
  if (participants !== undefined && agreement !== undefined)
    directives.crossValidation = {
      participants: Number(participants),
      agreement: Number(agreement),
    }
  // Every upstream has block 0, be its head known or not.
  directives.minBlock = Number(counts[minBlockHeader] ?? 0) || null
  return directives
}

const participantsHeader = 'rpc-cross-validation-max-participants'
const agreementHeader = 'rpc-cross-validation-agreement-threshold'
const minBlockHeader = 'rpc-min-block'

/** Headers whose value is a whole number. */
type Counts = {
  [Name in typeof participantsHeader | typeof agreementHeader | typeof minBlockHeader]?: string
}

/** What is wrong with them; null when nothing is. */
function faultOfCounts(counts: Counts): string | null {
  for (const [name, value] of Object.entries(counts)) {
    const min = name === minBlockHeader ? 0 : 1
    if (!/^\d{1,15}$/.test(value) || Number(value) < min)
      return `the header ${name} is not a whole number from ${min}`
  }
  const { [participantsHeader]: participants, [agreementHeader]: agreement } = counts
  if ((participants === undefined) !== (agreement === undefined)) {
    const [given, missing] =
      participants === undefined
        ? [agreementHeader, participantsHeader]
        : [participantsHeader, agreementHeader]
    return `the header ${given} needs ${missing} beside it`
  }
  if (Number(agreement) > Number(participants))
    return `the header ${agreementHeader} asks for ${agreement} matching answers of at most ${participants}`
  return null
}

/** Cheap, since it looks at every header of every request. */
function isDirective(name: string): boolean {
  return name.charCodeAt(3) === 0x2d && name.slice(0, 3).toLowerCase() === 'rpc'
}
