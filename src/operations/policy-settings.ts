import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Admission, createAdmission } from '../admission/verdict.ts'
import { accessSettings } from '../config/access-settings.ts'
import { type ConfigReading, type ConfigSource, configFile, readConfig } from '../config/load.ts'
import { count } from '../kernel/count.ts'
import { Fault, Invalid, type Problem, withoutFix } from '../kernel/errors.ts'
import { readTrust } from '../stores/keys/trusted-keys.ts'
import type { PolicyStore } from '../stores/policies/policy-store.ts'
import { failoverTimeout } from '../stores/redis/failover-timeout.ts'
import type { RedisSettings } from '../stores/redis/redis.ts'
import type { Surroundings } from './context.ts'

/** What the policy commands need from the configuration. */
export type PolicySettings = ReturnType<typeof policySettings>

/** A person waits longer than a request, and their machine may be farther from Redis. */
const minConnectTimeoutMs = 5000
const minCommandTimeoutMs = 3000

/**
 * Reads the configuration as far as these commands need it. People who check policies often lack the
 * secrets of a gateway, so a missing signing secret is accepted. So is a default file that is not valid:
 * the directory is then `policies`, POSTERN_REDIS__URL may name a Redis, and routes are ignored.
 */
export function policySettings(named: string | undefined, io: Surroundings) {
  const source = { file: named, env: io.env, cwd: io.cwd }
  const { config, problems } = readWithoutSecret(source)
  const { POSTERN_CONFIG: byEnvironment, POSTERN_REDIS__URL: url } = io.env
  const isDefault = named === undefined && byEnvironment === undefined
  let isPrefixNoted = false

  return {
    config,
    shared: io.shared,
    /** What `admission` is made of, as plain data. */
    access: config && accessSettings(config),
    /** Throws `Invalid` when the user named a configuration that is not valid. */
    get directory() {
      if (config !== undefined) return config.policy.directory
      // The user chose a file: its directory must not be guessed.
      if (!isDefault) throw new Invalid(problems)
      return 'policies'
    },
    /**
     * Routes and own endpoints, and a note for the user when no configuration provides them. Throws
     * `Invalid` like `directory`.
     */
    admission() {
      if (config !== undefined) {
        const admission = createAdmission(accessSettings(config))
        return { admission, note: undefined }
      }
      if (!isDefault) throw new Invalid(problems)
      return {
        admission: admissionWithoutRoutes(),
        note: `routes are ignored: ${firstOf(problems)}; give a configuration with --config`,
      }
    },
    /** Whose signatures gateways require; `undefined` when they require none. Throws `Invalid`. */
    trust() {
      if (config === undefined && !isDefault) throw new Invalid(problems)
      const settings = config?.policy.trust
      return settings === undefined ? undefined : readTrust(settings, io.cwd)
    },
    /** Throws `Invalid` when no setting names a Redis. */
    redis(): RedisSettings {
      if (config?.redis.url !== undefined)
        return withInteractiveTimeouts({ ...config.redis, url: config.redis.url })
      // The user chose a file: its prefix must not be guessed either.
      if (config === undefined && isDefault && url !== undefined) {
        const { POSTERN_REDIS__PREFIX: given } = io.env
        const prefix = given ?? '{postern}:'
        const file = configFile(source)
        if (given === undefined && !isPrefixNoted && existsSync(resolve(io.cwd, file))) {
          isPrefixNoted = true
          const hint = 'set POSTERN_REDIS__PREFIX if yours differs'
          io.err(`note: ${file} is not valid, so redis.prefix is ${prefix}; ${hint}\n`)
        }
        return withInteractiveTimeouts({ url, prefix, connectTimeoutMs: 0, commandTimeoutMs: 0 })
      }
      if (config === undefined) throw new Invalid(problems)
      const message = 'redis.url is required: policies are published to Redis'
      throw new Invalid([{ file: configFile(source), message }])
    },
  }
}

/** For a machine that has no configuration: what the policy alone decides. */
export function admissionWithoutRoutes(): Admission {
  const endpoints = {
    ...{ logout: 'gateway', profile: 'gateway', password: 'gateway' },
    captchaAlias: false,
  } as const
  return createAdmission({ routes: undefined, endpoints })
}

/** The first problem, and the number of the others. */
export function firstOf([first, ...others]: readonly Problem[]): string {
  const more = others.length === 0 ? '' : ` (and ${count(others.length, 'more problem')})`
  return first === undefined ? '' : `${withoutFix(first)}${more}`
}

/**
 * These commands sign nothing, so a missing or unreadable secret is replaced by a random one and is not
 * reported as a problem.
 */
export function readWithoutSecret(source: ConfigSource): ConfigReading {
  const reading = readConfig(source)
  if (reading.config !== undefined) return reading
  const { POSTERN_JWT__SECRET_FILE: _, ...env } = source.env
  const secret = randomBytes(48).toString('base64url')
  const other = readConfig({ ...source, env: { ...env, POSTERN_JWT__SECRET: secret } })
  const isBetter = other.problems.length < reading.problems.length
  return isBetter ? other : reading
}

/** Raises the timeouts to what a person at a terminal accepts. */
export function withInteractiveTimeouts(settings: RedisSettings): RedisSettings {
  return {
    ...settings,
    connectTimeoutMs: Math.max(settings.connectTimeoutMs, minConnectTimeoutMs),
    commandTimeoutMs: Math.max(settings.commandTimeoutMs, minCommandTimeoutMs),
  }
}

/** Opens the policy store, or borrows a connection that stays open, runs `work` and closes it. */
export async function withPolicyStore<Result>(
  settings: PolicySettings,
  work: (store: PolicyStore) => Promise<Result>,
): Promise<Result> {
  const redis = settings.redis()
  // Most commands work offline, and ioredis takes long to load.
  const { createPolicyStore, openPolicyStore } = await import('../stores/policies/policy-store.ts')
  const failoverTimeoutMs = failoverTimeout(redis.url)
  const { shared } = settings
  if (shared !== undefined)
    return work(createPolicyStore(await shared.redis(redis), failoverTimeoutMs))
  const store = await openPolicyStore(redis, { failoverTimeoutMs })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** The question cannot be asked: one line that says why, and the exit code `unavailable`. */
export function unavailable(reason: string): never {
  throw new Fault('policies', { reason })
}
