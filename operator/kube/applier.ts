// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeClient } from './client.ts'
import { isConflict } from './errors.ts'
import type { KubeObject } from './object.ts'
import type { Resource } from './resource.ts'

export interface ApplierOptions {
  readonly client: Pick<KubeClient, 'apply'>
  /** Who owns the fields of objects: `rpc-router-operator`. */
  readonly fieldManager: string
  /** Who owns the fields of statuses: another, so that neither gives up what the other set. */
  readonly statusManager: string
}

/**
 * Writes the full intent for an object by server-side apply, by force: what we say holds, and what we
 * no longer say is given up. Nothing is read first. The same intent again changes nothing.
 */
export class Applier {
  readonly #options: ApplierOptions

  constructor(options: ApplierOptions) {
    this.#options = options
  }

  /** Gives back the object as it then is. */
  apply<T extends KubeObject>(resource: Resource<T>, object: T, signal: AbortSignal): Promise<T> {
    const { client, fieldManager } = this.#options
    return client.apply(resource, object, { fieldManager, force: true }, signal)
  }

  /**
   * The same for an object that is not there yet; null when one of its name is, and then nothing is written. One request
   * where a look and a write would be two, with time between them.
   */
  async applyNew<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    signal: AbortSignal,
  ): Promise<T | null> {
    const metadata = { ...object.metadata, resourceVersion: versionOfNothing }
    try {
      return await this.apply(resource, { ...object, metadata }, signal)
    } catch (error) {
      if (isConflict(error)) return null
      throw error
    }
  }

  /**
   * Applies to the status alone: `object` needs apiVersion, kind, name, namespace and `status`. With
   * a `metadata.uid` it is refused for another object of the same name.
   */
  applyStatus<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    signal: AbortSignal,
  ): Promise<T> {
    const { client, statusManager: fieldManager } = this.#options
    return client.apply(
      resource,
      object,
      { fieldManager, force: true, subresource: 'status' },
      signal,
    )
  }
}

/**
 * The version of an empty etcd. A write that names a version is refused for an object of another one, and all have later
 * ones; where there is no object, the API server makes it whatever the version.
 */
const versionOfNothing = '1'
