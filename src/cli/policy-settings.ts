import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { configFile, readConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { Fault, Invalid } from '../errors.ts'
import { openPolicyStore, type PolicyStore } from '../stores/policies.ts'
import type { RedisSettings } from '../stores/redis.ts'
import { failoverPatience } from '../stores/redis-patience.ts'
import type { Io } from './io.ts'

/** What the policy commands take from the configuration, if there is one. */
export interface PolicySettings {
  readonly config: Config | undefined
  /** Throws `Invalid` when a configuration was named that cannot be used. */
  readonly directory: string
  /** Throws `Invalid` when nobody says where Redis is. */
  redis(): RedisSettings
}

/** A person waits longer than a request does, and may be further away. */
const leastConnectTimeoutMs = 5000
const leastCommandTimeoutMs = 3000

/**
 * Reads the configuration as far as these commands need it. Who checks policies often has no
 * gateway's secrets: a shipped default that cannot be used is no hindrance, then the directory is
 * `policies`, and Redis may be named by POSTERN_REDIS__URL.
 */
export function policySettings(named: string | undefined, io: Io): PolicySettings {
  const source = { file: named, env: io.env, cwd: io.cwd }
  const { config, problems } = readConfig(source)
  const { POSTERN_CONFIG: byEnvironment, POSTERN_REDIS__URL: url } = io.env
  const isDefault = named === undefined && byEnvironment === undefined

  return {
    config,
    get directory() {
      if (config !== undefined) return config.policy.directory
      // Somebody chose a file: what it says about the directory must not be guessed.
      if (!isDefault) throw new Invalid(problems)
      return 'policies'
    },
    redis() {
      if (config?.redis.url !== undefined)
        return patient({ ...config.redis, url: config.redis.url })
      // Somebody chose a file: its prefix must not be guessed either.
      if (config === undefined && isDefault && url !== undefined) {
        const { POSTERN_REDIS__PREFIX: given } = io.env
        const prefix = given ?? '{postern}:'
        const file = configFile(source)
        if (given === undefined && existsSync(resolve(io.cwd, file))) {
          const hint = 'if it has another redis.prefix, say so in POSTERN_REDIS__PREFIX'
          io.err(`note: ${file} cannot be used here, so keys begin with ${prefix}; ${hint}\n`)
        }
        return patient({ url, prefix, connectTimeoutMs: 0, commandTimeoutMs: 0 })
      }
      if (config === undefined) throw new Invalid(problems)
      const message = 'redis.url is missing: say where policies are published'
      throw new Invalid([{ file: configFile(source), message }])
    },
  }
}

/** The same with the patience of a person. */
export function patient(settings: RedisSettings): RedisSettings {
  return {
    ...settings,
    connectTimeoutMs: Math.max(settings.connectTimeoutMs, leastConnectTimeoutMs),
    commandTimeoutMs: Math.max(settings.commandTimeoutMs, leastCommandTimeoutMs),
  }
}

/** Opens the store for a piece of work and closes it again. */
export async function withPolicyStore<Result>(
  settings: PolicySettings,
  work: (store: PolicyStore) => Promise<Result>,
): Promise<Result> {
  const redis = settings.redis()
  const store = await openPolicyStore(redis, { patienceMs: failoverPatience(redis.url) })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Says no, in one line and with exit code 1. */
export function refuse(reason: string): never {
  throw new Fault('policies', { reason })
}
