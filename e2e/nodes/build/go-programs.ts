// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

export interface GoProgram {
  /** Its folder under `../modules`, where its version and those of all it needs are pinned. */
  readonly module: string
  /** The package of its `main`. */
  readonly source: string
  /** Whether a C compiler is needed. */
  readonly usesC: boolean
  /** What is taken from its modules as it is. */
  readonly files: readonly ModuleFile[]
}

/** A file that comes inside a Go module. */
export interface ModuleFile {
  readonly module: string
  /** Its path in that module. */
  readonly path: string
  /** Its place in the cache. */
  readonly to: string
}

/** wasmd's VM for contracts comes as a library, ready-made. */
const vmLibrary =
  process.platform === 'darwin'
    ? 'libwasmvm.dylib'
    : `libwasmvm.${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so`

/** A small contract, for queries and for events. */
export const contractFile = 'share/hackatom.wasm'

/** The programs that are built from Go modules. */
export const goPrograms = {
  btcd: { module: 'btcd', source: 'github.com/btcsuite/btcd', usesC: false, files: [] },
  btcctl: {
    module: 'btcd',
    source: 'github.com/btcsuite/btcd/cmd/btcctl',
    usesC: false,
    files: [],
  },
  grpcurl: {
    module: 'grpcurl',
    source: 'github.com/fullstorydev/grpcurl/cmd/grpcurl',
    usesC: false,
    files: [],
  },
  'grpc-interop-client': {
    module: 'interop',
    source: 'google.golang.org/grpc/interop/client',
    usesC: false,
    files: [],
  },
  'grpc-interop-server': {
    module: 'interop',
    source: 'google.golang.org/grpc/interop/server',
    usesC: false,
    files: [],
  },
  h2spec: {
    module: 'h2spec',
    source: 'github.com/summerwind/h2spec/cmd/h2spec',
    usesC: false,
    files: [],
  },
  geth: {
    module: 'geth',
    source: 'github.com/ethereum/go-ethereum/cmd/geth',
    usesC: false,
    files: [],
  },
  wasmd: {
    module: 'wasmd',
    source: 'github.com/CosmWasm/wasmd/cmd/wasmd',
    usesC: true,
    files: [
      {
        module: 'github.com/CosmWasm/wasmvm/v3',
        path: `internal/api/${vmLibrary}`,
        to: `bin/${vmLibrary}`,
      },
      {
        module: 'github.com/CosmWasm/wasmd',
        path: 'x/wasm/keeper/testdata/hackatom.wasm',
        to: contractFile,
      },
    ],
  },
} as const satisfies Readonly<Record<string, GoProgram>>

export type GoProgramName = keyof typeof goPrograms

/** Those that are built in a minute or two, without a C compiler: their suites are part of `make test`. */
export const quickPrograms = [
  'btcd',
  'btcctl',
  'grpc-interop-client',
  'grpc-interop-server',
  'h2spec',
] as const satisfies readonly GoProgramName[]
