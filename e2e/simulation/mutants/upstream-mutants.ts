// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Mutant } from './mutant.ts'

const upstream = (file: string) => `proxy/upstream/${file}.ts`

/** Mistakes in what is known of upstreams, and in what is sent to them. */
export const upstreamMutants: readonly Mutant[] = [
  {
    name: 'a 429 to a probe is a failure',
    file: upstream('ask'),
    text: 'if (!failure.holdOff) return',
    replacement: 'if (failure) return',
  },
  {
    name: 'one failure more is needed to disable',
    file: upstream('availability'),
    text: 'this.#failures >= this.#threshold',
    replacement: 'this.#failures > this.#threshold',
  },
  {
    name: 'one failure less is needed to disable',
    file: upstream('availability'),
    text: 'this.#failures >= this.#threshold',
    replacement: 'this.#failures >= this.#threshold - 1',
  },
  {
    name: 'failures add up over successes',
    file: upstream('availability'),
    text: 'succeeded(): void {\n    this.#failures = 0',
    replacement: 'succeeded(): void {',
  },
  {
    name: 'a disabled upstream never comes back',
    file: upstream('availability'),
    text: "this.#become('eligible', 'answered again')",
    replacement: 'return',
  },
  {
    name: 'one bad URL costs the whole upstream',
    file: upstream('upstream'),
    text: 'if (this.urls.some((other) => other.serves([]) && other.failures === 0)) return',
    replacement: '',
  },
  {
    name: 'held-off URLs are asked',
    file: upstream('node-url'),
    text: '!this.holdOff.active &&',
    replacement: '',
  },
  {
    name: 'URLs that were not verified are asked',
    file: upstream('node-url'),
    text: 'this.verified === true &&',
    replacement: 'this.verified !== false &&',
  },
  {
    name: 'Retry-After is not respected',
    file: upstream('hold-off'),
    text: 'const holdOffMs = retryAfterMs\n',
    replacement: 'const holdOffMs = false\n',
  },
  {
    name: 'an answer to an earlier call ends a hold-off',
    file: upstream('hold-off'),
    text: '    if (this.active) return\n    this.#untilMs = -Infinity',
    replacement: '    this.#untilMs = -Infinity',
  },
  {
    name: 'one URL that does not answer keeps its upstream out of service',
    file: upstream('watch'),
    text: 'if (url.verified === true) upstream.availability.verified()',
    replacement: '',
  },
  {
    name: 'an excluded upstream has the word',
    file: upstream('pool'),
    text: '      .filter((each) => !excluded.includes(each.name))\n',
    replacement: '',
  },
  {
    name: 'a question of our own is answered with the words to an earlier call',
    file: upstream('hold-off'),
    text: '    this.#refusal = refusal\n    this.#began(holdOffMs)',
    replacement: '    this.#refusal ??= refusal\n    this.#began(holdOffMs)',
  },
  {
    name: 'a URL that failed once is the worse one for ever',
    file: upstream('upstream'),
    text: '    url.failures = 0\n    url.judgedMs',
    replacement: '    url.judgedMs',
  },
  {
    name: 'an upstream that was down for long is asked late when it is down again',
    file: upstream('watch'),
    text: '} else waitMs = firstRetryMs',
    replacement: '}',
  },
  {
    name: 'a body of just the bound is too long',
    file: upstream('whole-body'),
    text: 'length > maxBytes',
    replacement: 'length >= maxBytes',
  },
  {
    name: 'what is no stream may be as long as it likes',
    file: upstream('whole-body'),
    text: 'return body.length <= maxBytes ? body : null',
    replacement: 'return body',
  },
  {
    name: 'an add-on is taken for what only some nodes have',
    file: upstream('verify-url'),
    text: "addon !== null && severity === 'fail'",
    replacement: 'addon !== null',
  },
  {
    name: 'trouble with the question about an add-on takes the add-on away',
    file: upstream('verify-url'),
    text: '.difference(lacking).difference(shown)',
    replacement: '.difference(lacking)',
  },
  {
    name: 'an add-on that could not be asked about is not asked about soon',
    file: upstream('watch'),
    text: 'verified === null || openAddons.size > 0',
    replacement: 'verified === null',
  },
  {
    name: 'a probe does not keep to the time of its URL',
    file: upstream('ask'),
    text: 'url.timeoutMs ?? call.timeoutMs ?? probeTimeoutMs',
    replacement: 'call.timeoutMs ?? probeTimeoutMs',
  },
  {
    name: 'a failure without blame costs a share of the traffic',
    file: upstream('upstream'),
    text: '    if (failure.weight === 0) return false\n',
    replacement: '',
  },
  {
    name: 'an upstream that knows its block is forgiven all else',
    file: upstream('watch'),
    text: "if (upstream.availability.standing === 'disabled') upstream.availability.succeeded()",
    replacement: 'upstream.availability.succeeded()',
  },
  {
    name: 'a head is as old as its answer',
    file: 'proxy/relay/attempt.ts',
    text: 'block, this.#record.startedMs)',
    replacement: 'block, this.#options.clock.nowMs())',
  },
  {
    name: 'one that may be asked again at once is left alone as if it had said nothing',
    file: upstream('hold-off'),
    text: 'retryAfterMs === null ? firstMs.untold : firstMs.soon',
    replacement: 'firstMs.untold',
  },
  {
    name: 'one that may be asked again at once is asked at once',
    file: upstream('hold-off'),
    text: 'soon: 1_000',
    replacement: 'soon: 0',
  },
  {
    name: 'hold-offs do not grow',
    file: upstream('hold-off'),
    text: 'this.#repeated += 1',
    replacement: 'this.#repeated += 0',
  },
  {
    name: 'a date that has passed says nothing',
    file: upstream('hold-off'),
    text: 'Number.isNaN(atMs) ? null',
    replacement: '!(atMs > wallMs) ? null',
  },
  {
    name: 'whatever can be read as a date is an HTTP date',
    file: upstream('hold-off'),
    text: "date.endsWith('GMT') ? Date.parse(date) : NaN",
    replacement: 'Date.parse(date)',
  },
  {
    name: 'epochs begin when the process does',
    file: upstream('watch'),
    text: 'epochDurationMs - (clock.wallMs() % epochDurationMs)',
    replacement: 'epochDurationMs',
  },
  {
    name: 'heavy calls count as light ones in the latency',
    file: 'proxy/relay/attempt.ts',
    text: 'const { cost } = this.#call.asked\n',
    replacement: 'const cost = 10\n',
  },
  {
    name: 'a method that fails alone counts against the upstream',
    file: 'proxy/upstream/lone-failures.ts',
    text: 'if (this.#lone.has(method)) return false',
    replacement: '',
  },
  {
    name: 'what failed before counts for nothing, though others fail as well',
    file: 'proxy/upstream/lone-failures.ts',
    text: 'if (wasDisabled) for',
    replacement: 'for',
  },
  {
    name: 'who comes back by the same method is not judged by it again',
    file: 'proxy/upstream/lone-failures.ts',
    text: 'this.#row.delete(method)',
    replacement: '',
  },
  {
    name: 'a refused connection is the doing of the method',
    file: 'proxy/relay/attempt.ts',
    text: 'isSent ? this.#method : null',
    replacement: 'this.#method',
  },
  {
    name: 'a node sends on while nobody reads its compressed answer',
    file: upstream('http/http-transport'),
    text: 'else if (!this.#decoder.write(chunk)) controller.pause()',
    replacement: 'else this.#decoder.write(chunk)',
  },
  {
    name: 'a request that is taken back while it connects is sent all the same',
    file: upstream('http/http-transport'),
    text: "if (this.#over) controller.abort(new Error('taken back before it was sent'))",
    replacement: '',
  },
  {
    name: 'one that does not tell its block is back',
    file: upstream('watch'),
    text: "if (answer.kind === 'refused') return",
    replacement: '',
  },
]
