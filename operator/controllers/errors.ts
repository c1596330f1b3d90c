// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Contenders } from './foreign-fields.ts'

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

  /**
   * @param owner whose object it is: this router's own, which somebody deleted, or one that an earlier router of the same
   *   name left
   * @param finalizers what it waits for, if it does
   */
  constructor(
    kind: string,
    name: string,
    owner: 'this' | 'earlier',
    finalizers: readonly string[] = [],
  ) {
    const whose = owner === 'this' ? 'this RpcRouter' : 'an earlier RpcRouter of this name'
    const held = finalizers.length === 0 ? '' : `, held by its finalizers: ${finalizers.join(', ')}`
    super(`the ${kind} ${name} of ${whose} is still being deleted${held}`)
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

/** Somebody else goes on setting fields of our objects. They are as they should be, until the next time. */
export class FieldsContestedError extends Error {
  readonly code = 'OP_FIELDS_CONTESTED'
  override readonly name = 'FieldsContestedError'
  /** How long it stands when nothing more is put back. */
  readonly leftMs: number

  constructor(kind: string, name: string, { managers, isCount }: Contenders, leftMs: number) {
    const fields = isCount ? 'spec.replicas' : 'fields that the operator must own'
    const others = managers.map((manager) => (isCount ? countWriter(manager) : manager))
    super(
      `${fields} of the ${kind} ${name}: set again and again by ${others.join(', ')}, and put back each time`,
    )
    this.leftMs = leftMs
  }
}

/** The name by which a HorizontalPodAutoscaler writes tells few people what it is. */
function countWriter(manager: string): string {
  return manager === 'kube-controller-manager' ? `a HorizontalPodAutoscaler (${manager})` : manager
}
