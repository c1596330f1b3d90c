// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainUse } from './chain-use.ts'
import type { Problem } from './problem.ts'
import type { ChainIdOf } from './serving.ts'
import type { LogFormat, LogLevel, RouterConfig } from './types.ts'
import type { Position } from './yaml-text.ts'

/** How the process logs: known even when the rest of the file is wrong. */
export interface LoggingConfig {
  readonly level: LogLevel
  readonly format: LogFormat
}

/** What came of a config file. Can be printed whole without telling a secret. */
export interface ParsedConfig {
  /** Null when there is at least one error among `problems`. */
  readonly config: RouterConfig | null
  readonly logging: LoggingConfig
  /** Errors and warnings, in the order of the file, save for those of `checkServing`. */
  readonly problems: readonly Problem[]
  /** What the file wants of chain specs, known even when something else in it is wrong. */
  readonly chainUses: readonly ChainUse[]
  /** Files, directories or URLs of chain specs; empty for the bundled ones. */
  readonly specSources: readonly string[]
  /** Where a place such as `endpoints[0].chain-id` stands; null when the file has no such place. */
  locate(path: string): Position | null
  /** What is wrong between listeners and upstreams, which only who knows the chains can tell. */
  checkServing(chainIdOf: ChainIdOf): readonly Problem[]
  /** Every value that must not be printed, for `createRedactor`. */
  secretValues(): readonly string[]
}

/** What a `ParsedConfig` is made of. */
export interface ParsedParts {
  readonly config: RouterConfig | null
  readonly logging: LoggingConfig
  readonly problems: readonly Problem[]
  readonly chainUses: readonly ChainUse[]
  readonly checkServing: (chainIdOf: ChainIdOf) => readonly Problem[]
  readonly specSources: readonly string[]
  readonly positions: ReadonlyMap<string, Position>
  readonly secretValues: readonly string[]
}

/** Makes a `ParsedConfig` whose secrets and positions no printer can reach. */
export function createParsedConfig(parts: ParsedParts): ParsedConfig {
  return new PrintableConfig(parts)
}

class PrintableConfig implements ParsedConfig {
  readonly config: RouterConfig | null
  readonly logging: LoggingConfig
  readonly problems: readonly Problem[]
  readonly chainUses: readonly ChainUse[]
  readonly specSources: readonly string[]
  readonly #checkServing: ParsedParts['checkServing']
  readonly #positions: ReadonlyMap<string, Position>
  readonly #secretValues: readonly string[]

  constructor(parts: ParsedParts) {
    this.config = parts.config
    this.logging = parts.logging
    this.problems = parts.problems
    this.chainUses = parts.chainUses
    this.specSources = parts.specSources
    this.#checkServing = parts.checkServing
    this.#positions = parts.positions
    this.#secretValues = parts.secretValues
  }

  locate(path: string): Position | null {
    return this.#positions.get(path) ?? null
  }

  checkServing(chainIdOf: ChainIdOf): readonly Problem[] {
    return this.#checkServing(chainIdOf)
  }

  secretValues(): readonly string[] {
    return this.#secretValues
  }
}
