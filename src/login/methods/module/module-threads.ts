import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { createBackOff } from '../../../kernel/back-off.ts'
import { Invalid } from '../../../kernel/errors.ts'
import type { Log } from '../../../log/log.ts'
import type { FoundAccount } from './contract.ts'
import type { Declaration } from './declaration.ts'
import { maskOf } from './mask.ts'
import type { LogLine } from './messages.ts'
import { checkModuleFile } from './module-file.ts'
import { ModuleThread } from './module-thread.ts'
import { describeThrown } from './thrown-error.ts'

export type FindAccount = (username: string) => Promise<FoundAccount | undefined>

/** Keeps one thread of a module ready. One that dies or gets stuck is replaced, with growing delays. */
export async function openModuleThreads(options: {
  readonly file: string
  readonly log: Log
  readonly findAccount: FindAccount
}) {
  const { log } = options
  const file = resolve(options.file)
  const backOff = createBackOff()
  const closing = new AbortController()
  const all = new Set<ModuleThread>()
  const lines = createModuleLog(log)
  let countBy = ''
  let running: ModuleThread | undefined
  let restarts = 0
  let problem: string | undefined

  /** Rejects when the module cannot be used. */
  async function start(expected?: Declaration) {
    const startedAt = Date.now()
    const masked = (text: string) => maskOf(thread.requests(), countBy)(text)
    const thread: ModuleThread = new ModuleThread(file, {
      printed: (text) => lines.printed(masked(text)),
      logged: (line) => lines.logged(line, masked),
      find: options.findAccount,
      lost: (reason) => onLost(thread, masked(reason), Date.now() - startedAt),
    })
    all.add(thread)
    void thread.exited.then(() => all.delete(thread))
    try {
      const declaration = await thread.loaded
      // Captcha and limits are set up for what it declared at the start.
      if (expected !== undefined && !isDeepStrictEqual(declaration, expected)) {
        throw new Error('declares other fields or options than at the start; restart the gateway')
      }
      return { thread, declaration }
    } catch (error) {
      await thread.end()
      throw error
    }
  }

  await checkModuleFile(file)
  const first = await start().catch((error: unknown) => {
    throw new Invalid([{ file, message: describeThrown(error).message }])
  })
  const { declaration } = first
  const { name } = declaration
  lines.named(name)
  countBy = declaration.countBy
  running = first.thread
  let next: Promise<ModuleThread> = Promise.resolve(first.thread)

  function onLost(thread: ModuleThread, reason: string, servedMs: number): void {
    if (thread !== running || closing.signal.aborted) return
    running = undefined
    problem = reason
    restarts++
    log.warn({ module: name, reason }, 'login module restarting')
    next = startAgain(backOff.after(servedMs))
    // It rejects at shutdown only, when nothing may wait for it.
    next.catch(() => {})
  }

  async function startAgain(firstDelayMs: number): Promise<ModuleThread> {
    for (let delayMs = firstDelayMs; ; delayMs = backOff.after(0)) {
      await pause(delayMs, undefined, closing)
      try {
        const { thread } = await start(declaration)
        log.info({ module: name }, 'login module running again')
        running = thread
        problem = undefined
        return thread
      } catch (error) {
        closing.signal.throwIfAborted()
        problem = describeThrown(error).message
        log.error({ module: name, reason: problem }, 'login module cannot be started')
      }
    }
  }

  return {
    declaration,
    /** The thread that takes calls, or `undefined` when none is ready in time. */
    async ready(timeoutMs: number) {
      if (running !== undefined) return running
      const timer = new AbortController()
      const timeout = pause(timeoutMs, undefined, timer).catch(() => undefined)
      const thread = await Promise.race([next.catch(() => undefined), timeout])
      timer.abort()
      return thread
    },
    state: () => ({
      name,
      /** False while its thread starts again. */
      running: running !== undefined,
      restarts,
      /** Why the last thread was lost, or why the next one does not start. */
      ...(problem !== undefined && { problem }),
    }),
    async close() {
      closing.abort()
      await Promise.all([...all].map((thread) => thread.end()))
    },
  }
}

/** Texts that a module prints, per second: a module in a loop must not fill the log. */
const printedPerSecond = 20
const maxText = 1000

/** Writes what a module logs or prints as lines of the gateway's log. */
function createModuleLog(log: Log) {
  let module: string | undefined
  let second = 0
  let printed = 0

  return {
    named(name: string): void {
      module = name
    },
    logged({ level, message, details }: LogLine, mask: (text: string) => string): void {
      const shown = Object.entries(details).map(([name, value]) => [
        name,
        typeof value === 'string' ? log.clean(mask(value)) : value,
      ])
      const more = shown.length === 0 ? {} : { details: Object.fromEntries(shown) }
      log[level]({ module, text: log.clean(mask(message)), ...more }, 'login module message')
    },
    printed(text: string): void {
      const now = Math.floor(Date.now() / 1000)
      if (now !== second) [second, printed] = [now, 0]
      if (++printed > printedPerSecond || text.trim() === '') return
      const shown = log.clean(text.trimEnd().slice(0, maxText))
      log.info({ module, text: shown }, 'login module printed')
    },
  }
}
