// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** What the process tells its caller when it ends. The same numbers as the router's. */
export const exitCodes = {
  /** Done; a stopped operator gave its lease back. */
  done: 0,
  /** It could not do its work: no cluster in reach, an address is taken, the lease was lost. */
  failed: 1,
  /** The command line or the manifests cannot be used as they are. */
  invalid: 2,
} as const
