// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { extendSpec } from './native/extend.ts'
import type { NativeSpec } from './native/schema.ts'

/** The chain whose methods an EVM chain without a spec has, in lower case. */
export const anyEvmBase = 'eth1'

/** Key of a name, which like an id has no case: `Arbitrum One` becomes `arbitrum-one`. */
export function nameKey(text: string): string {
  return text.toLowerCase().replaceAll(/[ :]/g, '-')
}

/** The chain id in `evm:8453` or `EVM-8453`, as nodes report it: `0x2105`. Null in other texts. */
export function evmIdOf(text: string): string | null {
  const [, digits] = /^evm[:-]([1-9]\d{0,14})$/i.exec(text) ?? []
  return digits === undefined ? null : `0x${Number(digits).toString(16)}`
}

/** The same id in the text of a spec, in YAML or JSON. */
export function evmIdInText(text: string): string | undefined {
  return /chain-id"?:\s*\{\s*"?expected"?:\s*['"](0x[0-9a-f]+)/.exec(text)?.[1]
}

/** The chain id that the nodes of a chain report. */
export function evmIdIn({ interfaces }: NativeSpec): string | null {
  return interfaces?.jsonrpc?.verifications?.['chain-id']?.expected ?? null
}

/**
 * The spec of an EVM chain that has none. Its block time is a guess that suits most chains: a node
 * lags when it is 30 s behind, and only the tag `finalized` makes a block final.
 */
export function anyEvmSpec(base: NativeSpec, evmId: string): NativeSpec {
  const id = `EVM-${Number(evmId)}`
  const verifications = { 'chain-id': { expected: evmId } }
  return extendSpec(base, {
    ...{ id, name: `EVM chain ${Number(evmId)}`, 'block-time': '2s', 'allowed-lag': 15 },
    ...{ finality: 'finalized', interfaces: { jsonrpc: { verifications } } },
  })
}
