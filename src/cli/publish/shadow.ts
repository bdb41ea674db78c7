import { policySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import { type ObservedShadow, readShadow, refuseFiles } from '../../operations/publish/shadow.ts'
import type { PolicyStore } from '../../stores/policies/policy-store.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { json } from '../format.ts'
import type { Io } from '../io.ts'
import {
  formatCounts,
  formatDisagreements,
  formatReplicas,
  formatShadow,
  formatTotals,
} from './shadow-in-words.ts'
import type { shadowSpec } from './shadow-specs.ts'

const noShadow = 'no shadow runs: push one with "postern policy push --shadow -m WHY"\n'

/** Shows what the shadow would change, or ends it. */
export const policyShadow: Run<typeof shadowSpec> = ({ options, arguments: [verb] }, io) => {
  const settings = policySettings(options.config, io)
  refuseFiles(settings)
  const { output, limit } = options
  return withPolicyStore(settings, async (store) => {
    if (verb === 'end') return end(store, output, io)
    const shadow = await readShadow(store)
    if (output === 'json') io.out(json(shadow === undefined ? { shadow: null } : asJson(shadow)))
    else if (shadow === undefined) io.out(noShadow)
    else io.out(inFull(shadow, limit))
    return shadow === undefined ? exitCodes.no : exitCodes.done
  })
}

function inFull(shadow: ObservedShadow, limit: number): string {
  const { evidence } = shadow
  return [
    formatShadow(shadow),
    formatTotals(evidence),
    formatReplicas(evidence.replicas),
    formatDisagreements('deny', evidence, limit),
    formatDisagreements('allow', evidence, limit),
  ].join('')
}

function asJson({ head, at, live, evidence }: ObservedShadow) {
  const { revision, author, message } = head
  return { shadow: { revision, author, message, at }, live: live ?? null, ...evidence }
}

async function end(store: PolicyStore, output: 'text' | 'json', io: Io): Promise<number> {
  const stored = await store.shadow.read()
  if (stored === undefined) {
    io.out(output === 'json' ? json({ ended: null }) : noShadow)
    return exitCodes.no
  }
  const shadow = stored.head && (await readShadow(store))
  const revision = stored.head?.revision ?? null
  const ended = await store.shadow.end(stored)
  if (!ended) io.err('the shadow was ended or replaced meanwhile: run "postern policy shadow"\n')
  if (output === 'json') {
    io.out(json({ ended: ended ? revision : null, ...(shadow && asJson(shadow)) }))
  } else if (ended) {
    const counted = shadow === undefined ? '' : ` after ${formatCounts(shadow.evidence)}`
    io.out(`ended the shadow ${revision ?? 'that was not valid'}${counted}\n`)
  }
  return ended ? exitCodes.done : exitCodes.no
}
