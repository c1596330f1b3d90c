// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isUnbuilt } from '../../proxy/config/capabilities.ts'

/**
 * Whether the router of this version can share state. Until then a router that asks for it is refused by the config's own
 * parser, no Redis is run for one, and the operator asks for no rights to run any.
 */
export const canShareState = !isUnbuilt('shared-state')

/** A description that says so while the router does not do it yet. */
export function untilBuilt(key: string, description: string): string {
  return isUnbuilt(key)
    ? `${description} Not built yet: a router that asks for it is not accepted.`
    : description
}
