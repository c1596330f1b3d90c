// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { renderChart } from './generate/render-chart.ts'
import { renderCrds } from './generate/render-crds.ts'
import { renderSchema } from './generate/render-schema.ts'
import { renderReferences } from './generate/render-references.ts'
import { describeDrift } from './generate/drift.ts'

// node scripts/generate.ts           writes docs/reference/, crds/, the schema in examples/, and
//                                    parts of charts/rpc-router
// node scripts/generate.ts --check   writes nothing; exit code 1 when a file is not up to date

const root = join(import.meta.dirname, '..')
const check = process.argv.includes('--check')

const crds = await renderCrds()
const files = [
  ...crds,
  ...(await renderChart(crds)),
  ...(await renderReferences(join(root, 'scripts/reference'))),
  await renderSchema(),
]
const stale = files.flatMap(({ path, text }) => {
  const drift = describeDrift(path, textOrNull(join(root, path)), text)
  return drift === null ? [] : [{ path, text, drift }]
})
for (const { path, text, drift } of stale)
  if (check) console.error(drift)
  else {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    console.log(`wrote ${path}`)
  }
if (check && stale.length > 0) {
  console.error('Remedy: make generate, and commit what it wrote.')
  process.exitCode = 1
}

function textOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
