// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Problem } from '../config/problem.ts'
import type { RouterConfig } from '../config/types.ts'
import { readTls, TlsFileError } from '../upstream/wire/tls.ts'

/** Reads the TLS files that the upstreams name, and tells which cannot be used. */
export function checkTlsFiles(config: RouterConfig): readonly Problem[] {
  return config.upstreams.flatMap(({ name, nodeUrls }) =>
    nodeUrls.flatMap(({ tls }) => {
      try {
        readTls(tls)
        return []
      } catch (error) {
        if (!(error instanceof TlsFileError)) throw error
        const message = `upstream ${name}: ${error.message}`
        return [
          { severity: 'error' as const, path: '', line: null, column: null, message, hint: null },
        ]
      }
    }),
  )
}
