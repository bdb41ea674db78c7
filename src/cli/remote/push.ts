import { parsePolicySet } from '../../policy/set/policy-set.ts'
import { type CommandSpec, print } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { askConsole, questionMs } from './api-session.ts'
import { askToPublish } from './ask-first.ts'
import { type Chosen, chooseOperation, type Typed } from './choose.ts'
import type { Gateway } from './gateway.ts'
import { type Draft, readDraft, requestOf } from './request.ts'

/** A directory to publish: the console gets its files as a proposal, which is then pushed. */
interface DirectoryPush {
  readonly directory: string
  readonly proposal: Chosen
  readonly push: (revision: string) => Chosen
}

/** The commands that a push of a directory is made of. */
interface PushSpecs {
  readonly push: CommandSpec
  readonly propose: CommandSpec
}

/** Whether a command line publishes a directory of this machine. */
export function isDirectoryPush(name: string, { arguments: [named] }: Typed): boolean {
  return name === 'policy push' && named !== undefined && !/^(?:live|r-[0-9a-f]+)$/.test(named)
}

/** What belongs to the proposal and not to the push. */
const proposed: readonly string[] = ['message', 'accounts', 'no-tests']

/** The two operations for a command line. Returns why they are not possible, in one line. */
export function chooseDirectoryPush(
  { options, arguments: names }: Typed,
  specs: PushSpecs,
): DirectoryPush | string {
  const [directory = ''] = names
  const shared = ['over', 'output', 'config']
  const some = (isWanted: (name: string) => boolean) =>
    new Map([...options].filter(([name]) => isWanted(name)))
  const proposal = chooseOperation(specs.propose, {
    options: some((name) => proposed.includes(name) || shared.includes(name)),
    arguments: [directory],
  })
  if (typeof proposal === 'string') return proposal
  const push = (revision: string) =>
    chooseOperation(specs.push, {
      options: some((name) => !proposed.includes(name)),
      arguments: [revision],
    })
  const tried = push(`r-${'0'.repeat(32)}`)
  if (typeof tried === 'string') return tried
  return { directory, proposal, push: (revision) => withRevision(tried, revision) }
}

function withRevision(chosen: Chosen, revision: string): Chosen {
  return { ...chosen, input: { ...chosen.input, revision, confirm: revision } }
}

/**
 * Publishes a directory of this machine. Nothing is stored before the person has agreed. The revision to
 * push is computed here, so that exactly these files become live.
 */
export async function pushDirectory(
  { directory, proposal, push }: DirectoryPush,
  gateway: Gateway,
  { isAsked, io }: { readonly isAsked: boolean; readonly io: Io },
): Promise<number> {
  const draft = await readDraft(directory, io)
  if (isAsked) {
    const compared = await compareWithLive(draft, gateway, io)
    if (compared !== exitCodes.done && compared !== exitCodes.no) return compared
    await askToPublish(directory, io)
  }
  const run = async (chosen: Chosen) => askConsole(gateway, requestOf(chosen, draft), io)
  const stored = await run(proposal)
  if (stored.code !== exitCodes.done) return print(stored, io)
  if (!isAsked) io.err(stored.err)
  const { revision } = parsePolicySet(draft.files.filter(({ name }) => !name.includes('/')))
  const published = await run(push(revision))
  const code = print(published, io)
  if (code !== exitCodes.done && (await isProposed(revision, gateway, io))) {
    io.err(
      `note: ${revision} is still proposed: push it by its revision, or drop it with "postern policy proposals --drop ${revision}"\n`,
    )
  }
  return code
}

async function compareWithLive(draft: Draft, gateway: Gateway, io: Io): Promise<number> {
  const body = { ...draft, from: 'live', output: 'text' }
  const sent = { method: 'POST', path: 'policy/diff', body, timeoutMs: questionMs } as const
  const { code, out, err } = await askConsole(gateway, sent, io)
  io.err(`${err}${out}`)
  return code
}

async function isProposed(revision: string, gateway: Gateway, io: Io): Promise<boolean> {
  const path = `policy/proposals?${new URLSearchParams({ revision, output: 'json' })}`
  const { code } = await askConsole(gateway, { method: 'GET', path, timeoutMs: questionMs }, io)
  return code === exitCodes.done
}
