// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { main } from '../../proxy/cli/main.ts'
import { projectFiles, projectText } from '../law/project-files.ts'

interface Validated {
  readonly exitCode: number
  readonly output: string
}

/** Runs `router validate` on a config with a value for every placeholder. */
async function validate(config: string): Promise<Validated> {
  const folder = mkdtempSync(join(tmpdir(), 'example-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'config.yml')
  const keys = join(folder, 'keys.env')
  writeFileSync(keys, '')
  writeFileSync(path, config.replace('env-file: keys.env', `env-file: ${keys}`))
  const names = [...config.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name)
  let output = ''
  const sink = { write: (text: string) => (output += text) }
  const exitCode = await main(['validate', path], {
    stdout: sink,
    stderr: sink,
    environment: Object.fromEntries(names.map((name) => [name, `value-of-${name}`])),
  })
  return { exitCode, output }
}

const examples = projectFiles().filter(
  (path) => /^examples\/.*\.yml$/.test(path) && /^endpoints:/m.test(projectText(path)),
)

test.each(examples)('%s is valid without warnings', async (path) => {
  const { exitCode, output } = await validate(projectText(path))
  expect(output).toMatch(/^\S+ is valid: \d+ listener.*\n$/)
  expect(exitCode).toBe(0)
})

test.each(['README.md', 'docs/quickstart.md'])('the config of %s is valid', async (path) => {
  const blocks = [...projectText(path).matchAll(/^```yaml\n([\s\S]*?)^```$/gm)]
  const configs = blocks.map(([, text = '']) => text).filter((text) => text.includes('direct-rpc:'))
  expect(configs).toHaveLength(1)
  const { exitCode, output } = await validate(configs[0] ?? '')
  expect(output).toMatch(/is valid: 1 listener/)
  expect(exitCode).toBe(0)
})

test('the env file of the examples has exactly the variables that they use', () => {
  const names = (path: string, pattern: RegExp) =>
    [...projectText(path).matchAll(pattern)].map(([, name]) => name)
  const wanted = new Set(examples.flatMap((path) => names(path, /\$\{(\w+)\}/g)))
  const given = names('examples/.env.example', /^(\w+)=/gm)
  expect(new Set(given)).toEqual(wanted)
  expect(given.length).toBe(wanted.size)
})
