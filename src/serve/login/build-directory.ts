import type { Closing } from '../../kernel/closing.ts'
import { foldedName } from '../../login/folded-name.ts'
import { type Directory, openDirectory } from '../../login/methods/ldap/open-directory.ts'
import type { MetricRegistry } from '../../metrics/registry.ts'
import type { ServeOptions } from '../options.ts'

/** The directory that verifies passwords, if one is configured. Does not wait for it. */
export function buildDirectory(
  { config, log }: Pick<ServeOptions, 'config' | 'log'>,
  registry: MetricRegistry,
  closing: Closing,
): Directory | undefined {
  const settings = config.login.ldap
  if (settings === undefined) return undefined
  const directory = openDirectory(settings, { log, foldName: foldedName })
  closing.add(directory.close)
  registry.readGauge({
    name: 'postern_directory_server_up',
    help: '1 if the directory server answered when it was last asked, else 0. Missing before.',
    labels: ['server'],
    aggregate: 'min',
    read: () =>
      directory.states().flatMap(({ url: server, reachable }) => {
        return reachable === null ? [] : [[Number(reachable), server]]
      }),
  })
  const count = registry.counter({
    name: 'postern_directory_logins_total',
    help: 'Logins that a directory decided, by result; failed ones got 503.',
    labels: ['result'],
    fromZero: [['accepted'], ['refused'], ['failed']],
  })
  return {
    ...directory,
    async verify(given) {
      const person = await directory.verify(given).catch((error: unknown) => {
        count('failed')
        throw error
      })
      count(person === undefined ? 'refused' : 'accepted')
      return person
    },
  }
}
