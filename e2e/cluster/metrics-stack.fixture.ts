// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Place, podOf, serve } from './cluster.ts'

/*
 * A minimal Prometheus and prometheus-adapter in the namespace of a test.
 */

const images = {
  PROMETHEUS_IMAGE: 'prom/prometheus:v3.16.0',
  ADAPTER_IMAGE: 'registry.k8s.io/prometheus-adapter/prometheus-adapter:v0.12.0',
}
const group = 'custom.metrics.k8s.io'
const roles = 'rbac.authorization.k8s.io'

/** Serves metrics of a namespace's router pods by prometheus-adapter rules. */
export async function startMetrics(place: Place, rules: readonly object[]): Promise<void> {
  const { namespace, apply } = place
  const files = { 'prometheus.yml': scrape(namespace), 'adapter.yml': { rules } }
  const data = Object.entries(files).map(([name, file]) => [name, JSON.stringify(file)])
  await apply(
    {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'metrics' } },
      data: Object.fromEntries(data),
    },
    {
      ...{ apiVersion: `${roles}/v1`, kind: 'ClusterRoleBinding', metadata: { name: namespace } },
      roleRef: { apiGroup: roles, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace }],
    },
  )
  await start(place, 'prometheus', 'PROMETHEUS_IMAGE', [
    ...['--config.file=/config/prometheus.yml', '--storage.tsdb.path=/tmp/data'],
    '--web.listen-address=:9001',
  ])
  await start(place, 'adapter', 'ADAPTER_IMAGE', [
    ...['--config=/config/adapter.yml', '--prometheus-url=http://prometheus:9001'],
    ...['--metrics-relist-interval=10s', '--secure-port=9001', '--cert-dir=/tmp/certificate'],
  ])
  await apply({
    ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService' },
    metadata: { name: `v1beta1.${group}` },
    spec: {
      ...{ group, version: 'v1beta1', groupPriorityMinimum: 100, versionPriority: 100 },
      ...{ insecureSkipTLSVerify: true, service: { name: 'adapter', namespace, port: 9001 } },
    },
  })
}

/** Removes objects of `startMetrics` outside the namespace. */
export async function stopMetrics({ namespace, run }: Place): Promise<void> {
  await run('delete', `apiservice/v1beta1.${group}`, `clusterrolebinding/${namespace}`)
}

/** The scrape config that the Prometheus operator generates from the PodMonitor of a router. */
function scrape(namespace: string): object {
  const of = (label: string) => [`__meta_kubernetes_${label}`]
  const name = 'pod_label_app_kubernetes_io_instance'
  return {
    scrape_configs: [
      {
        ...{ job_name: 'routers', scrape_interval: '5s' },
        kubernetes_sd_configs: [{ role: 'pod', namespaces: { names: [namespace] } }],
        relabel_configs: [
          {
            ...{ source_labels: of('pod_container_port_name') },
            ...{ action: 'keep', regex: 'metrics' },
          },
          { source_labels: of('namespace'), target_label: 'namespace' },
          { source_labels: of('pod_name'), target_label: 'pod' },
          {
            ...{ source_labels: [...of('namespace'), ...of(name)], target_label: 'job' },
            ...{ separator: '/', regex: '(.*)', replacement: '$1-router' },
          },
        ],
      },
    ],
  }
}

async function start(
  place: Place,
  name: string,
  variable: keyof typeof images,
  args: readonly string[],
): Promise<void> {
  const image = process.env[variable] || images[variable]
  const mounts = { config: '/config', tmp: '/tmp' }
  const volumeMounts = Object.entries(mounts).map(([of, mountPath]) => ({ name: of, mountPath }))
  const pod = podOf(name, {
    image,
    args,
    volumeMounts,
    readinessProbe: { tcpSocket: { port: 9001 } },
  })
  const volumes = [
    { name: 'config', configMap: { name: 'metrics' } },
    { name: 'tmp', emptyDir: {} },
  ]
  Object.assign(pod.spec, { automountServiceAccountToken: true, volumes })
  await serve(place, pod).catch(async (cause: unknown) => {
    const { status } = await place.get('pod', name)
    const reason = status.containerStatuses?.[0]?.state.waiting?.reason ?? ''
    const text = `the cluster has no image ${image} (${reason}): ${variable} can name another`
    throw /Image/.test(reason) ? new Error(`make e2e-metrics: ${text}`, { cause }) : cause
  })
}
