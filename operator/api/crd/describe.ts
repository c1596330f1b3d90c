// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { kubeYamlLine, needsQuotes, type YamlValue } from './kube-yaml.ts'

/** What the text of a field is made of. */
interface Described {
  readonly description?: string
  readonly example?: unknown
  readonly default?: unknown
}

/** The text of a field for `kubectl explain`: what it means, an example, the default. */
export function describe({ description = '', example, default: value }: Described): string {
  // kubectl explain shows neither examples nor defaults by itself.
  const shown = example !== undefined && !isSame(example, value)
  return [
    description,
    ...(shown ? [`Example: ${inline(example)}`] : []),
    ...(isScalar(value) ? [`Default: ${inline(value)}`] : []),
  ].join('\n')
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function isScalar(value: unknown): boolean {
  return value !== undefined && typeof value !== 'object'
}

/** One line of YAML; a text without quotes, as nothing stands around it, unless it would be no text without them. */
function inline(value: unknown): string {
  if (typeof value === 'string' && !needsQuotes(value)) return value
  return kubeYamlLine(value as YamlValue)
}
