import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { only, render } from '../support/chart.ts'

const manifests = render({ files: ['everything'], set: ['policy.files.policy\\.csv=x'] })
const service = only(manifests, 'Service', 'shop-postern-forward-auth')

/** The samples are run with the real programs against forged headers. */
const read = (path: string) => parse(readFileSync(path, 'utf8'))

describe('the Middleware for Traefik', () => {
  const { postern, plain } = read('samples/traefik/postern.yaml').http.middlewares
  const name = 'shop-postern-forward-auth'

  test('is one to reference, which checks first and then removes headers', () => {
    expect(only(manifests, 'Middleware', name)).toMatchObject({
      apiVersion: 'traefik.io/v1alpha1',
      spec: { chain: { middlewares: [{ name: `${name}-check` }, { name: `${name}-headers` }] } },
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
    expect(service.spec).toMatchObject({ ports: [{ port: 9101 }] })
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

describe('objects of other proxies', () => {
  test('are not there unless they are wanted', () => {
    const kinds = render({ files: ['existing-secrets'] }).map(({ kind }) => kind)

    expect(kinds).not.toContain('Middleware')
    expect(kinds).not.toContain('SecurityPolicy')
  })

  test('have names that Kubernetes takes, however long the name of the release is', () => {
    const set = ['policy.files.policy\\.csv=x', `fullnameOverride=${'x'.repeat(60)}`]
    const long = render({ files: ['everything'], set })

    for (const { kind, metadata } of long) {
      if (kind === 'Service') expect(metadata.name.length).toBeLessThanOrEqual(63)
    }
  })
})
