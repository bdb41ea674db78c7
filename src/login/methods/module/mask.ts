import type { LoginRequest } from './contract.ts'

type Mask = (text: string) => string

/** Masking single letters would garble every text and hide nothing. */
const shortestSecret = 3

/**
 * Hides what clients sent, because errors of modules often quote it: codes and passwords must not reach
 * a log. The field that guesses count by stays, as a user name does.
 */
export function maskOf(requests: Iterable<LoginRequest>, countBy: string): Mask {
  const secrets = [...requests]
    .flatMap((request) => Object.entries(request))
    .filter(([name, value]) => name !== countBy && value.length >= shortestSecret)
    .flatMap(([, value]) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)])
    .sort((one, other) => other.length - one.length)
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[masked]'), text)
}
