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

/** Somebody else set fields of our objects in the moment in which we took them back. It will be tried again soon. */
export class ForeignFieldsError extends Error {
  readonly code = 'OP_FOREIGN_FIELDS'
  override readonly name = 'ForeignFieldsError'

  constructor(kind: string, name: string, managers: readonly string[]) {
    super(
      `fields of the ${kind} ${name} that the operator must own are set by ${managers.join(', ')}: they are taken back`,
    )
  }
}
