import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tools } from '../support/chart.ts'
import { type Kubernetes, kubernetesMissing, startKubernetes } from '../support/kubernetes.ts'
import { until } from '../support/until.ts'

const missing = kubernetesMissing()
if (missing !== undefined) console.warn(`left out: the chart in a cluster; ${missing}`)

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly uid: string }
    readonly spec: { readonly replicas?: number }
    readonly status?: { readonly phase?: string }
  }[]
}

const namespace = '/namespaces/web'
const jobs = `/apis/batch/v1${namespace}/jobs`
const pods = `/api/v1${namespace}/pods`
const deployments = `/apis/apps/v1${namespace}/deployments`

/** Everything that the chart creates, except what belongs to the cluster itself. */
const places = [
  ...['configmaps', 'secrets', 'services', 'serviceaccounts', 'persistentvolumeclaims'].map(
    (kind) => `/api/v1${namespace}/${kind}`,
  ),
  ...[deployments, jobs, pods],
  `/apis/networking.k8s.io/v1${namespace}/ingresses`,
  `/apis/networking.k8s.io/v1${namespace}/networkpolicies`,
  `/apis/policy/v1${namespace}/poddisruptionbudgets`,
  `/apis/autoscaling/v2${namespace}/horizontalpodautoscalers`,
]

const foreign = [
  ['monitoring.coreos.com', 'v1', 'ServiceMonitor', 'servicemonitors'],
  ['monitoring.coreos.com', 'v1', 'PrometheusRule', 'prometheusrules'],
  ['gateway.networking.k8s.io', 'v1', 'HTTPRoute', 'httproutes'],
  ['gateway.networking.k8s.io', 'v1', 'GRPCRoute', 'grpcroutes'],
  ['traefik.io', 'v1alpha1', 'Middleware', 'middlewares'],
  ['gateway.envoyproxy.io', 'v1alpha1', 'SecurityPolicy', 'securitypolicies'],
  ['projectcontour.io', 'v1alpha1', 'ExtensionService', 'extensionservices'],
  ['security.istio.io', 'v1', 'AuthorizationPolicy', 'authorizationpolicies'],
] as const

