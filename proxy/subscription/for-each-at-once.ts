// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Runs for each item, so many of them at the same time. Rejects with the first failure, and begins no more. */
export async function forEachAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  let hasFailed = false
  const lane = async () => {
    while (next < items.length && !hasFailed) {
      try {
        await run(items[next++] as T)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane))
}
