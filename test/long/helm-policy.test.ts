import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifySigned } from '../../src/signing/trust.ts'
import { parseHead } from '../../src/stores/policies/document/policy-keys.ts'
import { matcherWith, modelText } from '../policy/casbin-models.ts'
import { person, trusting } from '../signing/key-pairs.ts'
import { type Manifest, only, render, type Values } from '../support/chart.ts'
import { type PodSpec, runInPod } from '../support/mounted-pod.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const files = {
  'policy.files.model\\.conf': 'policies/model.conf',
  'policy.files.policy\\.csv': 'policies/policy.csv',
  'policy.files.exclusions\\.yaml': 'policies/exclusions.yaml',
}
const withTests = { 'policy.files.tests/orders_test\\.yaml': 'policies/tests/orders_test.yaml' }

const ci = person('ci')
const ciKey: Manifest = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'policy-key' },
  data: { 'policy.pem': Buffer.from(ci.pem).toString('base64') },
}

const pushed: Values = { files: ['everything'], setFile: files }
const mounted: Values = { files: ['files-policy'], setFile: { ...files, ...withTests } }

const more = (values: Values, ...set: string[]): Values => ({ ...values, set })

function podTemplateOf(manifests: readonly Manifest[], kind: 'Deployment' | 'Job') {
  const { template } = only(manifests, kind).spec as {
    template: { metadata: Manifest['metadata']; spec: PodSpec & { serviceAccountName?: string } }
  }
  return template
}

const hooksIn = (manifests: readonly Manifest[]) =>
  manifests.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook']?.startsWith('pre-'))

describe('a change of policy', () => {
  test.each([
    ['published to Redis', pushed],
    ['mounted', mounted],
  ])('starts no new pods when it is %s', (_, values) => {
    const before = podTemplateOf(render(values), 'Deployment')
    const rule = 'policy.files.more\\.csv=p\\, clerk\\, /api/v1/more\\, GET\n'

    const after = render(more(values, rule, 'policy.push.message=another'))

    expect(podTemplateOf(after, 'Deployment')).toEqual(before)
    expect(JSON.stringify(after)).toContain('/api/v1/more')
  })

  test('reaches mounted gateways as a ConfigMap without its tests', () => {
    const manifests = render(mounted)

    expect(Object.keys(only(manifests, 'ConfigMap', 'shop-postern-policy').data ?? {})).toEqual([
      'exclusions.yaml',
      'model.conf',
      'policy.csv',
    ])
    expect(podTemplateOf(manifests, 'Deployment').spec.volumes).toContainEqual({
      name: 'policy',
      configMap: { name: 'shop-postern-policy' },
    })
  })
})

describe('a change that gateways read at their start only', () => {
  const annotations = (values: Values) =>
    podTemplateOf(render(values), 'Deployment').metadata.annotations

  test.each([
    ['of the configuration', 'config.logger.level=debug', 'checksum/config'],
    ['of a secret of the release', `secrets.jwtSecret.value=${'y'.repeat(40)}`, 'checksum/secrets'],
  ])('%s starts new pods', (_, set, changed) => {
    const before = annotations(pushed)
    const after = annotations(more(pushed, set))

    const differing = Object.keys(after ?? {}).filter((key) => after?.[key] !== before?.[key])
    expect(differing).toEqual([changed])
  })
})

describe('the Job that publishes', () => {
  test('runs before everything of the release, after what it needs', () => {
    const hooks = hooksIn(render(pushed)).map(({ kind, metadata: { name, annotations = {} } }) => [
      `${kind} ${name}`,
      Number(annotations['helm.sh/hook-weight']),
      annotations['helm.sh/hook'],
    ])
    const when = 'pre-install,pre-upgrade,pre-rollback'

    expect(hooks).toEqual([
      ['Secret shop-postern-policy-hook', -10, when],
      ['ConfigMap shop-postern-policy-hook-config', -10, when],
      ['ConfigMap shop-postern-policy-hook', -10, when],
      ['Job shop-postern-policy-hook', -5, when],
    ])
  })

  test('needs nothing that the release makes only later, and no secret but the address of Redis', () => {
    const manifests = render(pushed)
    const early = new Set(
      hooksIn(manifests).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    )
    const own = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    const { spec } = podTemplateOf(manifests, 'Job')
    const needed = [...JSON.stringify(spec).matchAll(/"(?:name|secretName)":"(shop-[^"]+)"/g)]

    for (const [, name] of needed) {
      const objects = own.filter((each) => each.endsWith(` ${name}`) && !each.startsWith('Job'))
      expect(objects.length).toBeGreaterThan(0)
      for (const each of objects) expect(early).toContain(each)
    }
    expect(spec.serviceAccountName).toBeUndefined()
    expect(only(manifests, 'Secret', 'shop-postern-policy-hook').data).toEqual({
      'redis-url': Buffer.from('rediss://:redis-password@redis:6379/0').toString('base64'),
    })
  })

  test('takes an existing Secret as it is', () => {
    const values = { files: ['existing-secrets'], set: ['policy.delivery=push'], setFile: files }
    const manifests = render(values)

    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([])
    expect(JSON.stringify(podTemplateOf(manifests, 'Job').spec)).toContain('"name":"postern"')
  })

  test('is not tried again where the policy itself is at fault', () => {
    expect(only(render(pushed), 'Job').spec).toMatchObject({
      backoffLimit: 3,
      podFailurePolicy: {
        rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [2, 3, 4] } }],
      },
      template: { spec: { restartPolicy: 'Never' } },
    })
  })
})

