// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { group } from '../api/group.ts'
import type { Endpoint, RpcRouter } from '../api/rpc-router.ts'
import { digest } from '../translate/object-names.ts'
import { type RenderedConfig, egressPorts, isPort } from '../translate/rendered-config.ts'

/** The TCP ports of the pods of one config. */
export interface PodPorts {
  /** By which clients reach them. */
  readonly listen: readonly number[]
  /** To which they connect; `any` when one of them is in a Secret. */
  readonly egress: readonly number[] | 'any'
}

const listenAnnotation = `${group}/listen-ports`
const egressAnnotation = `${group}/egress-ports`

export function podPorts(router: RpcRouter, config: RenderedConfig): PodPorts {
  return { listen: config.openPorts, egress: egressPorts(router, config) }
}

/**
 * Annotations of pods: the ports that they listen on and connect to. They are not in the ConfigMap: users without the
 * right to open ports may write ConfigMaps.
 */
export function portAnnotations({ listen, egress }: PodPorts): Readonly<Record<string, string>> {
  return {
    [listenAnnotation]: listen.join(','),
    [egressAnnotation]: egress === 'any' ? egress : egress.join(','),
  }
}

/** The ports in the annotations of pods. Pods without these annotations may need any. */
export function portsIn(annotations: Readonly<Record<string, string>> = {}): PodPorts {
  const egress = annotations[egressAnnotation]
  return {
    listen: numbers(annotations[listenAnnotation] ?? ''),
    egress: egress === undefined || egress === 'any' ? 'any' : numbers(egress),
  }
}

/** What pods of any of the configs need: the first in its order, then what the others add. */
export function unitePorts(first: PodPorts, others: readonly PodPorts[]): PodPorts {
  const listen = [first, ...others].flatMap((ports) => ports.listen)
  const egress = [first, ...others].map((ports) => ports.egress)
  const added = [...new Set(listen.slice(first.listen.length))].toSorted((a, b) => a - b)
  return {
    listen: [...new Set([...first.listen, ...added])],
    egress: egress.includes('any')
      ? 'any'
      : [...new Set((egress as readonly (readonly number[])[]).flat())].toSorted((a, b) => a - b),
  }
}

function numbers(text: string): readonly number[] {
  return text.split(',').map(Number).filter(isPort)
}

/** A name of a port has 15 characters at most. */
const interfaceLength = 4
const hashLength = 10

/**
 * What the ports of the pods are called: by what is served there, and not by the endpoint's name or number, which can
 * change. So the Service finds the listener in old pods as well as in new ones while a rollout goes on, and never
 * that of another chain.
 *
 * @param chainIdOf the id of a chain, for an alias of it as well
 * @returns a name for each endpoint, in their order
 */
export function listenerNames(
  endpoints: readonly Pick<Endpoint, 'chainId' | 'apiInterface'>[],
  chainIdOf: (chainId: string) => string,
): readonly string[] {
  const seen = new Map<string, number>()
  return endpoints.map(({ chainId, apiInterface }) => {
    const served = `${chainIdOf(chainId).toUpperCase()} ${apiInterface}`
    const before = seen.get(served) ?? 0
    seen.set(served, before + 1)
    const hash = digest([served, String(before)]).slice(0, hashLength)
    return `${apiInterface.slice(0, interfaceLength)}-${hash}`
  })
}
