// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

export interface GoProgram {
  /** Folder under `../modules` that pins the versions of the program and its dependencies. */
  readonly module: string
  readonly source: string
  /** Whether the build needs a C compiler. */
  readonly usesC: boolean
  /** Files of its modules to copy. */
  readonly files: readonly ModuleFile[]
}

/** A file inside a Go module. */
export interface ModuleFile {
  readonly module: string
  readonly path: string
  readonly to: string
}

/** wasmd's contract VM is a prebuilt library. */
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

/** Programs that build within two minutes without a C compiler. `make test` runs their suites. */
export const quickPrograms = [
  'btcd',
  'btcctl',
  'grpc-interop-client',
  'grpc-interop-server',
  'h2spec',
] as const satisfies readonly GoProgramName[]
