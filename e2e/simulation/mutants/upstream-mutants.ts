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
    file: upstream('pool'),
    text: 'wanted.tried(each.name) ? 4 : 0',
    replacement: '0',
  },
  {
    name: 'backups before primaries',
    file: upstream('pool'),
    text: "upstream.tier === 'primary' ? 0 : 1",
    replacement: "upstream.tier === 'primary' ? 1 : 0",
  },
  {
    name: 'lagging upstreams serve the latest block',
    file: upstream('pool'),
    text: 'candidates.filter((each) => !this.#lagging.has(each))',
    replacement: 'candidates',
  },
  {
    name: 'a lag of one block more is allowed',
    file: upstream('pool'),
    text: 'upstream.lagBlocks > chain.allowedLagBlocks',
    replacement: 'upstream.lagBlocks > chain.allowedLagBlocks + 1',
  },
  {
    name: 'disabled upstreams are on a par with the others',
    file: upstream('pool'),
    text: "upstream.availability.standing === 'disabled' ? 2 + tier : tier",
    replacement: 'tier',
  },
  {
    name: 'who claims a head that nobody is near to gets the reads of new blocks',
    file: upstream('pool'),
    text: '(isOld || !this.#ahead.has(each))',
    replacement: 'true',
  },
  {
    name: 'who claims a head that nobody is near to gets the reads of the latest block',
    file: upstream('pool'),
    text: 'orAll(fresh, (each) => !this.#ahead.has(each))',
    replacement: 'fresh',
  },
  {
    name: 'one that was asked later is taken for one that runs ahead',
    file: upstream('lag'),
    text: 'block + Math.ceil(Math.max(0, latest.atMs - atMs) / blockTimeMs)',
    replacement: 'block',
  },
  {
    name: 'who lags and lacks the block keeps a hedge company',
    file: upstream('pool'),
    text: 'this.#withBlock(alike, wanted).filter(',
    replacement: 'alike.filter(',
  },
  {
    name: 'who lags and lacks the block is asked before one that failed once',
    file: upstream('pool'),
    text: 'point.number ? 16 : 0',
    replacement: 'point.number ? 0 : 0',
  },
  {
    name: 'who lags is asked for the latest block before one that failed once',
    file: upstream('pool'),
    text: 'able.some(isFresh) ? 5.5 : 0',
    replacement: 'able.some(isFresh) ? 0 : 0',
  },
  {
    name: 'the tip follows the highest block that anybody tells',
    file: upstream('tip'),
    text: 'Math.min(2, Math.floor(descending.length / 2) + 1)',
    replacement: '1',
  },
  {
    name: 'the tip goes back when a witness falls silent',
    file: upstream('tip'),
    text: 'kept === null || this.#isOld(kept, nowMs) ? told : Math.max(kept.block, told ?? 0)',
    replacement: 'told',
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
    file: upstream('pool'),
    text: "if (strategy === 'round-robin') return this.#nextInRound(fit)",
    replacement: "if (strategy === 'round-robin' && fit.length > 1) return this.#nextInRound(fit)",
  },
  {
    name: 'only who was just heard is judged for its lag',
    file: upstream('pool'),
    text: 'for (const each of this.upstreams) {\n      this.#judgeLag(each)',
    replacement: 'for (const each of [upstream]) {\n      this.#judgeLag(each)',
  },
  {
    name: 'an overtaken answer lowers the head of an upstream',
    file: upstream('pool'),
    text: 'if (latest && block < latest.block && askedMs < latest.atMs) return',
    replacement: '',
  },
  {
    name: 'what a hash names is asked of lagging upstreams',
    file: upstream('pool'),
    text: '(point === null && byHash)',
    replacement: 'false',
  },
  {
    name: 'a block that nobody is known to have is asked of anybody',
    file: upstream('pool'),
    text: 'if (having.length > 0) return having',
    replacement: 'return having.length > 0 ? having : candidates',
  },
  {
    name: 'who was asked a while ago counts as lagging',
    file: upstream('lag'),
    text: 'Math.floor((nowMs - latest.atMs) / blockTimeMs)',
    replacement: '0',
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
]
