// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments, stringify } from 'yaml'
import packageJson from '../../../package.json' with { type: 'json' }
import {
  rpcRouterDefinition,
  upstreamProviderDefinition,
} from '../../../operator/api/crd/definition.ts'
import { rpcRouterSchema } from '../../../operator/api/rpc-router.ts'
import { upstreamProviderSchema } from '../../../operator/api/upstream-provider.ts'
import { imagesOf, parseCommandLine } from '../../../operator/cli/command-line.ts'
import { rbacManifests } from '../../../operator/rbac/rules.ts'
import { helm, printed, run } from '../kubectl.ts'

/*
 * Rendering of the chart, without a cluster.
 */

const root = join(import.meta.dirname, '../../..')
const chart = join(root, 'charts/rpc-router')
const valuesFiles = globSync(join(chart, 'ci/*-values.yaml')).toSorted()
const read = (path: string) => readFileSync(join(chart, path), 'utf8')

interface Rendered {
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly annotations?: object
    readonly labels?: object
  }
  readonly [part: string]: any
}

const release = ['template', 'rpc-router', chart, '--namespace', 'rpc-router-system']
const template = (...args: string[]) => printed(helm([...release, ...args]))
const render = async (...args: string[]) => objectsOf(await template(...args))

function objectsOf(text: string): readonly Rendered[] {
  const documents = parseAllDocuments(text)
  // Parse errors include duplicate keys.
  expect(documents.flatMap(({ errors }) => errors)).toEqual([])
  return documents.map((document) => document.toJS() as Rendered | null).filter((it) => it !== null)
}

function only(objects: readonly Rendered[], kind: string): Rendered {
  const found = objects.filter((object) => object.kind === kind)
  expect(found, kind).toHaveLength(1)
  return found[0]!
}

function expectGolden(path: string, text: string): void {
  if (process.env['GOLDEN'] === 'write') writeFileSync(path, text)
  expect(text, 'make golden-chart writes the outputs anew').toBe(readFileSync(path, 'utf8'))
}

/** Shortens definitions and dashboards to one line each, since another check covers their drift. */
function withoutGenerated(text: string): string {
  return text
    .replaceAll(
      /# Source: rpc-router\/templates\/crds\/(rpcrouter.dev_.*)\n(?:(?!---).*\n)*/g,
      '# $1 is here\n',
    )
    .replaceAll(/^( {2}\w+\.json: \|\n)(?: {4}.*\n)*/gm, '$1    is here\n')
}

describe.each(valuesFiles.map((path) => [basename(path, '-values.yaml'), path] as const))(
  'the values %s',
  (name, path) => {
    test('pass the linter', async () => {
      const { code, stdout } = await helm(['lint', '--strict', chart, '--values', path])
      expect(stdout).not.toMatch(/WARNING|ERROR/)
      expect(code).toBe(0)
    })

    test('render to the golden file', async () => {
      const text = withoutGenerated(await template('--values', path))
      expectGolden(join(import.meta.dirname, `testdata/${name}.out.yaml`), text)
    })

    test('give the operator a valid command line', async () => {
      const { spec } = only(await render('--values', path), 'Deployment')
      expect(parseCommandLine(spec.template.spec.containers[0].args)).toMatchObject({
        command: 'run',
        problems: [],
      })
    })
  },
)

const installNote = `# Generated from charts/rpc-router by \`make golden-chart\`. Do not edit.
# To delete all of it also deletes the kinds, and with them every router and provider.
`

