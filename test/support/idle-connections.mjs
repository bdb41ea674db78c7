// Opens connections and sends nothing on them, in a process of its own. Arguments as JSON: port,
// count. Prints a line when all have been tried, and stays.
import { connect } from 'node:net'

const { port, count } = JSON.parse(process.argv[2])
const sockets = []
let begun = 0
let tried = 0

function begin() {
  if (begun++ >= count) return
  const socket = connect({ port, host: '127.0.0.1' })
  let isCounted = false
  const counted = () => {
    if (isCounted) return
    isCounted = true
    tried++
    if (tried === count) process.stdout.write('ready\n')
    else begin()
  }
  sockets.push(socket)
  socket.on('error', counted).on('connect', counted)
}
for (let at = 0; at < 200; at++) begin()
setTimeout(() => process.exit(), 120_000)
