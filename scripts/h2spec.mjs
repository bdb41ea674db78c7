// Runs h2spec, which tests servers against RFC 9113 and RFC 7541, against a listener. Builds h2spec with
// Go if the machine has none.
//
//   node scripts/h2spec.mjs PORT [OPTION...]      options are those of h2spec: --tls --insecure, --path /x
import { spawnSync } from 'node:child_process'
import { findH2spec } from '../test/support/services/find-h2spec.ts'

const [port, ...options] = process.argv.slice(2)
if (port === undefined) {
  console.error('usage: node scripts/h2spec.mjs PORT [OPTION...]')
  process.exit(2)
}
let program
try {
  program = findH2spec()
} catch (error) {
  console.log(`h2spec is skipped: ${error.message}`)
  process.exit(0)
}
const { status } = spawnSync(program, ['--port', port, ...options], { stdio: 'inherit' })
process.exit(status ?? 1)
