// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/**
 * The catalog names the fields of gRPC answers, and on the wire they are numbers. These are all that
 * its probes ask for, by method and the fields' names.
 */
const numbers: ReadonlyMap<string, readonly number[]> = new Map([
  ['cosmos.base.tendermint.v1beta1.Service/GetLatestBlock block.header.height', [2, 1, 3]],
  ['cosmos.base.tendermint.v1beta1.Service/GetNodeInfo defaultNodeInfo.network', [1, 4]],
  ['cosmos.base.tendermint.v1beta1.Service/GetNodeInfo defaultNodeInfo.other.txIndex', [1, 8, 1]],
  ['cosmos.base.node.v1beta1.Service/Config minimumGasPrice', [1]],
])

/** Null for fields whose numbers are not known. */
export function fieldNumbers(
  method: string,
  names: readonly (string | number)[],
): readonly number[] | null {
  return numbers.get(`${method} ${names.join('.')}`) ?? null
}
