import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A Git repository with a configuration and a policy, as a team has it. */
export interface PolicyRepository {
  readonly directory: string
  /** Writes these files, commits, and returns the commit. */
  commit(files: Readonly<Record<string, string>>, message?: string): string
  git(...args: readonly string[]): string
  /** A checkout of this branch, as deep as the pipeline says. */
  checkOut(branch: string, target: string, depth: number): string
}

const rules = ['p, clerk, /api/v1/orders, GET']
const tests = ['- { role: clerk, method: GET, path: /api/v1/orders, expect: allow }']

/** The policy with further rules, and a test for each. */
export function policyFiles(...more: readonly string[]): Readonly<Record<string, string>> {
  const cases = more.map((rule) => {
    const [, role, path, method] = rule.split(', ')
    return `- { role: ${role}, method: ${method}, path: ${path}, expect: allow }`
  })
  return {
    'policies/policy.csv': `${[...rules, ...more].join('\n')}\n`,
    'policies/tests/orders_test.yaml': `${[...tests, ...cases].join('\n')}\n`,
  }
}

/** Creates a repository whose branch `main` has a sound policy. */
export function createPolicyRepository(directory: string): PolicyRepository {
  mkdirSync(directory)
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: directory, env: gitEnvironment, encoding: 'utf8' }).trim()

  function commit(files: Readonly<Record<string, string>>, message = 'change'): string {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      writeFileSync(join(directory, name), text)
    }
    git('add', '--all')
    git('commit', '--quiet', '--message', message)
    return git('rev-parse', 'HEAD')
  }

  git('init', '--quiet', '--initial-branch', 'main')
  for (const name of ['config/postern.yaml', 'policies/model.conf']) {
    cpSync(name, join(directory, name))
  }
  commit(policyFiles(), 'the first policy')

  return {
    directory,
    commit,
    git,
    checkOut(branch, target, depth) {
      const history = depth === 0 ? [] : ['--depth', `${depth}`]
      git('clone', '--quiet', ...history, '--branch', branch, `file://${directory}`, target)
      return target
    },
  }
}

const gitEnvironment = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  ...{ GIT_AUTHOR_NAME: 'Ann', GIT_AUTHOR_EMAIL: 'ann@example.com' },
  ...{ GIT_COMMITTER_NAME: 'Ann', GIT_COMMITTER_EMAIL: 'ann@example.com' },
}
