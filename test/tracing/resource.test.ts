import { describe, expect, test } from 'vitest'
import { readResource } from '../../src/tracing/otlp/open-otlp.ts'

function resourceOf(env: Readonly<Record<string, string>>) {
  const problems: string[] = []
  const resource = readResource({
    version: '1.2.3',
    env,
    onInvalid: (problem) => problems.push(problem),
  })
  return { resource, problems }
}

const uuid = expect.stringMatching(/^[\da-f]{8}-[\da-f-]{27}$/)

describe('the resource of spans', () => {
  test('names the service, its version and this process', () => {
    const { resource } = resourceOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://elsewhere' })

    expect(resource).toEqual({
      'service.name': 'postern',
      'service.version': '1.2.3',
      'service.instance.id': uuid,
    })
    expect(resourceOf({}).resource).not.toEqual(resource)
  })

  test('takes further attributes, and the name of the service, from the environment', () => {
    const { resource, problems } = resourceOf({
      OTEL_SERVICE_NAME: 'orders-sidecar',
      OTEL_RESOURCE_ATTRIBUTES:
        'service.name=other, deployment.environment.name=test%2C%20two,empty=,service.instance.id=pod-1',
    })

    expect(resource).toEqual({
      'service.name': 'orders-sidecar',
      'service.version': '1.2.3',
      'service.instance.id': 'pod-1',
      'deployment.environment.name': 'test, two',
      empty: '',
    })
    expect(problems).toEqual([])
  })

  test.each(['novalue', '=1', 'a=1,b', 'a=%zz'])('ignores malformed attributes: %s', (text) => {
    const { resource, problems } = resourceOf({ OTEL_RESOURCE_ATTRIBUTES: text })

    expect(Object.keys(resource)).toEqual([
      'service.name',
      'service.version',
      'service.instance.id',
    ])
    expect(problems).toHaveLength(1)
  })
})
