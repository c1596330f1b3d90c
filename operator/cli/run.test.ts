// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { main } from './main.ts'

function kubeconfig(port: number): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      {
        name: 'c',
        cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true },
      },
    ],
    users: [{ name: 'u', user: {} }],
  })
}

test('an operator that is stopped before the API server answers exits with code 0', async () => {
  const signals = ['SIGTERM', 'SIGINT'] as const
  const others = new Set(signals.flatMap((signal) => process.listeners(signal)))
  const folder = await mkdtemp(join(tmpdir(), 'operator-run-'))
  // Never answers.
  const server = createServer(() => void process.emit('SIGTERM', 'SIGTERM'))
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const path = join(folder, 'kubeconfig')
    await writeFile(path, kubeconfig((server.address() as AddressInfo).port))
    let log = ''
    const exitCode = await main(['--kubeconfig', path, '--listen-address', 'off'], {
      stdin: process.stdin,
      stdout: process.stdout,
      stderr: { write: (text: string) => (log += text) },
      environment: {},
    })
    const messages = log
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
    expect(messages).toEqual(['Operator is stopping', 'Operator stopped'])
    expect(exitCode).toBe(0)
  } finally {
    server.closeAllConnections()
    server.close()
    for (const signal of signals)
      for (const listener of process.listeners(signal))
        if (!others.has(listener)) process.off(signal, listener)
    await rm(folder, { recursive: true })
  }
})
