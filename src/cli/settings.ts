import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Admission, createAdmission } from '../admission/verdict.ts'
import { type ConfigReading, type ConfigSource, configFile, readConfig } from '../config/load.ts'
import type { Config } from '../config/schema/schema.ts'
import { Fault, formatProblem, Invalid, type Problem } from '../errors.ts'
import { openPolicyStore, type PolicyStore } from '../stores/policies/policy-store.ts'
import { failoverTimeout } from '../stores/redis/failover-timeout.ts'
import type { RedisSettings } from '../stores/redis/redis.ts'
import { count } from './format.ts'
import type { Io } from './io.ts'

/** What the policy commands take from the configuration, if there is one. */
export interface PolicySettings {
  readonly config: Config | undefined
  /** Throws `Invalid` when a configuration was named that cannot be used. */
  readonly directory: string
  /** Throws `Invalid` when nobody says where Redis is. */
  redis(): RedisSettings
  /**
   * Routes and own endpoints, and a note for the user when there is no configuration to take them
   * from. Throws `Invalid` like `directory`.
   */
  admission(): { readonly admission: Admission; readonly note: string | undefined }
}

/** A person waits longer than a request does, and may be further away. */
const leastConnectTimeoutMs = 5000
const leastCommandTimeoutMs = 3000

/**
 * Reads the configuration as far as these commands need it. Who checks policies often has no
 * gateway's secrets, so one that lacks only the signing secret is used. A shipped default that cannot
 * be used is no hindrance either: then the directory is `policies`, Redis may be named by
 * POSTERN_REDIS__URL, and routes are not considered.
 */
export function policySettings(named: string | undefined, io: Io): PolicySettings {
  const source = { file: named, env: io.env, cwd: io.cwd }
  const { config, problems } = readWithoutSecret(source)
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
    admission() {
      if (config !== undefined) {
        const { routes, endpoints, captcha } = config
        const own = { ...endpoints, captchaAlias: captcha.alias }
        return { admission: createAdmission({ routes, endpoints: own }), note: undefined }
      }
      if (!isDefault) throw new Invalid(problems)
      return {
        admission: createAdmission({ routes: undefined, endpoints: defaultEndpoints }),
        note: `routes were not considered: ${inShort(problems)}; name a configuration with --config`,
      }
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

const defaultEndpoints = { logout: 'gateway', profile: 'gateway', captchaAlias: false }

/** The first problem, and how many there are besides. */
function inShort([first, ...others]: readonly Problem[]): string {
  const more = others.length === 0 ? '' : ` (and ${count(others.length, 'more problem')})`
  return first === undefined ? '' : `${formatProblem(first)}${more}`
}

/**
 * These commands sign nothing, so a secret that is missing or cannot be read is made up, and is not
 * among the problems either.
 */
function readWithoutSecret(source: ConfigSource): ConfigReading {
  const reading = readConfig(source)
  if (reading.config !== undefined) return reading
  const { POSTERN_JWT__SECRET_FILE: _, ...env } = source.env
  const secret = randomBytes(48).toString('base64url')
  const other = readConfig({ ...source, env: { ...env, POSTERN_JWT__SECRET: secret } })
  const isBetter = other.problems.length < reading.problems.length
  return isBetter ? other : reading
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
  const store = await openPolicyStore(redis, { failoverTimeoutMs: failoverTimeout(redis.url) })
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
