// A crowd of clients in a process of its own: each connects, sends a request and leaves. Arguments as
// JSON: port, count, atATime, request. Prints what came of them.
import { connect } from 'node:net'

const { port, count, atATime, request } = JSON.parse(process.argv[2])
let begun = 0
let done = 0
let refused = 0
const startedAt = performance.now()

function begin() {
  if (begun >= count) return
  begun++
  const socket = connect({ port, host: '127.0.0.1' })
  let connected = false
  socket.setTimeout(20_000, () => socket.destroy())
  socket.on('error', () => {})
  socket.on('connect', () => {
    connected = true
    socket.write(request, () => socket.destroy())
  })
  socket.on('close', () => {
    if (!connected) refused++
    done++
    if (done === count) {
      const ms = Math.round(performance.now() - startedAt)
      process.stdout.write(JSON.stringify({ count, refused, ms }))
    } else begin()
  })
}
for (let at = 0; at < atATime; at++) begin()
