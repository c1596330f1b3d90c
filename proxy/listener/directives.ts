// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { parseDuration } from '../config/units.ts'
import { type Directives, noDirectives, type TraceContext } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { HeaderList } from '../upstream/wire.ts'

/* The directives of clients for the router: headers of a request. */

/** A list in `rpc-providers-block` with more names than this excludes no upstream. */
const maxBlocked = 2

/** The longest delay of a timer; a longer one would fire at once. */
const maxTimerMs = 2 ** 31 - 1

/** The request headers for the router; `docs/reference/headers.md` describes each. */
export const directiveHeaders = {
  selectProvider: 'rpc-select-provider',
  blockProviders: 'rpc-providers-block',
  extension: 'rpc-extension',
  relayTimeout: 'rpc-relay-timeout',
  participants: 'rpc-cross-validation-max-participants',
  agreement: 'rpc-cross-validation-agreement-threshold',
  minBlock: 'rpc-min-block',
  stickiness: 'rpc-stickiness',
  refreshCache: 'rpc-force-cache-refresh',
  debugRelay: 'rpc-debug-relay',
} as const

/** A bit for each header that must not repeat: programs differ on which duplicate counts. */
const onceBits = new Map<string, number>(
  Object.values(directiveHeaders)
    .filter((name) => name !== directiveHeaders.blockProviders)
    .map((name, at) => [name, 1 << at]),
)

/**
 * Reads the directives, or returns the error for an invalid value or a duplicate header. `rpc-providers-block` is a list,
 * which may span several headers.
 */
export function readDirectives(headers: HeaderList): Directives | RelayError {
  let directives: { -readonly [Key in keyof Directives]: Directives[Key] } | null = null
  let seen = 0
  let blocked: string[] | null = null
  let timeoutMs: number | null = null
  let parent: string | null = null
  let state: string | null = null
  const counts: Counts = {}
  const names = directiveHeaders
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    if (!isDirective(name)) continue
    const value = (headers[at + 1] as string).trim()
    directives ??= { ...noDirectives }
    const lower = name.toLowerCase()
    const once = onceBits.get(lower) ?? 0
    if ((seen & once) > 0)
      return new RelayError(
        errorKinds.badDirective,
        `the header ${lower} comes twice: send it once`,
      )
    seen |= once
    switch (lower) {
      case names.selectProvider:
        directives.selectProvider = value || null
        break
      case names.blockProviders:
        blocked ??= []
        blocked.push(...value.split(/\s*,\s*/).filter((each) => each !== ''))
        break
      case names.extension:
        directives.extension = value.toLowerCase() || null
        break
      case names.relayTimeout:
        timeoutMs = parseDuration(value) ?? 0
        break
      case names.participants:
      case names.agreement:
      case names.minBlock:
        counts[lower] = value
        break
      case names.stickiness:
        directives.stickiness = value === '' ? null : hash('sha256', value, 'base64url')
        break
      case names.refreshCache:
        directives.refreshCache = true
        break
      case names.debugRelay:
        directives.debugRelay = !['', '0', 'false'].includes(value.toLowerCase())
        break
      case 'traceparent':
        // With two parents, ignore both (W3C Trace Context, 3.2).
        parent = parent === null ? value : ''
        break
      case 'tracestate':
        state = state === null ? value : `${state},${value}`
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
  const { [names.participants]: participants, [names.agreement]: agreement } = counts
  if (participants !== undefined && agreement !== undefined)
    directives.crossValidation = {
      participants: Number(participants),
      agreement: Number(agreement),
    }
  directives.trace = traceOf(parent, state)
  const { [names.minBlock]: minBlock } = counts
  directives.minBlock = minBlock === undefined ? null : Number(minBlock)
  return directives
}

/** Headers whose value is a whole number. */
type Counts = {
  [Name in (typeof directiveHeaders)['participants' | 'agreement' | 'minBlock']]?: string
}

/** What is wrong with them; null when nothing is. */
function faultOfCounts(counts: Counts): string | null {
  const names = directiveHeaders
  for (const [name, value] of Object.entries(counts)) {
    const min = name === names.minBlock ? 0 : 1
    if (!/^\d{1,15}$/.test(value) || Number(value) < min)
      return `the header ${name} is not a whole number from ${min}`
  }
  const { [names.participants]: participants, [names.agreement]: agreement } = counts
  if ((participants === undefined) !== (agreement === undefined)) {
    const [given, missing] =
      participants === undefined
        ? [names.agreement, names.participants]
        : [names.participants, names.agreement]
    return `the header ${given} needs ${missing} beside it`
  }
  if (Number(agreement) > Number(participants))
    return `the header ${names.agreement} asks for ${agreement} matching answers of at most ${participants}`
  return null
}

/** Version, trace, parent and flags of W3C Trace Context; only later versions may have more behind. */
const traceparent =
  /^(?!ff|00-.{53})[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.{0,200})?$/
/** Of `tracestate`: so much is passed on at least (W3C Trace Context, 3.3.1.5), and no more here. */
const maxStateLength = 512

/** A context of another form is none, as the standard wants it. */
function traceOf(parent: string | null, state: string | null): TraceContext | null {
  if (parent === null || !traceparent.test(parent)) return null
  return { parent, state: state === '' || (state?.length ?? 0) > maxStateLength ? null : state }
}

/** Cheap, since it looks at every header of every request: `rpc-*`, `traceparent` and `tracestate`. */
function isDirective(name: string): boolean {
  const fourth = name.charCodeAt(3)
  if (fourth === 0x2d) return name.slice(0, 3).toLowerCase() === 'rpc'
  return (fourth | 0x20) === 0x63 && name.slice(0, 5).toLowerCase() === 'trace'
}
