// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Mutant } from './mutant.ts'

const relay = (file: string) => `proxy/relay/${file}.ts`

/** Mistakes in what follows from a failure. */
export const failureMutants: readonly Mutant[] = [
  {
    name: 'a page that refuses the request of the router is the mistake of the caller',
    file: 'specs/failures/common.yml',
    text: '422, 426],\n      whose: upstream',
    replacement: '422, 426],\n      whose: caller',
  },
  {
    name: 'a request that a node cannot read is the mistake of the caller',
    file: 'specs/failures/common.yml',
    text: 'whose: node\n    retry: true\n    code: [-32600, -32700]',
    replacement: 'whose: caller\n    code: [-32600, -32700]',
  },
  {
    name: 'of two that failed in a race the first has the word',
    file: relay('hedge'),
    text: 'error.reply ? moreTelling(was, error, trustIn) : was',
    replacement: 'was',
  },
  {
    name: 'one node alone is asked for a transaction that is said to be known',
    file: relay('known-transaction'),
    text: 'const mostAsked = 3',
    replacement: 'const mostAsked = 1',
  },
  {
    name: 'a transaction that no node shows is told as known',
    file: relay('known-transaction'),
    text: 'reply.objection ?? reply',
    replacement: 'reply',
  },
  {
    name: 'one that is unavailable is not left alone for as long as it says',
    file: relay('attempt'),
    text: '      this.#pause(failure, reply)\n',
    replacement: '',
  },
  {
    name: 'one that is unavailable is left alone however long it says',
    file: 'proxy/upstream/hold-off.ts',
    text: 'Math.min(retryAfterMs, longestPauseMs)',
    replacement: 'retryAfterMs',
  },
  {
    name: 'an error is the answer whatever the status',
    file: 'proxy/chain/failures/compile-failures.ts',
    text: 'return status >= 500 || [401, 402, 403, 407, 408, 429].includes(status)',
    replacement: 'return false',
  },
  {
    name: 'a result under any status below 400 is an answer',
    file: 'proxy/upstream/whole-answer.ts',
    text: 'return status >= 200 && status <= 203',
    replacement: 'return status < 400',
  },
  {
    name: 'nobody is asked for a transaction whose nonce is used',
    file: relay('known-transaction'),
    text: " || refusal?.transaction === 'used'",
    replacement: '',
  },
  {
    name: 'a connection that went silent was never used',
    file: 'proxy/upstream/http/http-fault.ts',
    text: "ETIMEDOUT: 'reset'",
    replacement: "ETIMEDOUT: 'refused'",
  },
  {
    name: 'a refusal in a result is never retried',
    file: relay('refused-result'),
    text: "told.whose === 'node' && told.retry",
    replacement: 'false',
  },
  {
    name: 'writes have as few attempts as reads',
    file: relay('budget'),
    text: "call.asked.kind === 'write' ? Infinity : maxAttempts",
    replacement: 'maxAttempts',
  },
  {
    name: 'a defect in judging a stream is blamed on its upstream',
    file: 'proxy/relay/streamed-answer.ts',
    text: "    if (!isUpstreamsDoing(cause)) return { kind: 'defect', cause }\n",
    replacement: '',
  },
  {
    name: 'a limit that is told during a pause is forgotten',
    file: 'proxy/upstream/hold-off.ts',
    text: 'if (this.#reasons.has(reason)) return false',
    replacement: 'if (this.#reasons.size > 0) return false',
  },
  {
    name: 'a short limit ends a longer pause',
    file: 'proxy/upstream/hold-off.ts',
    text: '    if (holdOffMs <= this.leftMs) return\n',
    replacement: '',
  },
  {
    name: 'a transaction is known to whoever shows another',
    file: relay('known-transaction'),
    text: 'if (present) return true',
    replacement: 'if (present || value !== null) return true',
  },
  {
    name: 'a transaction is looked for in one way only',
    file: relay('known-transaction'),
    text: 'for (const way of sent.confirm) {',
    replacement: 'for (const way of sent.confirm.slice(0, 1)) {',
  },
  {
    name: 'what waits and cannot be shown is not known',
    file: relay('known-transaction'),
    text: 'return mayWait ? reply',
    replacement: 'return false ? reply',
  },
  {
    name: 'who is in trouble is asked for a transaction in every way',
    file: relay('known-transaction'),
    text: "if (outcome === 'trouble') break",
    replacement: '',
  },
  {
    name: 'what begins like a transaction of Solana is one',
    file: relay('integrity/solana-transaction'),
    text: 'at === bytes.length && signatures > 0',
    replacement: 'signatures > 0',
  },
  {
    name: 'a transaction of Solana may have any signature',
    file: relay('integrity/transaction'),
    text: 'span && spellsText(bytes, span.start, span.end, hash)',
    replacement: 'span',
  },
  {
    name: 'a hash of Tendermint must be that of base64',
    file: relay('integrity/transaction'),
    text: "digest === 'sha256' ? null : sentHash(digest, raw)",
    replacement: 'sentHash(digest, raw)',
  },
  {
    name: 'a limit of one heavy call holds the URL off',
    file: 'specs/failures/evm.yml',
    text: 'name: limit-of-call\n    whose: node\n    retry: true',
    replacement: 'name: limit-of-call\n    whose: upstream\n    hold-off: true',
  },
  {
    name: 'a call that runs out of the time of the node is its failure',
    file: 'specs/failures/evm.yml',
    text: 'name: execution-timeout\n    whose: node',
    replacement: 'name: execution-timeout\n    whose: upstream',
  },
  {
    name: 'a row that is only for some reads is for all',
    file: 'proxy/chain/failures/compile-failures.ts',
    text: 'if (onlyFor && !onlyFor.some((kind) => asked && isOf[kind](asked.method))) continue',
    replacement: '',
  },
  {
    name: 'a write that was sent goes out by another URL too',
    file: relay('attempt'),
    text: "return call.asked.kind === 'read' && failure.retry",
    replacement: 'return failure.retry',
  },
]
