// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { readArchitectureTable } from './architecture-table.ts'
import { checkName } from './check-names.ts'
import { checkSizes } from './check-sizes.ts'
import { checkSource } from './check-source.ts'
import { parseSource } from './source.ts'

const head =
  '// SPDX-License-Identifier: Apache-2.0\n// SPDX-FileCopyrightText: The rpc-router Authors\n'

function check(path: string, code: string): string[] {
  return checkSource(parseSource(path, head + code), ['undici', 'zod', 'fastify'])
}

describe('a violation has the file, the line and a remedy', () => {
  test.each([
    [
      'an import up the layers',
      'proxy/upstream/pool.ts',
      "import { a } from '../relay/step.ts'",
      'upstream may import',
    ],
    [
      'a type import up the layers',
      'proxy/chain/a.ts',
      "import type { A } from '../upstream/wire.ts'",
      'chain may import',
    ],
    ['a re-export', 'proxy/config/a.ts', "export * from '../clock/clock.ts'", 'nothing of ours'],
    [
      'a named re-export',
      'proxy/config/a.ts',
      "export { a } from '../clock/clock.ts'",
      'nothing of ours',
    ],
    [
      'a dynamic import',
      'proxy/relay/a.ts',
      "await import('../telemetry/log.ts')",
      'relay may import',
    ],
    [
      'an import in a type',
      'proxy/relay/a.ts',
      "type A = import('../telemetry/log.ts').A",
      'relay may import',
    ],
    ['a side effect', 'proxy/relay/a.ts', "import '../cli/run.ts'", 'relay may import'],
    [
      'main.ts beside cli',
      'proxy/main.ts',
      "import { a } from './relay/step.ts'",
      'main.ts may import cli',
    ],
    [
      'a folder outside the law',
      'proxy/extra/a.ts',
      "import { a } from '../relay/step.ts'",
      'not in the law',
    ],
    [
      'the simulator in the program',
      'proxy/cli/a.ts',
      "import { a } from '../../e2e/upstream-sim/node.ts'",
      'proxy/ and operator/ alone',
    ],
    [
      'a test as a source',
      'proxy/relay/a.ts',
      "import { a } from './b.test.ts'",
      'Only tests import',
    ],
    [
      'node:http elsewhere',
      'proxy/listener/jsonrpc.ts',
      "import http from 'node:http'",
      'proxy/listener/http/http-server.ts',
    ],
    [
      'a type of node:http elsewhere',
      'proxy/relay/a.ts',
      "import type { IncomingMessage } from 'node:http'",
      'proxy/listener/http/http-server.ts',
    ],
    [
      'undici elsewhere',
      'proxy/upstream/pool.ts',
      "import { Pool } from 'undici'",
      'proxy/upstream/wire/http/http-transport.ts',
    ],
    [
      'fastify elsewhere',
      'proxy/listener/http/http-server.ts',
      "import { fastify } from 'fastify'",
      'proxy/telemetry/**',
    ],
    ['a development package', 'proxy/cli/a.ts', "import { a } from 'vitest/node'", 'package.json'],
    ['I/O in config', 'proxy/config/a.ts', "import { readFileSync } from 'node:fs'", 'does no I/O'],
    ['the time of day', 'proxy/relay/a.ts', 'export const a = Date.now()', 'Take a Clock'],
    [
      'the time of day by another name',
      'proxy/relay/a.ts',
      'export const a = globalThis.Date.now()',
      'Take a Clock',
    ],
    [
      'the time of day as a date',
      'proxy/relay/a.ts',
      'export const a = new Date()',
      'Take a Clock',
    ],
    ['monotonic time', 'proxy/upstream/a.ts', 'export const a = performance.now()', 'Take a Clock'],
    ['a timer', 'proxy/upstream/a.ts', 'setTimeout(() => {}, 1)', 'Take a Clock'],
    ['an interval', 'proxy/upstream/a.ts', 'setInterval(() => {}, 1)', 'Take a Clock'],
    [
      'a timer from its module',
      'proxy/upstream/a.ts',
      "import { setTimeout as wait } from 'node:timers/promises'",
      'Take a Clock',
    ],
    [
      'a signal with a timer',
      'proxy/upstream/a.ts',
      'export const a = AbortSignal.timeout(1)',
      'Take a Clock',
    ],
    ['chance', 'proxy/relay/a.ts', 'export const a = Math.random()', 'Take a Random'],
    [
      'chance of crypto',
      'proxy/relay/a.ts',
      'export const a = crypto.randomUUID()',
      'Take a Random',
    ],
    [
      'the environment',
      'proxy/telemetry/a.ts',
      'export const a = process.env.HOME',
      'Read it in cli',
    ],
    [
      'the environment, taken apart',
      'proxy/telemetry/a.ts',
      "export const a = process['env']",
      'Read it in cli',
    ],
    [
      'the operator in the proxy',
      'proxy/relay/a.ts',
      "import { a } from '../../operator/api/a.ts'",
      'relay may import',
    ],
    [
      'the engine of the proxy in the operator',
      'operator/translate/a.ts',
      "import { a } from '../../proxy/relay/a.ts'",
      'operator/translate may import',
    ],
    [
      'ours in the client of Kubernetes',
      'operator/kube/a.ts',
      "import { a } from '../api/a.ts'",
      'operator/kube may import clock',
    ],
    [
      'the library of Kubernetes elsewhere',
      'operator/controllers/a.ts',
      "import { KubeConfig } from '@kubernetes/client-node'",
      'operator/kube/cluster.ts',
    ],
    ['the time in the operator', 'operator/kube/a.ts', 'setTimeout(() => {}, 1)', 'proxy/clock'],
    ['a default export', 'e2e/a.ts', 'export default 1', 'by its name'],
    ['a default export by name', 'e2e/a.ts', 'const a = 1\nexport { a as default }', 'by its name'],
  ])('%s', (_, path, code, remedy) => {
    const found = check(path, code)
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(/^[\w./-]+:[34] /)
    expect(found[0]).toContain(remedy)
  })

  test('missing SPDX lines', () => {
    for (const code of ['', head.split('\n')[0] ?? '', `\n${head}`])
      expect(checkSource(parseSource('bench/a.ts', code), [])).toEqual([
        expect.stringContaining('SPDX'),
      ])
  })

  test('a file that does not parse', () => {
    expect(() => parseSource('proxy/a.ts', 'const = 1')).toThrow('proxy/a.ts')
  })
})