describe.skipIf(missing !== undefined)('in a cluster, the chart', () => {
  let cluster: Kubernetes
  beforeAll(async () => {
    cluster = await startKubernetes()
    await cluster.call('POST', '/api/v1/namespaces', {
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'web' } },
    })
  })
  afterAll(() => cluster?.stop())

  const list = async (path: string) => (await cluster.call('GET', path)) as Listed
  const values = (name: string) => ['--values', `test/helm/values/${name}.yaml`]
  const chart = join('helm', 'postern')

  async function helm(...args: readonly string[]) {
    const env = { ...process.env, KUBECONFIG: cluster.kubeconfig }
    const child = spawn(tools.helm, [...args, '--namespace', 'web'], { env })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk
      })
    }
    let code: number | null | undefined
    child.once('close', (status: number | null) => {
      code = status
    })
    // Instead of a controller and a kubelet: whatever a hook starts succeeds.
    await until(async () => {
      if (code === undefined) await finishHooks()
      return code !== undefined
    })
    return { code, said }
  }

  /** By the ID of the object, with its name. */
  const finished = new Map<string, string>()
  async function finishHooks(): Promise<void> {
    const now = `${new Date().toISOString().slice(0, 19)}Z`
    const condition = (type: string) => ({
      ...{ type, status: 'True', lastTransitionTime: now, lastProbeTime: now },
    })
    for (const { metadata } of (await list(jobs)).items) {
      const conditions = ['SuccessCriteriaMet', 'Complete'].map(condition)
      const status = { startTime: now, completionTime: now, succeeded: 1, conditions }
      // Helm may have deleted it by now.
      await cluster.call('PATCH', `${jobs}/${metadata.name}/status`, { status }).then(
        () => finished.set(metadata.uid, metadata.name),
        () => {},
      )
    }
    for (const { metadata } of (await list(pods)).items) {
      const status = { phase: 'Succeeded' }
      await cluster.call('PATCH', `${pods}/${metadata.name}/status`, { status }).then(
        () => finished.set(metadata.uid, metadata.name),
        () => {},
      )
    }
  }

  async function leftovers() {
    const all = await Promise.all(places.map(list))
    const names = all.flatMap(({ items }, index) =>
      items.map(({ metadata }) => `${places[index]}/${metadata.name}`),
    )
    return names.filter((name) => !/kube-root-ca\.crt$|serviceaccounts\/default$/.test(name))
  }

  test('names the kinds that are missing, and installs nothing', async () => {
    const on = ['--set', 'metrics.serviceMonitor.enabled=true']

    const { code, said } = await helm(
      'install',
      'shop',
      chart,
      ...values('existing-secrets'),
      ...on,
    )

    expect(code).toBe(1)
    expect(said).toContain('needs the kind ServiceMonitor (monitoring.coreos.com/v1)')
    expect(await leftovers()).toEqual([])
  })

  test.each([
    ['existing secrets', values('existing-secrets'), 2, [], ['shop-postern-test']],
    [
      'the sidecar',
      [...values('existing-secrets'), '--values', join(chart, 'values-sidecar.yaml')],
      2,
      [],
      ['shop-postern-test'],
    ],
    [
      'every part of it',
      [...values('everything'), '--set', 'policy.files.policy\\.csv=x'],
      3,
      ['shop-postern-policy-hook'],
      ['shop-postern-test', 'shop-postern-test-login'],
    ],
  ])(
    'installs, upgrades, rolls back and uninstalls with %s',
    async (_, chosen, replicas, hooks, tests) => {
      for (const [group, version, kind, plural] of foreign)
        await createKind(group, version, kind, plural)
      const replicasNow = async () => (await list(deployments)).items[0]?.spec.replicas
      const hookRuns = () => [...finished.values()].filter((name) => hooks.includes(name)).length

      expect(await helm('install', 'shop', chart, ...chosen)).toMatchObject({ code: 0 })
      expect(await replicasNow()).toBe(replicas)
      expect(
        await helm('upgrade', 'shop', chart, ...chosen, '--set', 'replicaCount=5'),
      ).toMatchObject({ code: 0 })
      expect(await replicasNow()).toBe(5)
      expect(await helm('rollback', 'shop', '1')).toMatchObject({ code: 0 })
      expect(await replicasNow()).toBe(replicas)
      // Before the installation, the upgrade and the rollback.
      expect(hookRuns()).toBe(3 * hooks.length)
      expect(await helm('test', 'shop')).toMatchObject({ code: 0 })
      expect([...finished.values()]).toEqual(expect.arrayContaining(tests))
      expect(await helm('uninstall', 'shop')).toMatchObject({ code: 0 })
      // Helm leaves the pods of tests, whose logs people may want to read.
      for (const name of tests) await cluster.call('DELETE', `${pods}/${name}`)
      expect(await leftovers()).toEqual([])
    },
  )

  test('keeps the number of gateways when autoscaling is turned on, and what the autoscaler set', async () => {
    const replicasNow = async () => (await list(deployments)).items[0]?.spec.replicas
    const autoscaled = [...values('existing-secrets'), '--set', 'autoscaling.enabled=true']

    await helm('install', 'shop', chart, ...values('existing-secrets'), '--set', 'replicaCount=4')
    expect(await helm('upgrade', 'shop', chart, ...autoscaled)).toMatchObject({ code: 0 })
    expect(await replicasNow()).toBe(4)
    // As the autoscaler does.
    await cluster.call('PATCH', `${deployments}/shop-postern/scale`, { spec: { replicas: 7 } })
    expect(await helm('upgrade', 'shop', chart, ...autoscaled)).toMatchObject({ code: 0 })
    expect(await replicasNow()).toBe(7)

    expect(await helm('uninstall', 'shop')).toMatchObject({ code: 0 })
  })

  /** Takes any object: whether it follows the project's own schema is not the subject. */
  async function createKind(group: string, version: string, kind: string, plural: string) {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const name = `${plural}.${group}`
    const { items } = await list(definitions)
    if (items.some(({ metadata }) => metadata.name === name)) return
    const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    await cluster.call('POST', definitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name,
        // Names in *.k8s.io need it.
        annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
      },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
        versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    })
    await until(() =>
      cluster.call('GET', `/apis/${group}/${version}${namespace}/${plural}`).then(
        () => true,
        () => false,
      ),
    )
  }
})