describe('the Job that publishes, run against a Redis', () => {
  async function startedRedis(): Promise<RedisServer> {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    return redis
  }

  function runJob(
    redis: RedisServer,
    set: readonly string[] = [],
    setFile: Readonly<Record<string, string>> = { ...files, ...withTests },
  ) {
    const url = `secrets.redisUrl.value=${redis.url}`
    const objects = render({ ...pushed, setFile, set: [url, ...set] })
    const ca: Manifest = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'company-ca' },
      data: { 'ca.crt': '' },
    }
    return runInPod(podTemplateOf(objects, 'Job').spec, { objects: [...objects, ca, ciKey] })
  }

  test('signs with the key of its Secret, where policy.trust lists it', async () => {
    const redis = await startedRedis()
    const trust = `config.policy.trust.keys={${ci.line}}`
    const key = ['policy.push.signingKey.existingSecret=policy-key']

    expect(runJob(redis, [trust, ...key])).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('signed by ci'),
    })
    const head = await redis.client.get('{shop}:policy:head')
    const { signed } = parseHead(head ?? '', 'head')
    expect(verifySigned(signed, 'live', trusting([ci]))).toMatchObject({ signers: ['ci'] })

    const stranger = `config.policy.trust.keys={${person('ann').line}}`
    expect(runJob(redis, [stranger, ...key])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('policy.trust.keys does not list the key'),
    })
  })

  test('publishes the policy under the prefix of the gateways', async () => {
    const redis = await startedRedis()

    const { status, stderr } = runJob(redis)

    expect(stderr).toContain('published r-')
    expect(status).toBe(0)
    expect(await redis.client.exists('{shop}:policy:head')).toBe(1)
  })

  test('publishes a policy without tests only when the values say so', async () => {
    const redis = await startedRedis()

    const refused = runJob(redis, ['policy.push.noTests=false'], files)
    const allowed = runJob(redis, ['policy.push.noTests=true'], files)

    expect(refused).toMatchObject({ status: 4, stderr: expect.stringContaining('has no tests') })
    expect(allowed.status).toBe(0)
  })

  test('publishes a model that Casbin has to evaluate only when the values say so', async () => {
    const redis = await startedRedis()
    const directory = mkdtempSync(join(tmpdir(), 'postern-model-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const model = join(directory, 'model.conf')
    writeFileSync(model, modelText({ matcher: matcherWith({ path: 'keyMatch3(r.obj, p.obj)' }) }))
    const slow = { 'policy.files.model\\.conf': model }
    const rule = 'policy.files.policy\\.csv=p\\, clerk\\, /orders\\, GET\n'

    const refused = runJob(redis, [rule, 'policy.push.allowSlow=false'], slow)
    const allowed = runJob(redis, [rule, 'policy.push.allowSlow=true'], slow)

    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('--allow-slow') })
    expect(allowed.status).toBe(0)
  })

  test('tests the policy with the routes of the gateways', async () => {
    const redis = await startedRedis()
    const line = (path: string, step: string) =>
      `- { role: viewer\\, method: PUT\\, path: ${path}\\, expect: allow\\, step: ${step} }\n`
    const open = `policy.files.tests/open_test\\.yaml=${line('/static/logo.png', 'route')}`
    const other = `policy.files.tests/open_test\\.yaml=${line('/other/logo.png', 'route')}`

    expect(runJob(redis, [open])).toMatchObject({ status: 0 })
    expect(runJob(redis, [other])).toMatchObject({ status: 4 })
  })

  test.each([
    ['a bad rule', 'policy.files.bad\\.csv=p\\, clerk\\, no-slash\\, GET\n', 3],
    ['a rule that a test forbids', 'policy.files.bad\\.csv=p\\, viewer\\, /*\\, PUT\n', 4],
  ])('fails on %s, and the live policy stays', async (_, set, exitCode) => {
    const redis = await startedRedis()
    runJob(redis)
    const live = await redis.client.get('{shop}:policy:head')

    const { status } = runJob(redis, [set])

    expect(status).toBe(exitCode)
    expect(live).not.toBeNull()
    expect(await redis.client.get('{shop}:policy:head')).toBe(live)
  })
})

describe('the Job that checks a mounted policy', () => {
  function runJob(values: Values) {
    const objects = render(values)
    return runInPod(podTemplateOf(objects, 'Job').spec, { objects })
  }

  test('passes one that is sound, with tests or without', () => {
    expect(runJob(mounted)).toMatchObject({ status: 0, stdout: expect.stringContaining('passed') })
    expect(runJob({ ...mounted, setFile: files })).toMatchObject({ status: 0 })
  })

  test('fails on one that gateways would not take', () => {
    const name = randomBytes(4).toString('hex')

    const { status, stderr } = runJob(more(mounted, `policy.files.${name}\\.csv=p\\, x\n`))

    expect(stderr).toContain(`${name}.csv:1`)
    expect(status).toBe(3)
  })
})
