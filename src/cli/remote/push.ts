import { decline } from '../../operations/declined.ts'
import { revisionOf } from '../../operations/policy/directory.ts'
import { type Command, print } from '../command.ts'
import { isConfirmed } from '../confirm.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { confirmPublication } from '../publish/prompts.ts'
import { askConsole, questionMs } from './api-session.ts'
import { apiWork, showAnswer } from './api-work.ts'
import { type Args, type CallPlan, chooseCall } from './choose-call.ts'
import type { Gateway } from './gateway.ts'
import { readDraft } from './request.ts'

/** The commands that a push of a directory is made of. */
export interface PushCommands {
  readonly push: Command
  readonly propose: Command
  readonly diff: Command
}

/** One of them, and what it is asked to do. */
interface Step {
  readonly command: Command
  readonly chosen: CallPlan
}

/** A directory to publish: the console gets its files as a proposal, which is then pushed. */
interface DirectoryPush {
  readonly directory: string
  readonly diff: Step
  readonly proposal: Step
  readonly push: (revision: string) => Step
}

/** Whether a command line publishes a directory of this machine. */
export function isDirectoryPush(name: string, { given: { revision } }: Args): boolean {
  return (
    name === 'policy push' &&
    revision !== undefined &&
    !/^(?:live|r-[0-9a-f]+)$/.test(`${revision}`)
  )
}

/** What belongs to the proposal and not to the push. */
const proposed: readonly string[] = ['message', 'accounts', 'no-tests']

/** The operations for a command line. Returns why they are not possible, in one line. */
export function chooseDirectoryPush(
  { given: { revision, ...options } }: Args,
  commands: PushCommands,
): DirectoryPush | string {
  const directory = String(revision)
  const some = (isWanted: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(options).filter(([name]) => isWanted(name)))
  const isShared = (name: string) => name === 'over' || name === 'config'
  const proposal = chooseCall(commands.propose, {
    given: { dir: directory, ...some((name) => proposed.includes(name) || isShared(name)) },
  })
  if (typeof proposal === 'string') return proposal
  const diff = chooseCall(commands.diff, { given: { from: 'live', to: directory } })
  if (typeof diff === 'string') return diff
  const given = some((name) => !proposed.includes(name))
  const tried = chooseCall(commands.push, { given: { ...given, revision: `r-${'0'.repeat(32)}` } })
  if (typeof tried === 'string') return tried
  return {
    directory,
    diff: { command: commands.diff, chosen: diff },
    proposal: { command: commands.propose, chosen: proposal },
    push: (published) => ({
      command: commands.push,
      chosen: { ...tried, input: { ...tried.input, revision: published, confirm: published } },
    }),
  }
}

/**
 * Publishes a directory of this machine. Nothing is stored before the person has agreed. The revision to
 * push is computed here, so that exactly these files become live.
 */
export async function pushDirectory(
  { directory, diff, proposal, push }: DirectoryPush,
  { given, output }: Args,
  gateway: Gateway,
  io: Io,
): Promise<number> {
  const draft = await readDraft(directory, io)
  const isAsked = given['yes'] !== true
  /** Prints to stderr what is not the result. */
  const run = ({ command, chosen }: Step, format: string, own: Pick<Io, 'out' | 'err'>) => {
    const work = apiWork(chosen, { gateway, io, draft, isSure: true })
    const step = { given: { ...chosen.input, dir: directory, to: directory }, output: format }
    return showAnswer(command, step, { gateway, io: { ...io, ...own } }, work)
  }
  if (isAsked) {
    const compared = await run(diff, 'text', { out: io.err, err: io.err })
    if (compared !== exitCodes.done && compared !== exitCodes.no) return compared
    const { question, unasked, declined } = confirmPublication(directory)
    if (!(await isConfirmed(question, unasked, io))) decline(declined)
  }
  const [outs, errs]: [string[], string[]] = [[], []]
  const code = await run(proposal, output, {
    out: (text) => void outs.push(text),
    err: (text) => void errs.push(text),
  })
  const [out, err] = [outs.join(''), errs.join('')]
  if (code !== exitCodes.done) return print({ code, out, err }, io)
  if (!isAsked) io.err(err)
  const revision = revisionOf(draft.files.filter(({ name }) => !name.includes('/')))
  const published = await run(push(revision), output, io)
  if (published !== exitCodes.done && (await isProposed(revision, gateway, io))) {
    io.err(
      `note: ${revision} is still proposed: push it by its revision, or drop it with "postern policy proposals --drop ${revision}"\n`,
    )
  }
  return published
}

async function isProposed(revision: string, gateway: Gateway, io: Io): Promise<boolean> {
  const path = `policy/proposals?${new URLSearchParams({ revision })}`
  const sent = { method: 'GET', path, timeoutMs: questionMs } as const
  const { answer } = await askConsole(gateway, sent, io)
  return answer !== undefined
}
