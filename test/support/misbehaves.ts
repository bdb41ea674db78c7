import { Server } from 'node:net'

/*
 * Loaded into a gateway's process before the gateway, to go wrong there on SIGUSR2 in the way that
 * MISBEHAVE names: as any piece of code in the process can.
 */
const { MISBEHAVE, MESSAGE = 'nobody caught this' } = process.env

function fail(): never {
  throw Object.assign(new Error(MESSAGE), {
    command: { args: ['AUTH', 'a-password-of-a-command'] },
  })
}

function again(): void {
  process.nextTick(again)
  fail()
}

let holding = false

/** Holds the event loop for most of the time, as too much work does, until it is told again. */
function hold(): void {
  holding = !holding
  holdOnce()
}

function holdOnce(): void {
  const until = performance.now() + 300
  while (performance.now() < until);
  if (holding) setImmediate(holdOnce)
}

const ways: Readonly<Record<string, () => void>> = {
  throw: fail,
  reject: () => void Promise.reject(new Error(MESSAGE)),
  text: () => {
    throw MESSAGE
  },
  'every millisecond': () => void setInterval(fail, 1),
  'in every tick': again,
  hold,
}

const misbehave = () => void setTimeout(ways[MISBEHAVE ?? 'throw'] ?? fail, 0)
process.on('SIGUSR2', misbehave)
if (process.env['MISBEHAVE_AT'] === 'start') {
  const { listen } = Server.prototype
  Server.prototype.listen = function (this: Server, ...args: unknown[]) {
    misbehave()
    return Reflect.apply(listen, this, args)
  }
}
