// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { judgeTls } from '../../config/tls-material.ts'
import type { TlsConfig } from '../../config/types.ts'

/** What Node's TLS wants of a client. */
export interface TlsOptions {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
}

/** A TLS file that cannot be used; the message names the file and the key of the config. */
export class TlsFileError extends Error {
  override readonly name = 'TlsFileError'
  readonly code = 'RPC_TLS_FILE'
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
  throw new TlsFileError(`tls.${fault.key}: ${path[fault.key]} ${fault.message}`)
}

function readPem(key: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new TlsFileError(`tls.${key}: cannot read ${path}: ${code}`, { cause })
  }
}
