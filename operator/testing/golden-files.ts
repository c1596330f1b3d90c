// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/**
 * Defines one test per `NAME.in.yaml` of a folder: `produce` must return the text of
 * `NAME.out.yaml`. `make golden` updates the outputs.
 */
export function testGoldenFiles(folder: string, produce: (input: string) => string): void {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.in.yaml'))
    .map((name) => name.slice(0, -'.in.yaml'.length))
  test('every golden output has its input', () => {
    const outputs = readdirSync(folder).filter((name) => name.endsWith('.out.yaml'))
    expect(outputs).toEqual(names.map((name) => `${name}.out.yaml`))
  })
  test.each(names)('%s', (name) => {
    const output = produce(readFileSync(join(folder, `${name}.in.yaml`), 'utf8'))
    const path = join(folder, `${name}.out.yaml`)
    if (process.env['GOLDEN'] === 'write') writeFileSync(path, output)
    expect(output, 'make golden updates the outputs').toBe(readFileSync(path, 'utf8'))
  })
}