test.each([
  ['down the layers', 'proxy/relay/a.ts', "import { a } from '../upstream/pool.ts'"],
  ['within a folder', 'proxy/relay/a.ts', "import { a } from './step.ts'"],
  ['the server', 'proxy/listener/http/http-server.ts', "import http from 'node:http'"],
  ['a transport', 'proxy/upstream/wire/http/http-transport.ts', "import { Pool } from 'undici'"],
  [
    'a test',
    'proxy/relay/a.test.ts',
    "import { a } from '../../e2e/upstream-sim/node.ts'\nDate.now()",
  ],
  ['a comment and a text', 'proxy/relay/a.ts', "// Date.now()\nexport const a = 'Math.random()'"],
  ['a given date', 'proxy/relay/a.ts', 'export const a = new Date(0)'],
  ['the environment at the start', 'proxy/cli/a.ts', 'export const a = process.env'],
  [
    'types of Kubernetes in the operator',
    'operator/resources/a.ts',
    "import type { V1Service } from '@kubernetes/client-node'",
  ],
  ['a tool', 'scripts/a.ts', 'export const a = Date.now()'],
  ['a config of a tool', 'vitest.config.ts', 'export default {}'],
  ['a shebang', 'proxy/main.ts', ''],
])('the law allows %s', (what, path, code) => {
  const text = (what === 'a shebang' ? '#!/usr/bin/env node\n' : '') + head + code
  expect(checkSource(parseSource(path, text), ['undici', '@kubernetes/client-node'])).toEqual([])
})

test.each([
  ['proxy/utils/a.ts', 'utils'],
  ['proxy/relay/helpers.ts', 'helpers'],
  ['proxy/relay/common.test.ts', 'common'],
  ['e2e/session-manager.ts', 'manager'],
  ['proxy/relay/relayStep.ts', 'kebab-case'],
  ['proxy/relay/relay_step.ts', 'kebab-case'],
  ['proxy/Relay/step.ts', 'kebab-case'],
])('the name %s is refused', (path, word) => {
  expect(checkName(path)).toEqual([expect.stringContaining(word)])
})

test('each file, the median and the 90th percentile have a limit of lines', () => {
  const files = (counts: number[]) =>
    counts.map((lineCount, at) => ({ path: `proxy/f${at}.ts`, lineCount }))
  expect(checkSizes(files([100, 100, 100, 100, 100, 100, 100, 100, 100, 400]))).toEqual([
    expect.stringContaining('90th percentile'),
  ])
  expect(checkSizes(files(Array<number>(20).fill(60).concat(401)))).toEqual([
    expect.stringContaining('proxy/f20.ts has 401 lines'),
  ])
  expect(checkSizes(files([130, 130, 10]))).toEqual([expect.stringContaining('median')])
  expect(checkSizes(files([119, 119, 119]))).toEqual([])
})

test('the table of the architecture page is parsed row by row', () => {
  const page = `# A
## Who may import whom

| folder | may import |
|---|---|
| \`a\`, \`b\` | nothing of ours |
| \`c\` | \`a\`, \`b\` (its types) |
| \`d\` | all of the above |

## Next
| \`z\` | \`a\` |
`
  expect(readArchitectureTable(page)).toEqual({ a: [], b: [], c: ['a', 'b'], d: ['a', 'b', 'c'] })
})
