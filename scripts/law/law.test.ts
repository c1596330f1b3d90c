// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { readArchitectureTable } from './architecture-table.ts'
import { checkCircles } from './check-circles.ts'
import { checkName } from './check-names.ts'
import { checkSizes } from './check-sizes.ts'
import { checkSource, isTestCode } from './check-source.ts'
import { projectFiles, projectText } from './project-files.ts'
import { parseSource } from './source.ts'
import { mayImport } from './table.ts'

const packageJson = JSON.parse(projectText('package.json')) as {
  dependencies: Record<string, string>
}
const dependencies = Object.keys(packageJson.dependencies)
const sources = projectFiles()
  .filter((path) => path.endsWith('.ts'))
  .map((path) => parseSource(path, projectText(path)))

describe('the law holds', () => {
  test('for imports, clock, randomness, environment and exports', () => {
    expect(sources.length).toBeGreaterThan(0)
    expect(sources.flatMap((source) => checkSource(source, dependencies))).toEqual([])
  })

  test('for sibling folders, which import each other in one direction', () => {
    expect(checkCircles(sources)).toEqual([])
  })

  test('for names of files and folders', () => {
    expect(sources.flatMap(({ path }) => checkName(path))).toEqual([])
  })

  test('for file lengths', () => {
    const counted = sources.filter(
      ({ path }) => !isTestCode(path) && !path.endsWith('.generated.ts'),
    )
    expect(checkSizes(counted)).toEqual([])
  })

  test('and docs/architecture.md agrees with it', () => {
    const shown = readArchitectureTable(projectText('docs/architecture.md'))
    expect(Object.keys(shown)).toEqual(Object.keys(mayImport))
    for (const [part, allowed] of Object.entries(mayImport))
      expect(shown[part]?.toSorted(), `what ${part} may import`).toEqual(allowed.toSorted())
  })
})
