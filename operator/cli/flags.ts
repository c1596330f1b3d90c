// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** Commands of `rpc-operator`, with their descriptions in `--help`. */
export const commands = {
  run: 'Reconcile RpcRouters and UpstreamProviders. The default.',
  render: 'Print the objects for the manifests of -f. Needs no cluster.',
  validate:
    'Validate the manifests of -f by their schema and like the operator. Exit code 0 or 2. Needs no cluster.',
  rbac: 'Print the service account of the operator and the RBAC rules that it needs.',
  version: 'Print the version.',
  help: 'Print this text.',
} as const
export type Command = keyof typeof commands

/** A flag of the command line. */
interface Flag {
  /** Placeholder of the value in `--help`. */
  readonly valueName: string
  readonly description: string
  /** Commands that accept the flag. */
  readonly of: readonly Command[]
  /** Returns what is wrong with a value, as a clause; null if valid. */
  readonly fault: (value: string) => string | null
  /** Default value; null if unset by default. */
  readonly default: string | null
  readonly repeatable: boolean
  /** A single letter, as in kubectl. */
  readonly short: string | null
}

function flag(
  valueName: string,
  description: string,
  options: Pick<Flag, 'of'> & Partial<Flag>,
): Flag {
  const usual = { fault: () => null, default: null, repeatable: false, short: null }
  return { valueName, description, ...usual, ...options }
}

function oneOf(...words: readonly string[]): Flag['fault'] {
  return (value) => (words.includes(value) ? null : `must be one of ${words.join(', ')}`)
}

function integer(least: number, most: number): Flag['fault'] {
  return (value) =>
    /^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most
      ? null
      : `must be an integer from ${least} to ${most}`
}

function matching(pattern: RegExp | string, wanted: string): Flag['fault'] {
  return (value) => (new RegExp(pattern).test(value) ? null : `must be ${wanted}`)
}

const dnsLabel = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?'
const dnsName = matching(
  `^${dnsLabel}(?:\\.${dnsLabel})*$`,
  'a name such as rpc-operator: lower-case letters, digits and dashes',
)
const imageName = matching(/^[^\s]{1,512}$/, 'an image reference')

