// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mutants, type Mutant } from './table.ts'

/** What a copy needs to run the tests and the simulation. */
const copied = ['proxy', 'specs', 'e2e', 'package.json', 'tsconfig.json', 'vitest.config.ts']
const tests = ['proxy/relay', 'proxy/upstream']
const seeds = 1_500
/** A mutant that takes longer runs in a circle, which is a way of being caught. */
const patienceMs = 90_000

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Who noticed a mutant, in words; null: nobody. */
interface Verdict {
  readonly mutant: Mutant
  readonly bySimulation: string | null
  readonly byTest: string | null
  /** Why it could not be applied. */
  readonly misfit: string | null
}

interface Ran {
  readonly isFine: boolean
  readonly isOutOfTime: boolean
  readonly output: string
}

function run(directory: string, args: readonly string[]): Promise<Ran> {
  const node = join(directory, 'node_modules/.bin/node')
  const options = {
    cwd: directory,
    timeout: patienceMs,
    killSignal: 'SIGKILL',
    maxBuffer: 1e9,
    env: { ...process.env, NODE_OPTIONS: '--max-old-space-size=1024', NO_COLOR: '1' },
  } as const
  return new Promise((resolve) => {
    execFile(node, args, options, (error, output) => {
      resolve({ isFine: error === null, isOutOfTime: error?.killed === true, output })
    })
  })
}

async function bySimulation(directory: string): Promise<string | null> {
  const { isFine, isOutOfTime, output } = await run(directory, [
    'e2e/simulation/mutants/hunt.ts',
    String(seeds),
  ])
  const [seed, rule] = output.trim().split(' ')
  if (seed && rule) return `${rule}, seed ${seed}`
  if (isOutOfTime) return 'no end'
  return isFine ? null : 'crash'
}

async function byTest(directory: string): Promise<string | null> {
  const vitest = 'node_modules/vitest/vitest.mjs'
  const { isFine, isOutOfTime, output } = await run(directory, [
    vitest,
    'run',
    '--reporter=json',
    '--bail=1',
    ...tests,
  ])
  if (isFine) return null
  if (isOutOfTime) return 'no end'
  return /"fullName":"([^"]*)","status":"failed"/.exec(output)?.[1]?.trim() ?? 'crash'
}

async function judge(mutant: Mutant, directory: string): Promise<Verdict> {
  const path = join(directory, mutant.file)
  const source = await readFile(path, 'utf8')
  const found = source.split(mutant.text).length - 1
  if (found !== 1) {
    const misfit = `its text stands ${found} times in ${mutant.file}`
    return { mutant, bySimulation: null, byTest: null, misfit }
  }
  await writeFile(
    path,
    source.replace(mutant.text, () => mutant.replacement),
  )
  try {
    const simulation = await bySimulation(directory)
    return { mutant, bySimulation: simulation, byTest: await byTest(directory), misfit: null }
  } finally {
    await writeFile(path, source)
  }
}

async function copyOfTree(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'mutants-'))
  for (const name of copied) await cp(join(root, name), join(directory, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  return directory
}

/** Each lane has a copy of its own and takes the next mutant when it is done with one. */
async function lane(waiting: Mutant[], judged: (verdict: Verdict) => void): Promise<void> {
  const directory = await copyOfTree()
  try {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift())
      judged(await judge(mutant, directory))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function print({ mutant, bySimulation: simulation, byTest: test, misfit }: Verdict): void {
  const isCaught = simulation !== null || test !== null
  const mark = misfit ? 'MISFIT  ' : isCaught ? 'caught  ' : 'SURVIVED'
  const who = misfit ?? `simulation: ${simulation ?? '-'} | test: ${test ?? '-'}`
  process.stdout.write(`${mark}  ${mutant.name}\n            ${who}\n`)
}

const [wanted = ''] = process.argv.slice(2)
const waiting = mutants.filter(({ name, file }) => `${file} ${name}`.includes(wanted))
const verdicts: Verdict[] = []
const lanes = Array.from({ length: Math.min(availableParallelism(), waiting.length) }, () =>
  lane(waiting, (verdict) => {
    verdicts.push(verdict)
    print(verdict)
  }),
)
await Promise.all(lanes)
const caught = verdicts.filter(
  (verdict) => verdict.bySimulation !== null || verdict.byTest !== null,
).length
const bySim = verdicts.filter((verdict) => verdict.bySimulation !== null).length
const byTests = verdicts.filter((verdict) => verdict.byTest !== null).length
process.stdout.write(
  `\n${caught} of ${verdicts.length} mutants caught, ${bySim} by the simulation, ${byTests} by tests\n`,
)
process.exitCode = caught === verdicts.length && verdicts.length > 0 ? 0 : 1
