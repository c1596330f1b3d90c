// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Mutant } from './mutant.ts'

const at = (file: string) => `proxy/subscription/${file}.ts`

/** Deliberate mistakes in what keeps subscriptions whole. */
export const subscriptionMutants: readonly Mutant[] = [
  {
    name: 'what was told is told again',
    file: at('sequencer'),
    text: 'if (this.#history.find(link.id)) {',
    replacement: 'if (link.id === tip.id) {',
  },
  {
    name: 'what was missed is left out',
    file: at('sequencer'),
    text: 'if (link.parent === tip.id) {',
    replacement: 'if (link.number > tip.number) {',
  },
  {
    name: 'a lower branch is told at once',
    file: at('sequencer'),
    text: 'if (link.number === tip.number) return true',
    replacement: 'return true',
  },
  {
    name: 'a branch of the same height is not told',
    file: at('sequencer'),
    text: 'if (link.number === tip.number) return true',
    replacement: '',
  },
  {
    name: 'one that is far ahead alone ends the subscription',
    file: at('sequencer'),
    text: 'if (!isLatest) return true',
    replacement: 'if (!isLatest) return false',
  },
  {
    name: 'nobody asks what was missed when the upstream changes',
    file: at('sequencer'),
    text: '          this.#watch.moved()\n          void this.#catchUp(false)',
    replacement: '          this.#watch.moved()',
  },
  {
    name: 'the first event is not followed from where the chain was',
    file: at('sequencer'),
    text: 'this.#history.append(place)',
    replacement: '',
  },
  {
    name: 'an upstream that has stalled is kept',
    file: at('sequencer'),
    text: "if (isStalled && isNews) this.#feed.leave('it has stalled')",
    replacement: '',
  },
  {
    name: 'an upstream is left because the whole chain stands still',
    file: at('sequencer'),
    text: 'if (isStalled && isNews)',
    replacement: 'if (isStalled)',
  },
  {
    name: 'an upstream that lags is kept',
    file: at('sequencer'),
    text: "this.#feed.leave('it lags behind the chain')",
    replacement: '',
  },
  {
    name: 'an upstream that tells of what does not connect is kept',
    file: at('sequencer'),
    text: '    this.#disbelieved = 0\n    this.#feed.leave(why)',
    replacement: '    this.#disbelieved = 0',
  },
  {
    name: 'what is not connected yet is never asked for again',
    file: at('sequencer'),
    text: '      else this.#brokenSinceMs ??= clock.nowMs()\n      this.#retryLater()',
    replacement: '      else this.#brokenSinceMs ??= clock.nowMs()',
  },
  {
    name: 'nobody hears that a branch is gone',
    file: at('sequencer'),
    text: 'for (const each of this.#listeners) each.removed(place)',
    replacement: '{}',
  },
  {
    name: 'a closed sequence keeps its upstream',
    file: at('sequencer'),
    text: '    this.#feed.close()\n',
    replacement: '',
  },
  {
    name: 'a branch that is gone is still known',
    file: at('history'),
    text: 'this.#byId.delete(tip.id)',
    replacement: '',
  },
  {
    name: 'the bound of a gap is not kept',
    file: at('chains/ethereum-reader'),
    text: 'if (tip && link.number - tip.number - 1 > most) throw tooLarge(most)',
    replacement: '',
  },
  {
    name: 'the bound of a gap is one too low',
    file: at('chains/ethereum-reader'),
    text: 'link.number - tip.number - 1 > most',
    replacement: 'link.number - tip.number > most',
  },
  {
    name: 'nobody else is asked for a block that one upstream does not have',
    file: at('chains/ethereum-reader'),
    text: 'avoid.push(upstream)',
    replacement: 'break',
  },
  {
    name: 'a branch is told from the newest block on',
    file: at('chains/ethereum-reader'),
    text: 'if (fork) return { fork, between: back.toReversed(), link }',
    replacement: 'if (fork) return { fork, between: back, link }',
  },
  {
    name: 'a made head is the whole block',
    file: at('chains/ethereum-head'),
    text: 'const event = isWhole ? bytes :',
    replacement: 'const event = true ? bytes :',
  },
  {
    name: 'logs overtake those of an earlier block',
    file: at('derived'),
    text: 'for (let step = this.#steps[0]; step?.items; step = this.#steps[0]) {\n      this.#steps.shift()',
    replacement:
      'for (let step = this.#steps.find(({ items }) => items); step?.items; step = undefined) {\n      this.#steps.splice(this.#steps.indexOf(step), 1)',
  },
  {
    name: 'logs are taken back in the order in which they came',
    file: at('derived'),
    text: 'told.items.toReversed()',
    replacement: 'told.items',
  },
  {
    name: 'a block that is gone before its logs were told is told',
    file: at('derived'),
    text: '      step.gone.abort()\n      this.#steps.pop()',
    replacement: '',
  },
  {
    name: 'logs that cannot be had at once are never had',
    file: at('derived'),
    text: '          await sleep(clock, waitMs, signal)',
    replacement: '          return',
  },
  {
    name: 'the last one leaves and the upstream is not told',
    file: at('hub'),
    text: 'if (shared.members.size === 0) this.#forget(topic, shared)',
    replacement: '',
  },
  {
    name: 'each client has a run of its own',
    file: at('hub'),
    text: 'this.#topics.get(topic.key) ?? this.#begin(topic)',
    replacement: 'this.#begin(topic)',
  },
  {
    name: 'what comes before the reply is lost',
    file: at('member'),
    text: 'if (this.#waiting.push(event) > mostWaiting ||',
    replacement: 'if (mostWaiting < 0 ||',
  },
  {
    name: 'one that left hears on',
    file: at('member'),
    text: '    if (this.#isGone) return\n    if (this.#waiting === null)',
    replacement: '    if (this.#waiting === null)',
  },
  {
    name: 'an upstream that is left is not told',
    file: at('feed'),
    text: '    source.close()\n    this.#lost(source, why)',
    replacement: '    this.#lost(source, why)',
  },
  {
    name: 'polling goes on beside an upstream that tells',
    file: at('feed'),
    text: '    this.#stopPolling?.()\n    this.#stopPolling = null\n    this.#hears.moved()',
    replacement: '    this.#hears.moved()',
  },
  {
    name: 'nothing is polled where no upstream can be subscribed at',
    file: at('feed'),
    text: 'if (polling && !this.isPolling) {',
    replacement: 'if (false) {',
  },
  {
    name: 'an upstream that is not fit is kept',
    file: at('places'),
    text: 'if (this.#isFit(place)) return false',
    replacement: 'return false',
  },
  {
    name: 'an upstream that failed is asked again at once',
    file: at('rests'),
    text: '(this.#rests.get(url)?.untilMs ?? 0) > this.#clock.nowMs()',
    replacement: 'false',
  },
  {
    name: 'addresses in another order are another topic',
    file: at('forms/log-filter'),
    text: 'return [...new Set(words)].toSorted()',
    replacement: 'return [...new Set(words)]',
  },
  {
    name: 'slots are told before the chain is sure of those that were missed',
    file: at('chains/solana-blocks'),
    text: 'if (newest.value >= last) {',
    replacement: 'if (newest.value >= first) {',
  },
  {
    name: 'logs are asked for ever of one upstream that does not have them',
    file: at('derived'),
    text: 'waitMs === retryMs.least ? upstream() : null',
    replacement: 'upstream()',
  },
  {
    name: 'an answer that is none is asked of the same upstream again',
    file: at('chains/own-value'),
    text: 'failed.push(upstream)',
    replacement: "failed.push('')",
  },
  {
    name: 'transactions without results are told',
    file: at('chains/tendermint-answers'),
    text: '(data.txs?.length ?? 0) === (told.txs_results?.length ?? 0)',
    replacement: 'true',
  },
  {
    name: 'a place that serves well again rests as long as before when it fails',
    file: at('rests'),
    text: '    this.#rests.delete(url)\n',
    replacement: '    void url\n',
  },
]
