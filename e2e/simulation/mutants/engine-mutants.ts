// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { checkMutants } from './check-mutants.ts'
import type { Mutant } from './mutant.ts'
import { upstreamMutants } from './upstream-mutants.ts'

const relay = (file: string) => `proxy/relay/${file}.ts`

/** Mistakes in the engine. */
export const engineMutants: readonly Mutant[] = [
  {
    name: 'the relay budget is a millisecond too long',
    file: relay('budget'),
    text: 'journal.startedMs + processingTimeoutMs',
    replacement: 'journal.startedMs + processingTimeoutMs + 1',
  },
  {
    name: 'an attempt may outlast the call',
    file: relay('attempt'),
    text: 'Math.min(directives.relayTimeoutMs ?? ownMs, this.#leftMs())',
    replacement: '(directives.relayTimeoutMs ?? ownMs)',
  },
  {
    name: 'the client leaves and its request is not taken back',
    file: 'proxy/clock/time-limit.ts',
    text: "else outer.addEventListener('abort', this.#takeBack, { once: true })",
    replacement: '',
  },
  {
    name: 'the time of an attempt passes and it goes on',
    file: 'proxy/clock/time-limit.ts',
    text: '      this.#spentMs = budgetMs\n      this.#takeBack()',
    replacement: '      this.#spentMs = budgetMs',
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
    text: 'else if (failure.late && this.#isCutShort)',
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
    text: ' || call.journal.isSpent(clock.nowMs())',
    replacement: '',
  },
  {
    name: 'a URL that took all the time is followed by the next one',
    file: relay('attempt'),
    text: 'failure.retry && !failed.timedOut',
    replacement: 'failure.retry',
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
    text: ' && this.#budget.spend()',
    replacement: '',
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
    text: 'if (journal.isSpent(clock.nowMs())) return false',
    replacement: '',
  },
  {
    name: 'an attempt that had to wait does not count those that began meanwhile',
    file: relay('route'),
    text: 'call.journal.isSpent(options.clock.nowMs())',
    replacement: 'options.clock.nowMs() >= call.journal.deadlineMs',
  },
  {
    name: 'a write for a named upstream goes on after the time of its call',
    file: relay('broadcast'),
    text: 'isOver ? [] : pool',
    replacement: 'pool',
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
    name: 'attempts that repeat themselves follow at once',
    file: relay('route'),
    text: 'if (pool.repeats(wanted)) {',
    replacement: 'if (false) {',
  },
  {
    name: 'a pause outlasts its call',
    file: relay('pause'),
    text: 'Math.min((attempts.at(-1)?.startedMs ?? 0) + apartMs, deadlineMs)',
    replacement: '(attempts.at(-1)?.startedMs ?? 0) + apartMs',
  },
  {
    name: 'a refusal goes to a client under the id of another',
    file: relay('held-off'),
    text: 'call.reader.readdress?.(body) ?? body',
    replacement: 'body',
  },
  {
    name: 'calls fail without a word while the pool is held off',
    file: relay('held-off'),
    text: 'if (reply === null) throw error',
    replacement: 'throw error',
  },
  {
    name: 'a known transaction is asked for beyond the end of its call',
    file: relay('known-transaction'),
    text: 'new TimeLimit(clock, signal, journal.deadlineMs - clock.nowMs())',
    replacement: 'new TimeLimit(clock, signal)',
  },
  {
    name: 'an answer of a node that is held off tells two times to wait',
    file: relay('held-off'),
    text: "if (headers[at]?.toLowerCase() !== 'retry-after')",
    replacement: "if (headers[at] !== '')",
  },
  {
    name: 'a node is held off for words that the client put into its mouth',
    file: relay('judge'),
    text: 'failures.ofNodeError(finding.error, quotedFrom(call.request))',
    replacement: 'failures.ofNodeError(finding.error)',
  },
  ...checkMutants,
  ...upstreamMutants,
]
