// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** One deliberate mistake in the engine. */
export interface Mutant {
  /** What it breaks. */
  readonly name: string
  /** From the project's root. */
  readonly file: string
  /** Stands exactly once in the file. */
  readonly text: string
  readonly replacement: string
}

const relay = (file: string) => `proxy/relay/${file}.ts`
const upstream = (file: string) => `proxy/upstream/${file}.ts`

export const mutants: readonly Mutant[] = [
  {
    name: 'the relay budget is a millisecond too long',
    file: relay('budget'),
    text: 'journal.startedMs + processingTimeoutMs',
    replacement: 'journal.startedMs + processingTimeoutMs + 1',
  },
  {
    name: 'an attempt may outlast the call',
    file: relay('attempt'),
    text: 'Math.min(directives.relayTimeoutMs ?? ownMs, leftMs)',
    replacement: '(directives.relayTimeoutMs ?? ownMs)',
  },
  {
    name: 'the client leaves and its request is not taken back',
    file: relay('attempt'),
    text: "signal.addEventListener('abort', takeBack, { once: true })",
    replacement: '',
  },
  {
    name: 'the time of an attempt passes and it goes on',
    file: relay('attempt'),
    text: '      timedOut = true\n      abort.abort()',
    replacement: '      timedOut = true',
  },
  {
    name: 'a session is never given back',
    file: relay('attempt'),
    text: '      upstream.sessions -= 1',
    replacement: '',
  },
  {
    name: 'a broken answer is passed on',
    file: relay('judge'),
    text: "if (integrity === 'off' && !isPage)",
    replacement: 'if (!isPage)',
  },
  {
    name: 'nobody compares an answer with the question',
    file: relay('judge'),
    text: "integrity === 'full' ? this.#check(",
    replacement: 'false ? this.#check(',
  },
  {
    name: 'a 429 is a failure and holds nothing off',
    file: relay('attempt'),
    text: 'if (failure.holdOff) this.#holdOff(failure, reply)',
    replacement: 'if (false) this.#holdOff(failure, reply)',
  },
  {
    name: 'a client that is in a hurry has upstreams disabled',
    file: relay('attempt'),
    text: "else if (fault?.fault === 'timeout' && this.#isCutShort)",
    replacement: 'else if (false)',
  },
  {
    name: 'failing over goes to a URL that was held off meanwhile',
    file: relay('attempt'),
    text: 'if (last !== null && !url.serves(addons)) continue',
    replacement: '',
  },
  {
    name: 'failing over makes more attempts than are allowed',
    file: relay('attempt'),
    text: "if (call.asked.kind !== 'write' && attempts.length >= maxAttempts) return false",
    replacement: '',
  },
  {
    name: 'a URL that took all the time is followed by the next one',
    file: relay('attempt'),
    text: 'failed.failure.retry && !failed.timedOut',
    replacement: 'failed.failure.retry',
  },
  {
    name: 'writes are hedged',
    file: relay('hedge'),
    text: "call.asked.kind !== 'read' || options.retryLimit === 0",
    replacement: 'options.retryLimit === 0',
  },
  {
    name: 'the loser of a race is not taken back',
    file: relay('hedge'),
    text: 'for (const arm of this.#arms) arm.abort()',
    replacement: '',
  },
  {
    name: 'extra calls have no budget',
    file: relay('hedge'),
    text: 'this.#options.maxAttempts && this.#budget.spend()',
    replacement: 'this.#options.maxAttempts',
  },
  {
    name: 'a read that is tried again earns further extra calls',
    file: relay('hedge'),
    text: "if (call.attemptKind === 'first') budget.earn()",
    replacement: 'budget.earn()',
  },
  {
    name: 'no slow attempt ever gets company',
    file: relay('hedge'),
    text: 'if (this.#mayHedge()) start',
    replacement: 'if (false) start',
  },
  {
    name: 'extra calls are a fifth of the reads',
    file: relay('hedge-budget'),
    text: 'const share = 0.1',
    replacement: 'const share = 0.2',
  },
  {
    name: 'an extra call goes to an upstream that was asked already',
    file: relay('needs'),
    text: "call.attemptKind === 'hedge' || asked.kind === 'write'",
    replacement: "asked.kind === 'write'",
  },
  {
    name: 'a write is sent to an upstream twice',
    file: relay('needs'),
    text: "call.attemptKind === 'hedge' || asked.kind === 'write'",
    replacement: "call.attemptKind === 'hedge'",
  },
  {
    name: 'the breaker opens after one empty pool',
    file: relay('breaker'),
    text: 'const threshold = 2',
    replacement: 'const threshold = 1',
  },
  {
    name: 'the breaker never closes',
    file: relay('breaker'),
    text: 'if (!hasAny())\n',
    replacement: 'if (true)\n',
  },
  {
    name: 'the breaker keeps calls from disabled upstreams that could be tried',
    file: relay('pipeline'),
    text: 'pool.hasAny',
    replacement: 'pool.hasEligible',
  },
  {
    name: 'a write goes on after the time of its call',
    file: relay('retry'),
    text: 'if (clock.nowMs() >= call.journal.deadlineMs)\n',
    replacement: 'if (false)\n',
  },
  {
    name: 'an extra call that finds nobody hides why the attempt failed',
    file: relay('hedge'),
    text: 'return this.#budget.refund()',
    replacement: 'this.#budget.refund()',
  },
  {
    name: 'a 429 to a probe is a failure',
    file: upstream('ask'),
    text: 'if (!failure.holdOff) return',
    replacement: 'if (failure) return',
  },
  {
    name: 'logs beyond the head of a node are the mistake of the caller',
    file: 'specs/failures/evm.yml',
    text: "      - 'beyond (?:the )?(?:current )?head block'\n",
    replacement: '',
  },
  {
    name: 'one retry too few',
    file: relay('retry'),
    text: "asked.kind === 'read' && retries < retryLimit",
    replacement: "asked.kind === 'read' && retries + 1 < retryLimit",
  },
  {
    name: 'one retry too many',
    file: relay('retry'),
    text: "asked.kind === 'read' && retries < retryLimit",
    replacement: "asked.kind === 'read' && retries <= retryLimit",
  },
  {
    name: 'what may have been done is done again',
    file: relay('retry'),
    text: "asked.kind === 'read' && retries < retryLimit",
    replacement: 'retries < retryLimit',
  },
  {
    name: 'retries make more attempts than are allowed',
    file: relay('retry'),
    text: 'journal.attempts.length >= maxAttempts || ',
    replacement: '',
  },
  {
    name: 'a client that left is tried for again',
    file: relay('retry'),
    text: 'if (call.signal.aborted) throw new CallAborted()',
    replacement: '',
  },
  {
    name: 'what no other upstream could do better is asked elsewhere',
    file: relay('retry'),
    text: '!failed.failure.retry || retryLimit === 0',
    replacement: 'retryLimit === 0',
  },
  {
    name: 'the failed upstream is asked again before another',
    file: upstream('pool'),
    text: 'wanted.tried(upstream.name) ? 4 : 0',
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
    text: "upstream.availability.standing === 'disabled' ? 2 : 0",
    replacement: '0',
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
]
