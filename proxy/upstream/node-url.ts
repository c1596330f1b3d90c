// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeUrlConfig } from '../config/types.ts'
import type { Cooldown } from './cooldown.ts'
import { SecretMask } from './secrets/mask.ts'
import type { SocketTransport, Transport } from './transport.ts'

/** One URL of an upstream, with what is known of it. The URLs of an upstream fail over among themselves. */
export class NodeUrl<Wire extends Transport = Transport> {
  /** The origin as the config file has it: safe to print. */
  readonly printable: string
  readonly transport: Wire
  readonly cooldown: Cooldown
  /** For what its node says and is passed on, save for results. */
  readonly mask: SecretMask
  readonly timeoutMs: number | null
  readonly skipVerifications: readonly string[]
  readonly declaredAddons: readonly string[]
  /** What it declares and has shown; one that its node turns out not to have is taken away. */
  addons: ReadonlySet<string>
  /** Declared ones that it could not be asked about yet: neither shown nor known to be missing. */
  openAddons: ReadonlySet<string> = new Set()
  /** Null until the first verification has come to an end. */
  verified: boolean | null = null
  /** The latest block that it reported since it was verified. */
  head: { readonly block: number; readonly atMs: number } | null = null
  /** How often it passed the verification that follows a jump of its head. */
  jumpsPassed = 0
  /** JSON-RPC: calls that one request to it may hold. */
  readonly maxBatch: number
  /** So many until then, on the clock's monotonic scale, since its node refused more. */
  smallerBatch: { readonly items: number; readonly untilMs: number } | null = null
  /** Where it serves the router's own questions that a node may serve at several paths. */
  readonly servedPaths = new Map<string, string>()
  /** Failures in a row; the URL with the fewest is asked first. */
  failures = 0
  /** By what it failed last: the fault or the answer itself, to know it again. */
  failedBy: WeakRef<object> | null = null
  /**
   * When it last answered anything or was found to be silent, on the clock's monotonic scale: what was
   * asked before says nothing new of its silence.
   */
  judgedMs = -Infinity

  constructor(config: NodeUrlConfig, transport: Wire, cooldown: Cooldown) {
    this.printable = config.url.toString()
    this.transport = transport
    this.cooldown = cooldown
    this.mask = new SecretMask(config)
    this.timeoutMs = config.timeoutMs
    this.maxBatch = config.maxBatch
    this.skipVerifications = config.skipVerifications
    this.declaredAddons = config.addons
    this.addons = new Set(config.addons)
  }

  /** May be asked now for a call that needs these add-ons. */
  serves(addons: readonly string[]): boolean {
    return !this.cooldown.active && this.isFor(addons)
  }

  /** The same, were it not in cooldown. */
  isFor(addons: readonly string[]): boolean {
    return this.verified === true && addons.every((addon) => this.addons.has(addon))
  }
}

/** One WebSocket URL of an upstream. */
export type SocketUrl = NodeUrl<SocketTransport>
