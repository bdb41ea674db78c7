import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

/** A page in a real browser. */
export interface Page {
  /** The value of an expression there; a promise is waited for. Throws what it throws. */
  evaluate(expression: string): Promise<unknown>
}

export interface Browser {
  open(address: string): Promise<Page>
  close(): Promise<void>
}

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The Chromium of `POSTERN_TEST_CHROMIUM`, else of PATH, if there is one. */
export function findChromium(): string | undefined {
  const named = process.env['POSTERN_TEST_CHROMIUM']
  if (named !== undefined) return named
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Runs a browser without a window and steers it over its DevTools protocol. */
export async function startBrowser(program: string): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'postern-browser-'))
  const child = spawn(
    program,
    [
      '--headless=new',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      '--no-first-run',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      // Its sandbox refuses to work for root, as whom tests run in containers.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit')
  const send = await connectTo(await addressIn(child.stderr))

  return {
    async open(address) {
      const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true })
      const inPage: Send = (method, params) => send(method, params, sessionId as string)
      const evaluate = async (expression: string) => {
        const asked = { expression, awaitPromise: true, returnByValue: true }
        const answer = (await inPage('Runtime.evaluate', asked)) as unknown as Evaluation
        if (answer.exceptionDetails === undefined) return answer.result.value
        throw new Error(answer.exceptionDetails.exception?.description ?? 'the page threw')
      }
      await inPage('Page.navigate', { url: address })
      const loaded = `location.href.startsWith('http') && document.readyState === 'complete'`
      while (!(await evaluate(loaded))) await new Promise((resolve) => setTimeout(resolve, 20))
      return { evaluate }
    },
    async close() {
      await send('Browser.close').catch(() => {})
      const late = setTimeout(kill, 3000)
      await ended
      clearTimeout(late)
      process.off('exit', kill)
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

interface Evaluation {
  readonly result: { readonly value?: unknown }
  readonly exceptionDetails?: { readonly exception?: { readonly description?: string } }
}

type Send = (
  method: string,
  params?: Record<string, unknown>,
  sessionId?: string,
) => Promise<Record<string, unknown>>

async function addressIn(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const found = /^DevTools listening on (ws:\S+)/.exec(line)?.[1]
    if (found === undefined) continue
    stderr.resume()
    return found
  }
  throw new Error('the browser ended before it listened')
}

async function connectTo(address: string): Promise<Send> {
  const socket = new WebSocket(address)
  await once(socket as unknown as NodeJS.EventEmitter, 'open')
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>()
  let last = 0
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error } = JSON.parse(String(data))
    const one = waiting.get(id)
    waiting.delete(id)
    if (error !== undefined) one?.reject(new Error(error.message))
    else one?.resolve(result)
  })
  socket.addEventListener('close', () => {
    for (const one of waiting.values()) one.reject(new Error('the browser is gone'))
  })

  return (method, params = {}, sessionId = undefined) => {
    const id = ++last
    const answer = Promise.withResolvers<Record<string, unknown>>()
    waiting.set(id, answer)
    socket.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }))
    return answer.promise
  }
}
