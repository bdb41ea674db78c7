// A client of the gateways of docker-compose.yml, in a container on their network: logs in, calls the
// sample service, logs out. `postern login test` solves the captcha; this program relays what it sends
// to the first gateway, and uses the token before the command revokes it.
//
//   node compose-client.mjs USER PASSWORD-FILE HOST...
//
// Prints {"calls":[{"what","wanted","got"}]}.
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'

const [user, passwordFile, ...hosts] = process.argv.slice(2)
const origins = hosts.map((host) => `http://${host}:8000`)

/** Code and text of a refusal, which is HTTP 200; else the status. */
async function call(origin, method, path, token) {
  const headers = { 'accept-language': 'en', ...(token && { authorization: `Bearer ${token}` }) }
  const answer = await fetch(`${origin}${path}`, { method, headers })
  const { code, msg } = await answer.json().catch(() => ({}))
  return code === undefined ? `${answer.status}` : `${code} ${msg}`
}

const calls = []
async function callAll(token) {
  for (const [index, origin] of origins.entries()) {
    const at = `at ${hosts[index]}`
    const add = async (what, wanted, ...request) => {
      calls.push({ what: `${what} ${at}`, wanted, got: await call(origin, ...request) })
    }
    await add('an allowed call', '200', 'GET', '/api/v1/orders', token)
    await add(
      'a denied call',
      '401 you have no permission for this operation',
      'DELETE',
      '/api/v1/orders/1',
      token,
    )
    await add('a call without a token', '401 please log in', 'GET', '/api/v1/orders')
  }
}

const relay = createServer(async (request, response) => {
  const chunks = await request.toArray()
  const { 'content-type': type, authorization } = request.headers
  const answer = await fetch(`${origins[0]}${request.url}`, {
    method: request.method,
    headers: { 'content-type': type, ...(authorization && { authorization }) },
    body: Buffer.concat(chunks),
  })
  const text = await answer.text()
  const { token } = JSON.parse(text)
  if (request.url === '/api/v1/login' && token !== undefined) await callAll(token)
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
})
await new Promise((listening) => relay.listen(0, '127.0.0.1', listening))

const url = `http://127.0.0.1:${relay.address().port}`
const args = ['login', 'test', user, '--url', url, '--password-file', passwordFile]
const command = spawn('postern', args, { stdio: ['ignore', 'inherit', 'inherit'] })
const status = await new Promise((ended) => command.on('exit', ended))
console.log(JSON.stringify({ calls }))
process.exit(status ?? 1)
