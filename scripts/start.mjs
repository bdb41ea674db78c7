// `npm start`: builds, starts the sample service and the gateway in front of it, and stops both
// when either ends or the terminal says so.
import { spawn, spawnSync } from 'node:child_process'

const node = process.execPath
const build = spawnSync(node, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
})
if (build.status !== 0) process.exit(1)

const children = [
  spawn(node, ['samples/orders/main.ts'], { stdio: ['ignore', 'inherit', 'inherit'] }),
  spawn(node, ['dist/main.js', 'serve', '--tour', ...process.argv.slice(2)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  }),
]

let ending = false
function end(code) {
  if (ending) return
  ending = true
  process.exitCode = code
  for (const child of children) child.kill('SIGTERM')
}

for (const child of children) child.on('exit', (code) => end(code ?? 1))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => end(0))
