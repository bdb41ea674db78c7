import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { buildah, pull } from './buildah.mjs'
import { fail, skip } from './verdict.mjs'
import { has, root, work } from './workplace.mjs'

/** The base image of the Dockerfile, or one that is enough like it. */
export async function findBase() {
  if (await pull(namedBase())) return namedBase()
  if (!has('debootstrap')) {
    skip('the base image cannot be pulled, and debootstrap is not installed to make one')
  }
  console.log('the base image cannot be pulled: making one from Debian')
  return makeBase()
}

/** The one that the Dockerfile pins. */
export function namedBase() {
  const [, named] = /^ARG BASE=(\S+)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))
  return named
}

async function makeBase() {
  const files = join(work, 'files')
  mkdirSync(join(files, 'bin'), { recursive: true })
  cpSync(process.execPath, join(files, 'bin/node'), { dereference: true })
  const { stdout: npm } = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' })
  const modules = join(realpathSync(npm.trim()), '../..')
  cpSync(modules, join(files, 'lib/node_modules/npm'), { recursive: true })
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(files, 'bin', name))
  }
  const container = await buildah('from', 'scratch')
  await buildah('add', '--quiet', container, await makeDebian(), '/')
  await buildah('copy', '--quiet', container, files, '/usr/local')
  await buildah('config', '--env', 'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container)
  await buildah('commit', '--quiet', '--rm', container, 'postern-base')
  return 'localhost/postern-base'
}

/** A Debian of few packages as a tar file, which is kept for the next time. */
async function makeDebian() {
  const cache = process.env.POSTERN_TEST_CACHE ?? '/var/cache/postern-test'
  const kept = join(cache, `debian-bookworm-${process.arch}.tar`)
  if (existsSync(kept)) return kept
  if (!(await answers(defaultMirror()))) skip('no Debian mirror can be reached to make a base from')
  const directory = join(work, 'debian')
  const made = spawnSync('debootstrap', ['--variant=minbase', 'bookworm', directory], {
    stdio: 'ignore',
    timeout: 900_000,
  })
  if (made.status !== 0) skip('debootstrap could not make a base: no mirror, or not enough rights')
  mkdirSync(cache, { recursive: true })
  const unfinished = `${kept}.${process.pid}`
  const left = [
    '--exclude=./dev/*',
    '--exclude=./var/cache/apt/*',
    '--exclude=./var/lib/apt/lists/*',
  ]
  const packed = spawnSync('tar', ['-C', directory, ...left, '-cf', unfinished, '.'])
  if (packed.status !== 0) fail(`tar failed: ${packed.stderr}`)
  renameSync(unfinished, kept)
  rmSync(directory, { recursive: true })
  return kept
}

/** The one that debootstrap uses unless it is told another; `undefined` if it does not say. */
function defaultMirror() {
  const { stdout: program } = spawnSync('sh', ['-c', 'command -v debootstrap'], {
    encoding: 'utf8',
  })
  return /^DEF_MIRROR="([^"]+)"$/m.exec(readFileSync(program.trim(), 'utf8'))?.[1]
}

/** Asked before debootstrap is, which tries for minutes. */
async function answers(mirror) {
  if (mirror === undefined) return true
  const limit = { method: 'HEAD', signal: AbortSignal.timeout(20_000) }
  return fetch(`${mirror}/dists/bookworm/Release`, limit).then(
    ({ ok }) => ok,
    () => false,
  )
}
