// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { integrityLevels, logFormats, logLevels, strategies } from './settings.ts'

/*
 * The built config: validated, rendered and merged with the flags. It has every default filled in,
 * and durations in milliseconds. `schema.ts` defines the shape of the YAML.
 */

export type * from './build.ts'
export type { PolicyConfig } from './cross-validation.ts'
export { type Tier, tiers } from './entries.ts'
export type { Address } from './fields/address.ts'
export { type AgeClass } from './schema.ts'
export { type ApiInterface, apiInterfaces } from './fields/fields.ts'
export type { StoreConfig } from './store.ts'
export { integrityLevels, logLevels, logFormats, logVerifications, strategies } from './settings.ts'

/** A part of the config that a reload replaces. Read it for each call; never copy it. */
export interface Live<T> {
  readonly now: T
}

export type Strategy = (typeof strategies)[number]
export type IntegrityLevel = (typeof integrityLevels)[number]
export type LogLevel = (typeof logLevels)[number]
export type LogFormat = (typeof logFormats)[number]
