// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ProbeCall, ResultPath, Verification } from '../types.ts'
import { fieldNumbers } from './field-numbers.ts'
import { parsePath } from './parse-path.ts'
import type {
  CatalogCollection,
  CatalogCollectionData,
  CatalogDirective,
  CatalogVerification,
} from './schema.ts'

/** The probe that a directive describes; null when it cannot be asked or its answer not read. */
export function convertProbe(
  directive: CatalogDirective,
  data: CatalogCollectionData,
  encoding: ResultPath['encoding'],
): ProbeCall | null {
  const path = resultPath(directive)
  const { function_template: template = '', api_name: name = '' } = directive
  if (path === null || (template === '' && name === '')) return null
  const result: ResultPath = { path, encoding }
  if (data.api_interface === 'rest') {
    const isPath = template.startsWith('/')
    if (data.type.toUpperCase() === 'POST') {
      const body = isPath ? null : template || null
      return { verb: 'POST', path: name || template, body, result, timeoutMs: null }
    }
    const target = isPath ? template : name
    return { verb: 'GET', path: target, body: null, result, timeoutMs: null }
  }
  if (data.api_interface === 'grpc') {
    const numbers = fieldNumbers(name, path)
    // A message is never made of a template.
    if (numbers === null || template !== '') return null
    const inMessage = { path: numbers, encoding }
    return { verb: 'POST', path: `/${name}`, body: null, result: inMessage, timeoutMs: null }
  }
  if (template === '') return null
  return { verb: 'POST', path: data.internal_path, body: template, result, timeoutMs: null }
}

/** Where the answer stands below `result`; null when it is found in a way that is not read. */
function resultPath(directive: CatalogDirective): (string | number)[] | null {
  const generic = directive.parsers ?? []
  if (generic.length > 0) {
    // Several parsers mean that an error can be the right answer too.
    const [only, ...others] = generic
    if (only === undefined || others.length > 0) return null
    const [root, ...path] = parsePath(only.parse_path)
    return root === 'result' ? path : null
  }
  const { parser_func: kind = 'EMPTY', parser_arg: args = [] } = directive.result_parsing ?? {}
  if (kind === 'PARSE_BY_ARG' || kind === 'DEFAULT') return []
  if (kind === 'PARSE_CANONICAL') return args.slice(1).map(keyOrIndex)
  if (kind === 'PARSE_DICTIONARY' && args.length === 2) return args.slice(0, 1)
  return null
}

function keyOrIndex(step: string): string | number {
  return /^\d{1,9}$/.test(step) ? Number(step) : step
}

/** The encoding of a block's height in the answer to a directive. */
export function heightEncoding(directive: CatalogDirective): ResultPath['encoding'] {
  const ethereum = directive.api_name?.startsWith('eth_') ?? false
  return ethereum || directive.result_parsing?.encoding === 'hex' ? 'hex' : 'decimal'
}

/**
 * The verifications of a collection. Left out are those that compare with the latest block, need
 * an add-on and an extension at once, or take an error for an answer.
 */
export function convertVerifications(collection: CatalogCollection): Verification[] {
  return collection.verifications.flatMap((each) => convertVerification(each, collection))
}

/** It looks at the code of the error that a REST node answers to an empty body. */
function wantsError({ result }: ProbeCall, { api_interface: apiInterface }: CatalogCollectionData) {
  return apiInterface === 'rest' && result.path.join() === 'code'
}

function convertVerification(
  verification: CatalogVerification,
  collection: CatalogCollection,
): Verification[] {
  const data = collection.collection_data
  const named = verification.parse_directive
  const directive =
    named?.function_template === undefined && named?.function_tag !== 'VERIFICATION'
      ? collection.parse_directives.find((each) => each.function_tag === named?.function_tag)
      : named
  const call = directive === undefined ? null : convertProbe(directive, data, 'text')
  if (call === null || wantsError(call, data)) return []
  return (verification.values ?? []).flatMap((value) => {
    const { extension = '', expected_value: expected } = value
    if (expected === undefined || (extension !== '' && data.add_on !== '')) return []
    return [
      {
        name: verification.name,
        call,
        expected: expected === '*' ? null : expected,
        addon: extension || data.add_on || null,
        severity: value.severity === 'Warning' ? ('warn' as const) : ('fail' as const),
      },
    ]
  })
}
