// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isMap, type JsonMap } from '../admission/fault.ts'

/** Why an object has no name that it could be judged by; null when it has one. */
export function nameFault({ metadata }: JsonMap): string | null {
  if (!isMap(metadata)) return 'metadata.name is missing'
  const { name, namespace, generateName } = metadata
  if (namespace !== undefined && namespace !== null && typeof namespace !== 'string')
    return 'metadata.namespace must be a text: put it in quotes'
  if (typeof name === 'string' && name !== '') return null
  if (name !== undefined && name !== null && name !== '')
    return 'metadata.name must be a text: put it in quotes'
  return generateName === undefined || generateName === null
    ? 'metadata.name is missing'
    : 'metadata.generateName gives a new name with each kubectl create, and kubectl apply does not take it: write metadata.name'
}
