import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { claimHeaders } from '../../src/config/identity-headers.ts'
import { ownPaths } from '../../src/kernel/endpoints.ts'
import { notes, only, render } from '../support/chart.ts'

const manifests = render({ files: ['everything'], set: ['policy.files.policy\\.csv=x'] })
const service = only(manifests, 'Service', 'shop-postern-forward-auth')

/** The samples are run with the real programs against forged headers. */
const read = (path: string) => parse(readFileSync(path, 'utf8'))

describe('the Middleware for Traefik', () => {
  const { postern, plain } = read('samples/traefik/postern.yaml').http.middlewares
  const name = 'shop-postern-forward-auth'

  test('is one to reference, which removes headers first, so that those of the check stay', () => {
    expect(only(manifests, 'Middleware', name)).toMatchObject({
      apiVersion: 'traefik.io/v1alpha1',
      spec: { chain: { middlewares: [{ name: `${name}-headers` }, { name: `${name}-check` }] } },
    })
  })

  test('does what the sample does, at the Service of the release', () => {
    expect(only(manifests, 'Middleware', `${name}-check`).spec).toEqual({
      forwardAuth: {
        ...postern.forwardAuth,
        address: 'http://shop-postern-forward-auth.web.svc:9101/auth/traefik',
      },
    })
    expect(only(manifests, 'Middleware', `${name}-headers`).spec).toEqual(plain)
    expect(service.spec).toMatchObject({ ports: [{ port: 9101 }, { port: 9102 }] })
  })
})

describe('the SecurityPolicy for Envoy Gateway', () => {
  const { typed_config: filter } = read('samples/envoy/postern.yaml').static_resources.listeners[0]
    .filter_chains[0].filters[0].typed_config.http_filters[0]
  const { authorization_request, authorization_response, path_prefix } = filter.http_service
  const names = (patterns: readonly { readonly exact: string }[]) => patterns.map((it) => it.exact)

  test('does what the sample does, for the routes that the values name', () => {
    expect(only(manifests, 'SecurityPolicy')).toMatchObject({
      apiVersion: 'gateway.envoyproxy.io/v1alpha1',
      spec: {
        targetRefs: ['orders', 'invoices'].map((name) => ({
          group: 'gateway.networking.k8s.io',
          kind: 'HTTPRoute',
          name,
        })),
        extAuth: {
          failOpen: filter.failure_mode_allow,
          headersToExtAuth: names(authorization_request.allowed_headers.patterns),
          http: {
            path: path_prefix,
            backendRefs: [{ name: service.metadata.name, port: 9101 }],
            headersToBackend: names(authorization_response.allowed_upstream_headers.patterns),
          },
        },
      },
    })
  })
})

test.each(['authelia', 'oauth2-proxy'] as const)(
  'proxies copy the headers of configured claims and of the preset %s',
  (preset) => {
    const claims = { groups: 'X-Groups' }
    const set = [
      'policy.files.policy\\.csv=x',
      ...[`config.headers.preset=${preset}`, 'config.headers.claims.groups=X-Groups'],
    ]
    const over = render({ files: ['everything'], set })
    const added = claimHeaders({ claims, preset }).map(({ name }) => name)
    const { authResponseHeaders } = read('samples/traefik/postern.yaml').http.middlewares.postern
      .forwardAuth

    expect(only(over, 'Middleware', 'shop-postern-forward-auth-check')).toMatchObject({
      spec: {
        forwardAuth: {
          authResponseHeaders: [...authResponseHeaders.slice(0, -1), ...added, 'Authorization'],
        },
      },
    })
    expect(only(over, 'SecurityPolicy')).toMatchObject({
      spec: {
        extAuth: {
          http: { headersToBackend: expect.arrayContaining(added.map((it) => it.toLowerCase())) },
        },
      },
    })
  },
)

