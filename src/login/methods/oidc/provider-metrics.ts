import type { MetricRegistry } from '../../../metrics/registry.ts'
import type { OpenProvider } from './provider.ts'

/** Counts logins with identity providers; the returned function takes provider and result. */
export function countProviderLogins(
  registry: MetricRegistry,
  providers: readonly { readonly name: string }[],
): (provider: string, result: string) => void {
  return registry.counter({
    name: 'postern_provider_logins_total',
    help: 'Logins with an identity provider, by result: logged-in, the kind of refusal, or unavailable.',
    labels: ['provider', 'result'],
    fromZero: providers.flatMap(({ name }) => [
      [name, 'logged-in'],
      [name, 'unavailable'],
    ]),
  })
}

/** Shows whether people can log in with each identity provider. */
export function addProviderMetrics(
  registry: MetricRegistry,
  read: () => readonly ReturnType<OpenProvider['state']>[],
): void {
  registry.readGauge({
    name: 'postern_provider_reachable',
    help: '1 if the last fetch of the discovery document and keys of an identity provider succeeded.',
    labels: ['provider'],
    aggregate: 'min',
    read: () => read().map(({ name, reachable }) => [Number(reachable), name]),
  })
  registry.readGauge({
    name: 'postern_provider_usable',
    help: '1 if the discovery document and keys of an identity provider are known. 0: its logins get 503.',
    labels: ['provider'],
    aggregate: 'min',
    read: () => read().map(({ name, usable }) => [Number(usable), name]),
  })
}
