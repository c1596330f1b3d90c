// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { group } from '../api/group.ts'
import type { Endpoint, RpcRouter } from '../api/rpc-router.ts'
import { digest } from '../translate/object-names.ts'
import { type RenderedConfig, egressPorts, isPort } from '../translate/rendered-config.ts'

/** TCP ports of the pods with one config. */
export interface PodPorts {
  /** Ports for clients. */
  readonly listen: readonly number[]
  /** Ports that the pods connect to; `any` if one of them is in a Secret. */
  readonly egress: readonly number[] | 'any'
}

const listenAnnotation = `${group}/listen-ports`
const egressAnnotation = `${group}/egress-ports`

export function podPorts(router: RpcRouter, config: RenderedConfig): PodPorts {
  return { listen: config.openPorts, egress: egressPorts(router, config) }
}

/** Returns port annotations for pods, so that write access to ConfigMaps cannot open ports. */
export function portAnnotations({ listen, egress }: PodPorts): Readonly<Record<string, string>> {
  return {
    [listenAnnotation]: listen.join(','),
    [egressAnnotation]: egress === 'any' ? egress : egress.join(','),
  }
}

/** Parses the port annotations of pods. Pods without them may need any port. */
export function portsIn(annotations: Readonly<Record<string, string>> = {}): PodPorts {
  const egress = annotations[egressAnnotation]
  return {
    listen: numbers(annotations[listenAnnotation] ?? ''),
    egress: egress === undefined || egress === 'any' ? 'any' : numbers(egress),
  }
}

/** Merges the ports of several configs: the first in its order, then additions from the others. */
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

/** Together with a dash, a port name has at most 15 characters. */
const interfaceLength = 4
const hashLength = 10

/**
 * Names the ports of the pods after the chain and interface that they serve, because an endpoint's
 * name and number can change. So during a rollout, the Service finds the same listener in old and
 * new pods, never one of another chain.
 * @param chainIdOf returns the id of a chain, given its id or an alias
 * @returns one name per endpoint, in order
 */
export function listenerNames(
  endpoints: readonly Pick<Endpoint, 'chainId' | 'apiInterface'>[],
  chainIdOf: (chainId: string) => string,
): readonly string[] {
  const counts = new Map<string, number>()
  return endpoints.map(({ chainId, apiInterface }) => {
    const served = `${chainIdOf(chainId).toUpperCase()} ${apiInterface}`
    const before = counts.get(served) ?? 0
    counts.set(served, before + 1)
    const hash = digest([served, String(before)]).slice(0, hashLength)
    return `${apiInterface.slice(0, interfaceLength)}-${hash}`
  })
}
