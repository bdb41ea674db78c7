import { decline } from '../../operations/declined.ts'
import { policySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import { type Run, UsageError } from '../command.ts'
import type { Io } from '../io.ts'
import { baseNotWritten, readBase, readProposed, writeBase } from './base.ts'
import { readCandidate } from './candidate.ts'
import { rehearse } from './dry-run.ts'
import { checkOver } from './over.ts'
import { publishPolicy, reportPublication } from './publish.ts'
import { ownSigning, type Signer } from './signing.ts'
import { messageOption, type pushSpec } from './specs.ts'
import { waitingOf } from './waiting.ts'

/** Publishes a policy directory that is valid, tested and confirmed. */
export const policyPush: Run<typeof pushSpec> = async ({ options, arguments: [named] }, io) => {
  const { output, yes } = options
  const message = (options.message ?? '').trim()
  if (message === '') {
    throw new UsageError(`-m is required: ${messageOption.message.required}`)
  }
  checkOver(options.over)
  const { waitSeconds, allowLost, replicas } = waitingOf(options)
  const settings = policySettings(options.config, io)
  const name = named ?? settings.directory
  const signing = await ownSigning(options.key, settings.trust(), { proposed: name, io })
  const author = authorOf(options.author, signing.signer, io)

  const candidate = await readCandidate(name, options, { settings, io })
  if (typeof candidate === 'number') return candidate
  const place = { directory: name, cwd: io.cwd, redis: settings.redis() }
  const bases = { base: await readBase(place), proposed: await readProposed(place) }
  const over = { option: options.over, directory: { name, ...bases } }
  const publication = {
    ...{ ...candidate, author, message, yes, over, waitSeconds, replicas, signing },
    replay: options.replay,
    kind: 'push',
  } as const
  return withPolicyStore(settings, async (store) => {
    if (options['dry-run']) return rehearse(publication, { output, allowLost }, { store, io })
    const report = await publishPolicy(publication, { store, io })
    if (report === undefined) return decline('not published')
    const isNoted = await writeBase(place, candidate.set.revision)
    if (!isNoted && options.over === undefined) io.err(baseNotWritten(name))
    return reportPublication(report, { output, allowLost }, io)
  })
}

/** The author, which the history keeps: the owner of the key, as far as `policy.trust` knows. */
export function authorOf(named: string | undefined, signer: Signer | undefined, io: Io): string {
  const author = (named ?? signer?.trustedName ?? io.userName ?? '').trim()
  return author === '' ? decline('the author is empty: give one with --author') : author
}
