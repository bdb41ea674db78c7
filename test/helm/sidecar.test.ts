import { describe, expect, test } from 'vitest'
import { notes, only, refusal, render, validate } from '../support/chart.ts'
import { podOf, preStop, sidecar } from '../support/sidecar-pod.ts'

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

  test('keeps init containers of its own, before the service', () => {
    const set = ['initContainers[0].name=first', 'initContainers[0].image=x']

    const { initContainers } = podOf({ ...sidecar, set })

    expect(initContainers?.map(({ name }) => name)).toEqual(['first', 'app'])
  })

  test.each([
    ['a hook that would be lost', [...preStop, hook('sleep')], 'app has its own preStop hook'],
    [
      'a service that must end first',
      ['appContainers[0].restartPolicy=Never'],
      'remove restartPolicy',
    ],
    ['no time for it', ['terminationGracePeriodSeconds=40'], 'appShutdown.seconds), or'],
    ['an unknown order', ['appShutdown.order=none'], 'appShutdown.order must be one of'],
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

function hook(command: string): string {
  return `appContainers[0].lifecycle.preStop.exec.command[0]=${command}`
}
