// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/**
 * The candidate that a typo most likely meant: at most a third of its letters differ.
 *
 * @returns null when nothing is near
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > 64) return null
  const normal = normalize(word)
  let best: string | null = null
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const distance = editDistance(normal, normalize(candidate))
    const allowed = Math.max(1, Math.floor(Math.max(normal.length, candidate.length) / 3))
    if (distance <= allowed && distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best ?? completion(normal, candidates)
}

/** `chain` for `chain-id`: the only candidate that starts so. */
function completion(normal: string, candidates: Iterable<string>): string | null {
  if (normal.length < 3) return null
  const found = [...candidates].filter((candidate) => normalize(candidate).startsWith(normal))
  return found.length === 1 ? (found[0] ?? null) : null
}

/** `chainId`, `chain_id` and `Chain-ID` are all spellings of `chain-id`. */
function normalize(word: string): string {
  return word
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[_\s]+/g, '-')
    .toLowerCase()
}

/** Levenshtein distance in which two swapped neighbours count as one edit. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let cost = Math.min(substitution, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1)
      }
      row.push(cost)
    }
    beforeLast = last
    last = row
  }
  return last[b.length] ?? 0
}
