// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Our names for keys and commands of other programs, which are not typos. */
const synonyms = new Map(
  Object.entries({
    ...{ start: 'run', serve: 'run', check: 'validate', lint: 'validate', verbose: 'log-level' },
    ...{ port: 'network-address', listen: 'network-address', network: 'chain' },
    ...{ rpc: 'url', 'rpc-url': 'url', url: 'node-urls', urls: 'node-urls' },
    ...{ upstreams: 'direct-rpc', providers: 'direct-rpc', nodes: 'direct-rpc' },
    ...{ headers: 'auth-config' },
  }),
)

/**
 * The likeliest candidate for a word of another program, or for a typo: at most a third of the
 * letters differ, or it is the only candidate with this prefix. Null if nothing is close.
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  const normal = normalize(word)
  if (normal.length < 2 || normal.length > 64) return null
  const known = [...candidates]
  const same = synonyms.get(normal)
  if (same !== undefined && known.includes(same)) return same
  const all = known.map((candidate) => {
    const name = normalize(candidate)
    const distance = editDistance(normal, name)
    const most = Math.max(1, Math.floor(Math.max(normal.length, name.length) / 3))
    return { candidate, distance, isNear: distance <= most, hasPrefix: name.startsWith(normal) }
  })
  const [best] = all.filter(({ isNear }) => isNear).toSorted((a, b) => a.distance - b.distance)
  if (best !== undefined) return best.candidate
  const [prefixed, other] = all.filter(({ hasPrefix }) => hasPrefix)
  return normal.length > 2 && other === undefined ? (prefixed?.candidate ?? null) : null
}

/** Suggests a replacement for an unknown word. */
export function suggestion(
  word: string,
  known: readonly string[],
  what = 'Allowed',
  show: (near: string) => string = String,
): string {
  const near = nearest(word, known)
  return `${near === null ? '' : `Did you mean ${show(near)}? `}${what}: ${known.join(', ')}.`
}

/** Treats `chainId`, `chain_id` and `Chain-ID` as spellings of `chain-id`. */
function normalize(word: string): string {
  const dashed = word.replace(/([a-z0-9])([A-Z])/g, '$1-$2')
  return dashed.replace(/[_\s]+/g, '-').toLowerCase()
}

/** Levenshtein distance in which swapping two adjacent characters counts as one edit. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, index) => index)]
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i++) {
    const row = (rows[i] = [i])
    for (let j = 1; j <= b.length; j++) {
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const substituted = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = isSwapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min(substituted, swapped, at(i - 1, j) + 1, at(i, j - 1) + 1))
    }
  }
  return at(a.length, b.length)
}
