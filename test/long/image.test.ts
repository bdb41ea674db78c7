import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'

/*
 * What can be said of the image and of docker-compose.yml without an engine that builds and runs
 * them. What is only said there is in docs/evidence.md.
 */

interface Instruction {
  readonly word: string
  readonly text: string
}
interface Stage {
  readonly name: string
  readonly from: string
  readonly instructions: readonly Instruction[]
}

function stagesOf(dockerfile: string): readonly Stage[] {
  const lines = dockerfile
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const stages: { name: string; from: string; instructions: Instruction[] }[] = []
  for (const line of lines) {
    const [, word = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
    const [, from = '', name = 'last'] = /^((?:--\S+\s+)?\S+)(?:\s+AS\s+(\S+))?$/.exec(text) ?? []
    if (word === '') throw new Error(`no instruction: ${line}`)
    if (word === 'FROM') stages.push({ name, from, instructions: [] })
    else stages.at(-1)?.instructions.push({ word, text })
  }
  return stages
}

const dockerfile = readFileSync('Dockerfile', 'utf8')
// Before the first stage there are only arguments.
const stages = stagesOf(dockerfile.slice(dockerfile.indexOf('\nFROM')))
const stage = (name: string) => {
  const found = stages.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no stage ${name}`)
  return found
}
const textsOf = ({ instructions }: Stage, word: string) =>
  instructions.filter((each) => each.word === word).map(({ text }) => text)

/** What .dockerignore leaves of a path at the top: the last line that fits decides. */
function isSent(path: string): boolean {
  const [top = ''] = path.split('/')
  const lines = readFileSync('.dockerignore', 'utf8').split('\n').filter(Boolean)
  return lines.reduce((sent, line) => {
    if (line === '*') return false
    return line === `!${top}` || line === `!${path}` ? true : line === top ? false : sent
  }, true)
}

describe('the Dockerfile', () => {
  test('builds in three stages on one version of Node', () => {
    expect(stages.map(({ name }) => name)).toEqual(['build', 'packages', 'last'])
    const base = /^ARG BASE=(\S+)$/m.exec(dockerfile)?.[1]
    expect(base).toMatch(/^docker\.io\/library\/node:24\.\d+\.\d+-[a-z-]+@sha256:[\da-f]{64}$/)
    for (const { from } of stages)
      expect(from).toMatch(/^(--platform=\$BUILDPLATFORM )?\$\{BASE\}$/)
    // Its architecture is that of the gateway.
    expect(stage('last').from).toMatch(/^\$\{BASE\}$/)
  })

  test('copies only what exists and is sent to the engine', () => {
    const sources = stages
      .flatMap((each) => textsOf(each, 'COPY'))
      .filter((text) => !text.startsWith('--from'))
      .flatMap((text) => text.split(/\s+/).slice(0, -1))

    expect(sources).toContain('src')
    expect(sources.filter((source) => !existsSync(source))).toEqual([])
    expect(sources.filter((source) => !isSent(source))).toEqual([])
  })

  test('sends the engine neither secrets nor what a machine happens to have', () => {
    for (const path of ['data', '.git', 'node_modules', 'test', '.env', 'postern-keys']) {
      expect(isSent(path), path).toBe(false)
    }
  })

  test('stamps the commit where the program reads it', () => {
    expect(textsOf(stage('build'), 'ARG')).toEqual(['COMMIT'])
    expect(textsOf(stage('build'), 'RUN').at(-1)).toBe(`printf '%s' "$COMMIT" > dist/commit`)
  })

  test('runs no script of any package', () => {
    const installing = stages.flatMap((each) => textsOf(each, 'RUN')).filter((it) => /npm/.test(it))
    const npm = installing.filter((text) => /npm (?:ci|install)/.test(text))

    expect(npm.length).toBe(2)
    for (const text of npm) expect(text).toMatch(/npm ci --ignore-scripts/)
  })

  test('leaves the packages of developers behind', () => {
    const taken = textsOf(stage('last'), 'COPY').filter((text) => text.startsWith('--from'))

    expect(textsOf(stage('packages'), 'RUN').join()).toContain('--omit=dev')
    expect(taken).toEqual([
      '--from=packages /packages/node_modules /app/node_modules',
      '--from=build /build/dist /app/dist',
    ])
  })

  test('ends as a user by number who is not root, with a check of its health', () => {
    const last = stage('last')
    const [user = ''] = textsOf(last, 'USER')
    const at = (word: string) => last.instructions.findIndex((each) => each.word === word)

    expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(at('USER')).toBeGreaterThan(at('RUN'))
    expect(textsOf(last, 'HEALTHCHECK').join()).toContain('["postern", "status", "--live"]')
    expect(textsOf(last, 'ENTRYPOINT')).toEqual(['["postern"]'])
    expect(textsOf(last, 'EXPOSE')).toEqual(['8000 9100'])
  })

  test('is labelled with name, version and commit, in the words of OCI', () => {
    const labels = Object.fromEntries(
      textsOf(stage('last'), 'LABEL').flatMap((text) =>
        [...text.matchAll(/org\.opencontainers\.image\.(\w+)="([^"]*)"/g)].map(
          ([, name, value]) => [name, value] as const,
        ),
      ),
    )
    const { version, description } = JSON.parse(readFileSync('package.json', 'utf8'))

    expect(labels).toEqual({ title: 'Postern', description, version, revision: '$COMMIT' })
  })

  test('has no program that runs as another user', () => {
    expect(textsOf(stage('last'), 'RUN').join()).toContain('-perm /6000 -exec chmod a-s')
  })

  test('is run by the chart as the same user', () => {
    const [user = ''] = textsOf(stage('last'), 'USER')
    const values = parse(readFileSync('helm/postern/values.yaml', 'utf8'))
    const { runAsUser, runAsGroup } = values.podSecurityContext

    expect(user).toBe(`${runAsUser}:${runAsGroup}`)
  })
})

describe('what the build stage makes', () => {
  const app = mkdtempSync(join(tmpdir(), 'postern-image-'))
  afterAll(() => rmSync(app, { recursive: true, force: true }))

  test('runs where there is neither a compiler nor a source', () => {
    const [, compile = '', bundle = ''] = textsOf(stage('build'), 'RUN')
    const [program = '', ...args] = compile.split(' ')
    expect(program).toBe('node')
    execFileSync(process.execPath, [...args, '--outDir', join(app, 'dist')])
    symlinkSync(resolve('node_modules'), join(app, 'node_modules'))
    expect(bundle).toBe('node scripts/bundle.mjs')
    execFileSync(process.execPath, ['scripts/bundle.mjs', join(app, 'dist')])
    writeFileSync(join(app, 'package.json'), readFileSync('package.json'))

    const postern = (...line: string[]) =>
      execFileSync(process.execPath, [join(app, 'dist', 'main.js'), ...line], { encoding: 'utf8' })

    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    const built = () => JSON.parse(postern('version', '--output', 'json'))
    expect(built()).toMatchObject({ version, commit: 'unknown' })
    const commit = '1fbf9c0d'.repeat(5)
    writeFileSync(join(app, 'dist', 'commit'), commit)
    expect(built()).toMatchObject({ version, commit })
    expect(postern('policy', 'check', 'policies')).toContain('policies: valid')
  })
})

interface Service {
  readonly image?: string
  readonly user?: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, unknown>>
  readonly ports?: readonly string[]
}
const compose = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}
const services = Object.entries(compose.services)
const gateway = compose.services['gateway'] ?? {}

const hasSource = (volume: string) => volume.includes(':')

describe('docker-compose.yml', () => {
  test('has two gateways, what they share, and a service behind them', () => {
    expect(Object.keys(compose.services).sort()).toEqual([
      'gateway',
      'gateway-2',
      'orders',
      'postgres',
      'redis',
      'secrets',
      'setup',
    ])
    const { ports, ...second } = compose.services['gateway-2'] ?? {}
    expect([gateway.ports, ports]).toEqual([['8000:8000'], ['8001:8000']])
    expect({ ...gateway, ports: undefined }).toEqual({ ...second, ports: undefined })
    expect(gateway).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  })

  test('names files, volumes and services that exist, and versions of images', () => {
    for (const [name, { image = '', volumes = [], depends_on = {} }] of services) {
      expect(image, name).toMatch(/^[a-z]+:(?!latest)/)
      // One without a source is new for each container.
      for (const volume of volumes.filter(hasSource)) {
        const [from = ''] = volume.split(':')
        expect(from.startsWith('.') ? existsSync(from) : from in compose.volumes, volume).toBe(true)
      }
      for (const other of Object.keys(depends_on)) expect(compose.services).toHaveProperty(other)
    }
  })

  test('runs programs that are in the image', () => {
    const programs = services.flatMap(([, { entrypoint = [] }]) =>
      entrypoint.filter((part) => part.startsWith('/app/')),
    )

    expect(programs.length).toBeGreaterThan(2)
    for (const program of programs) expect(existsSync(program.replace('/app/', ''))).toBe(true)
  })

  test('holds no secret, and takes those that are made at its first start', () => {
    const { environment = {} } = gateway
    const made = [
      ...readFileSync('samples/compose/secrets.mjs', 'utf8').matchAll(/make\('([^']+)'/g),
    ]
    const files = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'))

    expect(files.length).toBe(2)
    for (const [, path] of files) {
      expect(made.map(([, name]) => `/run/postern/${name}`)).toContain(path)
    }
    expect(readFileSync('docker-compose.yml', 'utf8')).not.toMatch(/PASSWORD: |SECRET: /)
  })

  test('gives its gateways a configuration that they take', () => {
    const secrets = mkdtempSync(join(tmpdir(), 'postern-compose-'))
    writeFileSync(join(secrets, 'jwt'), 'f3b1c9d2a87e4560b9c1d3e5f7a90b2c4d6e8f0a')
    writeFileSync(join(secrets, 'database-url'), 'postgres://postern:x@postgres/postern')
    const mounts = (gateway.volumes ?? []).filter(hasSource).map((volume) => volume.split(':'))
    const here = (path: string) =>
      mounts.reduce((text, [from = '', to = '']) => {
        return text.startsWith(to) ? text.replace(to, from === 'secrets' ? secrets : from) : text
      }, path)
    const env = Object.fromEntries(
      Object.entries(gateway.environment ?? {}).map(([name, value]) => [name, here(value)]),
    )

    const { stdout, stderr } = spawnSync(process.execPath, ['src/main.ts', 'config', 'check'], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ...env },
    })
    rmSync(secrets, { recursive: true })

    // They do not know the proxy with TLS in front.
    expect(stderr.replace(/^.* serves plain HTTP, and .*\n/, '')).toBe('')
    expect(stdout).toContain('ok (mode prod, 1 route, 1 upstream)')
  })
})

describe('the systemd unit', () => {
  const unit = readFileSync('samples/systemd/postern.service', 'utf8')
  const settings = [...unit.matchAll(/^([A-Z]\w+)=(.*)$/gm)].map(([, key = '', value = '']) => {
    return [key, value] as const
  })
  const all = (key: string) => settings.filter(([each]) => each === key).map(([, value]) => value)

  test('gives every secret as a file that it loads', () => {
    const loaded = all('LoadCredential').map((text) => text.split(':')[0])
    const environment = all('Environment').map((text) => text.split('=', 2))
    const files = environment.filter(([name = '']) => name.endsWith('_FILE'))

    expect(files.map(([, path]) => path)).toEqual(loaded.map((name) => `%d/${name}`))
  })

  test('sets what Postern knows, and waits longer than the shipped deadline', () => {
    const directory = mkdtempSync(join(tmpdir(), 'postern-unit-'))
    writeFileSync(join(directory, 'jwt-secret'), 'f3b1c9d2a87e4560b9c1d3e5f7a90b2c4d6e8f0a')
    writeFileSync(join(directory, 'database-url'), 'postgres://postern:x@postgres/postern')
    writeFileSync(join(directory, 'redis-url'), 'redis://redis:6379/0')
    const env = all('Environment').map((text) => text.replace('%d', directory).split('=', 2))

    const { stderr, stdout } = spawnSync(process.execPath, ['src/main.ts', 'config', 'check'], {
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        ...Object.fromEntries(env),
        POSTERN_CONFIG: 'config/production.yaml',
      },
    })
    rmSync(directory, { recursive: true })

    const { shutdown } = parse(readFileSync('config/production.yaml', 'utf8'))
    // They do not know the proxy with TLS in front.
    expect(stderr.replace(/^.* serves plain HTTP, and .*\n/, '')).toBe('')
    expect(stdout).toContain('ok (mode prod')
    expect(Number(all('TimeoutStopSec')[0]) * 1000).toBeGreaterThan(shutdown.deadlineMs + 5000)
  })
})

test('image, systemd unit and npm start give Node the same options, and it knows them', () => {
  const given = ['Dockerfile', 'samples/systemd/postern.service', 'scripts/start.mjs'].map(
    (file) => {
      const text = readFileSync(file, 'utf8')
      const before = /(?:exec node|^ExecStart=\S*node|spawn\(node, \[)(.*?)\S*dist\/main\.js/m.exec(
        text,
      )
      return before?.[1]?.match(/--[\w=-]+/g) ?? []
    },
  )
  const [options = []] = given

  expect(options).not.toEqual([])
  expect(given).toEqual([options, options, options])
  expect(spawnSync(process.execPath, [...options, '-e', '']).status).toBe(0)
})
