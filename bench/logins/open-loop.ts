import { Agent, request } from 'node:http'

export interface Shot {
  readonly port: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly milliseconds: number
}

/** How one request is made, or several that belong together; the time is that of the last. */
export type Fire = (agent: Agent) => Promise<Answer>

/** One request. */
export function shoot(shot: Shot, agent: Agent): Promise<Answer> {
  const { port, method, path, headers, body } = shot
  const since = performance.now()
  return new Promise((resolve) => {
    const ended = (status: number, text: string) =>
      resolve({ status, text, milliseconds: performance.now() - since })
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () => ended(answer.statusCode ?? 0, text))
      answer.on('error', () => ended(0, ''))
    })
    sent.on('error', () => ended(0, ''))
    sent.end(body)
  })
}

/**
 * Sends at a fixed rate whatever the answers do, for so many seconds: an answer that is late delays
 * no other request, so that none of those who would have waited is missing. Each is timed from when
 * it is sent. Timers are up to 1 ms late, which is more than a request takes: counted from when it
 * was due, calm and busy would look alike.
 */
export async function shootAtRate(
  fire: Fire,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<Answer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const answers: Promise<Answer>[] = []
  const start = performance.now()
  const total = Math.round(perSecond * seconds)
  await new Promise<void>((resolve) => {
    function tick(): void {
      const due = Math.min(total, ((performance.now() - start) * perSecond) / 1000)
      while (answers.length < due) answers.push(fire(agent))
      if (answers.length < total) setTimeout(tick, 1)
      else resolve()
    }
    tick()
  })
  const all = await Promise.all(answers)
  agent.destroy()
  return all
}

/** Keeps so many requests under way for so many seconds. */
export async function shootAtOnce(
  fire: Fire,
  { concurrency, seconds }: { readonly concurrency: number; readonly seconds: number },
): Promise<Answer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency })
  const end = performance.now() + seconds * 1000
  const answers: Answer[] = []
  async function one(): Promise<void> {
    while (performance.now() < end) answers.push(await fire(agent))
  }
  await Promise.all(Array.from({ length: concurrency }, one))
  agent.destroy()
  return answers
}
