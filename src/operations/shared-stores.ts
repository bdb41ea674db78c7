import type { CompiledSet } from '../policy/engine/compile.ts'
import type { PolicyFile, PolicySet } from '../policy/set/policy-set.ts'
import type { Database } from '../stores/database/database.ts'
import type { DatabaseOptions } from '../stores/database/open-database.ts'
import type { RedisClient, RedisSettings } from '../stores/redis/redis.ts'

/**
 * What a program that runs many commands, such as the console, keeps from one to the next. Their
 * `close` does nothing: the program closes them.
 */
export interface SharedStores {
  /** Throws as `openDatabase` does when it cannot be opened. */
  database(options: DatabaseOptions): Promise<Database>
  /** A connection that reconnects by itself. Throws a Fault when the first attempt fails. */
  redis(settings: RedisSettings): Promise<RedisClient>
  readonly policies: PolicyMemory
}

/** Policies that earlier questions were about. */
export interface PolicyMemory {
  /** The policy of exactly these files. */
  parsed(files: readonly PolicyFile[], parse: () => PolicySet): PolicySet
  /** The policy, compiled for this time. */
  compiled(set: PolicySet, at: number, compile: () => CompiledSet): CompiledSet
  /** A long answer about this policy. `about` has all else that it depends on, and `sizeOf` its memory. */
  answered<Answer>(
    set: PolicySet,
    about: object,
    answer: () => Answer,
    sizeOf: (answer: Answer) => number,
  ): Answer
}
