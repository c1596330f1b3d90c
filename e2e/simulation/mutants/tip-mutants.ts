// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Mutant } from './mutant.ts'

const upstream = (file: string) => `proxy/upstream/${file}.ts`

/** Mistakes in what is known of the tip, and in who is behind it or ahead. */
export const tipMutants: readonly Mutant[] = [
  {
    name: 'a lag of one block more is allowed',
    file: upstream('heads'),
    text: 'upstream.lagBlocks > chain.allowedLagBlocks',
    replacement: 'upstream.lagBlocks > chain.allowedLagBlocks + 1',
  },
  {
    name: 'one that was asked later is taken for one that runs ahead',
    file: upstream('lone-head'),
    text: 'block + growth < head.block - allowedLagBlocks',
    replacement: 'block < head.block - allowedLagBlocks',
  },
  {
    name: 'the last one that keeps up is not believed',
    file: upstream('heads'),
    text: 'lone && lone.block > tip',
    replacement: 'lone && false',
  },
  {
    name: 'one that goes on alone is believed however fast',
    file: upstream('lone-head'),
    text: 'agreed.block + growth + allowedLagBlocks',
    replacement: 'Infinity',
  },
  {
    name: 'two that agree do not outvote one in pace',
    file: upstream('lone-head'),
    text: '!isOutvoted(highest, told, pace) ? highest : null',
    replacement: 'true ? highest : null',
  },
  {
    name: 'one whose head is refuted is believed as much as before',
    file: upstream('lone-head'),
    text: 'isRefuted ? 1 : leastDoubters',
    replacement: 'leastDoubters',
  },
  {
    name: 'whatever the blocks show, the higher head is right',
    file: upstream('settle-heads'),
    text: 'compareDates(higher, each, wallMs, pool.pace, dispute.isOutvoted)',
    replacement: "('behind' as const)",
  },
  {
    name: 'a head that the blocks show is not believed',
    file: upstream('heads'),
    text: "if (ruling === 'believed') this.#agreed = { block: dispute.block, atMs: nowMs }",
    replacement: '',
  },
  {
    name: 'a lower tip is agreed on while one in pace is believed',
    file: upstream('heads'),
    text: 'this.#agreed = { block: tip, atMs: Math',
    replacement: 'this.#agreed = { block: Math.min(...told.map((each) => each.block)), atMs: Math',
  },
  {
    name: 'a chain is never faster than its spec says',
    file: upstream('seen-pace'),
    text: 'heard.map((each) => this.#growths.get(each)?.blockTimeMs ?? most)',
    replacement: 'heard.map(() => most)',
  },
  {
    name: 'one upstream that runs makes a chain fast',
    file: upstream('seen-pace'),
    text: 'witnessesWanted(times.length) - 1',
    replacement: '0',
  },
  {
    name: 'a jump of a head is growth of the chain',
    file: upstream('seen-pace'),
    text: '!isEnough || tookMs < Math.max(leastMs, most)',
    replacement: '!isEnough',
  },
  {
    name: 'who was believed once is believed against whoever comes',
    file: upstream('disputes'),
    text: 'lower.every((each) => settled.lower.has(each))',
    replacement: 'true',
  },
  {
    name: 'two that agree outvote one that goes on, though they follow far behind',
    file: upstream('disputes'),
    text: 'told.every(wasHeard) ?',
    replacement: 'false ?',
  },
  {
    name: 'two that agree and follow the chain are taken for late when they are a little old',
    file: upstream('block-dates'),
    text: '(isOutvoted ? longBreak : allowedLagBlocks + 1)',
    replacement: '(allowedLagBlocks + 1)',
  },
  {
    name: 'two that stand still are taken for ones that follow far behind',
    file: upstream('heads'),
    text: '!lower.some((each) => this.#seenPace.isMoving(each, nowMs))',
    replacement: 'false',
  },
  {
    name: 'a liar goes on having a say about the tip',
    file: upstream('heads'),
    text: 'honest.length > 0 ? honest : heard',
    replacement: 'heard',
  },
  {
    name: 'who lied once has no say about the tip for ever',
    file: upstream('heads'),
    text: ' && this.#options.clock.nowMs() - atMs < lieLifeMs',
    replacement: '',
  },
  {
    name: 'of two, an answer that leaps is the answer',
    file: upstream('heads'),
    text: 'this.#disputes.isRefuted(upstream) || isLeap',
    replacement: 'this.#disputes.isRefuted(upstream)',
  },
  {
    name: 'who was believed once is believed for ever',
    file: upstream('disputes'),
    text: 'nowMs - settled.atMs <= sightingLifeMs &&',
    replacement: '',
  },
  {
    name: 'a head that is not believed any more stays the tip',
    file: upstream('heads'),
    text: 'this.#agreed = null\n',
    replacement: '\n',
  },
  {
    name: 'who is as new as a head can be is behind one that says it is newer',
    file: upstream('block-dates'),
    text: "if (ageMs <= (allowedLagBlocks + 2) * usualMs) return 'keeps-up'",
    replacement: '',
  },
  {
    name: 'blocks that there was no time for are believed',
    file: upstream('block-dates'),
    text: "if (higher.block - lower.block > most) return 'refuted'",
    replacement: '',
  },
  {
    name: 'what was told before an upstream came back is not remembered',
    file: upstream('create-pool'),
    text: "if (to === 'eligible') pool.joined()",
    replacement: '',
  },
  {
    name: 'the tip follows the highest block that anybody tells',
    file: upstream('tip'),
    text: 'Math.min(2, Math.floor(upstreams / 2) + 1)',
    replacement: '1',
  },
  {
    name: 'the tip goes back when a witness falls silent',
    file: upstream('tip'),
    text: 'kept === null || this.#isOld(kept, nowMs) ? told : Math.max(kept.block, told ?? 0)',
    replacement: 'told',
  },
  {
    name: 'only who was just heard is judged for its lag',
    file: upstream('heads'),
    text: 'for (const each of this.#upstreams) {\n      this.#judgeLag(each, tip)',
    replacement: 'for (const each of [upstream]) {\n      this.#judgeLag(each, tip)',
  },
  {
    name: 'an overtaken answer lowers the head of an upstream',
    file: upstream('heads'),
    text: 'if (latest && block < latest.block && askedMs < latest.atMs) return',
    replacement: '',
  },
  {
    name: 'who was asked a while ago counts as lagging',
    file: upstream('lag'),
    text: 'Math.floor((nowMs - latest.atMs) / blockTimeMs)',
    replacement: '0',
  },
  {
    name: 'what one of several says alone is remembered as the tip',
    file: upstream('heads'),
    text: 'witnesses.length < Math.min(2, this.#upstreams.length)',
    replacement: 'witnesses.length < 1',
  },
  {
    name: 'disabled upstreams have a say in the tip',
    file: upstream('heads'),
    text: "each.latest.atMs >= sinceMs &&\n        each.availability.standing === 'eligible'",
    replacement: 'each.latest.atMs >= sinceMs',
  },
  {
    name: 'a tip that has gone back makes up for no lag',
    file: upstream('lag'),
    text: 'Math.min(growth, Math.max(0, growth - usual))',
    replacement: 'Math.max(0, growth - usual)',
  },
  {
    name: 'who fell silent long ago has a say in the tip',
    file: upstream('heads'),
    text: 'each.latest.atMs >= sinceMs &&',
    replacement: '',
  },
  {
    name: 'everybody lags by nothing',
    file: upstream('lag'),
    text: 'return Math.max(0, then - latest.block + ',
    replacement: 'return 0 * Math.max(0, then - latest.block + ',
  },
  {
    name: 'a lag is told by half',
    file: upstream('lag'),
    text: 'return Math.max(0, then - latest.block + ',
    replacement: 'return 0.5 * Math.max(0, then - latest.block + ',
  },
  {
    name: 'three upstreams must witness the tip',
    file: upstream('tip'),
    text: 'Math.min(2, Math.floor(upstreams / 2) + 1)',
    replacement: 'Math.min(3, Math.floor(upstreams / 2) + 2)',
  },
  {
    name: 'the two lowest heads make the tip',
    file: upstream('tip'),
    text: 'blocks.toSorted((a, b) => b - a)',
    replacement: 'blocks.toSorted((a, b) => b - a).slice(-2)',
  },
  {
    name: 'a tip that is seen again is as old as before',
    file: upstream('tip'),
    text: 'tip >= this.#kept.block',
    replacement: 'tip > this.#kept.block',
  },
  {
    name: 'where the tip was when a head was told is not kept',
    file: upstream('heads'),
    text: 'upstream.tipThen = tip\n',
    replacement: 'upstream.tipThen = null\n',
  },
]
