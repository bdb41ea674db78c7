import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  foreignKinds,
  lint,
  type Manifest,
  notes,
  only,
  render,
  type Values,
  validate,
} from '../support/chart.ts'
import { type PodSpec, runInPod } from '../support/mounted-pod.ts'
import { startPublished } from '../support/published-policies.ts'
import { startPostern } from '../support/start-postern.ts'

const policyFiles = {
  'policy.files.model\\.conf': 'policies/model.conf',
  'policy.files.policy\\.csv': 'policies/policy.csv',
  'policy.files.articles\\.csv': 'policies/articles.csv',
  'policy.files.exclusions\\.yaml': 'policies/exclusions.yaml',
  'policy.files.tests/orders_test\\.yaml': 'policies/tests/orders_test.yaml',
}

const sets = {
  'existing secrets': { files: ['existing-secrets'] },
  everything: { files: ['everything'], setFile: policyFiles },
  sidecar: { files: ['existing-secrets', 'sidecar'] },
  'a policy of files': { files: ['files-policy'], setFile: policyFiles },
  autoscaled: { files: ['existing-secrets', 'autoscaled'] },
  edge: { files: ['existing-secrets', 'edge'] },
  gRPC: { files: ['existing-secrets', 'grpc'] },
} satisfies Readonly<Record<string, Values>>

/** Each set once: helm takes its time. */
const renderings = new Map(
  Object.entries(sets).map(([name, values]) => [name, render(values)] as const),
)

function rendered(name: keyof typeof sets): readonly Manifest[] {
  return renderings.get(name) ?? []
}

interface Pod {
  readonly owner: string
  readonly spec: Omit<PodSpec, 'containers'> & {
    readonly automountServiceAccountToken?: boolean
    readonly enableServiceLinks?: boolean
    readonly securityContext?: unknown
    readonly terminationGracePeriodSeconds?: number
    readonly serviceAccountName?: string
    readonly containers: readonly PodContainer[]
    readonly initContainers?: readonly PodContainer[]
  }
}

type PodContainer = PodSpec['containers'][number] & {
  readonly image: string
  readonly securityContext?: unknown
}

function podsIn(manifests: readonly Manifest[]): readonly Pod[] {
  return manifests.flatMap(({ kind, metadata, spec }) => {
    const owner = `${kind} ${metadata.name}`
    if (kind === 'Pod') return [{ owner, spec: spec as Pod['spec'] }]
    const { template } = (spec ?? {}) as { template?: { spec: Pod['spec'] } }
    return template === undefined ? [] : [{ owner, spec: template.spec }]
  })
}

const gatewayOf = (manifests: readonly Manifest[]) =>
  only(manifests, 'Deployment') as Manifest & {
    readonly spec: {
      readonly replicas?: number
      readonly strategy: { readonly type: string }
      readonly template: { readonly metadata: Manifest['metadata']; readonly spec: Pod['spec'] }
    }
  }

const configOf = (manifests: readonly Manifest[]) =>
  parse(only(manifests, 'ConfigMap', 'shop-postern').data?.['postern.yaml'] ?? '')

