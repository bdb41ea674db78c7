import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { type RemotePostern, remotePostern } from './remote-postern.ts'

export const strangerCookie = 'postern-console=sealed.session'
export const apiPath = '/console/api/v1/'

export type Handle = (request: IncomingMessage, response: ServerResponse) => void

interface Stranger extends RemotePostern {
  readonly address: string
  readonly seen: readonly IncomingMessage[]
}

/** A program that lets ann log in and answers every other call in its own way, and a machine of hers. */
export async function startStranger(answer: Handle): Promise<Stranger> {
  const seen: IncomingMessage[] = []
  const server = createServer((request, response) => {
    seen.push(request)
    const { url } = request
    request.resume()
    if (url === `${apiPath}providers`) response.end('{"password":true,"captcha":false}')
    else if (url === `${apiPath}login`) {
      response.setHeader('set-cookie', `${strangerCookie}; Path=/; HttpOnly`)
      response.end('{"username":"ann","role":"publisher"}')
    } else answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const machine = await remotePostern(address)
  expect(await machine.logIn('ann', 'secret-1')).toMatchObject({
    code: 0,
    out: `logged in to ${address} as ann (publisher)\n`,
  })
  return { ...machine, address, seen }
}
