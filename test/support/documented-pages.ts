import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { copyFile, cp, mkdtemp, rm } from 'node:fs/promises'
import { hostname, tmpdir, userInfo } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { pack } from './packed-package.ts'
import { missingServers, type PageServer, startServers } from './page-servers.ts'
import { type RanPage, runPage } from './run-page.ts'

/** A page whose commands `npm run docs:check` runs, and what its reader has. */
interface DocumentedPage {
  /** The fewest commands that it must have, so that none is lost unnoticed. */
  readonly commands: number
  /** Ports beside 3000, 8000 and 9100 that its commands listen on. */
  readonly ports?: readonly number[]
  readonly servers?: readonly PageServer[]
  /** Programs that it uses and a machine may lack. */
  readonly programs?: readonly string[]
  /** Files and folders of the repository that the reader has in the directory. */
  readonly files?: readonly string[]
  /** The packed package lies there; without it, the command `postern` is installed. */
  readonly packed?: true
  /** Its output names the user and the machine, which are `ada` and `gw-1` on the page. */
  readonly operator?: true
}

/** Every page with commands to run. `test/pages` has what comes before the first of them. */
export const documentedPages: Readonly<Record<string, DocumentedPage>> = {
  'README.md': { commands: 12, ports: [8001], files: ['policies', 'samples'] },
  'docs/accounts.md': { commands: 14, ports: [9102], files: ['policies'] },
  'docs/api-client.md': {
    commands: 11,
    ports: [9200],
    servers: ['redis'],
    files: ['policies'],
    packed: true,
  },
  'docs/assertions.md': { commands: 3, files: ['policies', 'samples'] },
  'docs/audit.md': { commands: 3, files: ['policies'], operator: true },
  'docs/backup.md': {
    commands: 18,
    servers: ['redis', 'postgres'],
    programs: ['pg_dump', 'psql', 'redis-cli'],
  },
  'docs/configure.md': { commands: 1, files: ['policies'] },
  'docs/environment.md': { commands: 1, files: ['policies'] },
  'docs/first-admin.md': { commands: 4, servers: ['postgres'] },
  'docs/issuers.md': { commands: 3, ports: [8080], files: ['policies'] },
  'docs/keys.md': { commands: 3, files: ['policies'] },
  'docs/ldap.md': { commands: 6, servers: ['ldap'], files: ['policies'] },
  'docs/linked-accounts.md': { commands: 4 },
  'docs/login-module.md': { commands: 5, ports: [8025], files: ['policies', 'samples'] },
  'docs/login-page.md': { commands: 2, files: ['policies'] },
  'docs/login-limits.md': { commands: 2, files: ['policies'] },
  'docs/passwords.md': { commands: 1, files: ['policies'] },
  'docs/revocation.md': { commands: 1, files: ['policies'], programs: ['jq'] },
  'docs/temporary-access.md': { commands: 7, files: ['policies'] },
  'docs/troubleshoot.md': {
    commands: 2,
    ports: [3001, 5432],
    servers: ['redis'],
    programs: ['redis-cli'],
  },
  'docs/policies.md': {
    commands: 8,
    servers: ['redis', 'postgres'],
    programs: ['git', 'perl'],
    files: ['policies'],
  },
  'docs/policy-approval.md': {
    commands: 9,
    servers: ['redis', 'postgres'],
    programs: ['ssh-keygen'],
    files: ['policies'],
    operator: true,
  },
  'docs/policy-change.md': {
    commands: 18,
    ports: [8001, 9102],
    servers: ['redis', 'postgres'],
    programs: ['git'],
    files: ['policies'],
  },
  'docs/policy-domains.md': { commands: 11, ports: [8001, 9102], servers: ['postgres'] },
  'docs/policy-models.md': {
    commands: 7,
    servers: ['redis'],
    programs: ['perl'],
    files: ['policies'],
  },
  'docs/policy-publishing.md': {
    commands: 24,
    ports: [8001, 9102],
    servers: ['redis'],
    programs: ['git'],
    files: ['policies'],
  },
  'docs/policy-replay.md': {
    commands: 2,
    ports: [8001, 9102],
    servers: ['redis', 'postgres'],
    programs: ['gzip', 'perl'],
    files: ['policies'],
  },
  'docs/policy-shadow.md': {
    commands: 6,
    ports: [8001, 9102],
    servers: ['redis', 'postgres'],
    programs: ['perl'],
    files: ['policies'],
  },
  'docs/policy-status.md': {
    commands: 3,
    ports: [8001, 9102],
    servers: ['redis'],
    files: ['policies'],
  },
  'docs/policy-explain.md': { commands: 7, ports: [8001], files: ['policies'] },
  'docs/policy-questions.md': { commands: 6, ports: [8001], files: ['policies'] },
  'docs/policy-review.md': { commands: 3, ports: [8001], files: ['policies', 'samples'] },
  'docs/policy-unused.md': { commands: 2, servers: ['redis', 'postgres'], files: ['policies'] },
  'docs/policy-trust.md': {
    commands: 9,
    servers: ['redis', 'postgres'],
    programs: ['jq', 'redis-cli', 'ssh-keygen'],
    files: ['policies'],
    operator: true,
  },
  'docs/refusals.md': { commands: 4, ports: [8001, 9102], files: ['policies'] },
  'docs/remote-commands.md': { commands: 6, ports: [9200], files: ['policies'] },
  'docs/second-factor.md': { commands: 4, files: ['policies'] },
  'docs/mysql.md': { commands: 2, servers: ['mariadb'], programs: ['mariadb'] },
  'docs/migrate.md': { commands: 14, servers: ['postgres'], programs: ['psql'] },
  'docs/roles.md': { commands: 14 },
  'docs/service-accounts.md': { commands: 12, ports: [9200], files: ['policies'] },
  'docs/sessions.md': { commands: 11, files: ['policies'] },
  'docs/cors.md': { commands: 11 },
  'docs/guardrails.md': { commands: 2, files: ['policies'] },
  'docs/gitops.md': { commands: 22, servers: ['redis'], programs: ['git'] },
  'docs/http2.md': { commands: 4 },
  'docs/machine-clients.md': { commands: 13 },
  'docs/rotate-keys.md': { commands: 26, ports: [8443, 9102], programs: ['openssl'] },
  'docs/tutorial-own-application.md': { commands: 21, packed: true },
  'docs/tutorial-production.md': {
    commands: 31,
    ports: [8001, 9102],
    servers: ['redis', 'postgres'],
    packed: true,
  },
  'docs/tutorial-kubernetes.md': { commands: 7 },
  'docs/tutorial-sso.md': { commands: 17, ports: [3001, 3002, 3003], packed: true },
  'docs/tutorial-two-reviewers.md': {
    commands: 23,
    servers: ['redis'],
    packed: true,
    operator: true,
  },
  'docs/unlock-user.md': { commands: 16 },
}

