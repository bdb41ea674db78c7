import { Agent, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { createTokens, permitted } from './rules.ts'

/** How many ended tokens are in force while Postern is measured. */
export const endedCount = 3000

const atOnce = 32

/**
 * Tokens that were ended by logging out. They are ended at the first Postern of the run; the others
 * learn them from Redis.
 */
export interface EndedTokens {
  /** Throws when one of them is still good at the Postern that listens here. */
  hold(port: number, tls: boolean): Promise<void>
}

export function createEndedTokens(): EndedTokens {
  const tokens = createTokens(endedCount, 500_000)
  let ended = false
  return {
    async hold(port, tls) {
      const agent = tls ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true })
      const ask = (method: string, path: string, token: string) =>
        asked({ port, tls, method, path, token, agent })
      try {
        if (!ended) await inTurns(tokens, (token) => ask('POST', '/api/v1/logout', token))
        ended = true
        for (const token of [tokens[0] ?? '', tokens.at(-1) ?? '']) {
          const answer = await ask('GET', permitted.one, token)
          if (!/"code":401/.test(answer)) throw new Error(`an ended token is good: ${answer}`)
        }
      } finally {
        agent.destroy()
      }
    },
  }
}

async function inTurns(
  tokens: readonly string[],
  end: (token: string) => Promise<string>,
): Promise<void> {
  let next = 0
  async function one(): Promise<void> {
    for (let token = tokens[next++]; token !== undefined; token = tokens[next++]) {
      const answer = await end(token)
      if (!answer.includes('"code":200')) throw new Error(`a token cannot be ended: ${answer}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

interface Question {
  readonly port: number
  readonly tls: boolean
  readonly method: string
  readonly path: string
  readonly token: string
  readonly agent: Agent | SecureAgent
}

function asked({ port, tls, method, path, token, agent }: Question): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Length': '0' }
    const make = tls ? secureRequest : plainRequest
    const options = { host: '127.0.0.1', port, method, path, headers, agent }
    make({ ...options, rejectUnauthorized: false, timeout: 15_000 }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })
}
