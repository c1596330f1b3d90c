// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { parseDuration } from '../config/units.ts'
import { type Directives, noDirectives, type TraceContext } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { HeaderList } from '../upstream/wire.ts'

/* Directives to the router, sent by clients as request headers. */

/** A longer `rpc-providers-block` list excludes no upstream. */
const maxBlocked = 2

/** Maximum delay of a Node timer; a longer one fires immediately. */
const maxTimerMs = 2 ** 31 - 1

/** Request headers for the router; `docs/reference/headers.md` describes each. */
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

/** One bit per header that must not repeat, because servers differ in which duplicate they use. */
const onceBits = new Map<string, number>(
  Object.values(directiveHeaders)
    .filter((name) => name !== directiveHeaders.blockProviders)
    .map((name, at) => [name, 1 << at]),
)

/**
 * Reads the directives. Returns an error for an invalid value or a duplicate header.
 * `rpc-providers-block` is a list and may span several headers.
 */
export function readDirectives(headers: HeaderList): Directives | RelayError {
  let directives: { -readonly [Key in keyof Directives]: Directives[Key] } | null = null
  let seenBits = 0
  let blocked: string[] | null = null
  let timeoutMs: number | null = null
  let parent: string | null = null
  let state: string | null = null
  const counts = new Map<string, number>()
  const names = directiveHeaders
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    if (!isDirective(name)) continue
    const value = (headers[at + 1] as string).trim()
    directives ??= { ...noDirectives }
    const lower = name.toLowerCase()
    const once = onceBits.get(lower) ?? 0
    if ((seenBits & once) > 0) return badDirective(`the header ${lower} is repeated: send it once`)
    seenBits |= once
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
        if (!/^\d{1,15}$/.test(value) || Number(value) < leastOf(lower))
          return badDirective(`the header ${lower} is not a whole number from ${leastOf(lower)}`)
        counts.set(lower, Number(value))
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
        // If there are two parents, ignore both (W3C Trace Context, 3.2).
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
  const participants = counts.get(names.participants)
  const agreement = counts.get(names.agreement)
  if (participants !== undefined && agreement !== undefined) {
    if (agreement > participants)
      return badDirective(
        `the header ${names.agreement} asks for ${agreement} matching answers of at most ${participants}`,
      )
    directives.crossValidation = { participants, agreement }
  } else if (participants !== undefined || agreement !== undefined) {
    const both = [names.participants, names.agreement]
    const [present, missing] = agreement === undefined ? both : both.toReversed()
    return badDirective(`the header ${present} needs ${missing} beside it`)
  }
  directives.trace = traceOf(parent, state)
  directives.minBlock = counts.get(names.minBlock) ?? null
  return directives
}

/** The least value of a header with an integer. */
function leastOf(name: string): number {
  return name === directiveHeaders.minBlock ? 0 : 1
}

function badDirective(message: string): RelayError {
  return new RelayError(errorKinds.badDirective, message)
}

/** W3C Trace Context: version, trace, parent and flags. Only later versions may append more. */
const traceparent =
  /^(?!ff|00-.{53})[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.{0,200})?$/
/** Longest `tracestate` to forward: the minimum in the standard (W3C Trace Context, 3.3.1.5). */
const maxStateLength = 512

/** Null for a malformed context, because the standard says to ignore it. */
function traceOf(parent: string | null, state: string | null): TraceContext | null {
  if (parent === null || !traceparent.test(parent)) return null
  return { parent, state: state === '' || (state?.length ?? 0) > maxStateLength ? null : state }
}

/** Matches `rpc-*`, `traceparent` and `tracestate`. Cheap, because it runs for every header. */
function isDirective(name: string): boolean {
  const fourth = name.charCodeAt(3)
  if (fourth === 0x2d) return name.slice(0, 3).toLowerCase() === 'rpc'
  return (fourth | 0x20) === 0x63 && name.slice(0, 5).toLowerCase() === 'trace'
}
