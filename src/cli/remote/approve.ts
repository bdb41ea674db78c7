import { decline } from '../../operations/declined.ts'
import { errorOf } from '../../operations/failure.ts'
import { type ApiAnswer, reviewRemote } from '../../operations/publish/review-remote.ts'
import { type Command, UsageError } from '../command.ts'
import { isConfirmed } from '../confirm.ts'
import type { Io } from '../io.ts'
import { contextOf } from '../operation-context.ts'
import { confirmSigning } from '../publish/prompts.ts'
import { remarksInWords } from '../publish/remark-in-words.ts'
import { askConsole, changeMs, notAConsole, questionMs } from './api-session.ts'
import { showAnswer } from './api-work.ts'
import type { Args } from './choose-call.ts'
import type { Gateway } from './gateway.ts'
import type { ApiCall } from './send.ts'

/** Signs a proposal of a console on this machine, and sends it the signature. */
export async function approveOnGateway(
  command: Command,
  typed: Args,
  gateway: Gateway,
  io: Io,
): Promise<number> {
  const { yes, config, ...input } = optionsOf(typed)
  const context = contextOf(config, io)
  const answerTo = async (sent: ApiCall) => {
    const { answer, failure } = await askConsole(gateway, sent, io)
    if (failure !== undefined) throw errorOf(failure)
    if (answer === undefined) throw notAConsole(gateway)
    return answer
  }
  const { sign, ...found } = await reviewRemote(input, {
    ...{ context, origin: gateway.origin },
    tell: (remark) => io.err(remarksInWords([remark])),
    async ask(path, revision) {
      const query = new URLSearchParams({ revision })
      const sent = { method: 'GET', path: `${path}?${query}`, timeoutMs: questionMs } as const
      return ((await answerTo(sent)).document ?? {}) as ApiAnswer
    },
  })
  const { question, unasked, declined } = confirmSigning(found)
  if (!yes && !(await isConfirmed(question, unasked, io))) decline(declined)
  const body = { revision: found.revision, signature: await sign() }
  // The review of the console says again what was read above.
  const sent = { method: 'POST', path: 'policy/approve', body, timeoutMs: changeMs } as const
  const answer = await answerTo(sent)
  const given = { ...body, key: input.key }
  const work = { run: async () => answer }
  return showAnswer(command, { given, output: typed.output }, { gateway, io }, work)
}

function optionsOf({ given }: Args) {
  for (const name of ['base', 'signature']) {
    if (given[name] !== undefined) {
      throw new UsageError(`--${name} does not work with --gateway and --key`)
    }
  }
  const text = (name: string) => (given[name] === undefined ? undefined : String(given[name]))
  return {
    ...{ revision: String(given['revision']), key: String(given['key']) },
    ...{ config: text('config'), replay: text('replay'), yes: given['yes'] === true },
    'allow-failed-tests': given['allow-failed-tests'] === true,
  } as const
}
