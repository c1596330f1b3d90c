// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { eventually } from '../../processes/eventually.ts'
import { useNamespace } from '../test-namespace.ts'
import { quiet, runOperator, writes } from './running-operator.ts'
import { countObjects, populate, Progress } from './scale.ts'

const place = useNamespace()

test('the operator writes each object about once, and then nothing', async () => {
  const { namespace, client, signal } = place
  const population = { namespace, routers: 30, providersEach: 10 }
  await populate(client, population, signal)
  const progress = new Progress(client, namespace)
  const watching = new AbortController()
  const watched = progress.run(watching.signal)
  await using running = await runOperator({ ...place, namespaces: [namespace] })
  await eventually(() => {
    const { programmed, readyProviders } = progress
    expect({ programmed, readyProviders }).toEqual({ programmed: 30, readyProviders: 300 })
  })
  watching.abort()
  await watched
  await quiet(running)
  const objects = await countObjects(client, namespace, signal)
  const written = writes(running.requests)
  expect(objects).toBe(30 * (1 + 10 + 6))
  expect(written.length / objects).toBeLessThanOrEqual(1.2)
  expect(running.failures).toEqual([])
})
