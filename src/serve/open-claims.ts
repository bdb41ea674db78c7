import { carriedClaims } from '../config/identity-headers.ts'
import type { Config } from '../config/schema/schema.ts'
import { type ClaimPicker, createClaimPicker } from '../token/carried-claims.ts'
import type { Assembly } from './assembly.ts'
import type { ServeOptions } from './options.ts'

/** The claims that services learn; tokens that are issued or verified from a reload on have the new ones. */
export function openClaims({ config, log }: ServeOptions, assembly: Assembly): ClaimPicker {
  const settingsOf = (active: Config) => {
    return { names: carriedClaims(active), maxBytes: active.headers.claimBytes }
  }
  let settings = settingsOf(config)
  assembly.add({
    apply(next) {
      settings = settingsOf(next)
    },
  })
  const count = assembly.registry.counter({
    name: 'postern_claims_left_out_total',
    help: 'Claims that did not fit into headers.claimBytes, so that services do not learn them.',
    labels: ['claim'],
    fromZero: settings.names.map((name) => [name]),
  })
  return createClaimPicker(
    () => settings,
    (leftOut) => {
      count(leftOut.claim)
      log.warn({ ...leftOut, limit: settings.maxBytes }, 'claim left out: over headers.claimBytes')
    },
  )
}
