// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A callback due at an instant. Cancelling clears `run`. */
export interface Timer {
  readonly atMs: number
  /** Orders timers of the same instant: the lower one runs first. */
  readonly order: number
  run: (() => void) | null
}

/** Timers by instant: a binary heap that yields the earliest one first. */
export class TimerQueue {
  readonly #heap: Timer[] = []

  add(timer: Timer): void {
    const heap = this.#heap
    let at = heap.length
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = heap[parent] as Timer
      if (isBefore(above, timer)) break
      heap[at] = above
      at = parent
    }
    heap[at] = timer
  }

  /** The earliest timer; undefined when none is left. */
  peek(): Timer | undefined {
    return this.#heap[0]
  }

  /** Removes the earliest timer. */
  take(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      const right = heap[child + 1]
      if (right !== undefined && isBefore(right, heap[child] as Timer)) child += 1
      const below = heap[child] as Timer
      if (isBefore(last, below)) break
      heap[at] = below
      at = child
    }
    heap[at] = last
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}
