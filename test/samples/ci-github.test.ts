import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { folder } from '../cli/policy-runner.ts'
import { type RanScript, startCiRunner, writeProgram } from '../support/ci-runner.ts'
import {
  createPolicyRepository,
  type PolicyRepository,
  policyFiles,
} from '../support/policy-repository.ts'
import { prefix, startPublished, testStore } from '../support/published-policies.ts'

interface Step {
  readonly name?: string
  readonly if?: string
  readonly uses?: string
  readonly with?: Readonly<Record<string, unknown>>
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
}

interface Job {
  readonly if?: string
  readonly permissions: Readonly<Record<string, string>>
  readonly environment?: string
  readonly steps: readonly Step[]
}

const source = readFileSync('samples/ci/github.yml', 'utf8')
const workflow = parse(source) as {
  readonly on: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string>>
  readonly permissions: unknown
  readonly jobs: Readonly<Record<string, Job>>
}

/** What expressions of the workflow can name. */
interface Context {
  readonly github: {
    readonly event_name: string
    readonly ref: string
    readonly token: string
    readonly event: {
      readonly before?: string
      readonly pull_request: {
        readonly number?: number
        readonly head: { readonly repo: { readonly fork?: boolean } }
      }
    }
  }
  readonly secrets: Readonly<Record<string, string>>
  readonly inputs: Readonly<Record<string, string>>
}

const pullRequest = (fork: boolean): Context => ({
  github: {
    ...{ event_name: 'pull_request', ref: 'refs/pull/7/merge', token: 'github-token' },
    event: { pull_request: { number: 7, head: { repo: { fork } } } },
  },
  secrets: {},
  inputs: {},
})

const pushed = (before: string, redisUrl: string): Context => ({
  github: {
    ...{ event_name: 'push', ref: 'refs/heads/main', token: 'github-token' },
    event: { before, pull_request: { head: { repo: {} } } },
  },
  secrets: { POSTERN_REDIS_URL: redisUrl },
  inputs: {},
})

interface JobOptions {
  readonly repository: PolicyRepository
  readonly branch: string
  readonly context: Context
  /** The id of the comment that an earlier run wrote. */
  readonly comment?: string
}

/** Runs the steps of a job as GitHub does, in a checkout of this branch. */
async function runJob(name: string, { repository, branch, context, comment }: JobOptions) {
  const directory = await folder()
  const runner = await startCiRunner(directory)
  const temp = join(directory, 'temp')
  await mkdir(temp)
  await writeProgram(join(runner.bin, 'docker'), dockerFor(runner.postern))
  await writeProgram(
    join(runner.bin, 'gh'),
    `echo "$@" >> ${directory}/gh.log
case "$*" in *--jq*) echo "${comment ?? ''}" ;; esac
`,
  )
  const files = { GITHUB_PATH: join(temp, 'path'), GITHUB_STEP_SUMMARY: join(temp, 'summary') }
  for (const file of Object.values(files)) await writeFile(file, '')

  const evaluate = (expression: string, isFailed: boolean): unknown =>
    runInNewContext(expression, {
      ...context,
      runner: { temp },
      success: () => !isFailed,
      failure: () => isFailed,
    })
  const job = workflow.jobs[name]
  const steps: Record<string, RanScript> = {}
  const isRun = job !== undefined && evaluate(job.if ?? 'true', false)
  let cwd = ''
  let isFailed = false
  for (const step of isRun ? job.steps : []) {
    if (step.uses?.startsWith('actions/checkout@')) {
      const depth = Number(step.with?.['fetch-depth'] ?? 1)
      cwd = repository.checkOut(branch, join(directory, 'checkout'), depth)
    }
    if (!evaluate(step.if ?? 'success()', isFailed) || step.run === undefined) continue
    const given = Object.entries({ ...workflow.env, ...step.env }).map(([key, value]) => {
      const filled = value.replaceAll(/\$\{\{(.*?)\}\}/g, (_, expression) => {
        return `${evaluate(expression, isFailed) ?? ''}`
      })
      return [key, filled]
    })
    const ran = await runner.run(step.run, {
      shell: 'bash',
      cwd,
      env: {
        ...files,
        ...{ PATH: (await readFile(files.GITHUB_PATH, 'utf8')).trim(), RUNNER_TEMP: temp },
        ...{ GITHUB_WORKSPACE: cwd, GITHUB_ACTOR: 'ann', GITHUB_REPOSITORY: 'example/orders' },
        POSTERN_REDIS__PREFIX: prefix,
        ...Object.fromEntries(given),
      },
    })
    steps[step.name ?? ''] = ran
    isFailed ||= ran.code !== 0
  }
  const read = (file: string) => readFile(join(directory, file), 'utf8').catch(() => '')
  return { steps, isFailed, read }
}

