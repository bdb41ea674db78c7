import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Manifest, only, render, validate } from '../support/chart.ts'
import { type PodSpec, runInPod } from '../support/mounted-pod.ts'
import { testPrefix } from '../support/redis-client.ts'
import { startRedis } from '../support/redis-server.ts'
import { runCommand } from '../support/run-command.ts'
import { startPostern } from '../support/start-postern.ts'

const values = {
  files: ['existing-secrets'],
  set: ['helmTest.login.existingSecret=probe', 'keys.existingSecret=postern-keys'],
}

function podOf(manifests: readonly Manifest[]) {
  const pod = only(manifests, 'Pod', 'shop-postern-test-login')
  const { containers } = pod.spec as PodSpec
  return { pod, args: containers[0]?.args ?? [] }
}

describe('helm test with an account', () => {
  test('is a pod that Kubernetes takes, and that runs only then', async () => {
    const { pod, args } = podOf(render(values))

    await validate(pod)
    expect(pod.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'test' })
    expect(args).not.toContain('--insecure')
    expect(
      podOf(render({ ...values, set: [...values.set, 'tls.existingSecret=tls'] })).args,
    ).toEqual(expect.arrayContaining(['https://shop-postern:80', '--insecure']))
    const names = render({ files: ['existing-secrets'] }).map(({ metadata }) => metadata.name)
    expect(names).not.toContain('shop-postern-test-login')
  })

  test('logs in and out at a gateway with the same Redis and keys', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const secret = 'a secret of the test that is long enough for anybody'
    const config = {
      application: { mode: 'prod' },
      jwt: { secret },
      redis: { url: redis.url, prefix: testPrefix },
    }
    const { publicPort, passwords } = await startPostern({ config })
    const directory = await mkdtemp(join(tmpdir(), 'postern-helm-login-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    await writeFile(join(directory, 'postern.yaml'), JSON.stringify(config))
    await writeFile(join(directory, 'password'), passwords['editor'] ?? '')
    const inCluster: Readonly<Record<string, string>> = {
      '$(LOGIN_NAME)': 'editor',
      'http://shop-postern:80': `http://127.0.0.1:${publicPort}`,
      '/run/secrets/login/password': 'password',
    }

    const { args } = podOf(render(values))
    const here = args.map((one) => inCluster[one] ?? one)
    const { code, err } = await runCommand(here, { cwd: directory })

    expect(here).not.toEqual(args)
    expect(err).toBe('postern: logged in as editor\npostern: logged out; the token is refused\n')
    expect(code).toBe(0)
  })

  test('finds the configuration, the secrets and the password where they are mounted', () => {
    const manifests = render({ files: ['existing-secrets'], set: values.set.slice(0, 1) })
    const { pod, args } = podOf(manifests)
    const secrets = {
      postern: {
        'jwt-secret': 'f3b1c9d2a87e4560b9c1d3e5f7a90b2c4d6e8f0a',
        'redis-url': 'redis://127.0.0.1:1/0',
      },
      'postern-db-app': { uri: 'postgres://u:p@db/postern' },
      probe: { username: 'editor', password: 'x' },
    }
    const objects = Object.entries(secrets).map(
      ([name, data]): Manifest => ({
        ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name } },
        data: Object.fromEntries(
          Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
        ),
      }),
    )

    // So far: the next thing that it needs is Redis.
    const { status, stderr } = runInPod(pod.spec as PodSpec, {
      objects: [...manifests, ...objects],
      args,
    })

    expect(stderr).toMatch(/127\.0\.0\.1:1|Redis|redis/)
    expect(status).toBe(5)
  })
})
