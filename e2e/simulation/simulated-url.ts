// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../../proxy/clock/cancellation.ts'
import type { TransportFault } from '../../proxy/chain/failure-table.ts'
import type { Cancel, Clock } from '../../proxy/clock/clock.ts'
import { TransportError } from '../../proxy/upstream/wire.ts'
import type { BodyStream, Incoming, Outgoing, Transport } from '../../proxy/upstream/wire.ts'
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import type { Dice } from './dice.ts'
import type { Answered, Exchange, Fate, Target } from './arena.ts'
import { wrongAnswerTo, type NodeCall } from './wrong-answers.ts'
import { SimulatedNode } from './simulated-node.ts'
import type { PlannedFault, UrlPlan } from './schedule.ts'

/** Latency of a refusal. */
const refusalMs = 1
/** The least cooldown after a 429 without `Retry-After`. */
const defaultLimitMs = 900
/** The least cooldown after a 429 with `Retry-After: 0`. */
const soonLimitMs = 900
/** The longest cooldown of an unavailable URL. */
const maxPauseMs = 30_000

/** An answer of this length is a stream. The limit is lower than on a wire, to save time. */
const longBytes = 32 * 1024

/** Shared by the URLs of one simulation. */
export interface Wire {
  readonly clock: Clock
  readonly chain: ChainModel
  readonly answered: Answered
  sent?(exchange: Exchange): void
  ended?(exchange: Exchange): void
  /** The branch of an upstream; null for the canonical branch. */
  readonly branchOf?: (upstream: string) => number | null
  /** Extra time of a client's call on every node. */
  readonly heavyMs?: (callId: string) => number
}

/** The planned outcome of one request. */
interface Outcome {
  readonly fate: Fate
  /** Delay of the end; null: never. */
  readonly afterMs: number | null
  /** Cooldown that the answer requests. */
  readonly limitMs?: number
  readonly end: TransportFault | { readonly status: number; headers: string[]; body: string }
}

/** A transport to one URL and its machine in virtual time, without sockets. */
export class SimulatedUrl implements Transport {
  readonly target: Target
  readonly plan: UrlPlan
  readonly #wire: Wire
  readonly #dice: Dice
  readonly #node: SimulatedNode
  readonly #open = new Set<() => void>()
  readonly #crashes: readonly Cancel[]

