// `npm start`: builds what has changed, starts the sample service and the gateway in front of it,
// and stops both when either ends or the terminal says so.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'

const node = process.execPath
const stamp = 'dist/.built'

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

const sources = readdirSync('src', { recursive: true }).map((name) => changedAt(`src/${name}`))
const newest = Math.max(changedAt('package.json'), changedAt('tsconfig.json'), ...sources)
if (changedAt(stamp) <= newest) {
  // Types are checked by `npm test` and `npm run build`; here they would take most of the wait.
  const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck']
  for (const step of [tsc, ['scripts/bundle.mjs']]) {
    if (spawnSync(node, step, { stdio: 'inherit' }).status !== 0) process.exit(1)
  }
  await import('./stamp.mjs')
  // npm makes the program executable when `npx postern` first links it, and not after a new build.
  chmodSync('dist/main.js', 0o755)
  writeFileSync(stamp, '')
}
await import('./console-pages.mjs')

const serve = ['serve', '--tour', ...process.argv.slice(2)]
const stdio = ['ignore', 'inherit', 'inherit']
const children = [
  spawn(node, ['samples/orders/main.ts'], { stdio }),
  // As in the image; docs/size.md says what these are for.
  spawn(node, ['--v8-pool-size=1', '--max-semi-space-size=16', 'dist/main.js', ...serve], {
    stdio,
    // Elsewhere the console is off by default.
    env: { POSTERN_CONSOLE__ENABLED: 'true', ...process.env },
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
