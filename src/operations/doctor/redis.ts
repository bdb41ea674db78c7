import type { Config } from '../../config/schema/schema.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import type { RedisClient } from '../../stores/redis/redis.ts'
import { parseRedisUrl } from '../../stores/redis/redis-address.ts'
import { deniedCommands } from '../../stores/redis/redis-rights.ts'
import { withRedis } from '../configured-redis.ts'
import { withInteractiveTimeouts } from '../policy-settings.ts'
import type { ClockSamples } from './clock.ts'
import { connectionFailure } from './connection-fix.ts'
import type { Report } from './run-checks.ts'

const rightsFix =
  'grant what is missing with ACL SETUSER: docs/stores.md#users has the whole line of rights'

type Settings = Config['redis'] & { readonly url: string }

/** Whether Redis answers this user as a gateway needs it. Writes nothing. */
export async function checkRedis(
  report: Report,
  redis: Settings,
  clock: ClockSamples,
): Promise<void> {
  const where = addressOf(redis.url)
  try {
    await withRedis(withInteractiveTimeouts(redis), undefined, async (client) => {
      await checkServer(report, client, where)
      await checkTime(report, client, redis.commandTimeoutMs, clock)
      await checkRights(report.about('redis rights'), client)
    })
  } catch (error) {
    if (error instanceof Invalid) return report.problem(error.message, 'correct redis.url')
    if (!(error instanceof Fault)) throw error
    const { reason, fix } = connectionFailure(error, {
      server: 'Redis',
      address: 'redis.url',
      trust:
        'name the certificate of your authority in NODE_EXTRA_CA_CERTS: see docs/stores.md#tls',
    })
    report.problem(`${where}: ${reason}`, fixOf(reason) ?? fix)
  }
}

function fixOf(reason: string): string | undefined {
  if (/NOAUTH|WRONGPASS|invalid (?:username|password)|AUTH/.test(reason)) {
    return 'set user and password of Redis in redis.url (variable POSTERN_REDIS__URL)'
  }
  return /NOPERM/.test(reason) ? rightsFix : undefined
}

/** The hosts alone: the rest of the URL may hold passwords. */
function addressOf(url: string): string {
  const { kind, hosts, tls, master } = parseRedisUrl(url)
  const list = hosts.map(({ host, port }) => `${host}:${port}`).join(', ')
  const how = [kind, ...(master === undefined ? [] : [master]), ...(tls ? ['TLS'] : [])]
  return `${list} (${how.join(', ')})`
}

/** XAUTOCLAIM, for the login log. */
const oldest = [6, 2] as const

async function checkServer(report: Report, client: RedisClient, where: string): Promise<void> {
  const info = await ifAllowed(() => client.run((commands) => commands.info()))
  // The rights say so.
  if (info === undefined) return report.ok(`${where} answers`)
  const field = (key: string) => new RegExp(`^${key}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? ''
  const version = field('redis_version')
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const message = `${where}: version ${version}`
  const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1])
  if (isOld) report.problem(`${message} is too old`, 'upgrade Redis to 6.2 or a later version')
  else report.ok(message)
  if (field('role') === 'slave') {
    const fix = 'name the primary in redis.url, or use Sentinel: see docs/stores.md#redis-sentinel'
    report.problem(`${where} is a replica and accepts no writes`, fix)
  }
  const policy = field('maxmemory_policy')
  if (Number(field('maxmemory')) > 0 && policy !== 'noeviction') {
    report.warning(
      `maxmemory-policy is ${policy}: Redis may drop revoked tokens, policies and lock-outs`,
      'set maxmemory-policy noeviction',
    )
  }
  if (field('rdb_last_bgsave_status') === 'err') {
    report.warning(
      'Redis could not save its data to disk, and may refuse writes until it can',
      'free disk space on the Redis server, and read its log',
    )
  }
}

async function checkTime(
  report: Report,
  client: RedisClient,
  timeoutMs: number,
  clock: ClockSamples,
): Promise<void> {
  const [askedAt, began] = [Date.now(), performance.now()]
  const time = await ifAllowed(() => client.run((commands) => commands.time()))
  if (time === undefined) return
  const tookMs = performance.now() - began
  const [seconds = 0, microseconds = 0] = time.map(Number)
  const theirs = seconds * 1000 + microseconds / 1000
  clock.add({ source: 'Redis', theirs, askedAt, answeredAt: Date.now(), stepMs: 0 })
  if (tookMs <= timeoutMs) return
  report.warning(
    `one command took ${Math.round(tookMs)} ms, more than redis.commandTimeoutMs (${timeoutMs})`,
    'run Redis closer to the gateway, or raise redis.commandTimeoutMs',
  )
}

async function checkRights({ ok, problem }: Report, client: RedisClient): Promise<void> {
  const { prefix } = client
  try {
    const denied = await deniedCommands(client)
    if (denied === undefined) {
      return ok('not checked: this Redis is older than 7.0 and cannot be asked')
    }
    if (denied.length === 0) return ok(`all commands on keys and channels ${prefix}*`)
    // The keys are not the reason: EVAL had one.
    const channels = denied.some((each) => /subscribe|publish/.test(each))
    const rights = denied.map((each) => `+${each}`).join(' ')
    problem(`the user lacks ${rights}${channels ? `, or the channels &${prefix}*` : ''}`, rightsFix)
  } catch (error) {
    if (!isDenied(error)) throw error
    const lacking = /'eval'/.test(error.message) ? '+eval' : `the keys ~${prefix}*`
    problem(`the user lacks ${lacking}`, rightsFix)
  }
}

async function ifAllowed<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isDenied(error)) return undefined
    throw error
  }
}

function isDenied(error: unknown): error is Fault {
  return error instanceof Fault && /NOPERM/.test(error.message)
}
