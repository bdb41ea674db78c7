import { describe, expect, test } from 'vitest'
import { notes, only, render } from '../support/chart.ts'

const grpc = { files: ['existing-secrets', 'grpc'] }

describe('a gRPC service behind Postern', () => {
  const manifests = render(grpc)

  test('has a port of the Service that says HTTP/2, beside the one for WebSockets', () => {
    expect(only(manifests, 'Service', 'shop-postern').spec).toMatchObject({
      ports: [
        { name: 'http', port: 80, targetPort: 'http' },
        { name: 'h2c', appProtocol: 'kubernetes.io/h2c', port: 81, targetPort: 'http' },
      ],
    })
  })

  test('is reached by a GRPCRoute', () => {
    expect(only(manifests, 'GRPCRoute')).toMatchObject({
      apiVersion: 'gateway.networking.k8s.io/v1',
      metadata: { name: 'shop-postern', annotations: { 'example.com/note': 'hello' } },
    })
    expect(only(manifests, 'GRPCRoute').spec).toEqual({
      parentRefs: [{ name: 'public', namespace: 'gateways' }],
      hostnames: ['grpc.example.com'],
      rules: [
        {
          backendRefs: [{ name: 'shop-postern', port: 81 }],
          matches: [{ method: { service: 'shop.Orders' } }],
          filters: [
            {
              type: 'RequestHeaderModifier',
              requestHeaderModifier: { remove: ['x-original-url'] },
            },
          ],
        },
      ],
    })
  })

  test('is reached by rules of an HTTPRoute and paths of an Ingress too', () => {
    const backendOf = (name: string) => ({ service: { name: 'shop-postern', port: { name } } })

    expect(only(manifests, 'HTTPRoute').spec).toMatchObject({
      rules: [
        {
          matches: [{ path: { value: '/shop.Orders' } }],
          backendRefs: [{ name: 'shop-postern', port: 81 }],
        },
        {
          matches: [{ path: { value: '/' } }],
          backendRefs: [{ name: 'shop-postern', port: 80 }],
        },
      ],
    })
    expect(only(manifests, 'Ingress').spec).toMatchObject({
      rules: [
        {
          http: {
            paths: [
              { path: '/shop.Orders', backend: backendOf('h2c') },
              { path: '/', backend: backendOf('http') },
            ],
          },
        },
      ],
    })
  })

  test('needs no second port where the public port has TLS, which chooses the protocol', () => {
    const everything = { files: ['everything'], set: ['policy.files.policy\\.csv=x'] }
    const set = [...everything.set, 'config.application.h2c=true']

    for (const values of [everything, { ...everything, set }]) {
      const manifests = render(values)
      const { ports } = only(manifests, 'Service', 'shop-postern').spec as { ports: unknown[] }
      expect(ports).toHaveLength(1)
      expect(only(manifests, 'GRPCRoute').spec).toMatchObject({
        rules: [{ backendRefs: [{ name: 'shop-postern', port: 80 }] }],
      })
    }
  })

  test('is warned about a host name that an HTTPRoute has too', () => {
    const warning = 'the HTTPRoute and the GRPCRoute have a host name in common'

    expect(notes(grpc)).not.toContain(warning)
    for (const hostnames of ['null', '{grpc.example.com,api.example.com}']) {
      expect(notes({ ...grpc, set: [`grpcRoute.hostnames=${hostnames}`] })).toContain(warning)
    }
  })
})
