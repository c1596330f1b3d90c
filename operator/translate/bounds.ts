// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { canonicalYaml } from './canonical-yaml.ts'
import { valueOf } from './environment.ts'
import type { ReferenceData, Variable } from './reference-data.ts'
import type { RenderedConfig } from './rendered-config.ts'
import type { UpstreamPlan } from './router-document.ts'
import type { RunningForms } from './running-forms.ts'
import type { Steps } from './steps.ts'
import { writeUpstreams } from './stored-upstreams.ts'
import type { ConfigRefusal } from './violation.ts'

/** Linux starts no process with a variable of more than 32 pages: its name, `=`, its value and an end. */
const longestVariableBytes = 131_072

/** Linux takes a quarter of the stack, usually 2 MiB, for all variables and arguments. Others need some of it too. */
const mostVariablesBytes = 1_048_576

/** An object of Kubernetes has at most 1 MiB; the rest is for its metadata. */
const mostConfigBytes = 1_000_000

interface WithVariables {
  readonly variables: readonly Variable[]
}

/** Values that no process can have in its environment. */
export function refusalsOfVariables(
  { variables }: WithVariables,
  data: ReferenceData,
): readonly ConfigRefusal[] {
  return variables.flatMap((variable): readonly ConfigRefusal[] => {
    const why = valueOf(variable.secret, data)?.includes('\0')
      ? 'has a NUL byte in it, and no variable of a process can have one: is it the right key?'
      : tooLong(variable, data)
    if (why === null) return []
    const { name, key } = variable.secret
    return [
      { reason: 'InvalidSpec', field: '', message: `the key ${key} of the Secret ${name} ${why}` },
    ]
  })
}

function tooLong(variable: Variable, data: ReferenceData): string | null {
  const surplus = bytesOf(variable, data) - longestVariableBytes
  if (surplus <= 0) return null
  const most = longestVariableBytes - bytesOf({ ...variable, secret: nowhere }, data)
  return `has ${most + surplus} bytes, and a value takes ${most}: is it the right key?`
}

const nowhere = { name: '', key: '' }

function bytesOf({ name, secret }: Variable, data: ReferenceData): number {
  return Buffer.byteLength(`${name}=${valueOf(secret, data) ?? ''}`) + 1
}

/** The bytes of all that pods have in their environment because of these. */
function variablesBytes(parts: readonly WithVariables[], data: ReferenceData): number {
  return parts
    .flatMap(({ variables }) => variables)
    .reduce((sum, variable) => sum + bytesOf(variable, data), 0)
}

/** The bytes of the ConfigMap. */
function configBytes({ data }: Pick<RenderedConfig, 'data'>): number {
  return Object.entries(data)
    .flat()
    .reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

/** A config that no ConfigMap can hold, or whose values no process. */
export function refusalsOfSize(
  config: Pick<RenderedConfig, 'data' | 'variables'>,
  data: ReferenceData,
): readonly ConfigRefusal[] {
  return tooMuch(configBytes(config), variablesBytes([config], data))
}

function tooMuch(config: number, variables: number): readonly ConfigRefusal[] {
  const found: string[] = []
  if (config > mostConfigBytes)
    found.push(
      `the config has ${config} bytes, and a ConfigMap takes ${mostConfigBytes}: use fewer or shorter texts, or two routers`,
    )
  if (variables > mostVariablesBytes)
    found.push(
      `the values of Secrets have ${variables} bytes, and the environment of a pod takes ${mostVariablesBytes}: use fewer or shorter ones, or two routers`,
    )
  return found.map((message) => ({ reason: 'InvalidSpec', field: 'spec', message }))
}

/** What an upstream adds to the ConfigMap, a few bytes more at most, and to the environment of the pods. */
interface Size {
  readonly config: number
  readonly variables: number
}

const nothingStored = Buffer.byteLength(writeUpstreams([]))

function sizeOf(plan: UpstreamPlan, data: ReferenceData): Size {
  const { entry, copies } = plan
  const texts = [canonicalYaml([entry]), ...copies.flatMap(({ name, text }) => [name, text])]
  // Within the config, each of its lines is set in.
  const indents = texts[0]?.split('\n').length ?? 0
  const config = [writeUpstreams([plan]), ...texts].map((text) => Buffer.byteLength(text))
  return {
    config: sum(config) + 2 * indents - nothingStored,
    variables: variablesBytes([plan], data),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

/** Sizes of upstreams, each found once: so what is too much need not be written to be known as such. */
export class Sizes {
  readonly #running: RunningForms
  readonly #known = new Map<UpstreamPlan, Size>()

  constructor(running: RunningForms) {
    this.#running = running
  }

  /**
   * Those that have to go when there is too much of them, each with the reason: the largest first, of those that are new
   * or changed before the others, so that what pods run stays.
   *
   * @param base what there is besides them
   */
  *surplus(
    upstreams: readonly UpstreamPlan[],
    base: Pick<RenderedConfig, 'data' | 'variables'>,
    data: ReferenceData,
  ): Steps<ReadonlyMap<string, readonly ConfigRefusal[]>> {
    let config = configBytes(base)
    let variables = variablesBytes([base], data)
    const surplus = new Map<string, readonly ConfigRefusal[]>()
    if (tooMuch(config, variables).length > 0) return surplus
    for (const plan of upstreams) {
      const size = this.#of(plan)
      config += size.config
      variables += size.variables
      yield
    }
    if (tooMuch(config, variables).length === 0) return surplus
    for (const plan of this.inOrderOfGoing(upstreams)) {
      const [reason] = tooMuch(config, variables)
      if (reason === undefined) break
      surplus.set(plan.provider, [withIt(reason)])
      const size = this.#of(plan)
      config -= size.config
      variables -= size.variables
    }
    return surplus
  }

  inOrderOfGoing(upstreams: readonly UpstreamPlan[]): readonly UpstreamPlan[] {
    const ranked = upstreams.map((plan) => {
      const { config, variables } = this.#of(plan)
      return { plan, isRun: this.#running.isRun(plan), bytes: config + variables }
    })
    return ranked
      .toSorted((a, b) => Number(a.isRun) - Number(b.isRun) || b.bytes - a.bytes)
      .map(({ plan }) => plan)
  }

  #of(plan: UpstreamPlan): Size {
    const known = this.#known.get(plan) ?? sizeOf(plan, this.#running.dataFor(plan))
    this.#known.set(plan, known)
    return known
  }
}

/** The refusal of one that others have room without. */
export function withIt({ message, ...refusal }: ConfigRefusal): ConfigRefusal {
  return { ...refusal, message: `with it, ${message}` }
}
