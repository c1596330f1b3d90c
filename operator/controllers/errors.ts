// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** An object of a name that is needed belongs to somebody else. */
export class NameConflictError extends Error {
  readonly code = 'OP_NAME_CONFLICT'
  override readonly name = 'NameConflictError'

  constructor(kind: string, name: string) {
    super(
      `a ${kind} named ${name} exists and does not belong to this RpcRouter: it is not touched. Delete it, or rename the router.`,
    )
  }
}

/** An object of a name that is needed is on its way out. It will be asked for again soon. */
export class StillThereError extends Error {
  readonly code = 'OP_STILL_THERE'
  override readonly name = 'StillThereError'

  constructor(kind: string, name: string) {
    super(`the ${kind} ${name} of an earlier RpcRouter of this name is still being deleted`)
  }
}