test('deploy/install.yaml equals the rendered chart, without parts for Helm only', async () => {
  const text = await template()
  const plain = text
    .replaceAll(/^ +(?:helm\.sh\/[\w-]+|app\.kubernetes\.io\/managed-by): .*\n/gm, '')
    .replaceAll(/^# Source: .*\n/gm, '')
    .replaceAll(/\n\n(?=---|$)/g, '\n')
  const namespace = { apiVersion: 'v1', kind: 'Namespace' }
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  const first = { ...namespace, metadata: { name: 'rpc-router-system', labels } }
  expectGolden(join(root, 'deploy/install.yaml'), `${installNote}${stringify(first)}${plain}`)
})

test('the sample of deploy/kustomization.yaml moves all images to another registry', async () => {
  const text = readFileSync(join(root, 'deploy/kustomization.yaml'), 'utf8')
  const sample = text.slice(text.indexOf('#   images:')).replaceAll(/^# {3}/gm, '')
  const folder = mkdtempSync(join(tmpdir(), 'kustomization-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  copyFileSync(join(root, 'deploy/install.yaml'), join(folder, 'install.yaml'))
  writeFileSync(join(folder, 'kustomization.yaml'), `resources: [install.yaml]\n${sample}`)
  const built = await printed(run('kubectl', ['kustomize', folder]))
  const { spec } = only(objectsOf(built), 'Deployment')
  const [{ image, args }] = spec.template.spec.containers
  const { values, problems } = parseCommandLine(args as string[])
  expect(problems).toEqual([])
  const { router, redis } = imagesOf(values, packageJson.version)
  expect([image, router, redis].map((name) => String(name).replace(/:.*/, ''))).toEqual([
    'registry.example.com/rpc-router-operator',
    'registry.example.com/rpc-router',
    'registry.example.com/redis',
  ])
})

describe('values', () => {
  interface Schema {
    readonly type?: string
    readonly description?: string
    readonly additionalProperties?: unknown
    readonly properties?: Readonly<Record<string, Schema>>
  }
  const schema = parse(read('values.schema.json')) as Schema
  function leaves({ properties = {} }: Schema, path: string[] = []): [string[], Schema][] {
    return Object.entries(properties).flatMap(([key, value]) =>
      value.properties
        ? [[[...path, key], value] as [string[], Schema], ...leaves(value, [...path, key])]
        : [[[...path, key], value] as [string[], Schema]],
    )
  }

  test('each has a description', () => {
    for (const [path, { description = '' }] of leaves(schema))
      expect(description, path.join('.')).toMatch(/^[A-Z][^]*\.$/)
  })

  test('unknown values are refused at every depth', async () => {
    const groups = leaves(schema).filter(
      ([path, { properties }]) => properties && path[0] !== 'global',
    )
    const paths = ['', ...groups.map(([path]) => `${path.join('.')}.`)]
    expect(paths.length).toBeGreaterThan(8)
    const outcomes = await Promise.all(
      paths.map((path) => helm([...release, '--set', `${path}nosuchvalue=1`])),
    )
    for (const [index, { code, stderr }] of outcomes.entries()) {
      expect(code, paths[index]).toBe(1)
      expect(stderr).toContain("additional properties 'nosuchvalue' not allowed")
    }
  })

  test("a parent chart's registry applies to all images, and each can override it", async () => {
    const imagesWith = async (...values: string[]) => {
      const { spec } = only(await render('--set', values.join()), 'Deployment')
      const [{ image, args }] = spec.template.spec.containers
      const { router, redis } = imagesOf(parseCommandLine(args as string[]).values, '')
      return [image, router, redis]
    }
    const { version } = packageJson
    expect(await imagesWith('global.imageRegistry=r.example/mirror')).toEqual([
      `r.example/mirror/rpc-router-operator:${version}`,
      `r.example/mirror/rpc-router:${version}`,
      'r.example/mirror/redis:8.2-alpine',
    ])
    const redis = ['redisImage.registry=docker.io', 'redisImage.repository=library/redis']
    const others = await imagesWith('global.imageRegistry=r.example', ...redis)
    expect(others[2]).toBe('docker.io/library/redis:8.2-alpine')
  })

  test("a parent chart's pull secrets apply to the operator and to routers, without duplicates", async () => {
    const secret = (name: string) => JSON.stringify([{ name }, { name: 'shared' }])
    const values = ['imagePullSecrets', 'routerImagePullSecrets', 'global.imagePullSecrets']
    const set = values.flatMap((value) => ['--set-json', `${value}=${secret(value.toLowerCase())}`])
    const { spec } = only(await render(...set), 'Deployment')['spec'].template
    expect(spec.imagePullSecrets.map(({ name }: { name: string }) => name)).toEqual([
      'global.imagepullsecrets',
      'shared',
      'imagepullsecrets',
    ])
    expect(
      imagesOf(parseCommandLine(spec.containers[0].args as string[]).values, ''),
    ).toMatchObject({
      pullSecrets: ['global.imagepullsecrets', 'shared', 'routerimagepullsecrets'],
    })
  })

  test('other global values of a parent chart are accepted', async () => {
    await expect(template('--set', 'global.storageClass=fast')).resolves.toContain('Deployment')
  })

  test('a parent chart switches it on and off by its condition', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'parent-'))
    onTestFinished(() => rmSync(parent, { recursive: true }))
    const { version } = packageJson
    const about = { apiVersion: 'v2', name: 'parent', version: '1.0.0' }
    const dependency = { name: 'rpc-router', version, condition: 'rpc-router.enabled' }
    writeFileSync(join(parent, 'Chart.yaml'), stringify({ ...about, dependencies: [dependency] }))
    cpSync(chart, join(parent, 'charts/rpc-router'), { recursive: true })
    const kinds = async (isEnabled: boolean) => {
      const set = ['--set', `rpc-router.enabled=${isEnabled},global.team=a`]
      return objectsOf(await printed(helm(['template', 'x', parent, ...set]))).map(
        ({ kind }) => kind,
      )
    }
    expect(await kinds(true)).toContain('Deployment')
    expect(await kinds(false)).toEqual([])
  })

  test('a released chart links each alert to the page of its version', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'released-'))
    onTestFinished(() => {
      rmSync(folder, { recursive: true })
    })
    cpSync(chart, folder, { recursive: true })
    const about = parse(read('Chart.yaml')) as object
    const home = 'https://git.example.com/rpc'
    writeFileSync(join(folder, 'Chart.yaml'), stringify({ ...about, home }))
    const text = await printed(
      helm(['template', 'x', folder, '--set', 'metrics.prometheusRule.enabled=true']),
    )
    const page = 'docs/runbooks/router-down.md'
    expect(text).toContain(`runbook_url: ${home}/blob/v${packageJson.version}/${page}\n`)
    expect(await template('--set', 'metrics.prometheusRule.enabled=true')).not.toContain('_url:')
  })

  test.each([
    ['replicas=many', '/replicas'],
    ['image.pullPolicy=Sometimes', '/image/pullPolicy'],
    ['image.digest=sha256:1', '/image/digest'],
    ['namespaces={A}', '/namespaces/0'],
    ['namespaces={a,a}', '/namespaces'],
    ['networkPolicy.apiServerPorts={0}', '/networkPolicy/apiServerPorts/0'],
    ['podDisruptionBudget.maxUnavailable=few', '/podDisruptionBudget/maxUnavailable'],
  ])('%s is refused with its path', async (value, place) => {
    const { code, stderr } = await helm([...release, '--set', value])
    expect(code).toBe(1)
    expect(stderr).toContain(`at '${place}'`)
  })

  test.each(['--workers=4', '--workers', '--namespaces=a', '--observe-pods=false'])(
    'the argument %s is refused, since the chart has a value for it',
    async (argument) => {
      const set = `operator.extraArgs=${JSON.stringify(['--kubeconfig=/x', argument])}`
      const { code, stderr } = await helm([...release, '--set-json', set])
      expect(code).toBe(1)
      const [flag] = argument.split('=')
      expect(stderr).toContain(`operator.extraArgs: ${flag} has a value of its own in this chart`)
    },
  )

  test('each value changes the output, and the full values leave no default', async () => {
    // The output does not change without a value that no template reads.
    const full = parse(read('ci/full-values.yaml')) as Record<string, unknown>
    // Rendering without the definitions takes half the time.
    const small = ['--set', 'crds.enabled=false']
    const plain = await template(...small)
    const whole = await template()
    const needs: Readonly<Record<string, string>> = {
      'metrics.serviceMonitor': 'metrics.serviceMonitor.enabled=true',
      'metrics.prometheusRule': 'metrics.prometheusRule.enabled=true',
      'metrics.dashboards': 'metrics.dashboards.enabled=true',
    }
    const instead: Readonly<Record<string, unknown>> = {
      namespaces: ['team-a'],
      fullnameOverride: 'other',
      'image.digest': `sha256:${'0'.repeat(64)}`,
      'routerImage.registry': 'registry.example.com',
      'redisImage.digest': `sha256:${'0'.repeat(64)}`,
      'routerImage.tag': '1',
      'routerImage.digest': `sha256:${'0'.repeat(64)}`,
      'crds.enabled': false,
      'rbac.create': false,
      'rbac.userRoles': false,
      'serviceAccount.create': false,
      'podDisruptionBudget.enabled': false,
      'networkPolicy.enabled': false,
      'metrics.service.enabled': false,
    }
    // Only a parent chart reads `enabled`.
    const checked = leaves(schema).filter(
      ([path, { properties }]) => !properties && path[0] !== 'enabled',
    )
    const unused = await Promise.all(
      checked.map(async ([path]) => {
        const name = path.join('.')
        const value =
          instead[name] ??
          path.reduce<any>((it, key) => (it as Record<string, unknown> | undefined)?.[key], full)
        expect(value, `${name} has another value in ci/full-values.yaml or here`).toBeDefined()
        const group = Object.keys(needs).find((part) => name.startsWith(`${part}.`)) ?? ''
        const on = name.endsWith('.enabled') ? undefined : needs[group]
        const set = ['--set-json', `${name}=${JSON.stringify(value)}`]
        if (name.startsWith('crds.')) return (await template(...set)) === whole ? [name] : []
        const others = on === undefined ? small : [...small, '--set', on]
        const before = on === undefined ? plain : await template(...others)
        const after = await template(...others, ...set)
        return before === after ? [name] : []
      }),
    )
    expect(unused.flat()).toEqual([])
  })
})