/** What this machine lacks for a page. */
export function missingPrograms(page: string): readonly string[] {
  const { programs = [], servers = [] } = row(page)
  const missing = programs.filter((name) => spawnSync(name, ['--version']).error !== undefined)
  return [...missing, ...missingServers(servers)]
}

/** Runs a page with what its row says. `close` of the result ends all that was started for it. */
export async function runDocumentedPage(page: string): Promise<RanPage> {
  const { ports = [], servers = [], files = [], packed, operator } = row(page)
  const closing: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const each of closing.toReversed()) await each()
  }
  const root = await mkdtemp(join(tmpdir(), 'postern-command-'))
  closing.push(() => rm(root, { recursive: true, force: true }))
  try {
    const { ports: used, authority } = await startServers(servers, closing)
    const archive = packed === undefined ? undefined : await pack(root)
    const setup = join('test/pages', basename(page))
    const ran = await runPage(page, {
      ports: [3000, 8000, 9100, ...ports],
      servers: used,
      env: {
        // The pages that name the ops port of a gateway start several, and set it themselves.
        ...(page === 'docs/tutorial-production.md' ? {} : { POSTERN_OPS__PORT: '9100' }),
        ...(packed === undefined ? { PATH: `${command(root)}:${process.env['PATH']}` } : {}),
      },
      ...(existsSync(setup) ? { setup } : {}),
      ...(operator ? { words: { [userInfo().username]: 'ada', [hostname()]: 'gw-1' } } : {}),
      async prepare(directory) {
        if (archive !== undefined) await copyFile(archive, join(directory, 'postern-0.1.0.tgz'))
        if (authority !== undefined) await copyFile(authority, join(directory, 'ca.pem'))
        for (const name of files) {
          await cp(resolve(name), join(directory, name), { recursive: true })
        }
      },
    })
    closing.push(() => ran.close())
    return { ...ran, close }
  } catch (error) {
    await close()
    throw error
  }
}

function row(page: string): DocumentedPage {
  const found = documentedPages[page]
  if (found === undefined) throw new Error(`${page} is not among the documented pages`)
  return found
}

/** A directory with the command `postern`, run from source. */
function command(root: string): string {
  const compiled = process.env['NODE_COMPILE_CACHE'] ?? join(root, 'compiled')
  const run = `NODE_COMPILE_CACHE='${compiled}' exec '${process.execPath}' '${resolve('src/main.ts')}'`
  const script = `#!/bin/sh\n${run} "$@"\n`
  writeFileSync(join(root, 'postern'), script, { mode: 0o755 })
  return root
}
