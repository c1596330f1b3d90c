// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mutants } from './all.ts'
import type { Mutant } from './mutant.ts'

/** What a copy needs to run the tests and the simulation. */
const copied = [
  ...['proxy', 'specs', 'e2e', 'package.json', 'tsconfig.json'],
  ...['vitest.config.ts', 'scripts/check-node.ts'],
]
/** Who has to notice a mutant. */
interface Hunters {
  /** Runs a simulation until it finds something; null where none looks. */
  readonly hunt: string | null
  readonly seeds: number
  readonly tests: readonly string[]
}
const ofEngine: Hunters = {
  hunt: 'e2e/simulation/mutants/hunt.ts',
  seeds: 1_500,
  tests: ['proxy/relay', 'proxy/upstream'],
}
const ofSubscriptions: Hunters = {
  hunt: 'e2e/simulation/subscriptions/hunt.ts',
  seeds: 150,
  tests: ['proxy/subscription'],
}
const ofChain: Hunters = { ...ofEngine, tests: ['proxy/chain', ...ofEngine.tests] }
const ofListener: Hunters = { hunt: null, seeds: 0, tests: ['proxy/listener'] }
function huntersOf({ file }: Mutant): Hunters {
  if (file.startsWith('proxy/listener/')) return ofListener
  if (file.startsWith('proxy/chain/')) return ofChain
  return file.startsWith('proxy/subscription/') ? ofSubscriptions : ofEngine
}
/** A mutant that takes longer runs in a circle, which is a way of being caught. */
const patienceMs = 240_000
/** It ended with an error of its own instead of a finding. */
const brokenDown = 'an error'
/** The simulation and the tests all have their say, also where a mutant is caught already. */
const wantsBoth = process.env['BOTH'] === '1'
const noEnd = 'no end'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Who noticed a mutant first, in words; null: nobody, or somebody else before. */
interface Noticed {
  readonly bySimulation: string | null
  readonly byTest: string | null
}

interface Verdict extends Noticed {
  readonly mutant: Mutant
  /** Why it could not be applied. */
  readonly misfit: string | null
}

interface Ran {
  readonly isFine: boolean
  readonly isOutOfTime: boolean
  readonly output: string
}

function run(directory: string, args: readonly string[]): Promise<Ran> {
  const options = {
    cwd: directory,
    timeout: patienceMs,
    killSignal: 'SIGKILL',
    maxBuffer: 1e9,
    env: { ...process.env, NODE_OPTIONS: '--max-old-space-size=1024', NO_COLOR: '1' },
  } as const
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, output) => {
      resolve({ isFine: error === null, isOutOfTime: error?.killed === true, output })
    })
  })
}

async function bySimulation(directory: string, { hunt, seeds }: Hunters): Promise<string | null> {
  if (hunt === null) return null
  const { isFine, isOutOfTime, output } = await run(directory, [hunt, String(seeds)])
  if (isOutOfTime) return noEnd
  if (!isFine) return brokenDown
  const [seed, rule] = output.trim().split(' ')
  return seed && rule ? `${rule}, seed ${seed}` : null
}