test('labels of users neither replace nor duplicate labels of the chart', async () => {
  const own = {
    'app.kubernetes.io/component': 'operator',
    'app.kubernetes.io/part-of': 'rpc-router',
    'helm.sh/chart': `rpc-router-${packageJson.version}`,
  }
  const other = { ...Object.fromEntries(Object.keys(own).map((name) => [name, 'x'])), team: 'a' }
  const groups = ['serviceMonitor', 'prometheusRule', 'dashboards'].map((name) => `metrics.${name}`)
  const labels = ['commonLabels', 'podLabels', ...groups.map((group) => `${group}.labels`)]
  const objects = await render(
    ...labels.flatMap((name) => ['--set-json', `${name}=${JSON.stringify(other)}`]),
    ...groups.flatMap((group) => ['--set', `${group}.enabled=true`]),
    ...['--set-json', 'podAnnotations={"kubectl.kubernetes.io/default-container":"x"}'],
  )
  const { spec } = only(objects, 'Deployment')
  for (const kind of ['Deployment', 'Service', 'ServiceMonitor', 'PrometheusRule'])
    expect(only(objects, kind).metadata.labels).toMatchObject({ ...own, team: 'a' })
  expect(spec.template.metadata.labels).toMatchObject({ ...own, ...spec.selector.matchLabels })
  expect(spec.template.metadata.annotations).toEqual({
    'kubectl.kubernetes.io/default-container': 'operator',
  })
})

