// Generates the secrets of docker-compose.yml in the given directory, unless they exist.
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const directory = process.argv[2] ?? '/run/postern'
const gatewayUser = 65532

function make(name, text, mode) {
  const file = join(directory, name)
  if (existsSync(file)) return
  writeFileSync(file, text, { mode: 0o600 })
  chownSync(file, gatewayUser, gatewayUser)
  chmodSync(file, mode)
}

const password = randomBytes(24).toString('base64url')
make('jwt', randomBytes(48).toString('base64url'), 0o400)
// The PostgreSQL container reads its file as another user.
make('postgres-password', password, 0o444)
make('database-url', `postgres://postern:${password}@postgres/postern`, 0o400)
