// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { runProgram } from '../program/program.ts'
import { createWorkspace } from '../program/workspace.ts'
import { kubectlFor, printed } from './kubectl.ts'
import { useNamespace } from './test-namespace.ts'

const text = readFileSync(new URL('../../examples/kubernetes/router.yaml', import.meta.url), 'utf8')
const place = useNamespace({ 'pod-security.kubernetes.io/enforce': 'restricted' })
const kubectl = kubectlFor(place.kubeconfig, place.namespace)

test('a real API accepts the example without the operator, in a restricted namespace', async () => {
  const applied = await kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', '-'], text)
  expect(applied.stderr).toBe('')
  expect((await printed(Promise.resolve(applied))).trim().split('\n')).toEqual([
    'configmap/mainnet-router created (server dry run)',
    'deployment.apps/mainnet-router created (server dry run)',
    'service/mainnet-router created (server dry run)',
    'poddisruptionbudget.policy/mainnet-router created (server dry run)',
  ])
})

test('its config is valid', async () => {
  await using workspace = await createWorkspace()
  const [configMap] = parseAllDocuments(text).map((each) => each.toJS())
  const path = await workspace.write('config.yml', configMap.data['config.yml'])
  const env = { PROVIDER_A_KEY: 'a-key' }
  const { code, stdout } = await runProgram(['validate', path], { env })
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `${path} is valid: 1 listener, 2 upstreams\n`,
  })
})
