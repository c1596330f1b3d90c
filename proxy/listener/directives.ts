// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseDuration } from '../config/units.ts'
import { noDirectives, type Directives } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { HeaderList } from '../upstream/wire.ts'

/** More names than this, and `rpc-providers-block` excludes nobody. */
const maxBlocked = 2

/** The longest delay of a timer; a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1

/** Directives of capabilities that this version has not: to ignore one would break its promise. */
const notBuilt: Readonly<Record<string, string>> = {
  'rpc-stickiness': 'sticky sessions',
  'rpc-cross-validation-max-participants': 'cross-validation',
  'rpc-cross-validation-agreement-threshold': 'cross-validation',
}

/** The request headers that speak to the router, for `docs/reference/headers.md`. */
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
    effect: `These upstreams are not asked. A list of more than ${maxBlocked} is ignored: nobody is excluded and no error is given.`,
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
    name: 'rpc-debug-relay',
    value: '`true`',
    effect: 'A line in the log for each attempt of this request. `false`, `0` and nothing mean no.',
  },
] as const

/**
 * What the client asks of the router, or the error when a value cannot be understood. Of a header
 * that comes twice the first counts, save for `rpc-providers-block`, whose lists are joined.
 */
export function readDirectives(headers: HeaderList): Directives | RelayError {
  let directives: { -readonly [Key in keyof Directives]: Directives[Key] } | null = null
  let blocked: string[] | null = null
  let timeoutMs: number | null = null
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    if (!isDirective(name)) continue
    const value = (headers[at + 1] as string).trim()
    directives ??= { ...noDirectives }
    const lower = name.toLowerCase()
    const capability = notBuilt[lower]
    if (capability !== undefined) {
      const message = `this version of the router has no ${capability}, so it cannot do what the header ${lower} asks for; send the request without it`
      return new RelayError(errorKinds.unsupportedDirective, message)
    }
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
  if (timeoutMs !== null) directives.relayTimeoutMs = Math.min(timeoutMs, longestTimerMs)
  return directives
}

/** Cheap, since it looks at every header of every request. */
function isDirective(name: string): boolean {
  return name.charCodeAt(3) === 0x2d && name.slice(0, 3).toLowerCase() === 'rpc'
}
