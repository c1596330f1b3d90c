// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startProgram } from './program.ts'
import { createWorkspace } from './workspace.ts'

interface Config {
  readonly endpoints: readonly Record<string, string>[]
  readonly 'metrics-listen-address'?: string
}

const stack = new AsyncDisposableStack()
const workspace = stack.use(await createWorkspace())
afterAll(() => stack.disposeAsync())
const folder = new URL('../../examples/', import.meta.url)
const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8')
/** A config whose nodes do not exist, so that the router starts without a usable upstream. */
const configOf = (name: string) =>
  parse(textOf(name).replaceAll(/[\w.-]+\.example\.com(?::\d+)?/g, '127.0.0.1:1')) as Config

/** Documented ports and interfaces of each example. */
const listeners = {
  'minimal.yml': ['3360 ANVIL jsonrpc'],
  'ethereum.yml': ['3360 ETH1 jsonrpc'],
  'cross-validation.yml': ['3360 ETH1 jsonrpc'],
  'cached.yml': ['3360 ETH1 jsonrpc'],
  'slotchain.yml': ['3360 SLOTCHAIN jsonrpc'],
  'bitcoin.yml': ['3360 BTC jsonrpc'],
  'perpevm.yml': ['3360 PERPEVM jsonrpc'],
  'hubchain.yml': ['3360 HUBCHAIN rest', '3361 HUBCHAIN grpc', '3362 HUBCHAIN tendermintrpc'],
  'movechain.yml': ['3360 MOVECHAIN rest'],
  'multichain.yml': [
    '3360 ETH1 jsonrpc',
    '3361 SLOTCHAIN jsonrpc',
    '3362 BTC jsonrpc',
    '3363 PERPEVM jsonrpc',
    '3364 HUBCHAIN rest',
    '3365 HUBCHAIN tendermintrpc',
    '3366 HUBCHAIN grpc',
    '3367 MOVECHAIN rest',
  ],
} as const

test.each(Object.entries(listeners))('%s opens %j, and starts', async (name, expected) => {
  const config = configOf(name)
  const opened = config.endpoints.map((each) => {
    const port = each['network-address']?.split(':')[1]
    return `${port} ${each['chain-id']} ${each['api-interface']}`
  })
  expect(opened).toEqual(expected)

  const { 'metrics-listen-address': _, ...elsewhere } = {
    ...config,
    endpoints: config.endpoints.map((each) => ({ ...each, 'network-address': '127.0.0.1:0' })),
  }
  const keys = ['--env-file', fileURLToPath(new URL('.env.example', folder))]
  await using program = await startProgram(workspace, elsewhere, { flags: keys })
  expect(program.urls.length).toBe(expected.length)
  const readiness = await (await fetch(`${program.adminUrl}/readyz`)).text()
  for (const [, chain, through] of expected.map((each) => each.split(' ')))
    expect(readiness).toContain(`${chain} ${through}: `)
  expect(program.stdout).not.toContain('replace-me')
})
