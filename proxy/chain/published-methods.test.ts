// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import type { ApiInterface } from '../config/types.ts'
import { loadCatalog } from './load-catalog.ts'
import type { ChainInterface, MethodSpec } from './types.ts'

/*
 * The published method lists of nodes and providers. A spec names each method or refuses it as an
 * operator's; else the list says after `--` why not.
 */

const folder = new URL('../../specs/published/', import.meta.url)
const catalog = await loadCatalog([])
const header = () => null

function classify(iface: ChainInterface, written: string): MethodSpec {
  const [verb = '', path] = written.split(' ')
  const { apiInterface } = iface
  if (apiInterface === 'rest')
    return iface.classify({ apiInterface, verb, path: path ?? '', query: '', header })
  if (apiInterface === 'grpc') return iface.classify({ apiInterface, method: written, header })
  return iface.classify({ apiInterface, method: written, params: [] })
}

describe.each(readdirSync(folder))('%s', (name) => {
  const lines = readFileSync(new URL(name, folder), 'utf8').trimEnd().split('\n')
  const [, chainId = '', apiInterface = ''] = /^# chain: (\S+) (\S+)$/.exec(lines[0] ?? '') ?? []
  const iface = catalog.find(chainId)!.interfaces.get(apiInterface as ApiInterface)!
  const listed = lines
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.split(' -- ') as [string, string?])

  it('has a source, and names each method once', () => {
    expect(lines[1]).toMatch(/^# source: https:\/\//)
    const names = listed.map(([written]) => written)
    expect(names).toEqual([...new Set(names)])
  })

  test.each(listed)('%s', (written, reason) => {
    const { known, operatorOnly = false } = classify(iface, written)
    expect(known || operatorOnly).toBe(reason === undefined)
  })
})