/** The single source of flags for parsing and `--help`. */
export const flags = {
  namespaces: flag('a,b', 'Namespaces to watch. Unset: the whole cluster.', {
    of: ['run', 'rbac'],
    fault: matching(`^${dnsLabel}(?:,${dnsLabel})*$`, 'namespaces separated by commas'),
    repeatable: true,
  }),
  kubeconfig: flag(
    'path',
    'Kubeconfig file. Unset: KUBECONFIG, ~/.kube/config, or the service account of the pod.',
    { of: ['run'] },
  ),
  context: flag('name', 'Context of the kubeconfig. Unset: the current one.', { of: ['run'] }),
  'leader-elect': flag(
    'true|false',
    'Act only while holding the lease, so that several replicas can run.',
    { of: ['run'], fault: oneOf('true', 'false'), default: 'true' },
  ),
  'lease-namespace': flag(
    'name',
    'Namespace of the lease. Unset: that of the pod; outside a pod, rpc-router-system.',
    { of: ['run', 'rbac'], fault: dnsName },
  ),
  'lease-name': flag(
    'name',
    'Name of the lease. Of the operators that share it, one leads and the others wait. Unset: rpc-router-operator, followed by the names of --namespaces.',
    { of: ['run', 'rbac'], fault: dnsName },
  ),
  'listen-address': flag('address', 'Address of /metrics, /livez and /readyz, or off.', {
    of: ['run'],
    fault: matching(/^(?:off|\[[0-9A-Fa-f:.]+\]:\d{1,5}|[^\s:/]*:\d{1,5})$/, 'host:port or off'),
    default: '0.0.0.0:8080',
  }),
  'router-image': flag(
    'image',
    'Image of routers whose spec has none. Unset: the one of this version.',
    { of: ['run', 'render', 'validate'], fault: imageName },
  ),
  'redis-image': flag('image', 'Image of managed Redis whose spec has none.', {
    of: ['run', 'render', 'validate'],
    fault: imageName,
  }),
  'image-pull-secrets': flag(
    'a,b',
    'Image pull secrets of routers, and of their managed Redis, whose spec has none. They must exist in the namespace of each router.',
    {
      of: ['run', 'render', 'validate'],
      fault: matching(`^${dnsLabel}(?:[.,]${dnsLabel})*$`, 'names of Secrets separated by commas'),
    },
  ),
  'allow-link-local': flag(
    'true|false',
    'Allow upstreams at link-local addresses (169.254.0.0/16, fe80::/10), where clouds serve credentials.',
    { of: ['run', 'render', 'validate'], fault: oneOf('true', 'false'), default: 'false' },
  ),
  'observe-pods': flag(
    'true|false',
    'Observe the state of upstreams at port 7779 of router pods, for the condition Healthy. Unset: true in a pod.',
    { of: ['run'], fault: oneOf('true', 'false') },
  ),
  workers: flag('n', 'Objects of one kind reconciled concurrently.', {
    of: ['run'],
    fault: integer(1, 256),
    default: '8',
  }),
  'max-rolling-routers': flag(
    'n',
    'RpcRouters that may replace their pods at a time; the others wait. First pods do not count.',
    { of: ['run'], fault: integer(1, 10_000), default: '3' },
  ),
  qps: flag('n', 'Sustained requests per second to the API server; the burst is twice as high.', {
    of: ['run'],
    fault: integer(1, 10_000),
    default: '500',
  }),
  'log-level': flag('level', 'Minimum log level: debug, info, warn, error.', {
    of: ['run'],
    fault: oneOf('debug', 'info', 'warn', 'error'),
    default: 'info',
  }),
  filename: flag(
    'path',
    'Short: -f. A manifest file, a directory (recursive), or - for standard input.',
    { of: ['render', 'validate'], repeatable: true, short: 'f' },
  ),
  namespace: flag('name', 'Short: -n. Namespace of manifests without one.', {
    of: ['render', 'validate'],
    fault: dnsName,
    default: 'default',
    short: 'n',
  }),
  'service-account': flag('ns/name', 'Service account for the rules.', {
    of: ['rbac'],
    fault: matching(
      `^${dnsLabel}/${dnsLabel}(?:\\.${dnsLabel})*$`,
      'namespace/name of a service account',
    ),
    default: 'rpc-router-system/rpc-router-operator',
  }),
  'managed-redis': flag(
    'true|false',
    'Allow the operator to write Secrets and StatefulSets, as `mode: Managed` of a store needs.',
    { of: ['rbac'], fault: oneOf('true', 'false'), default: 'false' },
  ),
  monitors: flag(
    'true|false',
    'Allow the operator to write PodMonitors and ServiceMonitors of the Prometheus Operator.',
    { of: ['rbac'], fault: oneOf('true', 'false'), default: 'false' },
  ),
  output: flag('format', 'Short: -o. yaml or json; validate: text or json.', {
    of: ['render', 'validate', 'rbac'],
    fault: oneOf('yaml', 'json', 'text'),
    short: 'o',
  }),
}

export type FlagName = keyof typeof flags
export const flagNames = Object.keys(flags) as readonly FlagName[]

/** Returns the text of `rpc-operator --help`. */
export function helpText(): string {
  return `rpc-operator: runs RPC routers on Kubernetes from RpcRouter and UpstreamProvider objects.

Usage:
  rpc-operator [flags]                    reconcile, against the current kubeconfig or in the cluster
  rpc-operator render -f router.yaml      print the objects to apply
  rpc-operator validate -f manifests/     validate manifests, for CI
  rpc-operator rbac | kubectl apply -f -  install the account and RBAC rules

Commands:
${Object.entries(commands)
  .map(([name, sentence]) => `  ${name.padEnd(10)}${sentence}`)
  .join('\n')}

${flagSection('run', 'run')}

${flagSection('render', 'render and validate')}

${flagSection('rbac', 'rbac')}

Exit codes: 0 done, 1 failed, 2 the command line or a manifest is wrong.
`
}

function flagSection(command: Command, title: string): string {
  const taken = flagNames.filter((name) => flags[name].of.includes(command))
  return [`Flags of ${title}:`, ...taken.map(flagLine)].join('\n')
}

function flagLine(name: FlagName): string {
  const { valueName, description, short, repeatable, default: usual } = flags[name]
  const written = `${short === null ? '' : `-${short}, `}--${name} <${valueName}>`
  const fallback = usual === null ? '' : ` Default: ${usual}.`
  return `  ${written.padEnd(32)}${description}${fallback}${repeatable ? ' Repeatable.' : ''}`
}
