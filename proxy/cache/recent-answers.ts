// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bytesOf, type Answer, type Entry } from './entry.ts'

/** The numbers of an entry, in one row. Missing ones are negative. */
const at = {
  ...{ position: 0, before: 1, hash: 2, keyLength: 3, bodyLength: 4, idStart: 5, idEnd: 6 },
  ...{ expiresMs: 7, head: 8, branch: 9, latestBlock: 10 },
} as const
const rowLength = 12
/** What an entry takes beside its key and its body, which are of this length on average. */
const rowBytes = rowLength * 8 + 16
const averageBytes = 256
/** So many entries of one slot are looked at. */
const maxSteps = 16

/** What many entries have in common. */
type Kind = Pick<Answer, 'status' | 'headers' | 'trailers' | 'upstream' | 'refusal'> &
  Pick<Entry, 'ageClass'>

/**
 * Entries of the last while: tens of thousands come in a second, and most are never asked for again. They are bytes and
 * numbers in rings, the oldest overwritten first; as objects they would cost the garbage collector more than all else of a miss.
 */
export class RecentAnswers {
  /** Entries are numbered, and each has its row by its number. Those from `#first` on are here. */
  #first = 1
  #next = 1
  readonly #length: number
  readonly #rows: Float64Array
  readonly #kinds: (Kind | null)[]
  /** The newest entry of each slot of hashes; a row has the one before it. */
  readonly #slots: Float64Array
  /** The bytes of an entry are in one piece. Positions count on past the end of the ring. */
  readonly #ring: Buffer
  #position = 0
  /** The last of each upstream. */
  readonly #lastKinds = new Map<string, Kind>()

  constructor(maxBytes: number) {
    this.#length = Math.max(1, Math.floor(maxBytes / (rowBytes + averageBytes)))
    this.#rows = new Float64Array(this.#length * rowLength)
    this.#kinds = Array.from({ length: this.#length }, () => null)
    this.#slots = new Float64Array(this.#length)
    this.#ring = Buffer.allocUnsafeSlow(Math.floor(this.#length * averageBytes))
  }

  get count(): number {
    return this.#next - this.#first
  }

  get bytes(): number {
    const from = this.count === 0 ? this.#position : this.#rowOf(this.#first, at.position)
    return this.#position - from + this.count * rowBytes
  }

  /** Entries that were overwritten. */
  get evictions(): number {
    return this.#first - 1
  }

  get(key: string, hash: number): Entry | undefined {
    const number = this.#find(key, hash)
    if (number === 0) return undefined
    const is = (column: number) => this.#rowOf(number, column)
    const { ageClass, ...kind } = this.#kinds[number % this.#length] as Kind
    const start = (is(at.position) % this.#ring.length) + key.length
    // A copy: it may be overwritten before it is sent.
    const body = Buffer.from(this.#ring.subarray(start, start + is(at.bodyLength)))
    const id = is(at.idStart) < 0 ? null : { start: is(at.idStart), end: is(at.idEnd) }
    const latestBlock = is(at.latestBlock) < 0 ? null : is(at.latestBlock)
    const answer = { ...kind, body, id, latestBlock }
    const [expiresMs, head, branch] = [is(at.expiresMs), is(at.head), is(at.branch)]
    return { key, answer, ageClass, expiresMs, head, branch }
  }

  /** @returns whether there is room for one of its size */
  set(hash: number, { key, answer, ageClass, expiresMs, head, branch }: Entry): boolean {
    const ring = this.#ring
    const body = bytesOf(answer)
    const size = key.length + body.length
    if (size > ring.length) return false
    const left = ring.length - (this.#position % ring.length)
    const position = this.#position + (left < size ? left : 0)
    this.#position = position + size
    while (this.count > 0 && !this.#hasRoom()) this.#first += 1
    const start = position % ring.length
    ring.write(key, start, 'latin1')
    ring.set(body, start + key.length)
    const number = this.#next++
    const row = (number % this.#length) * rowLength
    const slot = (hash >>> 0) % this.#length
    const rows = this.#rows
    rows[row + at.position] = position
    rows[row + at.before] = this.#slots[slot] as number
    rows[row + at.hash] = hash
    rows[row + at.keyLength] = key.length
    rows[row + at.bodyLength] = body.length
    rows[row + at.idStart] = answer.id?.start ?? -1
    rows[row + at.idEnd] = answer.id?.end ?? -1
    rows[row + at.expiresMs] = expiresMs
    rows[row + at.head] = head
    rows[row + at.branch] = branch
    rows[row + at.latestBlock] = answer.latestBlock ?? -1
    this.#slots[slot] = number
    this.#kinds[number % this.#length] = this.#kindOf(answer, ageClass)
    return true
  }

  #rowOf(number: number, column: number): number {
    return this.#rows[(number % this.#length) * rowLength + column] as number
  }

  /** The oldest entry may stay. */
  #hasRoom(): boolean {
    const isRow = this.count < this.#length
    return isRow && this.#position - this.#rowOf(this.#first, at.position) <= this.#ring.length
  }

  /** The newest entry of the key; 0: there is none. */
  #find(key: string, hash: number): number {
    const ring = this.#ring
    let number = this.#slots[(hash >>> 0) % this.#length] as number
    for (let steps = 0; number >= this.#first && steps < maxSteps; steps++) {
      if (this.#rowOf(number, at.hash) === hash) {
        const start = this.#rowOf(number, at.position) % ring.length
        const isLong = this.#rowOf(number, at.keyLength) === key.length
        if (isLong && ring.toString('latin1', start, start + key.length) === key) return number
      }
      number = this.#rowOf(number, at.before)
    }
    return 0
  }

  /** Most answers of an upstream are of one kind, and share it. */
  #kindOf({ status, headers, trailers, upstream, refusal }: Answer, ageClass: Kind['ageClass']) {
    const last = this.#lastKinds.get(upstream)
    const isSame = last?.headers === headers && last.trailers === trailers
    if (isSame && last.status === status && last.refusal === refusal && last.ageClass === ageClass)
      return last
    const kind = { status, headers, trailers, upstream, refusal, ageClass }
    this.#lastKinds.set(upstream, kind)
    return kind
  }
}
