// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

const unitsMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
}

/** `grpc-timeout` in milliseconds, such as `100m`, `5S`; null when it is not one. */
export function parseGrpcTimeout(text: string): number | null {
  const parts = /^(\d{1,8})([HMSmun])$/.exec(text)
  const unitMs = parts && unitsMs[parts[2] as string]
  return parts && unitMs !== undefined && unitMs !== null ? Number(parts[1]) * unitMs : null
}
