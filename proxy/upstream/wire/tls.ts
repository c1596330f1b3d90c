// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { whyUnreadable } from '../../config/problem.ts'
import { judgeTls, type TlsFault } from '../../config/tls-material.ts'
import type { TlsConfig } from '../../config/types.ts'

/** What Node's TLS wants of a client. */
export interface TlsOptions {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
}

/** A TLS file that cannot be used; the message names the file and the key of the config, the reason the file alone. */
export class TlsFileError extends Error {
  override readonly name = 'TlsFileError'
  readonly code = 'RPC_TLS_FILE'
  readonly key: TlsFault['key']
  readonly reason: string

  constructor(key: TlsFault['key'], reason: string, options?: ErrorOptions) {
    super(`tls.${key}: ${reason}`, options)
    this.key = key
    this.reason = reason
  }
}

/** Reads the PEM files of an upstream, once, at the start. @throws TlsFileError */
export function readTls(config: TlsConfig | null): TlsOptions {
  if (!config) return {}
  const options: TlsOptions = {
    ...(config.caFile && { ca: readPem('ca-file', config.caFile) }),
    ...(config.certFile && { cert: readPem('cert-file', config.certFile) }),
    ...(config.keyFile && { key: readPem('key-file', config.keyFile) }),
    ...(config.serverName && { servername: config.serverName }),
    ...(config.insecureSkipVerify && { rejectUnauthorized: false }),
  }
  const fault = judgeTls(options)
  if (fault === null) return options
  const path = {
    'ca-file': config.caFile,
    'cert-file': config.certFile,
    'key-file': config.keyFile,
  }
  throw new TlsFileError(fault.key, `${path[fault.key]} ${fault.message}`)
}

function readPem(key: TlsFault['key'], path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new TlsFileError(key, `${path} cannot be read: ${whyUnreadable(cause)}`, { cause })
  }
}
