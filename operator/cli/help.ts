// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Command, commands, type Flag, flagNames, flags } from './flags.ts'

const shorts = new Map([
  ['filename', '-f, '],
  ['namespace', '-n, '],
  ['output', '-o, '],
])

/** What `rpc-operator --help` prints. */
export function helpText(): string {
  return `rpc-operator: runs RPC routers on Kubernetes from RpcRouter and UpstreamProvider objects.

Usage:
  rpc-operator [flags]                    reconcile, against the current kubeconfig or in the cluster
  rpc-operator render -f router.yaml      print what would be applied
  rpc-operator validate -f manifests/     judge manifests, for CI
  rpc-operator rbac | kubectl apply -f -  install its account and rules

Commands:
${Object.entries(commands)
  .map(([name, sentence]) => `  ${name.padEnd(10)}${sentence}`)
  .join('\n')}

${(['run', 'render', 'rbac'] as const).map(flagSection).join('\n\n')}

Exit codes: 0 done, 1 failed, 2 the command line or a manifest is wrong.
`
}

const titles: Readonly<Partial<Record<Command, string>>> = {
  run: 'Flags of run:',
  render: 'Flags of render and validate:',
  rbac: 'Flags of rbac:',
}

function flagSection(command: Command): string {
  const lines = flagNames
    .filter((name) => (flags[name] as Flag).of.includes(command))
    .map((name) => flagLine(name, flags[name]))
  return [titles[command], ...lines].join('\n')
}

function flagLine(name: string, flag: Flag): string {
  const written = `${shorts.get(name) ?? ''}--${name} <${flag.valueName}>`
  const fallback = flag.default === null ? '' : ` Default: ${flag.default}.`
  const many = flag.repeatable ? ' Repeatable.' : ''
  return `  ${written.padEnd(32)}${flag.description}${fallback}${many}`
}
