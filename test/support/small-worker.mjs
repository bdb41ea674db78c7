// A worker that speaks as a real one does and serves nothing. SMALL_WORKER says how it behaves.
const behaviour = process.env.SMALL_WORKER ?? ''
let counted = 0

const metrics = () => [
  { name: 'counted_total', help: 'c', type: 'counter', values: [{ value: counted, labels: {} }] },
]

process.on('message', (message) => {
  if (message.kind === 'start') {
    if (behaviour === 'fails') process.exit(3)
    if (behaviour === 'killed') process.kill(process.pid, 'SIGKILL')
    process.send({ kind: 'listening', publicPort: message.number, revision: 'r' })
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
