// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface, ProbeCall } from '../../proxy/chain/types.ts'
import { encode, type Fields } from '../upstream-sim/chains/protobuf.ts'

/** A node's answer to one of the router's own requests. */
export interface SpecAnswer {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** The head of every node built from a spec. */
export const specHead = 100

interface Draft {
  readonly headers: Record<string, string>
  root: unknown
}

type Branch = Record<string | number, unknown>

/**
 * Answers to a spec's probes that pass every verification and report a height, keyed by `keyOf` the
 * request.
 */
export function specAnswers({
  apiInterface,
  latestBlock,
  verifications,
}: ChainInterface): ReadonlyMap<string, SpecAnswer> {
  const drafts = new Map<string, Draft>()
  const add = (call: ProbeCall, value: string | null) => {
    const key = keyOf(call.verb, call.path, call.body ?? '')
    const draft = drafts.get(key) ?? { headers: {}, root: undefined }
    drafts.set(key, draft)
    const { path, header } = call.result
    if (header !== undefined) draft.headers[header] = value ?? '1'
    else draft.root = withValue(draft.root, path, value)
  }
  for (const { call, expected } of verifications) add(call, expected)
  if (latestBlock) {
    const isHex = latestBlock.result.encoding === 'hex'
    add(latestBlock, isHex ? `0x${specHead.toString(16)}` : `${specHead}`)
  }
  const bodyOf = (root: unknown = {}) => {
    if (apiInterface === 'grpc') return encode(root as Fields)
    if (apiInterface === 'rest') return Buffer.from(JSON.stringify(root))
    return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: root }))
  }
  return new Map(
    [...drafts].map(([key, { headers, root }]) => [key, { headers, body: bodyOf(root) }]),
  )
}

export function keyOf(verb: string, path: string, body: string): string {
  return `${verb} ${path === '' ? '/' : path} ${body}`
}

/** Sets a value at a path of `root`; null sets any value if the path is empty. */
function withValue(root: unknown, path: readonly (string | number)[], value: string | null) {
  const [key, ...below] = path
  if (key === undefined) return value ?? root ?? '1'
  const branch = (root ?? (typeof key === 'number' ? [] : {})) as Branch
  branch[key] = withValue(branch[key], below, value)
  return branch
}
