import { readFileSync } from 'node:fs'
import { cp, mkdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { folder } from '../cli/policy-runner.ts'
import { type CiRunner, type RanScript, startCiRunner, writeProgram } from '../support/ci-runner.ts'
import { createPolicyRepository, policyFiles } from '../support/policy-repository.ts'
import { prefix, startPublished, testStore } from '../support/published-policies.ts'

interface Job {
  readonly extends?: string
  readonly variables?: Readonly<Record<string, string | number>>
  readonly script: readonly string[]
  readonly rules?: readonly { readonly if: string; readonly when?: string }[]
  readonly environment?: string
  readonly coverage?: string
}

const pipeline = parse(readFileSync('samples/ci/gitlab.yml', 'utf8')) as Readonly<
  Record<string, Job>
> & { readonly variables: Readonly<Record<string, string>> }

/** A checkout in which jobs run one after the other; artifacts stay in it. */
interface Pipeline {
  readonly cwd: string
  job(name: string, env?: Readonly<Record<string, string>>): Promise<RanScript>
}

function startPipeline(runner: CiRunner, cwd: string): Pipeline {
  return {
    cwd,
    job(name, env = {}) {
      const { script, variables, ...job } = pipeline[name] as Job
      // The image names a file that only a gateway has.
      const image = job.extends === '.postern' && { POSTERN_CONFIG: '/etc/postern/postern.yaml' }
      const given = { ...image, ...pipeline.variables, ...variables, ...env }
      return runner.run(script.join('\n'), {
        shell: 'sh',
        cwd,
        env: Object.fromEntries(Object.entries(given).map(([key, value]) => [key, `${value}`])),
      })
    },
  }
}

async function prepare() {
  const directory = await folder()
  const runner = await startCiRunner(directory)
  await writeProgram(join(runner.bin, 'postern'), `exec node ${runner.postern} "$@"\n`)
  const repository = createPolicyRepository(join(directory, 'repository'))
  let number = 0
  const checkOut = (branch: string) => {
    number += 1
    const target = join(directory, `checkout-${number}`)
    return startPipeline(runner, repository.checkOut(branch, target, 0))
  }
  return { repository, checkOut }
}

describe('a merge request', () => {
  test('is checked, tested, and compared with its target', async () => {
    const { repository, checkOut } = await prepare()
    const base = repository.git('rev-parse', 'HEAD')
    repository.commit(policyFiles('p, viewer, /api/v1/orders/7, PUT'))
    const { cwd, job } = checkOut('main')
    const read = (file: string) => readFile(join(cwd, file), 'utf8')

    const ran = [
      await job('policy-base', { CI_MERGE_REQUEST_DIFF_BASE_SHA: base }),
      await job('policy-check'),
      await job('policy-test'),
      await job('policy-diff'),
    ]

    expect(ran.map(({ code, out }) => [code, code === 0 ? '' : out])).toEqual(
      ran.map(() => [0, '']),
    )
    expect(await read('policy-check.xml')).toContain('failures="0" errors="0"')
    expect(await read('policy-test.xml')).toContain('<testsuite name="policies/tests/orders_test')
    const coverage = new RegExp(pipeline['policy-test']?.coverage?.slice(1, -1) ?? '')
    expect(coverage.exec(ran[2]?.out ?? '')?.[1]).toBe('100')
    expect(await read('policy-diff.md')).toContain('\n+ viewer PUT /api/v1/orders/7 (added in')
  })

  test('with a mistake fails, and its report says why', async () => {
    const { repository, checkOut } = await prepare()
    repository.commit({ 'policies/policy.csv': 'p, clerk, /api/v1/orders, get\n' })
    const { cwd, job } = checkOut('main')

    expect((await job('policy-check')).code).toBe(3)
    expect((await job('policy-test')).code).toBe(3)
    expect(await readFile(join(cwd, 'policy-test.xml'), 'utf8')).toContain('errors="1"')
  })
})

describe('a merge', () => {
  test('is published over the policy of the previous commit', async () => {
    const { repository, checkOut } = await prepare()
    const { redis, ask } = await startPublished()
    const store = await testStore(redis)
    const env = {
      ...{ POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix },
      ...{ GITLAB_USER_LOGIN: 'ann', CI_COMMIT_TITLE: '-x $(false)', CI_COMMIT_SHORT_SHA: 'abc' },
    }
    const before = repository.git('rev-parse', 'HEAD')
    const first = checkOut('main')
    await first.job('policy-base', { CI_COMMIT_BEFORE_SHA: before })
    // Nothing is published, so nothing can be replaced: a person makes the first publication.
    expect((await first.job('policy-publish', env)).out).toContain('run again without --over')
    expect((await first.job('policy-publish', { ...env, OVER: 'live' })).code).toBe(0)

    repository.commit(policyFiles('p, clerk, /api/v1/orders/7, GET'))
    const { job } = checkOut('main')
    await job('policy-base', { CI_COMMIT_BEFORE_SHA: before })
    const published = await job('policy-publish', env)

    expect(published).toMatchObject({ code: 0 })
    expect(await ask('/api/v1/orders/7')).toBe('allowed')
    expect((await store.history())[0]).toMatchObject({
      author: 'ann',
      message: '-x $(false) (abc)',
    })
  })

  test('waits for a person, who alone has the URL of Redis', () => {
    expect(pipeline['policy-publish']).toMatchObject({
      rules: [{ if: '$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH', when: 'manual' }],
      environment: 'production',
    })
    expect(readFileSync('samples/ci/gitlab.yml', 'utf8')).not.toContain('REDIS')
  })
})

describe('the comment', () => {
  interface Note {
    readonly id: number
    readonly author: { readonly id: number }
    body: string
  }

  /** The part of GitLab that keeps comments. */
  async function startGitlab(notes: Note[]): Promise<string> {
    async function answer(request: IncomingMessage): Promise<unknown> {
      const { method, url = '', headers } = request
      if (headers['private-token'] !== 'comment-token') return undefined
      if (url === '/api/user') return { id: 1 }
      const [path, query = ''] = url.split('?')
      if (!path?.startsWith('/api/projects/5/merge_requests/7/notes')) return undefined
      const page = Number(new URLSearchParams(query).get('page'))
      if (method === 'GET') return notes.slice((page - 1) * 100, page * 100)
      const { body } = (await json(request)) as { readonly body: string }
      const known = notes.find(({ id }) => path.endsWith(`/notes/${id}`))
      if (known !== undefined && method === 'PUT') known.body = body
      else if (method === 'POST') notes.push({ id: notes.length + 1, author: { id: 1 }, body })
      return {}
    }
    const server = createServer(async (request, response) => {
      const found = await answer(request)
      response.writeHead(found === undefined ? 404 : 200).end(JSON.stringify(found))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`
  }

  test('is written once and replaced later, and that of another author stays', async () => {
    const marker = '<!-- postern policy diff -->'
    const notes: Note[] = Array.from({ length: 150 }, (_, index) => ({
      ...{ id: index + 1, author: { id: 2 }, body: index === 0 ? `${marker}\nmine` : 'hello' },
    }))
    const { repository, checkOut } = await prepare()
    repository.commit({ 'policy-diff.md': `${marker}\nfirst\n` })
    const { cwd, job } = checkOut('main')
    await mkdir(join(cwd, '.gitlab'))
    await cp('samples/ci/gitlab-comment.mjs', join(cwd, '.gitlab/policy-comment.mjs'))
    const env = {
      ...{ CI_API_V4_URL: await startGitlab(notes), CI_PROJECT_ID: '5' },
      ...{ CI_MERGE_REQUEST_IID: '7', POLICY_COMMENT_TOKEN: 'comment-token' },
    }

    expect(await job('policy-comment', env)).toEqual({ code: 0, out: '' })
    expect(await job('policy-comment', env)).toEqual({ code: 0, out: '' })

    expect(notes).toHaveLength(151)
    expect(notes[150]?.body).toBe(`${marker}\nfirst\n`)
    expect(notes[0]?.body).toBe(`${marker}\nmine`)
    const refused = await job('policy-comment', { ...env, POLICY_COMMENT_TOKEN: 'wrong' })
    expect(refused.code).toBe(1)
    expect(refused.out).toContain('GitLab answered 404 to user')
  })
})
