// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

export interface GoProgram {
  /** Its folder under `../modules`, which pins its version and those of its dependencies. */
  readonly module: string
  /** The package of its `main`. */
  readonly source: string
  /** Whether a C compiler is needed. */
  readonly usesC: boolean
  /** Files of its modules that are copied. */
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

const plain = (module: string, source: string): GoProgram => ({
  ...{ module, source, usesC: false, files: [] },
})

/** The programs that are built from Go modules. */
export const goPrograms = {
  btcd: plain('btcd', 'github.com/btcsuite/btcd'),
  btcctl: plain('btcd', 'github.com/btcsuite/btcd/cmd/btcctl'),
  grpcurl: plain('grpcurl', 'github.com/fullstorydev/grpcurl/cmd/grpcurl'),
  'grpc-interop-client': plain('interop', 'google.golang.org/grpc/interop/client'),
  'grpc-interop-server': plain('interop', 'google.golang.org/grpc/interop/server'),
  h2spec: plain('h2spec', 'github.com/summerwind/h2spec/cmd/h2spec'),
  geth: plain('geth', 'github.com/ethereum/go-ethereum/cmd/geth'),
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
} satisfies Readonly<Record<string, GoProgram>>

export type GoProgramName = keyof typeof goPrograms

/** Programs that build in a minute or two without a C compiler: their suites are part of `make test`. */
export const quickPrograms = [
  'btcd',
  'btcctl',
  'grpc-interop-client',
  'grpc-interop-server',
  'h2spec',
] as const satisfies readonly GoProgramName[]
