import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { stringify } from 'yaml'
import { testSigner } from '../support/policy-signers.ts'
import { prefix } from '../support/published-policies.ts'
import type { RunOptions } from '../support/run-command.ts'
import { folder, policy } from './policy-runner.ts'

export const model = readFileSync('policies/model.conf', 'utf8')
export const officePeople = {
  ann: testSigner('ann'),
  ben: testSigner('ben'),
  eve: testSigner('eve'),
} as const
const { ann, ben, eve } = officePeople

/** Whose signatures count in an office: those of ann and ben, and not those of eve. */
export const trustedKeys = [ann.line, ben.line]

export const rules = (...lines: readonly string[]) =>
  lines.map((line) => `p, clerk, ${line}\n`).join('')

interface Office {
  /** Runs a command as a person there does. */
  run(args: readonly string[], options?: RunOptions): ReturnType<typeof policy>
  write(name: string, text: string): Promise<void>
  /** Writes these rules into the policy directory. */
  edit(...lines: readonly string[]): Promise<void>
}

/** A directory with a policy, a configuration and the keys of three people. */
export async function createOffice(url: string, signatures: number | undefined): Promise<Office> {
  const trust = signatures && { keys: trustedKeys, signatures }
  const cwd = await folder({
    'policies/model.conf': model,
    'policies/policy.csv': rules('/orders, GET'),
    'ann.pem': ann.pem,
    'ben.pem': ben.pem,
    'eve.pem': eve.pem,
    'config/postern.yaml': stringify({
      application: { mode: 'dev' },
      redis: { url, prefix },
      policy: { source: 'redis', ...(trust && { trust }) },
    }),
  })
  return {
    run: (args, options = {}) => policy(args, { cwd, userName: 'ann', ...options }),
    async write(name, text) {
      await mkdir(dirname(join(cwd, name)), { recursive: true })
      await writeFile(join(cwd, name), text)
    },
    edit: (...lines) => writeFile(join(cwd, 'policies/policy.csv'), rules(...lines)),
  }
}

export const propose = ({ run }: Office, ...more: readonly string[]) =>
  run(['propose', '--no-tests', '-m', 'clerks read', ...more])

export const approve = ({ run }: Office, revision: string, key: string) =>
  run(['approve', revision, '--key', key, '--yes'])

export const push = ({ run }: Office, ...args: readonly string[]) =>
  run(['push', ...args, '--yes', '--no-wait'])

/** Proposes what is in the directory, and returns its revision. */
export async function proposed(at: Office, ...more: readonly string[]): Promise<string> {
  const { code, out, err } = await propose(at, ...more)
  expect({ code, err }).toMatchObject({ code: 0 })
  return /r-[0-9a-f]+/.exec(out)?.[0] ?? ''
}

/** Has it signed by two people, and returns its revision. */
export async function approved(at: Office, ...more: readonly string[]): Promise<string> {
  const revision = await proposed(at, ...more, '--key', 'ann.pem')
  expect((await approve(at, revision, 'ben.pem')).code).toBe(0)
  return revision
}

/** Publishes with two signatures, and returns the revision. */
export async function published(at: Office, ...more: readonly string[]): Promise<string> {
  const revision = await approved(at, ...more)
  expect((await push(at, revision)).code).toBe(0)
  return revision
}
