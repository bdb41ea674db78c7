import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Manifest, only, render, renderAsSubchart, validate } from '../support/chart.ts'

const everything = { files: ['everything'], set: ['policy.files.policy\\.csv=x'] }

interface Pod {
  readonly containers: readonly { readonly image: string }[]
}

/** The pods of the gateways, of the Job and of `helm test`. */
function podsOf(manifests: readonly Manifest[]): readonly Pod[] {
  return manifests.flatMap(({ kind, spec }) => {
    if (kind === 'Pod') return [spec as Pod]
    if (!['Deployment', 'Job'].includes(kind)) return []
    return [(spec as { template: { spec: Pod } }).template.spec]
  })
}

const imagesOf = (manifests: readonly Manifest[]) =>
  podsOf(manifests).map(({ containers }) => containers[0]?.image)

describe('every object of the release', () => {
  /** `extraObjects` are the operator's own. */
  const namespacesOf = (manifests: readonly Manifest[]) =>
    new Set(
      manifests
        .filter(({ metadata }) => metadata.name !== 'shop-extra')
        .map(({ metadata }) => metadata.namespace),
    )

  test('is in the namespace of the release, or in the one that replaces it', () => {
    const set = [...everything.set, 'namespaceOverride=gateways']

    expect(namespacesOf(render(everything))).toEqual(new Set(['web']))
    expect(namespacesOf(render({ ...everything, set }))).toEqual(new Set(['gateways']))
  })
})

describe('every pod of the release', () => {
  test('resolves names and is run as the values say', async () => {
    const set = [
      ...everything.set,
      'dnsPolicy=None',
      'dnsConfig.nameservers[0]=10.0.0.10',
      'runtimeClassName=gvisor',
    ]
    const manifests = render({ ...everything, set })
    const pods = podsOf(manifests)

    expect(pods).toHaveLength(4)
    for (const pod of pods) {
      expect(pod).toMatchObject({
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['10.0.0.10'] },
        runtimeClassName: 'gvisor',
        hostAliases: [{ ip: '10.1.2.3', hostnames: ['legacy.internal'] }],
      })
    }
    for (const kind of ['Deployment', 'Job']) await validate(only(manifests, kind))
  })

  test('leaves that to the cluster by default', () => {
    for (const pod of podsOf(render({ files: ['existing-secrets'] }))) {
      expect(Object.keys(pod)).not.toContain('dnsPolicy')
      expect(Object.keys(pod)).not.toContain('runtimeClassName')
    }
  })
})

test('the Deployment gets its annotations, and its pods do not', () => {
  const set = [...everything.set, 'deploymentAnnotations.example\\.com/reload=yes']
  const { metadata, spec } = only(render({ ...everything, set }), 'Deployment')

  expect(metadata.annotations).toEqual({ 'example.com/reload': 'yes' })
  expect(JSON.stringify(spec)).not.toContain('example.com/reload')
})

test('every Service gets the address families', async () => {
  const set = [
    ...everything.set,
    'service.ipFamilyPolicy=PreferDualStack',
    'service.ipFamilies={IPv6,IPv4}',
  ]
  const services = render({ ...everything, set }).filter(({ kind }) => kind === 'Service')

  expect(services).toHaveLength(4)
  for (const service of services) {
    expect(service.spec).toMatchObject({
      ipFamilyPolicy: 'PreferDualStack',
      ipFamilies: ['IPv6', 'IPv4'],
    })
    await validate(service)
  }
})

describe('in a chart that has this one as a dependency', () => {
  const values = parse(readFileSync('test/helm/values/existing-secrets.yaml', 'utf8')) as object

  test('it is installed on condition', () => {
    const on = renderAsSubchart({ postern: { ...values, enabled: true } })

    expect(only(on, 'Deployment').metadata.name).toBe('shop-postern')
    expect(renderAsSubchart({ postern: { ...values, enabled: false } })).toEqual([])
  })

  test('it pulls its image from the registry that is meant for all', () => {
    const global = { imageRegistry: 'mirror.example.com', storageClass: 'fast' }

    expect(imagesOf(renderAsSubchart({ global, postern: values }))).toEqual([
      'mirror.example.com/team/postern:0.1.0',
      'mirror.example.com/team/postern:0.1.0',
    ])
  })
})
