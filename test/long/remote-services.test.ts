import { describe, expect, test } from 'vitest'
import { done, type Office, openOffice, writePolicy } from '../support/remote-office.ts'
import { until } from '../support/until.ts'

const names = { reader: ['watcher'], author: ['ci'], publisher: ['release'] }

/** A machine that has the token of a service account, and neither a login nor Redis. */
async function openPipelines() {
  const office = await openOffice({ services: names })
  await done(office.far('gateway logout'))
  const as = async (name: string, role = 'editor') => {
    await done(office.local(`service add ${name} --role ${role}`))
    const { out } = await done(office.local(`token issue ${name} --expires 1d`))
    const env = { POSTERN_GATEWAY_TOKEN: out.trim() }
    return (typed: string) => office.far(typed, { env })
  }
  return { office, as }
}

async function liveRevision({ local }: Office): Promise<string> {
  const { out } = await local('policy status --output json')
  return JSON.parse(out).head.revision
}

describe('a command with --gateway and the token of a service account', () => {
  test('checks, compares and proposes as an author, and publishes nothing', async () => {
    const { office, as } = await openPipelines()
    const { console, cwd } = office
    const ci = await as('ci')
    const live = await liveRevision(office)
    await writePolicy(cwd, 'p, clerk, /orders, GET\np, lead, /orders, DELETE\n')

    expect((await ci('policy check policies --strict')).code).toBe(0)
    expect((await ci('policy test policies')).code).toBe(0)
    expect((await ci('policy diff live policies')).out).toContain('/orders')
    const { out } = await done(ci(`policy propose policies -m more --over ${live}`))
    const [revision = ''] = out.match(/r-[0-9a-f]{12,}/) ?? []
    const pushed = await ci(`policy push ${revision} --yes --no-wait`)

    expect([pushed.code, pushed.err]).toEqual([
      5,
      expect.stringContaining(
        `http://127.0.0.1:${console.port} refused POSTERN_GATEWAY_TOKEN: service account ci is in console.services.author, and this needs publisher\n`,
      ),
    ])
    expect(await liveRevision(office)).toBe(live)
    const proposals = await done(ci('policy proposals --output json'))
    expect(JSON.parse(proposals.out)).toMatchObject([{ revision, author: 'ci', over: live }])
  })

  test('publishes a directory as a publisher, without a password', async () => {
    const { office, as } = await openPipelines()
    const release = await as('release')
    const live = await liveRevision(office)
    await writePolicy(office.cwd, 'p, clerk, /orders, GET\np, lead, /orders, DELETE\n')
    await writePolicy(office.cwd, 'p, clerk\n', 'broken')
    const options = `-m release --over ${live} --yes --no-wait`

    expect((await release(`policy push broken ${options}`)).code).toBe(3)
    expect(await liveRevision(office)).toBe(live)
    const pushed = await done(release(`policy push policies ${options}`))
    const revision = await liveRevision(office)

    expect(revision).not.toBe(live)
    expect(pushed.out).toBe(`${revision} is live; replicas not checked\n`)
    const history = await done(release('policy history --output json'))
    expect(JSON.parse(history.out)[0]).toMatchObject({ author: 'release', message: 'release' })
  })

  test('reads as a reader until its token is revoked, and is no login', async () => {
    const { office, as } = await openPipelines()
    const watcher = await as('watcher')
    const stranger = await as('stranger', 'admin')
    await done(watcher('policy who GET /orders'))
    const refused = [
      [await watcher('policy check policies'), 'and this needs author'],
      [await watcher('gateway whoami'), 'service account watcher is a program'],
      [await stranger('user list'), 'service account stranger is not in console.services'],
    ] as const
    await done(office.local('token revoke --user watcher'))
    await until(async () => (await watcher('user list')).code === 5)

    for (const [{ code, err }, why] of [
      ...refused,
      [await watcher('user list'), 'refused POSTERN_GATEWAY_TOKEN: the token is revoked'] as const,
    ]) {
      expect([code, err]).toEqual([5, expect.stringContaining(why)])
    }
  })
})
