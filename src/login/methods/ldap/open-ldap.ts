import { resolve } from 'node:path'
import type { DeepPartial } from '../../../kernel/deep-partial.ts'
import type { MetricRegistry } from '../../../metrics/registry.ts'
import type { MethodParts, NamedFile, OpenLoginMethod, Probe } from '../../method-kind.ts'
import { createDeadline } from './deadline.ts'
import { createDirectoryCredentials } from './directory-credentials.ts'
import { createDirectoryServer } from './directory-server.ts'
import { type Directory, openDirectory } from './open-directory.ts'
import type { DirectorySettings, LdapLogin } from './settings.ts'

/** Directories accept longer passwords than bcrypt reads. */
const mostBytes = 512

/** Does not wait for the directory. */
export async function open(
  { ldap }: LdapLogin,
  { log, registry, passwordHash, linkedAccounts, claims }: MethodParts,
): Promise<OpenLoginMethod> {
  if (ldap === undefined) return {}
  const directory = openDirectory(ldap, log, claims.names)
  const verifyInDirectory = counted(directory, registry)
  return {
    passwords: {
      mostBytes,
      verify: (own) =>
        createDirectoryCredentials({
          ...ldap,
          ...{ passwordHash, linkedAccounts, verifyInDirectory, verifyPassword: own, rules: ldap },
          pick: claims.pick,
        }),
    },
    details: { directory: directory.states },
    close: directory.close,
  }
}

/** Shows its servers, and counts what it decides. */
function counted({ states, verify }: Directory, registry: MetricRegistry): Directory['verify'] {
  registry.readGauge({
    name: 'postern_directory_server_up',
    help: '1 if the directory server answered when it was last asked, else 0. Missing before.',
    labels: ['server'],
    aggregate: 'min',
    read: () =>
      states().flatMap(({ url: server, reachable }) => {
        return reachable === null ? [] : [[Number(reachable), server]]
      }),
  })
  const count = registry.counter({
    name: 'postern_directory_logins_total',
    help: 'Logins that a directory decided, by result; failed ones got 503.',
    labels: ['result'],
    fromZero: [['accepted'], ['refused'], ['failed']],
  })
  return async (given) => {
    const person = await verify(given).catch((error: unknown) => {
      count('failed')
      throw error
    })
    count(person === undefined ? 'refused' : 'accepted')
    return person
  }
}

/** Each server; while one of them answers, people can log in. */
export function probes({ ldap }: LdapLogin, directory: string): readonly Probe[] {
  if (ldap === undefined) return []
  const settings = {
    ...ldap,
    ...(ldap.caFile && { caFile: resolve(directory, ldap.caFile) }),
  }
  return [
    {
      setting: 'login.ldap',
      async run() {
        const errors = await Promise.all(ldap.urls.map((url) => probe(url, settings)))
        const isNeeded = !errors.includes(undefined)
        return ldap.urls.map((url, index) => {
          const error = errors[index]
          if (error === undefined) {
            const how = ldap.bindDn === undefined ? 'accepts connections' : 'accepts bindDn'
            return { ok: `${url} ${how}` }
          }
          const isRefused = /refused login\.ldap\.bindDn/.test(error.message)
          return {
            ...{ error, url, server: 'the directory server', address: 'login.ldap.urls', isNeeded },
            trust: 'set login.ldap.caFile to the certificate of the authority that signed it',
            instead: isRefused ? refusedBind(url) : undefined,
          }
        })
      },
    },
  ]
}

function refusedBind(url: string) {
  return {
    message: `${url} refused login.ldap.bindDn`,
    fix: 'correct login.ldap.bindDn and bindPassword; repeated attempts may lock the account',
  }
}

async function probe(url: string, settings: DirectorySettings): Promise<Error | undefined> {
  const server = createDirectoryServer(url, settings)
  try {
    await server.probe(createDeadline(settings.timeoutMs))
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    server.close()
  }
}

export function files({ ldap }: DeepPartial<LdapLogin>, directory: string): readonly NamedFile[] {
  const { caFile } = ldap ?? {}
  if (caFile === undefined) return []
  return [{ setting: 'login.ldap.caFile', caFile: resolve(directory, caFile) }]
}
