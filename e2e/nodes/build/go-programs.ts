// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** The programs that are built from Go modules; their versions stand in `../modules/NAME/go.mod`. */
export const goPrograms = {
  btcd: { module: 'btcd', source: 'github.com/btcsuite/btcd', usesC: false },
  btcctl: { module: 'btcd', source: 'github.com/btcsuite/btcd/cmd/btcctl', usesC: false },
  grpcurl: {
    module: 'grpcurl',
    source: 'github.com/fullstorydev/grpcurl/cmd/grpcurl',
    usesC: false,
  },
  geth: { module: 'geth', source: 'github.com/ethereum/go-ethereum/cmd/geth', usesC: false },
  wasmd: { module: 'wasmd', source: 'github.com/CosmWasm/wasmd/cmd/wasmd', usesC: true },
} as const satisfies Readonly<Record<string, GoProgram>>

export interface GoProgram {
  /** Its folder under `../modules`. */
  readonly module: string
  /** The package of its `main`. */
  readonly source: string
  /** Whether a C compiler is needed. */
  readonly usesC: boolean
}

export type GoProgramName = keyof typeof goPrograms