describe.each(Object.entries(sets))('the chart with %s', (name, values) => {
  const manifests = rendered(name as keyof typeof sets)

  test('has nothing that lint objects to', () => {
    expect(lint(values)).toBe('')
  })

  test('has nothing that Kubernetes would refuse', async () => {
    for (const manifest of manifests) {
      if (!foreignKinds.includes(manifest.kind)) await validate(manifest)
    }
  })

  test('gives no two objects of a kind the same name', () => {
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)

    expect(names).toEqual([...new Set(names)])
  })

  test('runs every pod as nobody in particular, who can write nowhere and ask nothing', () => {
    for (const { owner, spec } of podsIn(manifests)) {
      expect(spec, owner).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 65532,
          fsGroup: 65532,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      })
      for (const { name, securityContext } of spec.containers) {
        expect(securityContext, `${owner}, ${name}`).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
      }
    }
  })

  test('names a version for every image', () => {
    const images = podsIn(manifests).flatMap(({ spec }) => spec.containers.map((it) => it.image))

    for (const image of images) expect(image).toMatch(/^registry\.example\.com\/.+[:@].+/)
    expect(images.filter((image) => /:latest$/.test(image))).toEqual([])
  })

  test('is in mode prod, and asks a gateway for its health on the ops port', () => {
    const [container] = gatewayOf(manifests).spec.template.spec.containers

    expect(configOf(manifests).application.mode).toBe('prod')
    expect(container).toMatchObject({
      startupProbe: { httpGet: { path: '/healthz', port: 'ops' } },
      livenessProbe: { httpGet: { path: '/healthz', port: 'ops' } },
      readinessProbe: { httpGet: { path: expect.stringMatching(/^\/readyz\b/), port: 'ops' } },
    })
  })

  test('lets a gateway finish what it has before it is killed', () => {
    const { shutdown } = configOf(manifests)
    const { terminationGracePeriodSeconds = 0 } = gatewayOf(manifests).spec.template.spec

    expect(terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(shutdown.deadlineMs + 5000)
  })

  test('keeps every secret out of ConfigMaps, environments and arguments', () => {
    const open = manifests.filter(({ kind }) => kind !== 'Secret')
    const text = JSON.stringify(open)

    for (const secret of ['nobody-may-see', 'db-password', 'redis-password', 'directory-phrase']) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain(Buffer.from(secret).toString('base64').slice(0, 12))
    }
    for (const { spec } of podsIn(manifests)) {
      const names = spec.containers.flatMap(({ env = [] }) => env.map(({ name }) => name))
      expect(names.filter((name) => /^POSTERN_.*(SECRET|URL)$/.test(name))).toEqual([])
    }
  })

  test('sends requests to gateways only, not to the pods of hooks', () => {
    const { selector } = only(manifests, 'Service', 'shop-postern').spec as {
      selector: Record<string, string>
    }
    const others = manifests.filter(({ kind }) => ['Job', 'Pod'].includes(kind))
    const labels = others.map(({ spec, metadata }) => {
      const { template } = (spec ?? {}) as { template?: { metadata: Manifest['metadata'] } }
      return template?.metadata.labels ?? metadata.labels
    })

    expect(gatewayOf(manifests).spec.template.metadata.labels).toMatchObject(selector)
    for (const each of labels) expect(each).not.toMatchObject(selector)
  })

  test('gives the gateway a configuration that it takes', () => {
    const { spec } = gatewayOf(manifests).spec.template
    const objects = [...manifests, ...elsewhere]

    // Mounts of the pod that another container or Secret fills are not on this machine.
    const args = ['config', 'check', '--no-files']
    const { stderr, stdout } = runInPod(spec, { objects, args })

    // Without config.application.trustedProxies, no proxy with TLS is known.
    expect(stderr.replace(/^.* serves plain HTTP, and .*\n/, '')).toBe('')
    expect(stdout).toMatch(/postern\.yaml: ok \(mode prod, \d+ routes?, \d+ upstreams?\)/)
  })
})

/** What the value sets name as being there already. */
const elsewhere: readonly Manifest[] = [
  object('Secret', 'postern', {
    'jwt-secret': base64('f3b1c9d2a87e4560b9c1d3e5f7a90b2c4d6e8f0a'),
    'redis-url': base64('redis://redis:6379/0'),
  }),
  object('Secret', 'postern-db-app', { uri: base64('postgres://u:p@db/postern') }),
  object('Secret', 'postern-keys', {}),
  object('Secret', 'api-tls', { 'tls.crt': '', 'tls.key': '' }),
  object('ConfigMap', 'company-ca', { 'ca.crt': '' }),
]

