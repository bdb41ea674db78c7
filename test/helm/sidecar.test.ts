import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type Manifest, notes, only, refusal, render, validate } from '../support/chart.ts'
import { type PodSpec, runInPod } from '../support/mounted-pod.ts'
import { podOf, preStop, type SidecarPod, sidecar } from '../support/sidecar-pod.ts'

describe('a pod with the service behind Postern', () => {
  test('ends the service after Postern, as a sidecar of Kubernetes', async () => {
    const manifests = render(sidecar)
    const pod = podOf(sidecar)

    expect(pod.containers.map(({ name }) => name)).toEqual(['postern'])
    expect(pod.initContainers).toMatchObject([{ name: 'app', restartPolicy: 'Always' }])
    // The deadline of Postern, ten seconds to spare, and those of the service.
    expect(pod.terminationGracePeriodSeconds).toBe(30 + 10 + 10)
    await validate(only(manifests, 'Deployment'))
  })

  test('or by a hook that sleeps until Postern has ended, where the cluster is older', async () => {
    const values = { ...sidecar, set: preStop }
    const pod = podOf(values)

    expect(pod.initContainers).toBeUndefined()
    expect(pod.containers.map(({ name }) => name)).toEqual(['postern', 'app'])
    expect(pod.containers[1]?.lifecycle?.preStop?.exec.command).toEqual(['sleep', '35'])
    await validate(only(render(values), 'Deployment'))
  })

  test('is the one or the other by the version of the cluster', () => {
    const names = (kubeVersion: string) => {
      const { initContainers = [], containers } = podOf({ ...sidecar, kubeVersion })
      return [initContainers, containers].map((some) => some.map(({ name }) => name))
    }

    expect(names('1.28.9')).toEqual([[], ['postern', 'app']])
    expect(names('1.29.0')).toEqual([['app'], ['postern']])
    expect(names('1.29.3-gke.1282000')).toEqual([['app'], ['postern']])
    const native = { ...sidecar, set: ['appShutdown.order=native'], kubeVersion: '1.28.9' }
    expect(refusal(native)).toContain('this cluster runs v1.28.9; use auto or preStop')
  })

  test('is ready only while the service is, which Postern checks', () => {
    const { containers } = podOf(sidecar)

    expect(containers[0]).toMatchObject({
      readinessProbe: { httpGet: { path: '/readyz?upstream=app', port: 'ops' } },
      livenessProbe: { httpGet: { path: '/healthz', port: 'ops' } },
    })
  })

  test('keeps init containers of its own, before the service', () => {
    const set = ['initContainers[0].name=first', 'initContainers[0].image=x']

    const { initContainers } = podOf({ ...sidecar, set })

    expect(initContainers?.map(({ name }) => name)).toEqual(['first', 'app'])
  })

  test.each([
    [
      'a hook that would be lost',
      [...preStop, hook('sleep')],
      'app has its own preStop hook, which this cluster needs',
    ],
    [
      'a service that must end first',
      ['appContainers[0].restartPolicy=Never'],
      'remove restartPolicy',
    ],
    ['an upstream that is not there', ['readyUpstreams={api}'], '"api" is not defined'],
    [
      'an upstream whose health is not checked',
      ['readyUpstreams={orders}'],
      'config.upstreams.orders.healthCheck is required',
    ],
    ['no time for it', ['terminationGracePeriodSeconds=40'], 'appShutdown.seconds), or'],
    ['an unknown order', ['appShutdown.order=none'], 'must be one of'],
  ])('is refused with %s', (_, set, message) => {
    const named = ['appContainers[0].name=app', 'appContainers[0].image=x']

    expect(refusal({ ...sidecar, set: [...named, ...set] })).toContain(message)
  })

  test('is warned about where the service ends together with Postern', () => {
    const together = ['extraContainers[0].name=app', 'extraContainers[0].image=x']
    const values = { files: ['existing-secrets'] }
    const target = 'config.upstreams.orders.targets[0]=http://127.0.0.1:8080'

    expect(notes({ ...values, set: [...together, target] })).toContain('appContainers')
    expect(notes({ ...values, set: together })).not.toContain('appContainers')
    expect(notes(sidecar)).not.toContain('extraContainers')
  })
})

describe("the sample for a Deployment of one's own", () => {
  const objects = parseAllDocuments(readFileSync('samples/kubernetes/sidecar.yaml', 'utf8')).map(
    (document) => document.toJS() as Manifest,
  )
  const { template } = only(objects, 'Deployment').spec as { template: { spec: Sample } }

  test('mounts no token of the Kubernetes API, as the chart', () => {
    for (const spec of [template.spec, podOf(sidecar) as Sample]) {
      expect(spec).toMatchObject({ automountServiceAccountToken: false })
    }
  })

  test('has nothing that Kubernetes would refuse', async () => {
    for (const object of objects) await validate(object)
  })

  test('orders containers, probes and the end of the pod as the chart does', () => {
    const chart = podOf(sidecar) as Sample
    const order = ({ initContainers = [], containers }: Sample) => ({
      sidecars: initContainers.map(({ name, restartPolicy }) => ({ name, restartPolicy })),
      containers: (containers as SidecarPod['containers']).map(({ name, readinessProbe }) => ({
        name,
        readinessProbe,
      })),
    })
    const ready = { httpGet: { path: '/readyz?upstream=app', port: 'ops' } }

    expect(order(template.spec)).toMatchObject({
      ...order(chart),
      containers: [{ name: 'postern', readinessProbe: ready }],
    })
    expect(template.spec.terminationGracePeriodSeconds).toBe(chart.terminationGracePeriodSeconds)
  })

  test('has a configuration that Postern takes', () => {
    const data = Object.entries({
      'jwt-secret': 'f3b1c9d2a87e4560b9c1d3e5f7a90b2c4d6e8f0a',
      'database-url': 'postgres://u:p@db/postern',
      'redis-url': 'rediss://redis:6379/0',
    }).map(([key, text]) => [key, Buffer.from(text).toString('base64')])
    const secret: Manifest = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'postern' },
      data: Object.fromEntries(data),
    }
    const args = ['config', 'check', '--no-files']

    const { stdout, stderr } = runInPod(template.spec, { objects: [...objects, secret], args })

    // Without config.application.trustedProxies, no proxy with TLS is known.
    expect(stderr.replace(/^.* serves plain HTTP, and .*\n/, '')).toBe('')
    expect(stdout).toContain('postern.yaml: ok (mode prod, 1 route, 1 upstream)')
  })
})

type Sample = SidecarPod & PodSpec

function hook(command: string): string {
  return `appContainers[0].lifecycle.preStop.exec.command[0]=${command}`
}
