// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

const timeoutMs = 5_000

export async function getPage(page: string): Promise<string> {
  return (await fetch(page, { signal: AbortSignal.timeout(timeoutMs) })).text()
}

/** The series of a metric, each with its labels and its value. */
export function metricValues(page: string, name: string) {
  const lines = page.split('\n').filter((line) => line.startsWith(`${name}{`))
  return lines.map((line) => ({
    labels: Object.fromEntries(
      [...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', text = '']) => [label, text]),
    ),
    value: Number(line.slice(line.lastIndexOf(' ') + 1)),
  }))
}
