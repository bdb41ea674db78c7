import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

export interface CallersOptions {
  readonly port: number
  readonly path?: string
  readonly headers: Readonly<Record<string, string>>
  readonly callers: number
  /** Of all of them; every second one is a POST. */
  readonly requests: number
  /** How long a caller pauses between two requests, at least and at most. */
  readonly pauseMs: readonly [number, number]
  /** Whether all of them begin at the same moment, time and again. */
  readonly together?: boolean
}

export interface CallersResult {
  readonly sent: Readonly<Record<string, number>>
  /** What was not answered in full with 200. */
  readonly failed: Readonly<Record<string, number>>
  readonly reasons: readonly string[]
}

/** Callers with a connection each, that make one request after the other and check each response. */
export async function callMany(options: CallersOptions): Promise<CallersResult> {
  const { callers, requests, pauseMs, together = false } = options
  const sent: Record<string, number> = { GET: 0, POST: 0 }
  const failed: Record<string, number> = { GET: 0, POST: 0 }
  const reasons: string[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  let made = 0

  async function callNext(): Promise<void> {
    const method = made++ % 2 === 0 ? 'GET' : 'POST'
    const body = method === 'POST' ? 'x'.repeat(100) : ''
    sent[method] = (sent[method] ?? 0) + 1
    const got = await callOnce({ ...options, agent, method, body })
    if (got === `200 ${method} ${body.length}`) return
    failed[method] = (failed[method] ?? 0) + 1
    if (reasons.length < 20) reasons.push(`${method}: ${got}`)
  }
  async function callAgain(size: number): Promise<void> {
    for (let turn = 0; made < requests; turn++) {
      await pause(between(turn === 0 ? [0, pauseMs[1]] : pauseMs))
      const now = Math.min(size, requests - made)
      await Promise.all(Array.from({ length: now }, callNext))
    }
  }

  if (together) await callAgain(callers)
  else await Promise.all(Array.from({ length: callers }, () => callAgain(1)))
  agent.destroy()
  return { sent, failed, reasons }
}

function between([least, most]: readonly [number, number]): number {
  return least + Math.random() * (most - least)
}

interface Once {
  readonly agent: Agent
  readonly port: number
  readonly path?: string
  readonly method: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** Status and body, or what went wrong. */
function callOnce({ agent, port, path = '/a', method, body, headers }: Once): Promise<string> {
  return new Promise((resolve) => {
    const sent = request({ agent, port, host: '127.0.0.1', method, path, headers })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    sent.on('response', (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('error', (error) => resolve(error.message))
      response.on('end', () => resolve(`${response.statusCode} ${text}`))
    })
    sent.end(body)
  })
}
