// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** What `rpc-operator` can be asked to do, and the sentence that `--help` says about it. */
export const commands = {
  run: 'Reconcile RpcRouters and UpstreamProviders. The default.',
  render: 'Print what would be applied for the manifests of -f. Needs no cluster.',
  validate:
    'Judge the manifests of -f as the API server and the operator would. Exit code 0 or 2. Needs no cluster.',
  rbac: 'Print the service account of the operator and the RBAC rules that it needs.',
  version: 'Print the version.',
  help: 'Print this text.',
} as const
export type Command = keyof typeof commands

/** A flag of the command line. */
export interface Flag {
  /** The commands that take it. */
  readonly of: readonly Command[]
  /** What stands for the value in `--help`; null for a switch. */
  readonly valueName: string | null
  /** As one would write it; null when the flag is unset by default. */
  readonly default: string | null
  readonly repeatable: boolean
  readonly description: string
  /** Why a value cannot be taken, as a clause; null when it can. */
  readonly fault: (value: string) => string | null
}

const anything = () => null

function oneOf(...words: readonly string[]): Flag['fault'] {
  return (value) => (words.includes(value) ? null : `must be one of ${words.join(', ')}`)
}

function integer(least: number, most: number): Flag['fault'] {
  return (value) =>
    /^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most
      ? null
      : `must be an integer from ${least} to ${most}`
}

function matching(pattern: RegExp, wanted: string): Flag['fault'] {
  return (value) => (pattern.test(value) ? null : `must be ${wanted}`)
}

const dnsLabel = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?'
const dnsName = matching(
  new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`),
  'a name such as rpc-operator: lower-case letters, digits and dashes',
)
const namespaceList = matching(
  new RegExp(`^${dnsLabel}(?:,${dnsLabel})*$`),
  'namespaces separated by commas',
)

/** Every flag, once: parsing, `--help` and the reference follow from this table. */
export const flags = {
  namespaces: {
    of: ['run', 'rbac'],
    valueName: 'a,b',
    default: null,
    repeatable: true,
    description: 'Namespaces to watch, and no others. Unset: all of the cluster.',
    fault: namespaceList,
  },
  kubeconfig: {
    of: ['run'],
    valueName: 'path',
    default: null,
    repeatable: false,
    description: 'Kubeconfig file. Unset: KUBECONFIG, ~/.kube/config, or the pod that it runs in.',
    fault: anything,
  },
  context: {
    of: ['run'],
    valueName: 'name',
    default: null,
    repeatable: false,
    description: 'Context of the kubeconfig. Unset: the current one.',
    fault: anything,
  },
  'leader-elect': {
    of: ['run'],
    valueName: 'true|false',
    default: 'true',
    repeatable: false,
    description: 'Act only while holding the lease, so that several replicas can run.',
    fault: oneOf('true', 'false'),
  },
  'lease-namespace': {
    of: ['run', 'rbac'],
    valueName: 'name',
    default: null,
    repeatable: false,
    description:
      'Namespace of the lease. Unset: that of the pod; outside of one, rpc-router-system.',
    fault: dnsName,
  },
  'lease-name': {
    of: ['run', 'rbac'],
    valueName: 'name',
    default: null,
    repeatable: false,
    description:
      'Name of the lease. Operators that share it stand in for each other. Unset: rpc-router-operator, followed by the names of --namespaces.',
    fault: dnsName,
  },
  'listen-address': {
    of: ['run'],
    valueName: 'address',
    default: '0.0.0.0:8080',
    repeatable: false,
    description: 'Where /metrics, /livez and /readyz are served, or off.',
    fault: matching(/^(?:off|\[[0-9A-Fa-f:.]+\]:\d{1,5}|[^\s:/]*:\d{1,5})$/, 'host:port or off'),
  },
  'router-image': {
    of: ['run', 'render', 'validate'],
    valueName: 'image',
    default: null,
    repeatable: false,
    description: 'Image of routers whose spec names none. Unset: that of this version.',
    fault: matching(/^[^\s]{1,512}$/, 'an image reference'),
  },
  'redis-image': {
    of: ['run', 'render', 'validate'],
    valueName: 'image',
    default: null,
    repeatable: false,
    description: 'Image of managed Redis whose spec names none.',
    fault: matching(/^[^\s]{1,512}$/, 'an image reference'),
  },
  workers: {
    of: ['run'],
    valueName: 'n',
    default: '8',
    repeatable: false,
    description: 'Objects of one kind that are reconciled at once.',
    fault: integer(1, 256),
  },
  qps: {
    of: ['run'],
    valueName: 'n',
    default: '500',
    repeatable: false,
    description: 'Requests to the API server per second, in the long run; twice as many at once.',
    fault: integer(1, 10_000),
  },
  'log-level': {
    of: ['run'],
    valueName: 'level',
    default: 'info',
    repeatable: false,
    description: 'The least level that is logged: debug, info, warn, error.',
    fault: oneOf('debug', 'info', 'warn', 'error'),
  },
  filename: {
    of: ['render', 'validate'],
    valueName: 'path',
    default: null,
    repeatable: true,
    description:
      'Short: -f. A file of manifests, a directory with all below it, or - for standard input.',
    fault: anything,
  },
  namespace: {
    of: ['render', 'validate'],
    valueName: 'name',
    default: 'default',
    repeatable: false,
    description: 'Short: -n. Namespace of manifests that name none.',
    fault: dnsName,
  },
  'service-account': {
    of: ['rbac'],
    valueName: 'ns/name',
    default: 'rpc-router-system/rpc-router-operator',
    repeatable: false,
    description: 'Service account that is bound to the rules.',
    fault: matching(
      new RegExp(`^${dnsLabel}/${dnsLabel}(?:\\.${dnsLabel})*$`),
      'namespace/name of a service account',
    ),
  },
  output: {
    of: ['render', 'validate', 'rbac'],
    valueName: 'format',
    default: null,
    repeatable: false,
    description: 'Short: -o. yaml or json; validate: text or json.',
    fault: oneOf('yaml', 'json', 'text'),
  },
} as const satisfies Record<string, Flag>

export type FlagName = keyof typeof flags
export const flagNames = Object.keys(flags) as readonly FlagName[]

/** Short forms of flags, as kubectl has them. */
export const shortFlags: Readonly<Record<string, FlagName>> = {
  f: 'filename',
  n: 'namespace',
  o: 'output',
}
