// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'
import { startProgram } from './program.ts'
import { createWorkspace, ethereumConfig } from './workspace.ts'

const maxFiles = 160

test.runIf(process.platform === 'linux')(
  'clients and hanging nodes leave files to the admin address',
  async () => {
    await using ends = new AsyncDisposableStack()
    const workspace = ends.use(await createWorkspace())
    const node = await startSimNode({ chain: createChainModel(), name: 'a' })
    ends.defer(() => node.stop())
    const program = ends.use(
      await startProgram(workspace, ethereumConfig([{ name: 'a', url: node.url }]), { maxFiles }),
    )
    const { hostname, port } = new URL(program.urls[0] ?? '')
    const open = new Set<Socket>()
    let answers = ''
    for (let each = 0; each < 2 * maxFiles; each++) {
      const socket = connect(Number(port), hostname)
      const gone = () => open.delete(socket)
      open.add(socket)
      socket
        .on('error', gone)
        .on('close', gone)
        .on('data', (data) => (answers += String(data)))
    }
    ends.defer(() => open.forEach((socket) => socket.destroy()))
    await expect.poll(() => open.size).toBeLessThan(maxFiles / 2)
    const shown = async (path: string) => {
      const response = await fetch(program.adminUrl + path)
      return `${response.status} ${await response.text()}`
    }
    expect(await shown('/readyz?verbose')).toMatch(/^200 ready(.|\n)*no files left/)
    const [client] = open
    const ask = (socket: Socket) => {
      const body = '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}'
      const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
      socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
    }
    ask(client!)
    await expect.poll(() => answers).toContain('HTTP/1.1 200')

    node.faults.add({ kind: 'hang' })
    expect(open.size).toBeGreaterThan(30)
    for (const socket of open) ask(socket)
    await sleep(200)
    for (const path of ['/metrics', '/status', '/readyz', '/facts'])
      expect(await shown(path)).toMatch(/^200 /)
    const metrics = await shown('/metrics')
    const [, used] = /^router_process_open_fds (\d+)/m.exec(metrics) ?? []
    expect(Number(used)).toBeLessThan(maxFiles)
    expect(metrics).toContain('router_out_of_resources{resource="files"} 1')
  },
)
