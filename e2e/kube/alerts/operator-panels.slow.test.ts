// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { rpcRouters, upstreamProviders } from '../../../operator/resources/kinds.ts'
import { ChildProcesses } from '../../processes/child-processes.ts'
import { createWorkspace } from '../../program/workspace.ts'
import { providerObject, routerObject } from '../operator/fleet.ts'
import { useOperatedFleet } from '../operator/operated-fleet.ts'
import { startPrometheus } from './live-prometheus.ts'
import { emptyPanels, patience } from './panels.ts'

/** An operator on a real API server, and a real Prometheus. */

const operated = useOperatedFleet()

test('no panel of the dashboard of the operator is empty', async () => {
  const { fleet, running, place } = operated
  await using stack = new AsyncDisposableStack()
  const workspace = stack.use(await createWorkspace())
  const children = stack.use(new ChildProcesses(workspace.directory))
  const server = createServer((_, response) => {
    const { contentType, scrape } = running.metrics
    void scrape().then((text) => response.setHeader('content-type', contentType).end(text))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  stack.defer(() => server[Symbol.asyncDispose]())
  const { port } = server.address() as AddressInfo
  const prometheus = await startPrometheus(children, workspace, { operator: [`127.0.0.1:${port}`] })
  await fleet.create(rpcRouters, routerObject(place.namespace, 'main'))
  const empty = emptyPanels(prometheus, 'operator')
  let providers = 0
  const afterWork = async () => {
    const name = `provider-${(providers += 1)}`
    await fleet.create(upstreamProviders, providerObject(place.namespace, 'main', name))
    return empty()
  }
  await expect.poll(afterWork, patience).toEqual([])
}, 240_000)