describe('RBAC rules', () => {
  const lease = { namespace: 'rpc-router-system', name: 'rpc-router-operator' }
  const serviceAccount = { namespace: 'rpc-router-system', name: 'rpc-router-operator' }
  const everyRight = 'rbac.userRoles=false,rbac.managedRedis=true,rbac.monitors=true'
  const isRole = ({ kind }: Rendered) => /^(?:Cluster)?Role$/.test(kind)
  const shown = ({ kind, metadata, rules }: Rendered) => {
    return { kind, name: metadata.name, namespace: metadata.namespace, rules }
  }

  test("equal the operator's table, for the whole cluster", async () => {
    const wanted = rbacManifests({ namespaces: null, serviceAccount, lease })
    const roles = await render('--set', everyRight)
    expect(roles.filter(isRole).map(shown)).toEqual(
      (wanted as readonly Rendered[]).filter(isRole).map(shown),
    )
  })

  test('with namespaces there is a Role in each, and no ClusterRole', async () => {
    const namespaces = ['a', 'b']
    const own = { ...lease, name: 'rpc-router-operator.a.b' }
    const wanted = rbacManifests({ namespaces, serviceAccount, lease: own }) as readonly Rendered[]
    const objects = await render('--set', `${everyRight},namespaces={b,a}`)
    const rulesOf = (list: readonly Rendered[]) =>
      list
        .filter(isRole)
        .map((role) => shown({ ...role, metadata: { ...role.metadata, name: '' } }))
        .toSorted((one, other) => (one.namespace! < other.namespace! ? -1 : 1))
    expect(rulesOf(objects)).toEqual(rulesOf(wanted))
    expect(objects.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([])
  })

  test('by default, Secrets and StatefulSets are read-only, and monitors out of reach', async () => {
    const rulesWith = async (...args: string[]) => {
      return only(await render(...args), 'ClusterRole')['rules'] as {
        resources: string[]
        verbs: string[]
      }[]
    }
    const [most, least] = await Promise.all([
      rulesWith('--set', everyRight),
      rulesWith('--set', 'rbac.userRoles=false'),
    ])
    const expected = most
      .filter(({ resources }) => !resources.join().endsWith('monitors'))
      .map((rule) =>
        /^(?:secrets|statefulsets)$/.test(rule.resources.join())
          ? { ...rule, verbs: ['get', 'list', 'watch'] }
          : rule,
      )
    expect(least).toEqual(expected)
  })

  test('the name of the lease is bounded for any number of namespaces', async () => {
    const many = Array.from({ length: 30 }, (_, index) => `namespace-${index}`).join(',')
    const { spec } = only(await render('--set', `namespaces={${many}}`), 'Deployment')
    const flag = (spec.template.spec.containers[0].args as string[]).find((arg) =>
      arg.startsWith('--lease-name='),
    )
    expect(flag).toMatch(/^--lease-name=rpc-router-operator\.[0-9a-f]{16}$/)
  })
})

describe('the pods', () => {
  test('comply with the profile restricted, with a read-only root', async () => {
    const { spec } = only(await render(), 'Deployment')
    const pod = spec.template.spec
    expect(pod.securityContext).toEqual({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    expect(pod.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })

  test('a single replica has no PodDisruptionBudget, which would block node drains', async () => {
    const kinds = (await render('--set', 'replicas=1')).map(({ kind }) => kind)
    expect(kinds).not.toContain('PodDisruptionBudget')
  })
})

describe('the kinds', () => {
  const definitions = (objects: readonly Rendered[]) =>
    objects.filter(({ kind }) => kind === 'CustomResourceDefinition')

  test('equal those of crds/, with the keep policy', async () => {
    const wanted = [rpcRouterDefinition(), upstreamProviderDefinition()]
    const found = definitions(await render())
    expect(found.map(({ spec }) => spec)).toEqual(
      wanted.map(({ spec }) => JSON.parse(JSON.stringify(spec))),
    )
    for (const { metadata } of found)
      expect(metadata.annotations).toMatchObject({
        'helm.sh/resource-policy': 'keep',
        'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
        'kustomize.toolkit.fluxcd.io/prune': 'disabled',
        'rpcrouter.dev/version': packageJson.version,
      })
  })

  test('can be deleted with the release, or excluded from it', async () => {
    const gone = definitions(await render('--set', 'crds.keep=false'))
    expect(JSON.stringify(gone.map(({ metadata }) => metadata))).not.toContain('resource-policy')
    expect(gone).toHaveLength(2)
    expect(definitions(await render('--set', 'crds.enabled=false'))).toEqual([])
  })
})

test('each dashboard has a ConfigMap, as Grafana imports it', async () => {
  const on = ['--set', 'crds.enabled=false,metrics.dashboards.enabled=true']
  const maps = (await render(...on)).filter(({ kind }) => kind === 'ConfigMap')
  expect(maps).toHaveLength(4)
  for (const { metadata, data } of maps) {
    const [name = ''] = Object.keys(data as object)
    expect(metadata.name).toBe(`rpc-router-operator-dashboard-${basename(name, '.json')}`)
    expect(data[name]).toBe(read(`files/dashboards/${name}`))
  }
})

describe('Chart.yaml', () => {
  const { version, appVersion, icon, annotations } = parse(read('Chart.yaml')) as {
    icon: string
    version: string
    appVersion: string
    annotations: Record<string, string>
  }
  const part = (name: string) => parse(annotations[`artifacthub.io/${name}`] ?? '') as any[]

  test('has the version of the project', () => {
    expect([version, appVersion]).toEqual([packageJson.version, packageJson.version])
    expect(part('images').map(({ image }) => image)).toEqual([
      `rpc-router-operator:${version}`,
      `rpc-router:${version}`,
      imagesOf(parseCommandLine([]).values, version).redis,
    ])
    // The operator has the same default without the chart.
    const { redisImage } = parse(read('values.yaml')) as { redisImage: Record<string, string> }
    expect(part('images')[2].image).toBe(`${redisImage['repository']}:${redisImage['tag']}`)
  })

  test('has the icon of its folder', () => {
    const data = Buffer.from(read('icon.svg').trim()).toString('base64')
    expect(icon).toBe(`data:image/svg+xml;base64,${data}`)
  })

  test('lists the kinds, with valid examples', () => {
    const named = part('crds').map(({ name, kind, version: of }) => [name, kind, of])
    expect(named).toEqual(
      [rpcRouterDefinition(), upstreamProviderDefinition()].map(({ metadata, spec }) => [
        metadata.name,
        spec.names.kind,
        spec.versions[0]?.name,
      ]),
    )
    const [router, provider] = part('crdsExamples')
    expect(() => [
      rpcRouterSchema.parse(router),
      upstreamProviderSchema.parse(provider),
    ]).not.toThrow()
  })
})

describe('the notes', () => {
  test('list the next commands, with valid manifests', async () => {
    const args = ['install', 'rpc-router', chart, '-n', 'rpc-router-system', '--dry-run=client']
    const notes = (await printed(helm(args))).split('NOTES:\n')[1] ?? ''
    expect(notes).toContain('rollout status deployment/rpc-router-operator')
    const [, manifests = ''] = /<<'YAML'\n([^]*?)^ +YAML$/m.exec(notes) ?? []
    const [provider, router] = parseAllDocuments(manifests.replaceAll(/^ {5}/gm, ''))
    expect(upstreamProviderSchema.parse(provider?.toJS()).metadata.name).toBe('alpha')
    expect(rpcRouterSchema.parse(router?.toJS()).metadata.name).toBe('mainnet')
  })
})
