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
    name: 'the failed upstream is asked again before another',
    file: upstream('choice'),
    text: 'isTried: wanted.tried(each.name)',
    replacement: 'isTried: false',
  },
  {
    name: 'backups before primaries',
    file: upstream('order'),
    text: "  'untried primary',\n  'untried backup',",
    replacement: "  'untried backup',\n  'untried primary',",
  },
  {
    name: 'lagging upstreams serve the latest block',
    file: upstream('choice'),
    text: 'candidates.filter((each) => !this.#heads.lags(each))',
    replacement: 'candidates',
  },
  {
    name: 'disabled upstreams are on a par with the others',
    file: upstream('choice'),
    text: "availability.standing === 'disabled'",
    replacement: 'availability === null',
  },
  {
    name: 'who claims a head that nobody is near to gets the reads of new blocks',
    file: upstream('choice'),
    text: '!this.#heads.runsAhead(each) || point.number <= (this.#heads.tip ?? 0)',
    replacement: 'true',
  },
  {
    name: 'who claims a head that nobody is near to gets the reads of the latest block',
    file: upstream('choice'),
    text: 'orAll(fresh, (each) => !this.#heads.runsAhead(each))',
    replacement: 'fresh',
  },
  {
    name: 'who lags and lacks the block keeps a hedge company',
    file: upstream('choice'),
    text: 'this.#withBlock(alike, wanted).filter(',
    replacement: 'alike.filter(',
  },
  {
    name: 'who lags and lacks the block is asked before one that failed once',
    file: upstream('choice'),
    text: "point.number ? 'lacks' : 'fit'",
    replacement: "point.number ? 'fit' : 'fit'",
  },
  {
    name: 'who lags is asked for the latest block before one that failed once',
    file: upstream('choice'),
    text: "isByHash(wanted) ? 'may-lack' : 'behind'",
    replacement: "isByHash(wanted) ? 'may-lack' : 'fit'",
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
    text: 'retryAfterMs === null\n',
    replacement: 'true\n',
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
    name: 'the watch runs in a circle around a held-off upstream',
    file: upstream('watch'),
    text: 'if (upstream.latest === null && canProbe)',
    replacement: 'if (upstream.latest === null)',
  },
  {
    name: 'who is the only one that fits has no turn',
    file: upstream('choice'),
    text: "if (strategy === 'round-robin') return this.#nextInRound(fit)",
    replacement: "if (strategy === 'round-robin' && fit.length > 1) return this.#nextInRound(fit)",
  },
  {
    name: 'what a hash names is asked of lagging upstreams',
    file: upstream('wanted'),
    text: '(point === null && byHash)',
    replacement: 'false',
  },
  {
    name: 'a block that nobody is known to have is asked of anybody',
    file: upstream('choice'),
    text: 'if (having.length > 0) return having',
    replacement: 'return having.length > 0 ? having : candidates',
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
    name: 'the latency of light calls decides on heavy ones',
    file: upstream('choice'),
    text: 'costClassOf(wanted.cost)',
    replacement: '0',
  },
  {
    name: 'a URL that failed once is the worse one for ever',
    file: upstream('upstream'),
    text: '    url.failures = 0\n    url.heardMs',
    replacement: '    url.heardMs',
  },
  {
    name: 'an upstream that was down for long is asked late when it is down again',
    file: upstream('watch'),
    text: '        waitMs = firstRetryMs\n        continue',
    replacement: '        continue',
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
    name: 'how near an upstream is to the tip counts nothing',
    file: upstream('qualities'),
    text: 'sync: 1 / (1 + each.lagBlocks)',
    replacement: 'sync: 1',
  },
  {
    name: 'an add-on is taken for what only some nodes have',
    file: upstream('verify-url'),
    text: "verification.addon !== null && verification.severity === 'fail'",
    replacement: 'verification.addon !== null',
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
    name: 'how old a range is is told by its end',
    file: upstream('choice'),
    text: "block.kind === 'range' ? block.from : block\n",
    replacement: "block.kind === 'range' ? block.to : block\n",
  },
  {
    name: 'the oldest block that all nodes keep is asked of archives alone',
    file: upstream('choice'),
    text: 'point.number < (this.#heads.tip ?? 0) - after',
    replacement: 'point.number <= (this.#heads.tip ?? 0) - after',
  },
  {
    name: 'who lags comes after disabled ones that failed',
    file: upstream('order'),
    text: "  'primary behind',\n  'backup behind',\n  'tried primary on trial',\n  'tried backup on trial',",
    replacement:
      "  'tried primary on trial',\n  'tried backup on trial',\n  'primary behind',\n  'backup behind',",
  },
  {
    name: 'who lags comes before a backup that failed',
    file: upstream('order'),
    text: "  'tried backup',\n  'primary behind',",
    replacement: "  'primary behind',\n  'tried backup',",
  },
  {
    name: 'who failed is asked by hash before one that lags',
    file: upstream('choice'),
    text: "isByHash(wanted) ? 'may-lack' : 'behind'",
    replacement: "'behind'",
  },
  {
    name: 'the first head that an upstream told stays',
    file: upstream('upstream'),
    text: 'this.latest = { block',
    replacement: 'this.latest ??= { block',
  },
  {
    name: 'a head is as old as its answer',
    file: 'proxy/relay/attempt.ts',
    text: 'block, this.#record.startedMs)',
    replacement: 'block, this.#options.clock.nowMs())',
  },
]
