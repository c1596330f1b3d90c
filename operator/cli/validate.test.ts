// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readManifests as readTable } from '../../e2e/kube/manifests/manifest-table.ts'
import { main } from './main.ts'

/*
 * The tables of e2e/kube/manifests, of which a real API server is asked there. What is a change alone is nothing to
 * `validate`: it knows no former form of an object.
 */

async function validate(manifest: unknown) {
  const said: string[] = []
  const sink = { write: (text: string) => said.push(text) }
  const code = await main(['validate', '-f', '-', '-o', 'json'], {
    stdin: (async function* () {
      yield stringify(manifest)
    })(),
    stdout: sink,
    stderr: sink,
    environment: {},
  })
  const { problems } = JSON.parse(said.join('')) as { problems: readonly string[] }
  return { code, problems }
}

describe.each([['rpc-router'], ['upstream-provider']])('%s', (table) => {
  const refused = readTable(`${table}.refused.yaml`).filter(({ before }) => before === null)
  test.each(refused.map(({ name, ...row }) => [name, row] as const))(
    'validate refuses what the API server refuses: %s',
    async (_, { manifest }) => {
      const { code, problems } = await validate(manifest)
      expect(problems[0]).toMatch(/^standard input: /)
      expect(code).toBe(2)
    },
  )

  const accepted = readTable(`${table}.accepted.yaml`)
  test.each(accepted.map(({ name, manifest }) => [name, manifest] as const))(
    'validate finds nothing that the API server would refuse: %s',
    async (_, manifest) => {
      const { problems } = await validate(manifest)
      // What the operator says of it beyond that has no file in front.
      expect(problems.filter((problem) => problem.startsWith('standard input'))).toEqual([])
    },
  )
})
