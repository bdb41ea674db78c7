import { type ChildProcess, spawn } from 'node:child_process'
import dns from 'node:dns'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, Server as NetServer, type Socket } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createClientConnections } from '../../src/http/connections/client-connections.ts'
import { createListeners, type Listeners } from '../../src/http/port/listeners.ts'
import { freePort } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const host = '127.0.0.1'

interface Opened {
  readonly server: Server
  readonly listeners: Listeners
  readonly port: number
  readonly taken: () => number
}

async function open(most: number, options = {}, port = 0, name = host): Promise<Opened> {
  const server = createServer((_, reply) => void reply.end('ok'))
  const clients = createClientConnections({ most }, { rejected() {}, closed() {} })
  const listeners = createListeners(server, clients, options)
  let taken = 0
  server.on('connection', () => void taken++)
  const bound = await listeners.open({ host: name, port })
  onTestFinished(async () => {
    server.closeAllConnections()
    await listeners.close()
  })
  return { server, listeners, port: bound, taken: () => taken }
}

async function come(port: number): Promise<Socket> {
  const socket = connect(port, host)
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** Another process that connects so many times; it goes on while our loop stands still. */
async function startCrowd(port: number, count: number): Promise<ChildProcess> {
  const script = `
    const { connect } = require('node:net')
    process.stdin.once('data', () => {
      for (let at = 0; at < ${count}; at++) connect(${port}, '${host}').on('error', () => {})
    })
    process.stdout.write('ready')`
  const crowd = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void crowd.kill())
  await once(crowd.stdout, 'data')
  return crowd
}

/** Another process whose clients connect again until they are let in; `ended` says how each ended. */
async function startRetrying(port: number, count: number) {
  const script = `
    const { connect } = require('node:net')
    const ended = []
    function come() {
      let isIn = false
      const socket = connect(${port}, '${host}', () => {
        isIn = true
        socket.write('GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n')
      })
      const end = (how) => {
        if (ended.push(how) === ${count}) console.log(JSON.stringify(ended))
        socket.destroy()
      }
      socket.on('data', (bytes) => end(bytes.toString('latin1', 9, 12)))
      socket.on('error', ({ code }) => (isIn ? end(code) : setTimeout(come, 1)))
    }
    for (let at = 0; at < ${count}; at++) come()
    console.log('ready')`
  const crowd = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void crowd.kill())
  let said = ''
  crowd.stdout.on('data', (text) => {
    said += text
  })
  await until(() => said.includes('ready'))
  return async () => {
    await until(() => said.includes(']'))
    return JSON.parse(said.slice(said.indexOf('['))) as readonly string[]
  }
}

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** How many turns of the loop it took to take all of a crowd that had come before the first. */
async function turnsToTake(count: number, { port, taken }: Opened): Promise<number> {
  const crowd = await startCrowd(port, count)
  crowd.stdin?.write('go')
  await turn()
  standStill(1000)
  let turns = 0
  while (taken() < count && turns < 100_000) {
    turns++
    await turn()
  }
  return turns
}

describe('the ways into a server', () => {
  test('let in more than one connection in a turn of the loop', async () => {
    const count = 200
    const alone = await turnsToTake(count, await open(1000, { single: true }))
    const together = await turnsToTake(count, await open(1000))

    expect(alone).toBeGreaterThanOrEqual(count)
    expect(together).toBeLessThan(count / 2)
  })

  test('let in as many as were said, all together, and others when those have left', async () => {
    const { port, taken } = await open(5)
    const all = await Promise.all(Array.from({ length: 40 }, () => come(port)))
    await until(() => all.filter((socket) => socket.closed || socket.readableEnded).length === 35)
    expect(taken()).toBe(5)

    const inside = all.filter((socket) => !socket.closed && !socket.readableEnded)
    for (const socket of inside.slice(0, 2)) socket.destroy()
    for (const socket of all) if (!inside.includes(socket)) socket.destroy()
    await until(async () => {
      await come(port)
      return taken() >= 7
    })
    expect(taken()).toBe(7)
  })

  test('are all closed at once, and that is over when the last connection is', async () => {
    const { listeners, port, server } = await open(100)
    const clients = await Promise.all(Array.from({ length: 20 }, () => come(port)))
    let over = false
    const closing = listeners.close().then(() => {
      over = true
    })

    for (let attempt = 0; attempt < 32; attempt++) {
      const late = connect(port, host)
      await expect(once(late, 'connect')).rejects.toThrow('ECONNREFUSED')
    }
    expect(over).toBe(false)
    server.closeAllConnections()
    for (const client of clients) client.destroy()
    await closing
  })

  test('close once, however often they are told to, and wait for what came in before', async () => {
    const { listeners, port, server } = await open(100)
    const client = await come(port)
    const closings = [listeners.close(), listeners.close()]
    const first = await Promise.race([...closings, pause(50, 'none')])

    expect(first).toBe('none')
    server.closeAllConnections()
    client.destroy()
    await Promise.all(closings)
  })

  test('are all on the one address that a name stands for', async () => {
    const asked: string[] = []
    const addresses = ['127.0.0.1', '127.0.0.2']
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((
      name: string,
      _: unknown,
      done: (error: null, found: { address: string; family: number }[]) => void,
    ) => {
      const address = /^[\d.]+$/.test(name) ? name : (addresses[asked.push(name) % 2] ?? '')
      queueMicrotask(() => done(null, [{ address, family: 4 }]))
    }) as never)
    onTestFinished(() => lookup.mockRestore())
    const { port, server } = await open(100, {}, 0, 'gateway.example')
    const { address } = server.address() as AddressInfo
    const other = addresses.find((each) => each !== address) ?? ''

    expect(addresses).toContain(address)
    for (let attempt = 0; attempt < 32; attempt++) {
      const there = connect(port, other)
      await expect(once(there, 'connect')).rejects.toThrow('ECONNREFUSED')
    }
  })

  test('do not open beside those of another, whose clients they would take', async () => {
    const { port } = await open(10)

    await expect(open(10, {}, port)).rejects.toThrow('it is in use')
    await expect(open(10, { single: true }, port)).rejects.toThrow('it is in use')
  })

  test('reset no client that comes before all of them are open', async () => {
    const port = await freePort()
    const ended = await startRetrying(port, 18)
    // As on a busy machine, which gives others a turn before a socket that listens is closed.
    const close = NetServer.prototype.close
    const slowly = vi.spyOn(NetServer.prototype, 'close').mockImplementation(function (
      this: NetServer,
      ...all
    ) {
      if (this.listening) standStill(500)
      return close.apply(this, all)
    })
    onTestFinished(() => slowly.mockRestore())
    await open(100, {}, port)
    slowly.mockRestore()

    expect(await ended()).toEqual(Array.from({ length: 18 }, () => '200'))
  })
})
