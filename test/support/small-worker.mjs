import { createServer } from 'node:net'

// A worker that speaks as a real one does. SMALL_WORKER says how it behaves; only `serves` serves.
const behaviour = process.env.SMALL_WORKER ?? ''
let counted = 0

const metrics = () => [
  { name: 'counted_total', help: 'c', type: 'counter', values: [{ value: counted, labels: {} }] },
]

/** Greets every client. */
function serve() {
  const server = createServer((socket) => socket.end('hello'))
  server.listen(0, '127.0.0.1', () => {
    process.send({ kind: 'listening', publicPort: server.address().port, revision: 'r' })
  })
}

process.on('message', (message) => {
  if (message.kind === 'start') {
    if (behaviour === 'fails') process.exit(3)
    if (behaviour === 'killed') process.kill(process.pid, 'SIGKILL')
    if (behaviour === 'serves') serve()
    else process.send({ kind: 'listening', publicPort: message.number, revision: 'r' })
    if (behaviour === 'short-lived') setTimeout(() => process.exit(1), 20)
  }
  if (message.kind === 'ask' && behaviour !== 'silent') {
    counted++
    process.send({ kind: 'answer', id: message.id, answer: metrics() })
  }
  if (message.kind === 'close' && behaviour !== 'stays') process.exit(0)
})
process.on('disconnect', () => process.exit(0))
process.send({ kind: 'hello' })
