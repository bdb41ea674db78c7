import { spawnSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { work } from './workplace.mjs'

/** Whose processes PostgreSQL and Redis are in their containers, as in their images. */
const SERVICE = 999

/**
 * PostgreSQL and Redis of this machine in place of their images, whose registry may be unreachable:
 * what a container of each is started with, by the name of its image. Returns the reason, in words,
 * where a program is missing.
 */
export function findServices() {
  const redis = process.env.POSTERN_TEST_REDIS ?? located('redis-server')
  const client = located('redis-cli')
  const server = process.env.POSTERN_TEST_POSTGRES ?? located('postgres')
  if (redis === undefined || client === undefined) return 'redis-server or redis-cli is missing'
  if (server === undefined) return 'postgres is missing'
  const programs = process.env.POSTERN_TEST_POSTGRES ?? dirname(realpathSync(server))
  for (const name of ['initdb', 'pg_isready']) {
    if (!existsSync(join(programs, name))) return `${name} is missing in ${programs}`
  }
  const outside = [redis, client, programs].find((path) => !realpathSync(path).startsWith('/usr/'))
  if (outside !== undefined) return `${outside} is not under /usr`
  const paths = [programs, dirname(redis), dirname(client), '/usr/bin', '/bin'].join(':')
  const common = { ...machineRoot(), user: SERVICE, env: [`PATH=${paths}`, 'LC_ALL=C'] }
  return {
    postgres: { ...common, cwd: '/', args: ['sh', '-ec', startPostgres] },
    // As its image does, which asks for no password either.
    redis: { ...common, cwd: '/data', appended: ['--protected-mode', 'no'] },
  }
}

/** What the image of PostgreSQL does at its first start. */
const startPostgres = `
data=/var/lib/postgresql/data
initdb -D $data -U $POSTGRES_USER --pwfile $POSTGRES_PASSWORD_FILE -A scram-sha-256 -E UTF8 --locale C
echo 'host all all all scram-sha-256' >> $data/pg_hba.conf
echo "create database $POSTGRES_DB" | postgres --single -D $data postgres
exec postgres -D $data -c listen_addresses='*'
`

function located(name) {
  const { stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' })
  return stdout.trim() || undefined
}

/** A root with the programs and libraries of this machine, and nothing else of it. */
function machineRoot() {
  const rootfs = join(work, 'machine')
  const mounts = [['/usr', '/usr', 'exec']]
  for (const name of ['etc', 'usr', 'proc', 'dev', 'tmp', 'data', 'var/lib/postgresql/data']) {
    mkdirSync(join(rootfs, name), { recursive: true })
  }
  for (const name of readdirSync('/').filter((each) => /^(?:s?bin|lib\w*)$/.test(each))) {
    const path = join('/', name)
    if (lstatSync(path).isSymbolicLink()) symlinkSync(readlinkSync(path), join(rootfs, name))
    else mounts.push([path, path, 'exec'])
  }
  for (const name of ['/etc/ld.so.cache', '/etc/localtime', '/etc/alternatives']) {
    if (existsSync(name)) mounts.push([realpathSync(name), name, 'ro'])
  }
  for (const name of ['data', 'var/lib/postgresql/data']) {
    chownSync(join(rootfs, name), SERVICE, SERVICE)
  }
  // initdb asks for the name of its user.
  writeFileSync(join(rootfs, 'etc/passwd'), `service:x:${SERVICE}:${SERVICE}::/:/bin/sh\n`)
  for (const path of ['/tmp', '/var/run/postgresql', '/dev/shm']) mounts.push(['tmpfs', path, 'rw'])
  return { rootfs, mounts }
}
