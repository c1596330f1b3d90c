// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { valueOf } from './environment.ts'
import type { ReferenceData, Variable } from './reference-data.ts'
import type { RenderedConfig } from './rendered-config.ts'
import type { UpstreamPlan } from './router-document.ts'
import type { RunningForms } from './running-forms.ts'
import type { Refusal } from './violation.ts'

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
export function refusalsOfLength(
  { variables }: WithVariables,
  data: ReferenceData,
): readonly Refusal[] {
  return variables
    .filter((variable) => bytesOf(variable, data) > longestVariableBytes)
    .map((variable) => {
      const { name, key } = variable.secret
      const most = longestVariableBytes - bytesOf({ ...variable, secret: nowhere }, data)
      const bytes = bytesOf(variable, data) - longestVariableBytes + most
      const message = `the key ${key} of the Secret ${name} has ${bytes} bytes, and a value takes ${most}: is it the right key?`
      return { reason: 'InvalidSpec', field: '', message }
    })
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
): readonly Refusal[] {
  const refusal = (message: string): Refusal => ({ reason: 'InvalidSpec', field: 'spec', message })
  const bytes = configBytes(config)
  const variables = variablesBytes([config], data)
  return [
    ...(bytes > mostConfigBytes
      ? [
          refusal(
            `the config has ${bytes} bytes, and a ConfigMap takes ${mostConfigBytes}: use fewer or shorter texts, or two routers`,
          ),
        ]
      : []),
    ...(variables > mostVariablesBytes
      ? [
          refusal(
            `the values of Secrets have ${variables} bytes, and the environment of a pod takes ${mostVariablesBytes}: use fewer or shorter ones, or two routers`,
          ),
        ]
      : []),
  ]
}

/**
 * The one that has to go when there is too much of them: the largest of those that are new or changed, so that what
 * pods run stays.
 */
export function largestOf(
  upstreams: readonly UpstreamPlan[],
  running: RunningForms,
): UpstreamPlan | null {
  const sizeOf = (plan: UpstreamPlan): number =>
    Buffer.byteLength(JSON.stringify(plan)) + variablesBytes([plan], running.dataFor(plan))
  const fresh = upstreams.filter((plan) => !running.isRun(plan))
  const blamed = fresh.length > 0 ? fresh : upstreams
  const [largest = null] = blamed.toSorted((a, b) => sizeOf(b) - sizeOf(a))
  return largest
}
