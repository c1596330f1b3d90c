// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { toolHeader } from '../telemetry/admin-hosts.ts'
import { clean } from '../telemetry/format.ts'

const mostMs = 3_000
const nothingThere =
  'the admin address is not on: no router runs there, or its metrics-listen-address is another (name it with --at) or off'

/** Reads a page of an admin address, or returns a clause that says why not. Never rejects. */
export async function readPage(url: string) {
  try {
    const signal = AbortSignal.timeout(mostMs)
    const answer = await fetch(url, { signal, redirect: 'error', headers: { [toolHeader]: 'yes' } })
    const text = await answer.text()
    if (answer.ok) return { text, fault: null }
    const said = clean(text.trim().slice(0, 300))
    // A router without this page or call says so in plain text.
    const isText = answer.headers.get('content-type')?.startsWith('text/plain')
    if (answer.status === 404 && isText) return { text: null, fault: said }
    const other = `HTTP ${answer.status} (is it an admin address, 7779 by default?)`
    return { text: null, fault: `it answers with ${other}: ${said}` }
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException }
    if (cause?.code === 'ECONNREFUSED') return { text: null, fault: nothingThere }
    return { text: null, fault: `no answer: ${cause?.code ?? cause?.message ?? message}` }
  }
}
