// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Mutant } from './mutant.ts'

const relay = (file: string) => `proxy/relay/${file}.ts`

/** Mistakes about what takes longer than usual. */
export const lateMutants: readonly Mutant[] = [
  {
    name: 'a slow call is given up like a hanging one',
    file: relay('attempt'),
    text: 'isFirm ? null : () => this.#late(limit)',
    replacement: 'null',
  },
  {
    name: 'what the client or the config says is no deadline',
    file: relay('attempt'),
    text: 'usual.isFirm || directives.relayTimeoutMs !== null || this.#isCutShort',
    replacement: 'false',
  },
  {
    name: 'who is late goes on beyond the end of its call',
    file: relay('attempt'),
    text: '    limit.allow(this.#leftMs())\n    const why',
    replacement: '    const why',
  },
  {
    name: 'nobody is asked beside one that is late',
    file: relay('attempt'),
    text: 'this.#call.late?.(',
    replacement: 'void (',
  },
  {
    name: 'who was late has failed, though the call is a slow one',
    file: relay('attempt'),
    text: 'if (attempts.some((each) => each.late && isAnswered(each))) this.#excuse?.()',
    replacement: '',
  },
  {
    name: 'who was late and then failed has failed twice',
    file: relay('attempt'),
    text: '      this.#excuse?.()\n',
    replacement: '',
  },
  {
    name: 'who was late fails over as well',
    file: relay('attempt'),
    text: 'asking.isLate || !mayFailOver',
    replacement: '!mayFailOver',
  },
  {
    name: 'a late answer comes when nobody is waited for any more',
    file: relay('retry'),
    text: 'if (this.#running.size === 0 || isDefect(error))',
    replacement: 'if (true)',
  },
  {
    name: 'who is late is not taken back when another answers',
    file: relay('retry'),
    text: 'for (const { takeBack } of this.#running) takeBack()',
    replacement: '',
  },
  {
    name: 'one that is late fails later and is followed by a further try',
    file: relay('retry'),
    text: 'if (!isLate || (!isFailure && isDefect(error))) this.#goOn(error)',
    replacement: 'this.#goOn(error)',
  },
  {
    name: 'a write waits for one that is late before it goes to the others',
    file: relay('broadcast'),
    text: '        reject(failed)\n',
    replacement: '',
  },
  {
    name: 'a late success of a write is lost',
    file: relay('broadcast'),
    text: 'if (reply.refusal === null) this.#success.resolve(reply)',
    replacement: '',
  },
  {
    name: 'what comes late of a write that has its answer is not let go',
    file: relay('broadcast'),
    text: 'if (this.#isOver) return release(reply.incoming.body)',
    replacement: 'if (this.#isOver) return',
  },
  {
    name: 'what came late of a write is not let go when there is an answer',
    file: relay('broadcast'),
    text: 'this.#came.forEach(drop)',
    replacement: '',
  },
  {
    name: 'a defect that shows late is waited out',
    file: relay('retry'),
    text: 'if (!isLate || (!isFailure && isDefect(error))) this.#goOn(error)',
    replacement: 'if (!isLate) this.#goOn(error)',
  },
  {
    name: 'calls that are late side by side have failed one by one',
    file: 'proxy/upstream/upstream.ts',
    text: '    url.judgedMs = nowMs\n    const isCounted',
    replacement: '    const isCounted',
  },
  {
    name: 'who answers other calls has failed by being late',
    file: 'proxy/upstream/upstream.ts',
    text: 'if (url.judgedMs > askedMs)',
    replacement: 'if (false)',
  },
  {
    name: 'being late costs no score',
    file: 'proxy/upstream/upstream.ts',
    text: '      this.score.failed(nowMs)\n      return null',
    replacement: '      return null',
  },
  {
    name: 'a failure that was none is not taken back',
    file: 'proxy/upstream/availability.ts',
    text: 'Math.max(this.#failures - weight, 0)',
    replacement: 'this.#failures',
  },
  {
    name: 'being late costs nothing while another URL is well',
    file: 'proxy/upstream/upstream.ts',
    text: '    if (!isCounted) this.score.failed(nowMs)\n',
    replacement: '',
  },
  {
    name: 'among fast nodes every jitter is hedged',
    file: relay('hedge'),
    text: 'Math.max(Math.min(this.#tickMs, budgetMs / 2), leastTickMs)',
    replacement: 'Math.min(this.#tickMs, budgetMs / 2)',
  },
  {
    name: 'made up method names fill the memory',
    file: relay('hedge'),
    text: '  if (!asked.known) return null\n',
    replacement: '',
  },
  {
    name: 'a call is tried again while its company is in time',
    file: relay('hedge'),
    text: ' || this.#lateArms.size < this.#arms.size',
    replacement: '',
  },
  {
    name: 'how long a call rested is how long its method takes',
    file: relay('hedge'),
    text: 'if (!call.journal.mayRest) latency?.add',
    replacement: 'latency?.add',
  },
]
