// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Images of what names none of its own. */
export interface Images {
  readonly router: string
  readonly redis: string
}

/** What the children of a router are made of, its config apart. */
export interface BuildContext {
  readonly images: Images
  /** Kinds of the Prometheus operator that the cluster knows. */
  readonly monitors: ReadonlySet<string>
  /** The id of a chain, for an alias of it as well. */
  readonly chainIdOf: (chainId: string) => string
}
