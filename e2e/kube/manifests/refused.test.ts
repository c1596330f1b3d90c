// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, test } from 'vitest'
import type { ToolRun } from '../../processes/run-tool.ts'
import { kubectlFor, printed } from '../kubectl.ts'
import { useNamespace } from '../test-namespace.ts'
import { differenceOf, noDifference, readManifests, splitRefusals } from './manifest-table.ts'

const { kubeconfig, namespace } = useNamespace()
const kubectl = kubectlFor(kubeconfig, namespace)

describe.each([['rpc-router.refused.yaml'], ['upstream-provider.refused.yaml']])('%s', (file) => {
  const refusals = readManifests(file)
  const atOnce = refusals.filter(({ before }) => before === null)
  const complaints = new Map<string, string>()

  // One kubectl applies all manifests, since its start takes most of the time.
  const outcome = Promise.withResolvers<ToolRun>()
  beforeAll(async () => {
    const manifests = atOnce.map(({ manifest }) => manifest)
    const result = await kubectl(['apply', '-f', '-'], ...manifests)
    for (const [at, text] of splitRefusals(result.stderr).entries())
      complaints.set(atOnce[at]?.name ?? text, text)
    outcome.resolve(result)
  })

  test('none is accepted', async () => {
    expect(await outcome.promise).toMatchObject({ code: 1, stdout: '' })
    expect([...complaints.keys()]).toEqual(atOnce.map(({ name }) => name))
  })

  test.each(atOnce.map(({ name, says }) => [name, says] as const))('%s', (name, says) => {
    expect(differenceOf(complaints.get(name) ?? '', says)).toEqual(noDifference)
  })

  const changes = refusals.filter(({ before }) => before !== null)
  test.each(changes.map((refusal) => [refusal.name, refusal] as const))(
    '%s',
    async (_, { before, manifest, says }) => {
      await printed(kubectl(['apply', '-f', '-'], before))
      const { code, stderr } = await kubectl(['apply', '-f', '-'], manifest)
      expect(differenceOf(stderr, says)).toEqual(noDifference)
      expect(code).toBe(1)
      await printed(kubectl(['delete', '-f', '-'], before))
    },
  )
})
