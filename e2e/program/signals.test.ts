// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { freePort } from '../processes/free-ports.ts'
import { createWorkspace } from './workspace.ts'

/** A node, or a Kubernetes API, that never answers and counts requests. */
async function silentServer(): Promise<{
  url: string
  server: Server
  requestCount: () => number
}> {
  let count = 0
  const server = createServer(() => void (count += 1))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, server, requestCount: () => count }
}

const programs: Readonly<Record<string, (url: string) => { file: unknown; args: string[] }>> = {
  router: (url) => ({
    file: {
      endpoints: [
        { 'chain-id': 'ETH1', 'api-interface': 'jsonrpc', 'network-address': '127.0.0.1:0' },
      ],
      'direct-rpc': [
        { name: 'a', 'chain-id': 'ETH1', 'api-interface': 'jsonrpc', 'node-urls': [{ url }] },
      ],
      'skip-websocket-verification': true,
      'drain-timeout': '0s',
    },
    args: ['bin/router.mjs'],
  }),
  'rpc-operator': (url) => ({
    file: {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: {} }],
    },
    args: ['bin/rpc-operator.mjs', '--listen-address', 'off', '--kubeconfig'],
  }),
}

/** Whether the process is still running. */
const isAlive = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null

test.each(Object.keys(programs))(
  '%s survives SIGHUP and SIGUSR2, and opens no inspector on SIGUSR1',
  async (name) => {
    await using workspace = await createWorkspace()
    const { url, server, requestCount } = await silentServer()
    const { file, args } = programs[name]?.(url) ?? { file: null, args: [] }
    const path = await workspace.write('config.yml', file)
    const inspector = await freePort()
    const root = fileURLToPath(new URL('../..', import.meta.url))
    const child = spawn(process.execPath, [`--inspect-port=${inspector}`, '--', ...args, path], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()))
    const closed = once(child, 'close')
    try {
      // The first request shows that the program is running.
      await expect.poll(() => requestCount() > 0 || !isAlive(child)).toBe(true)
      for (const signal of ['SIGUSR1', 'SIGHUP', 'SIGUSR2'] as const) child.kill(signal)
      child.kill('SIGTERM')
      expect((await closed)[0]).toBe(0)
      expect(stderr).not.toContain('Debugger')
    } finally {
      child.kill('SIGKILL')
      server.closeAllConnections()
      server.close()
    }
  },
)