/** Docker with one image, whose product runs in this process. */
function dockerFor(postern: string): string {
  return `case "$1" in
  login) [ "$(cat)" = github-token ] ;;
  create) echo a1b2c3 ;;
  cp) [ "$2" = a1b2c3:/app ] && mkdir -p "$3/dist" && cp ${postern} "$3/dist/main.js" ;;
esac
`
}

async function newRepository(): Promise<PolicyRepository> {
  return createPolicyRepository(join(await folder(), 'repository'))
}

/** A branch as GitHub checks it out for a pull request: the merge into the target branch. */
function propose(repository: PolicyRepository, files: Readonly<Record<string, string>>): string {
  repository.git('checkout', '--quiet', '-b', 'proposal')
  repository.commit(files)
  repository.git('checkout', '--quiet', '-b', 'merge', 'main')
  repository.git('merge', '--quiet', '--no-ff', 'proposal', '-m', 'merge')
  return 'merge'
}

describe('a pull request', () => {
  test('that widens access passes, and gets a comment that says so', async () => {
    const repository = await newRepository()
    const branch = propose(repository, policyFiles('p, viewer, /api/v1/orders/7, PUT'))
    const at = { repository, branch, context: pullRequest(false) }

    const [check, diff] = await Promise.all([runJob('check', at), runJob('diff', at)])

    expect(check.steps['Check']).toMatchObject({ code: 0 })
    expect(check.steps['Test']?.out).toContain('::notice title=postern policy test::passed')
    expect(check.steps['Test']?.out).not.toContain('routes are ignored')
    expect(JSON.parse(await check.read('checkout/policy-check.sarif')).version).toBe('2.1.0')
    expect(diff.isFailed).toBe(false)
    const comment = await diff.read('checkout/policy-diff.md')
    expect(comment).toContain('\n+ viewer PUT /api/v1/orders/7 (added in policies/policy.csv:2')
    expect(await diff.read('temp/summary')).toBe(comment)
    expect(await diff.read('gh.log')).toContain(
      'api --silent repos/example/orders/issues/7/comments -F body=@policy-diff.md\n',
    )
  })

  test('replaces the comment of an earlier run', async () => {
    const repository = await newRepository()
    const branch = propose(repository, policyFiles('p, viewer, /api/v1/orders/7, PUT'))

    const diff = await runJob('diff', {
      ...{ repository, branch, context: pullRequest(false), comment: '4711' },
    })

    expect(await diff.read('gh.log')).toContain(
      'api --silent --method PATCH repos/example/orders/issues/comments/4711 -F body=@policy-diff.md\n',
    )
  })

  test('with a mistake fails, is annotated, and reaches code scanning', async () => {
    const repository = await newRepository()
    const branch = propose(repository, {
      'policies/policy.csv': 'p, clerk, /api/v1/orders, GET\np, clerk, /api/v1/orders, GET\n',
      'policies/tests/orders_test.yaml':
        '- { role: clerk, method: GET, path: /api/v1/orders, expect: deny }\n',
    })

    const { steps, isFailed, read } = await runJob('check', {
      ...{ repository, branch, context: pullRequest(false) },
    })

    expect(isFailed).toBe(true)
    expect(steps['Check']).toMatchObject({ code: 3 })
    expect(steps['Check']?.out).toContain('::warning file=policies/policy.csv,line=2,col=1,')
    expect(steps['Test']).toMatchObject({ code: 4 })
    expect(steps['Test']?.out).toContain('::error file=policies/tests/orders_test.yaml,line=1,')
    expect(steps['Report to code scanning']).toMatchObject({ code: 0 })
    expect(await read('checkout/policy-check.sarif')).toContain('"ruleId": "duplicate"')
  })

  test('from a fork is checked and compared, and nothing is written', async () => {
    const repository = await newRepository()
    const branch = propose(repository, policyFiles('p, viewer, /api/v1/orders/7, PUT'))
    const at = { repository, branch, context: pullRequest(true) }

    const ran = await Promise.all(['check', 'diff', 'publish'].map((name) => runJob(name, at)))

    expect(ran.map(({ steps }) => Object.keys(steps))).toEqual([
      ['Install postern from the image', 'Check', 'Test'],
      ['Install postern from the image', 'Compare with the target branch'],
      [],
    ])
    expect(ran.map(({ isFailed }) => isFailed)).toEqual([false, false, false])
  })
})

