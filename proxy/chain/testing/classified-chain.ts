// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'
import { loadCatalog } from '../load-catalog.ts'
import type { BlockPoint, BlockRef, BlockTag, Chain, MethodSpec } from '../types.ts'

/** A chain with shorthands that classify a call. */
export class ClassifiedChain {
  readonly chain: Chain

  constructor(chain: Chain) {
    this.chain = chain
  }

  /** @param sources as for `--use-static-spec`; by default the bundled specs */
  static async load(chainId: string, sources: readonly string[] = []): Promise<ClassifiedChain> {
    const chain = (await loadCatalog(sources)).find(chainId)
    if (chain === null) throw new Error(`no spec has ${chainId}`)
    return new ClassifiedChain(chain)
  }

  offered(apiInterface: ApiInterface) {
    const found = this.chain.interfaces.get(apiInterface)
    if (found === undefined) throw new Error(`${this.chain.id} has no ${apiInterface}`)
    return found
  }

  jsonrpc(method: string, params?: unknown): MethodSpec {
    return this.offered('jsonrpc').classify({ apiInterface: 'jsonrpc', method, params })
  }

  tendermint(method: string, params?: unknown): MethodSpec {
    return this.offered('tendermintrpc').classify({ apiInterface: 'tendermintrpc', method, params })
  }

  /** @param request `GET /blocks/5?pretty=true` */
  rest(request: string, headers: Readonly<Record<string, string>> = {}): MethodSpec {
    const [verb = '', target = ''] = request.split(' ')
    const [path = '', query = ''] = target.split('?')
    const header = (name: string) => headers[name] ?? null
    return this.offered('rest').classify({ apiInterface: 'rest', verb, path, query, header })
  }

  grpc(
    method: string,
    headers: Readonly<Record<string, string>> = {},
    message?: readonly number[],
  ): MethodSpec {
    const header = (name: string) => headers[name] ?? null
    const request = { apiInterface: 'grpc', method, header } as const
    return this.offered('grpc').classify(
      message === undefined ? request : { ...request, message: Uint8Array.from(message) },
    )
  }
}

/** A classification, with the request values that its checks read. */
export function readOut({ checks, ...request }: MethodSpec) {
  return { ...request, checks: checks.map(({ rule, wanted }) => ({ rule, wanted: wanted?.() })) }
}

export const none: BlockRef = { kind: 'none' }
export const invalid: BlockRef = { kind: 'invalid' }

export function tag(word: BlockTag): BlockPoint {
  return { kind: 'tag', tag: word }
}

export function height(number: number): BlockPoint {
  return { kind: 'number', number }
}

export function hash(text: string): BlockPoint {
  return { kind: 'hash', hash: text }
}

export function range(from: BlockPoint, to: BlockPoint): BlockRef {
  return { kind: 'range', from, to }
}