function object(kind: string, name: string, data: Record<string, string>): Manifest {
  return { apiVersion: 'v1', kind, metadata: { name }, data }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

describe('the parts of the chart', () => {
  test('with existing secrets make none of their own, and mount those as files', () => {
    const manifests = rendered('existing secrets')
    const { spec } = gatewayOf(manifests).spec.template

    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([])
    expect(spec.volumes).toContainEqual({
      name: 'secrets',
      projected: {
        defaultMode: 0o440,
        sources: [
          secretItem('postern-db-app', 'uri', 'database-url'),
          secretItem('postern', 'jwt-secret', 'jwt-secret'),
          secretItem('postern', 'redis-url', 'redis-url'),
        ],
      },
    })
    expect(spec.containers[0]?.env).toContainEqual({
      name: 'POSTERN_DATABASE__URL_FILE',
      value: '/run/secrets/postern/database-url',
    })
  })

  test('mount a Secret of keys whole, where the configuration looks for them', () => {
    const manifests = rendered('autoscaled')
    const { spec } = gatewayOf(manifests).spec.template

    expect(configOf(manifests).jwt).toEqual({ keyDirectory: '/etc/postern/keys' })
    expect(spec.volumes).toContainEqual({
      name: 'keys',
      secret: { secretName: 'postern-keys', defaultMode: 0o440 },
    })
    expect(spec.containers[0]?.volumeMounts).toContainEqual({
      name: 'keys',
      mountPath: '/etc/postern/keys',
      readOnly: true,
    })
  })

  test('keep the ops port apart from the public one, and shut to all but the monitoring', () => {
    const manifests = rendered('everything')
    const open = only(manifests, 'Service', 'shop-postern').spec as { ports: unknown[] }
    const ops = only(manifests, 'Service', 'shop-postern-ops').spec
    const { ingress } = only(manifests, 'NetworkPolicy').spec as { ingress: unknown[] }

    expect(open.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }])
    expect(ops).toMatchObject({ type: 'ClusterIP', ports: [{ name: 'ops', port: 9100 }] })
    expect(ingress).toContainEqual({
      ports: [{ port: 'ops' }],
      from: [
        { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
      ],
    })
    expect(ingress).toContainEqual({
      ports: [{ port: 'http' }],
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
    })
  })

  test('bring a certificate and open the port for other proxies, to those alone', () => {
    const manifests = rendered('everything')
    const { ingress } = only(manifests, 'NetworkPolicy').spec as { ingress: unknown[] }

    expect(configOf(manifests).tls).toEqual({
      minVersion: 'TLSv1.3',
      certFile: '/etc/postern/tls/tls.crt',
      keyFile: '/etc/postern/tls/tls.key',
    })
    expect(only(manifests, 'Service', 'shop-postern-forward-auth').spec).toMatchObject({
      type: 'ClusterIP',
      ports: [
        { port: 9101, targetPort: 'forward-auth' },
        { port: 9102, targetPort: 'forward-auth' },
      ],
    })
    expect(ingress).toContainEqual({
      ports: [{ port: 'forward-auth' }],
      from: [{ podSelector: { matchLabels: { app: 'nginx' } } }],
    })
    expect(JSON.stringify(only(manifests, 'Pod', 'shop-postern-test').spec)).toContain(
      'https://shop-postern:80',
    )
  })

  test('open the console to its proxies alone, and by default to nobody outside the pod', () => {
    const manifests = rendered('everything')
    const { ingress } = only(manifests, 'NetworkPolicy').spec as { ingress: unknown[] }
    expect(only(manifests, 'Service', 'shop-postern-console').spec).toMatchObject({
      type: 'ClusterIP',
      ports: [{ port: 9200, targetPort: 'console' }],
    })
    expect(ingress).toContainEqual({
      ports: [{ port: 'console' }],
      from: [{ podSelector: { matchLabels: { app: 'oauth' } } }],
    })

    const local = { files: ['existing-secrets'], set: ['config.console.enabled=true'] }
    expect(JSON.stringify(render(local))).not.toMatch(/"(?:name|port|targetPort)":"console"/)
    expect(notes(local)).toContain('port-forward deploy/shop-postern 9200\n')
    expect(notes(sets.everything)).toContain('https://console.example.com/console/')
    expect(notes({ files: ['existing-secrets'] })).not.toContain('console')
  })

  test('put the service of a sidecar into the same pod, reached over 127.0.0.1', () => {
    const manifests = rendered('sidecar')
    const { initContainers = [] } = gatewayOf(manifests).spec.template.spec

    expect(initContainers.map(({ name }) => name)).toEqual(['app'])
    expect(initContainers[0]?.env).toContainEqual({ name: 'HOST', value: '127.0.0.1' })
    expect(configOf(manifests).upstreams.app.targets).toEqual(['http://127.0.0.1:8080'])
  })

  test('leave the number of gateways to the autoscaler, and some of them up', () => {
    const manifests = rendered('autoscaled')

    expect(gatewayOf(manifests).spec.replicas).toBeUndefined()
    expect(only(manifests, 'HorizontalPodAutoscaler').spec).toMatchObject({
      minReplicas: 3,
      maxReplicas: 30,
      scaleTargetRef: { kind: 'Deployment', name: 'shop-postern' },
      metrics: [{ resource: { name: 'cpu' } }, { resource: { name: 'memory' } }],
    })
    expect(only(manifests, 'PodDisruptionBudget').spec).toMatchObject({ minAvailable: '50%' })
    expect(gatewayOf(manifests).spec.template.spec.terminationGracePeriodSeconds).toBe(131)
  })

  test('keep the embedded database in a volume that one gateway at a time has', () => {
    const manifests = rendered('a policy of files')

    expect(gatewayOf(manifests).spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
    expect(only(manifests, 'PersistentVolumeClaim').spec).toMatchObject({
      storageClassName: 'fast',
      resources: { requests: { storage: '2Gi' } },
    })
  })

  test('send hosts and paths of an Ingress and an HTTPRoute to the public port', () => {
    const manifests = rendered('edge')
    const backend = { service: { name: 'shop-postern', port: { name: 'http' } } }

    expect(only(manifests, 'Ingress').spec).toEqual({
      rules: [
        {
          host: 'api.example.com',
          http: { paths: [{ path: '/', pathType: 'Prefix', backend }] },
        },
        {
          host: 'shop.example.com',
          http: { paths: [{ path: '/api', pathType: 'Prefix', backend }] },
        },
      ],
    })
    expect(only(manifests, 'HTTPRoute')).toMatchObject({
      apiVersion: 'gateway.networking.k8s.io/v1',
      spec: {
        parentRefs: [{ name: 'public' }],
        rules: [
          {
            matches: [{ path: { type: 'PathPrefix', value: '/api' } }],
            timeouts: { request: '60s' },
            backendRefs: [{ name: 'shop-postern', port: 80 }],
          },
        ],
      },
    })
  })

  test('point Prometheus at the ops port of every gateway', () => {
    const manifests = rendered('everything')
    const { labels } = only(manifests, 'Service', 'shop-postern-ops').metadata
    const monitor = only(manifests, 'ServiceMonitor')

    expect(monitor.metadata.labels).toMatchObject({ release: 'prometheus' })
    expect(monitor.spec).toMatchObject({ endpoints: [{ port: 'ops', path: '/metrics' }] })
    const { selector } = monitor.spec as { selector: { matchLabels: Record<string, string> } }
    expect(labels).toMatchObject(selector.matchLabels)
    expect(only(manifests, 'Service', 'shop-postern').metadata.labels).not.toMatchObject(
      selector.matchLabels,
    )
  })

  test('spread gateways over zones and machines', () => {
    const { spec } = gatewayOf(rendered('existing secrets')).spec.template
    const selector = {
      matchLabels: expect.objectContaining({ 'app.kubernetes.io/instance': 'shop' }),
    }

    expect(spec).toMatchObject({
      topologySpreadConstraints: [
        { topologyKey: 'topology.kubernetes.io/zone', labelSelector: selector },
        { topologyKey: 'kubernetes.io/hostname', labelSelector: selector },
      ],
    })
  })

  test('run as an account of their own, or as one that exists', () => {
    const own = rendered('everything')
    const others = render({
      files: ['existing-secrets'],
      set: ['serviceAccount.create=false', 'serviceAccount.name=company'],
    })
    const accountOf = (manifests: readonly Manifest[]) =>
      gatewayOf(manifests).spec.template.spec.serviceAccountName

    expect(only(own, 'ServiceAccount')).toMatchObject({
      metadata: { name: accountOf(own), annotations: { 'example.com/identity': 'postern' } },
      automountServiceAccountToken: false,
    })
    expect(accountOf(others)).toBe('company')
    expect(others.filter(({ kind }) => kind === 'ServiceAccount')).toEqual([])
  })
})

describe('helm test', () => {
  /** Runs what the pod would, against these addresses in place of those of the Services. */
  async function run(addresses: { readonly GATEWAY: string; readonly OPS: string }) {
    const pod = only(rendered('existing secrets'), 'Pod')
    const [container] = (pod.spec as Pod['spec'] & { containers: [TestContainer] }).containers
    const [program, ...options] = container.command
    expect(program).toBe('node')
    expect(pod.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'test' })
    expect(Object.fromEntries(container.env.map(({ name, value }) => [name, value]))).toEqual({
      GATEWAY: 'http://shop-postern:80',
      OPS: 'http://shop-postern-ops:9100',
    })
    const child = spawn(process.execPath, [...options, ...container.args], {
      env: { ...process.env, ...addresses },
      stdio: 'ignore',
    })
    const [code] = await once(child, 'exit')
    return code
  }

  const at = (port: number) => `http://127.0.0.1:${port}`

  test('passes for a gateway that is ready and lets nobody in without a token', async () => {
    const { publicPort, opsPort } = await startPostern()

    expect(await run({ GATEWAY: at(publicPort), OPS: at(opsPort) })).toBe(0)
  })

  test('fails for one that is not ready, and where anything else answers', async () => {
    const { postern } = await startPublished()
    const { opsPort, upstream } = await startPostern()

    expect(await run({ GATEWAY: at(postern.publicPort), OPS: at(postern.opsPort) })).toBe(1)
    expect(await run({ GATEWAY: upstream.origin, OPS: at(opsPort) })).toBe(1)
  })
})