describe('objects of proxies that ask over gRPC', () => {
  const over = render({ files: ['existing-secrets', 'grpc'] })
  const name = 'shop-postern-forward-auth'
  const login = ['/login', '/getCaptcha', '/logout', '/user/profile', '/user/password'].map(
    (path) => `/api/v1${path}`,
  )

  test('find a port of the Service that says so, beside the one for HTTP', () => {
    expect(only(over, 'Service', name).spec).toMatchObject({
      ports: [
        { name: 'forward-auth', port: 9101, targetPort: 'forward-auth' },
        { name: 'grpc-forward-auth', appProtocol: 'grpc', port: 9102, targetPort: 'forward-auth' },
      ],
    })
  })

  test('are a SecurityPolicy that leaves the headers to Envoy and Postern', () => {
    const target = (kind: string, name: string) => ({
      group: 'gateway.networking.k8s.io',
      kind,
      name,
    })

    expect(only(over, 'SecurityPolicy').spec).toEqual({
      targetRefs: [target('HTTPRoute', 'orders'), target('GRPCRoute', 'shop')],
      extAuth: { failOpen: false, grpc: { backendRefs: [{ name, port: 9102 }] } },
    })
  })

  test('are an ExtensionService without TLS, which Contour would otherwise use', () => {
    expect(only(over, 'ExtensionService')).toMatchObject({
      apiVersion: 'projectcontour.io/v1alpha1',
      metadata: { name, namespace: 'web' },
      spec: { protocol: 'h2c', services: [{ name, port: 9102 }] },
    })
  })

  test('are an AuthorizationPolicy beside its workloads, for all but the paths of Postern', () => {
    expect(only(over, 'AuthorizationPolicy')).toMatchObject({
      apiVersion: 'security.istio.io/v1',
      metadata: { name, namespace: 'istio-ingress' },
    })
    expect(only(over, 'AuthorizationPolicy').spec).toEqual({
      selector: { matchLabels: { istio: 'ingressgateway' } },
      action: 'CUSTOM',
      provider: { name: 'postern' },
      rules: [{ to: [{ operation: { notPaths: login } }] }],
    })
    // Those that no route of Postern may cover.
    expect(login.toSorted()).toEqual(Object.values(ownPaths).toSorted())
  })

  test('leave out the login page only while Postern serves it', () => {
    type Spec = { rules: [{ to: [{ operation: { notPaths: readonly string[] } }] }] }
    const pathsWith = (...set: string[]) => {
      const rendered = render({ files: ['existing-secrets', 'grpc'], set })
      const { rules } = only(rendered, 'AuthorizationPolicy').spec as Spec
      return rules[0].to[0].operation.notPaths
    }
    const on = ['config.login.page.enabled=true', 'config.cookie.set=true']

    // A service may have its own /login.
    expect(pathsWith()).toEqual(login)
    expect(pathsWith(...on)).toEqual([...login, '/login', '/login/*'])
    expect(pathsWith(...on, 'config.login.page.path=/sign-in')).toEqual([
      ...[...login, '/sign-in', '/sign-in/*'],
    ])
  })

  test('name Gateways instead of labels, and every path where Postern has none', () => {
    const set = ['policy.files.policy\\.csv=x', 'forwardAuth.istio.ownPaths=null']
    const targetRefs = [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'public' }]

    expect(only(manifests, 'AuthorizationPolicy').spec).toMatchObject({ targetRefs })
    expect(only(manifests, 'AuthorizationPolicy').spec).not.toHaveProperty('selector')
    expect(only(render({ files: ['everything'], set }), 'AuthorizationPolicy').spec).toMatchObject({
      rules: [{}],
    })
  })

  test('come with the entry of the mesh configuration, which no chart can create', () => {
    const said = notes({ files: ['existing-secrets', 'grpc'] })

    expect(said).toContain('- name: postern\n')
    expect(said).toContain(`service: ${name}.web.svc.cluster.local\n             port: 9102\n`)
    expect(notes({ files: ['existing-secrets'] })).not.toContain('meshConfig')
  })
})

describe('objects of other proxies', () => {
  test('are not there unless they are wanted', () => {
    const kinds = render({ files: ['existing-secrets'] }).map(({ kind }) => kind)

    for (const kind of [
      'Middleware',
      'SecurityPolicy',
      'ExtensionService',
      'AuthorizationPolicy',
    ]) {
      expect(kinds).not.toContain(kind)
    }
  })

  test('have names that Kubernetes takes, however long the name of the release is', () => {
    const set = ['policy.files.policy\\.csv=x', `fullnameOverride=${'x'.repeat(60)}`]
    const long = render({ files: ['everything'], set })

    for (const { kind, metadata } of long) {
      if (kind === 'Service') expect(metadata.name.length).toBeLessThanOrEqual(63)
    }
  })
})
