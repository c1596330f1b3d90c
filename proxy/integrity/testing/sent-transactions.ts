// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

export interface SolanaTransactionOptions {
  readonly signatures?: number
  /** Default: one without a version. */
  readonly version?: number
  readonly dataBytes?: number
  /** The first byte of the first signature. */
  readonly first?: number
}

/** A transaction as it goes over Solana's wire, signed by nobody. */
export function solanaTransaction({
  signatures = 1,
  version,
  dataBytes = 5,
  first = 9,
}: SolanaTransactionOptions): Buffer {
  const isVersioned = version !== undefined
  const bytes = (length: number, value: number) => Buffer.alloc(length, value)
  // Seven bits in each byte, the lowest first.
  const count = (value: number) =>
    value < 0x80 ? Buffer.of(value) : Buffer.of((value & 0x7f) | 0x80, value >> 7)
  const signed = Array.from({ length: signatures }, (_, at) => bytes(64, at + 2))
  signed[0]?.writeUInt8(first, 0)
  const keys = Array.from({ length: signatures + 1 }, (_, at) => bytes(32, at + 20))
  const lookup = Buffer.concat([bytes(32, 40), Buffer.of(2, 0, 1, 1, 3)])
  return Buffer.concat([
    count(signatures),
    ...signed,
    ...(isVersioned ? [Buffer.of(0x80 | version)] : []),
    Buffer.of(signatures, 0, 1),
    count(keys.length),
    ...keys,
    bytes(32, 30),
    count(1),
    Buffer.of(signatures, 1, 0),
    count(dataBytes),
    bytes(dataBytes, 7),
    ...(isVersioned ? [count(1), lookup] : []),
  ])
}

export const paymentId = 'f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16'
export const payment =
  '0100000001c997a5e56e104102fa209c6a852dd90660a20b2d9c352423edce25857fcd37040000000048473044022' +
  '04e45e16932b8af514961a1d3a1a25fdf3f4f7732e9d624c6c61548ab5fb8cd410220181522ec8eca07de4860a4acdd' +
  '12909d831cc56cbbac4622082221a8768d1d0901ffffffff0200ca9a3b00000000434104ae1a62fe09c5f51b13905f0' +
  '7f06b99a2f7159b2225f374cd378d71302fa28414e7aab37397f554a7df5f142c21c1b7303b8a0626f1baded5c72a70' +
  '4f7e6cd84cac00286bee0000000043410411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909' +
  'a5cb2e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3ac00000000'

// One with a witness (BIP 141).
export const segwitId = 'f5864806e3565c34d1b41e716f72609d00b55ea5eac5b924c9719a842ef42206'
const segwitBody =
  '01595895ea20179de87052b4046dfe6fd515860505d6511a9004cf12a1f93cac7c0100000000ffffffff01deb8070000' +
  '00000017a9140f3444e271620c736808aa7b33e370bd87cb5a0787'
const witness =
  '02483045022100fb60dad8df4af2841adc0346638c16d0b8035f5e3f3753b88db122e70c79f9370220756e6633b17fd2' +
  '710e626347d28d60b0a2d6cbb41de51740644b9fb3ba7751040121028fa937ca8cba2197a37c007176ed8941055d3bcb' +
  '8627d085e94553e62f057dcc'
export const segwit = `020000000001${segwitBody}${witness}00000000`