describe('the notes after an installation', () => {
  test('name the commands to go on with, and warn of nothing where nothing is wrong', () => {
    const said = notes(sets['existing secrets'])

    expect(said).toContain('kubectl -n web rollout status deploy/shop-postern')
    expect(said).toContain('postern user add admin --role admin')
    expect(said).toContain('helm -n web test shop')
    expect(said).not.toMatch(/WARNING|NOTE/)
  })

  test.each([
    ['routes that are missing', ['config.routes=null'], 'config.routes is empty'],
    [
      'an Ingress whose proxies are not named',
      ['ingress.enabled=true', 'ingress.hosts[0].host=a.example.com'],
      'config.application.trustedProxies is empty',
    ],
    ['mode dev', ['config.application.mode=dev', 'allowDevMode=true'], 'mode dev'],
    [
      'a secret among the values, without showing it',
      ['secrets.redisUrl.existingSecret=', 'secrets.redisUrl.value=redis://:a-password@r'],
      'secrets.redisUrl was given as a value',
    ],
  ])('warn of %s', (_, set, warning) => {
    const said = notes({ files: ['existing-secrets'], set })

    expect(said).toContain(warning)
    expect(said).not.toContain('a-password')
  })
})

interface TestContainer {
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
}

describe('the values', () => {
  test('are all in the schema, and the schema has no other', () => {
    const values = parse(readFileSync('helm/postern/values.yaml', 'utf8')) as Branch
    const schema = JSON.parse(readFileSync('helm/postern/values.schema.json', 'utf8')) as Schema

    // Settings of the gateway have defaults of their own.
    const own = (path: string) => !path.startsWith('config.')
    expect(namesIn(schema).filter(own).sort()).toEqual(namesOf(values, schema).filter(own).sort())
  })
})

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
}
type Branch = Readonly<Record<string, unknown>>

/** Probes are open-ended: Kubernetes has defaults for what is left out. */
const isOpen = (path: string) => /Probe$/.test(path)

function namesIn({ properties = {} }: Schema, at = ''): readonly string[] {
  return Object.entries(properties).flatMap(([key, child]) => {
    const path = at === '' ? key : `${at}.${key}`
    return [path, ...(isOpen(path) ? [] : namesIn(child, path))]
  })
}

function namesOf(values: Branch, { properties = {} }: Schema, at = ''): readonly string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const path = at === '' ? key : `${at}.${key}`
    const child = properties[key]
    const isBranch = child?.properties !== undefined && !isOpen(path)
    return [path, ...(isBranch ? namesOf(value as Branch, child, path) : [])]
  })
}

function secretItem(name: string, key: string, path: string) {
  return { secret: { name, items: [{ key, path }] } }
}
