import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, symlinkSync } from 'node:fs'
import { appendFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../support/postgres-server.ts'
import { startRedis } from '../support/redis-server.ts'
import { testSecret } from '../support/tokens.ts'

/** The number that the image runs under, which no file of passwords has a name for. */
const nameless = 65_532

/** Why a program cannot be run under that number here, if it cannot. */
function cannotBeNameless(): string | undefined {
  if (userInfo().uid !== 0) return 'only root can run a program as another user'
  const { status } = spawnSync(process.execPath, ['--version'], { uid: nameless, gid: nameless })
  return status === 0 ? undefined : 'another user cannot read this checkout'
}

const obstacle = cannotBeNameless()
if (obstacle !== undefined) console.warn(`left out: the setup step of compose; ${obstacle}`)

describe.skipIf(obstacle !== undefined)('the setup step of docker compose', () => {
  test('under a number without a name, makes tables, roles and policy, once, and no password', async () => {
    const [redis, postgres] = await Promise.all([startRedis(), startPostgres()])
    const app = await mkdtemp(join(tmpdir(), 'postern-setup-'))
    onTestFinished(async () => {
      await Promise.all([redis.stop(), postgres.stop()])
      await rm(app, { recursive: true, force: true })
    })
    chmodSync(app, 0o755)
    // What the image has: the compiled program, as a command.
    const compiler = resolve('node_modules/typescript/bin/tsc')
    execFileSync(process.execPath, [
      compiler,
      ...['-p', 'tsconfig.build.json', '--outDir', join(app, 'dist')],
    ])
    symlinkSync(resolve('node_modules'), join(app, 'node_modules'))
    execFileSync(process.execPath, ['scripts/bundle.mjs', join(app, 'dist')])
    await cp('package.json', join(app, 'package.json'))
    await cp('policies', join(app, 'policies'), { recursive: true })
    const command = join(app, 'postern')
    const program = join(app, 'dist', 'main.js')
    await writeFile(command, `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`)
    chmodSync(command, 0o755)
    await cp('samples/compose/postern.yaml', join(app, 'postern.yaml'))
    await cp('samples/compose/setup.mjs', join(app, 'setup.mjs'))
    const run = (...args: readonly string[]) =>
      spawnSync(args[0] ?? '', args.slice(1), {
        uid: nameless,
        gid: nameless,
        cwd: app,
        encoding: 'utf8',
        env: {
          PATH: `${app}:${process.env['PATH']}`,
          POSTERN_CONFIG: join(app, 'postern.yaml'),
          POSTERN_JWT__SECRET: testSecret,
          POSTERN_DATABASE__URL: postgres.url,
          POSTERN_REDIS__URL: redis.url,
        },
      })
    const setup = () => run(process.execPath, join(app, 'setup.mjs'), join(app, 'policies'))

    const first = setup()
    const again = setup()

    expect({ status: first.status, stderr: first.stderr }).toMatchObject({ status: 0 })
    expect(first.stdout).toContain('created role admin')
    expect(first.stdout + first.stderr).not.toContain('created user')
    expect(again.status).toBe(0)
    const history = () =>
      JSON.parse(run(command, 'policy', 'history', '--output', 'json').stdout) as unknown
    expect(history()).toMatchObject([{ author: 'docker compose', message: 'the first policy' }])

    // Without --author, and without a name, the number is who publishes.
    const how = ['--yes', '--no-wait', '--over', 'live', '-m', 'again']
    await appendFile(join(app, 'policies', 'policy.csv'), 'p, editor, /api/v1/more, GET\n')
    const pushed = run(command, 'policy', 'push', ...how, join(app, 'policies'))
    expect({ status: pushed.status, stderr: pushed.stderr }).toMatchObject({ status: 0 })
    expect(JSON.stringify(history())).toContain(`"author":"uid ${nameless}"`)
  })
})
