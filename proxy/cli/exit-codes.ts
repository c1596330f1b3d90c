// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** What the process tells its caller when it ends. */
export const exitCodes = {
  /** Done; a stopped router answered every call that was in flight. */
  done: 0,
  /** It could not do its work: an address is taken, or calls were cut off at the end. */
  failed: 1,
  /** The command line or the config cannot be served as it is. */
  invalid: 2,
} as const
