// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

interface MetricsPage {
  /** Keyed by the sample as written, such as `router_x_total{chain="ETH1"}`. */
  readonly samples: ReadonlyMap<string, number>
  readonly types: ReadonlyMap<string, string>
  readonly helps: ReadonlyMap<string, string>
}

const sample = /^([a-z_:][a-z0-9_:]*)(\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)$/i
const comment = /^# (HELP|TYPE) (\S+) (.+)$/

/** Parses a page as strictly as a scraper. Throws on anything that a scraper would reject. */
export function readMetricsPage(text: string): MetricsPage {
  const page = { samples: new Map<string, number>(), types: new Map(), helps: new Map() }
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, what, family = '', rest = ''] = comment.exec(line) ?? []
    if (what) {
      const known = what === 'HELP' ? page.helps : page.types
      if (known.has(family)) throw new Error(`second ${what} of ${family}`)
      known.set(family, rest)
      continue
    }
    const [, name, labels = '', value] = sample.exec(line) ?? []
    if (!name) throw new Error(`not a sample: ${line}`)
    const id = name + labels
    if (page.samples.has(id)) throw new Error(`second sample of ${id}`)
    const owner = page.types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')
    if (!page.types.has(owner)) throw new Error(`${name} has no TYPE before it`)
    if (Number.isNaN(Number(value))) throw new Error(`not a number: ${line}`)
    page.samples.set(id, Number(value))
  }
  return page
}