describe('a merge', () => {
  test('is published over the policy of the previous commit, and over nothing else', async () => {
    const repository = await newRepository()
    const { redis, ask } = await startPublished()
    const store = await testStore(redis)
    const live = async () => (await store.head())?.revision
    const env = { POSTERN_REDIS__URL: redis.url, POSTERN_REDIS__PREFIX: prefix }
    const first = await startCiRunner(await folder())
    const push = `node ${first.postern} policy push --yes --author ann -m first`
    const initial = await first.run(push, { shell: 'sh', cwd: repository.directory, env })
    expect(initial).toMatchObject({ code: 0 })
    const before = repository.git('rev-parse', 'HEAD')
    const [, old] = [await ask('/api/v1/orders/7'), await live()]

    repository.commit(policyFiles('p, clerk, /api/v1/orders/7, GET'), '-x "quoted" $(false)')
    const at = { repository, branch: 'main', context: pushed(before, redis.url) }
    const { steps } = await runJob('publish', at)

    expect(steps['Publish']).toMatchObject({ code: 0 })
    expect(await live()).not.toBe(old)
    expect(await ask('/api/v1/orders/7')).toBe('allowed')
    expect((await store.history())[0]).toMatchObject({
      author: 'ann',
      message: expect.stringContaining('-x "quoted" $(false) ('),
    })

    // Again from the old commit: what is live by now would be undone.
    repository.commit(policyFiles('p, clerk, /api/v1/orders/8, GET'))
    const late = await runJob('publish', at)
    expect(late.steps['Publish']).toMatchObject({ code: 1 })
    expect(late.steps['Publish']?.out).toContain('postern: refused: --over is ')
  })
})

describe('the workflow', () => {
  const jobs = Object.entries(workflow.jobs)

  test('gives secrets only to the job that waits for approval', () => {
    expect(workflow.on).not.toHaveProperty('pull_request_target')
    const withSecrets = jobs.filter(([, job]) => JSON.stringify(job).includes('secrets.'))
    expect(withSecrets.map(([name]) => name)).toEqual(['publish'])
    expect(workflow.jobs['publish']?.environment).toBe('production')
  })

  test('starts without permissions, and each job has what it needs', () => {
    expect(workflow.permissions).toEqual({})
    expect(jobs.map(([name, { permissions }]) => [name, permissions])).toEqual([
      ['check', { contents: 'read', packages: 'read', 'security-events': 'write' }],
      ['diff', { contents: 'read', packages: 'read', 'pull-requests': 'write' }],
      ['publish', { contents: 'read', packages: 'read' }],
    ])
  })

  test('puts no expression into a script, and pins its actions', () => {
    const steps = jobs.flatMap(([, job]) => job.steps)

    expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([])
    for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/@v\d+$/)
    expect(readFileSync('Dockerfile', 'utf8')).toContain('/build/dist /app/dist')
  })
})