  constructor(target: Target, plan: UrlPlan, wire: Wire, dice: Dice) {
    this.target = target
    this.plan = plan
    this.#wire = wire
    this.#dice = dice
    this.#node = new SimulatedNode(plan, wire.chain)
    this.#crashes = plan.faults
      .filter(({ kind }) => kind === 'crash')
      .map(({ fromMs }) =>
        wire.clock.after(fromMs, () => {
          for (const reset of this.#open) reset()
        }),
      )
  }

  send(request: Outgoing, signal: CancelSignal): Promise<Incoming> {
    const { clock, answered } = this.#wire
    const call = JSON.parse(Buffer.from(request.body as Uint8Array).toString()) as NodeCall
    const { fate, afterMs, end, limitMs = null } = this.#decide(call)
    const exchange: Exchange = {
      target: this.target,
      callId: typeof call.id === 'string' ? call.id : null,
      method: call.method,
      params: call.params,
      sentMs: clock.nowMs(),
      fate,
      dueMs: afterMs === null ? null : clock.nowMs() + afterMs,
      head: this.#node.head,
      limitMs,
      isError: typeof end !== 'string' && end.body.includes('"error":'),
      isSyncing: this.#node.isSyncing,
      isPruned: this.#node.hasPruned(call),
      endedMs: null,
      isAborted: false,
    }
    this.#wire.sent?.(exchange)
    return new Promise((resolve, reject) => {
      const close = () => {
        signal.removeEventListener('abort', abort)
        this.#open.delete(reset)
        cancel()
        exchange.endedMs = clock.nowMs()
        this.#wire.ended?.(exchange)
      }
      const fail = (fault: TransportFault) => {
        close()
        const isSent = fault !== 'refused'
        reject(new TransportError(fault, 'simulated', isSent))
      }
      const abort = () => {
        exchange.isAborted = true
        fail('aborted')
      }
      const reset = () => {
        exchange.fate = { kind: 'faulty', fault: 'reset' }
        fail('reset')
      }
      const act = () => {
        if (typeof end === 'string') return fail(end)
        close()
        const incoming = incomingOf(end)
        answered.set(incoming, exchange)
        answered.set(incoming.body, exchange)
        // Another stream may wrap the body, so the headers identify the answer too.
        answered.set(incoming.headers, exchange)
        resolve(incoming)
      }
      const cancel = afterMs === null ? () => {} : clock.after(afterMs, act)
      this.#open.add(reset)
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
    })
  }

  close(): Promise<void> {
    for (const cancel of this.#crashes) cancel()
    return Promise.resolve()
  }

  /** The current faults of the URL that affect this request. */
  #faults(): readonly PlannedFault[] {
    const nowMs = this.#wire.clock.nowMs()
    return this.plan.faults.filter(
      ({ fromMs, untilMs, share }) =>
        fromMs <= nowMs && nowMs < untilMs && (share === 1 || this.#dice.chance(share)),
    )
  }

  #decide(call: NodeCall): Outcome {
    const faults = this.#faults()
    let afterMs = this.#latencyMs()
    for (const fault of faults) if (fault.kind === 'slow') afterMs += fault.addMs
    if (typeof call.id === 'string') afterMs += this.#wire.heavyMs?.(call.id) ?? 0
    const branch = this.#wire.branchOf?.(this.target.upstream) ?? null
    this.#node.apply(faults, branch, this.#wire.clock.nowMs())
    // A second answer would say that the transaction is already known.
    let answer: string | null = null
    const honest = () => (answer ??= this.#node.answer(call))
    for (const fault of faults) {
      if (fault.kind === 'slow' || fault.kind === 'lag' || fault.kind === 'freeze') continue
      if (fault.kind === 'wrong') {
        const wrong = wrongAnswerTo(fault.wrongs, call, honest(), (other) =>
          this.#node.answer(other),
        )
        if (wrong)
          return { fate: { kind: 'wrong', wrong: wrong.kind }, afterMs, end: ok(wrong.body) }
        continue
      }
      const fate: Fate = { kind: 'faulty', fault: fault.kind }
      switch (fault.kind) {
        case 'refuse':
        case 'crash':
          return { fate, afterMs: refusalMs, end: 'refused' }
        case 'hang':
          return { fate, afterMs: null, end: 'reset' }
        case 'reset':
        case 'truncated':
        case 'protocol':
        case 'too-large':
          return { fate, afterMs, end: fault.kind }
        case 'rate-limit':
          return {
            fate,
            afterMs,
            end: tooMany(fault, call.id, this.#wire.clock.wallMs()),
            limitMs: limitMsOf(fault, afterMs),
          }
        case 'status': {
          const { status, retryAfterSeconds: seconds } = fault
          // With such a status the body is not an answer.
          if (status > 203 && status < 400) {
            const body = JSON.stringify({ jsonrpc: '2.0', id: call.id, result: '0x1' })
            return { fate, afterMs, end: { ...ok(body), status } }
          }
          const body = fault.body === 'html' ? '<html><body>Bad Gateway</body></html>' : ''
          if (seconds === null) return { fate, afterMs, end: { status, headers: html, body } }
          const end = { status, headers: [...html, 'Retry-After', `${seconds}`], body }
          return { fate, afterMs, end, limitMs: Math.min(seconds * 1_000, maxPauseMs) }
        }
        case 'quota':
        case 'error': {
          const error = errors[fault.kind === 'quota' ? 'quota' : fault.words]
          return { fate, afterMs, end: ok(JSON.stringify({ jsonrpc: '2.0', id: call.id, error })) }
        }
      }
    }
    return { fate: { kind: 'honest' }, afterMs, end: ok(honest()) }
  }

  #latencyMs(): number {
    const { medianMs, spread, tailShare, tailFactor } = this.plan.latency
    const usual = medianMs * Math.exp(spread * this.#dice.normal())
    return this.#dice.chance(tailShare) ? usual * tailFactor : usual
  }
}

type RateLimit = Extract<PlannedFault, { kind: 'rate-limit' }>

/** Errors of a node. No table has the message of `unknown`. */
const errors = {
  quota: { code: -32005, message: 'daily request count exceeded' },
  internal: { code: -32603, message: 'internal error' },
  unknown: { code: -32000, message: 'the moon is in the wrong house' },
  gateway: { code: -32000, message: "invalid character '<' looking for beginning of value" },
  unread: { code: -32700, message: 'parse error' },
} as const

const json = ['content-type', 'application/json']
const html = ['content-type', 'text/html']
const ok = (body: string) => ({ status: 200, headers: json, body })

/** The URL's least cooldown after the answer. */
function limitMsOf({ retryAfterSeconds, asDate }: RateLimit, afterMs: number): number {
  if (retryAfterSeconds === null) return defaultLimitMs
  if (retryAfterSeconds === 0) return soonLimitMs
  // A date has whole seconds, and is computed when the request arrives.
  return retryAfterSeconds * 1_000 - (asDate ? afterMs + 1_000 : 0)
}

function tooMany({ retryAfterSeconds, asDate, body }: RateLimit, id: unknown, wallMs: number) {
  const date = () => new Date(wallMs + (retryAfterSeconds ?? 0) * 1_000).toUTCString()
  const value = asDate ? date() : `${retryAfterSeconds}`
  const headers = retryAfterSeconds === null ? [] : ['Retry-After', value]
  if (body === 'html')
    return { status: 429, headers: [...html, ...headers], body: '<html>Too Many Requests</html>' }
  const error = { code: -32005, message: 'rate limit exceeded' }
  const text = JSON.stringify({ jsonrpc: '2.0', id, error })
  return { status: 429, headers: [...json, ...headers], body: text }
}

function incomingOf({ status, headers, body }: Exclude<Outcome['end'], string>): Incoming {
  const bytes = Buffer.from(body)
  const isLong = bytes.length > longBytes
  return {
    status,
    headers: [...headers],
    body: isLong ? streamOf(bytes) : bytes,
    trailers: () => [],
  }
}

/** A body in two halves; the first is available at once. */
function streamOf(bytes: Buffer): BodyStream {
  const half = bytes.length >> 1
  const pieces = [bytes.subarray(0, half), bytes.subarray(half)]
  return {
    head: pieces.slice(0, 1),
    length: bytes.length,
    async *[Symbol.asyncIterator]() {
      yield* pieces
    },
  }
}
