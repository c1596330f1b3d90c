// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NativeProbe, NativeVerification } from '../native/schema.ts'
import { parsePath } from './schema.ts'
import type {
  CatalogCollection,
  CatalogCollectionData,
  CatalogDirective,
  CatalogVerification,
} from './schema.ts'

/** The probe that a directive describes; null if its request or answer is unsupported. */
export function convertProbe(
  directive: CatalogDirective,
  data: CatalogCollectionData,
  encoding?: NativeProbe['encoding'],
): NativeProbe | null {
  const result = resultPath(directive)
  const { function_template: template = '', api_name: name = '' } = directive
  if (result === null || (template === '' && name === '')) return null
  if (data.api_interface === 'rest') {
    const isPath = template.startsWith('/')
    if (data.type.toUpperCase() !== 'POST')
      return { path: isPath ? template : name, result, encoding }
    // A call with an empty body is a POST too.
    return { path: name || template, body: isPath ? '' : template, result, encoding }
  }
  if (data.api_interface === 'grpc') {
    const numbers = fieldNumbers.get(`${name} ${result.join('.')}`)
    // A template for a message is unsupported.
    return numbers === undefined || template !== ''
      ? null
      : { method: name, result: numbers, encoding }
  }
  return template === '' ? null : { path: data.internal_path, body: template, result, encoding }
}

/**
 * The catalog identifies fields of gRPC answers by name; on the wire they have numbers. These are
 * the fields that its probes need, by method and name.
 */
const fieldNumbers: ReadonlyMap<string, number[]> = new Map([
  ['cosmos.base.tendermint.v1beta1.Service/GetLatestBlock block.header.height', [2, 1, 3]],
  ['cosmos.base.tendermint.v1beta1.Service/GetNodeInfo defaultNodeInfo.network', [1, 4]],
  ['cosmos.base.tendermint.v1beta1.Service/GetNodeInfo defaultNodeInfo.other.txIndex', [1, 8, 1]],
  ['cosmos.base.node.v1beta1.Service/Config minimumGasPrice', [1]],
])

/** The path of the value below `result`; null if the parser is unsupported. */
function resultPath(directive: CatalogDirective): (string | number)[] | null {
  const generic = directive.parsers ?? []
  if (generic.length > 0) {
    // With several parsers, an error may be a correct answer.
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

/** Encoding of the block height in the answer to a directive. */
export function heightEncoding(directive: CatalogDirective): 'hex' | 'decimal' {
  const isEthereum = directive.api_name?.startsWith('eth_') ?? false
  return isEthereum || directive.result_parsing?.encoding === 'hex' ? 'hex' : 'decimal'
}

/**
 * Verifications of a collection, one per expected value, with the add-on of the URLs they apply to.
 * Omits those that compare with the latest block, need both an add-on and an extension, or expect
 * an error.
 */
export function convertVerification(
  { name, parse_directive: own, values = [] }: CatalogVerification,
  collection: CatalogCollection,
): { name: string; addon: string; verification: NativeVerification }[] {
  const data = collection.collection_data
  const directive =
    own?.function_template === undefined && own?.function_tag !== 'VERIFICATION'
      ? collection.parse_directives.find((each) => each.function_tag === own?.function_tag)
      : own
  const probe = directive === undefined ? null : convertProbe(directive, data)
  // The parser reads the error code that a REST node returns for an empty body.
  const wantsError = data.api_interface === 'rest' && probe?.result?.join() === 'code'
  if (probe === null || wantsError) return []
  return values.flatMap(({ extension = '', expected_value: expected, severity }) => {
    if (expected === undefined || (extension !== '' && data.add_on !== '')) return []
    const verification: NativeVerification = {
      ...probe,
      expected: expected === '*' ? undefined : expected,
      severity: severity === 'Warning' ? 'warn' : 'fail',
    }
    return [{ name, addon: extension || data.add_on, verification }]
  })
}