interface TestReport {
  readonly testResults: readonly {
    /** The file, from the root of the file system. */
    readonly name: string
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

interface Failed {
  /** Null: it cannot be told which. */
  readonly file: string | null
  readonly test: string
}

/** The first test that fails; null: none. */
async function firstFailed(
  directory: string,
  tests: readonly string[],
  excluded: readonly string[] = [],
): Promise<Failed | null> {
  const report = join(directory, 'report.json')
  // Modules are loaded once for all files: three times as fast.
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--no-isolate', '--bail=1', ...tests]
  const without = excluded.flatMap((file) => ['--exclude', file])
  const json = ['--reporter=json', `--outputFile.json=${report}`]
  const { isFine, isOutOfTime } = await run(directory, [...vitest, ...without, ...json])
  if (isFine) return null
  if (isOutOfTime) return { file: null, test: noEnd }
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as TestReport
  for (const { name, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed')
    if (failed) return { file: relative(directory, name), test: failed.fullName }
  }
  return { file: null, test: brokenDown }
}

/**
 * A test may fail because the machine is busy, and has noticed nothing then. It counts when it fails
 * again, and its file passes without the mutant; else the others have the word.
 * @param soundly runs something without the mutant; null where there is none
 */
async function byTest(
  directory: string,
  tests: readonly string[],
  soundly: Soundly | null,
): Promise<string | null> {
  const shaky: string[] = []
  for (;;) {
    const failed = await firstFailed(directory, tests, shaky)
    if (failed === null) return null
    const { file, test } = failed
    if (file === null) return test
    const alone = () => firstFailed(directory, [file])
    const failsAgain = (await alone())?.test === test
    const isSound = soundly === null || (failsAgain && (await soundly(alone)) === null)
    if (failsAgain && isSound) return test
    process.stdout.write(`shaky     ${file}: ${test}\n`)
    shaky.push(file)
  }
}

/** Runs something while the mutant is not there. */
type Soundly = <T>(run: () => Promise<T>) => Promise<T>

/** Who notices it first: what takes least time is tried first. */
async function whoNotices(
  directory: string,
  { file }: Mutant,
  hunters: Hunters,
  soundly: Soundly,
): Promise<Noticed> {
  if (wantsBoth)
    return {
      bySimulation: await bySimulation(directory, hunters),
      byTest: await byTest(directory, hunters.tests, soundly),
    }
  const own = file.replace(/\.ts$/, '.test.ts')
  if (existsSync(join(directory, own))) {
    const test = await byTest(directory, [own], soundly)
    if (test !== null) return { bySimulation: null, byTest: test }
  }
  const simulation = await bySimulation(directory, hunters)
  if (simulation !== null) return { bySimulation: simulation, byTest: null }
  return { bySimulation: null, byTest: await byTest(directory, hunters.tests, soundly) }
}

async function judge(mutant: Mutant, directory: string): Promise<Verdict> {
  const path = join(directory, mutant.file)
  const source = await readFile(path, 'utf8')
  const found = source.split(mutant.text).length - 1
  if (found !== 1) {
    const misfit = `its text stands ${found} times in ${mutant.file}`
    return { mutant, bySimulation: null, byTest: null, misfit }
  }
  const mutated = source.replace(mutant.text, () => mutant.replacement)
  const soundly: Soundly = async (run) => {
    await writeFile(path, source)
    const outcome = await run()
    await writeFile(path, mutated)
    return outcome
  }
  await writeFile(path, mutated)
  try {
    const hunters = huntersOf(mutant)
    const noticed = await whoNotices(directory, mutant, hunters, soundly)
    // It is the mutant's doing only where all is well without it.
    const isUnclear = Object.values(noticed).some((each) => each === brokenDown || each === noEnd)
    if (isUnclear) await soundly(() => checkSound(directory, [hunters]))
    return { mutant, ...noticed, misfit: null }
  } finally {
    await writeFile(path, source)
  }
}

/** Without a mutant nothing may be found, else who was caught would mean nothing. */
async function checkSound(directory: string, all: Iterable<Hunters>): Promise<void> {
  for (const hunters of all) {
    const found =
      (await bySimulation(directory, hunters)) ?? (await byTest(directory, hunters.tests, null))
    if (found) throw new Error(`the engine fails without a mutant: ${found}`)
  }
}

async function copyOfTree(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'mutants-'))
  for (const name of copied) await cp(join(root, name), join(directory, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  return directory
}

/** Each lane has a copy of its own and takes the next mutant when it is done with one. */
async function lane(
  waiting: Mutant[],
  sound: (directory: string) => Promise<void>,
  judged: (verdict: Verdict) => void,
): Promise<void> {
  const directory = await copyOfTree()
  try {
    await sound(directory)
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift())
      judged(await judge(mutant, directory))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function print({ mutant, bySimulation: simulation, byTest: test, misfit }: Verdict): void {
  const isCaught = simulation !== null || test !== null
  const mark = misfit ? 'MISFIT  ' : isCaught ? 'caught  ' : 'SURVIVED'
  const each = [simulation && `simulation: ${simulation}`, test && `test: ${test}`]
  const who = misfit ?? (isCaught ? each.filter((one) => one !== null).join(' | ') : 'by nobody')
  process.stdout.write(`${mark}  ${mutant.name}\n            ${who}\n`)
}

const [wanted = ''] = process.argv.slice(2)
const waiting = mutants.filter(({ name, file }) => `${file} ${name}`.includes(wanted))
const verdicts: Verdict[] = []
let checked: Promise<void> | null = null
const wantedHunters = new Set(waiting.map(huntersOf))
const sound = (directory: string) => (checked ??= checkSound(directory, wantedHunters))
const lanes = Array.from({ length: Math.min(availableParallelism(), waiting.length) }, () =>
  lane(waiting, sound, (verdict) => {
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
