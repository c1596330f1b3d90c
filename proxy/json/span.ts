// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Bytes of a longer text, from `start` up to but without `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}
