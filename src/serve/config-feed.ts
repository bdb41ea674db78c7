import { readFile } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { createPolling } from '../background/polling.ts'
import { createReloadStatus } from '../background/reload-status.ts'
import { type ConfigSource, configFile, loadConfig } from '../config/load.ts'
import { configRevision, mergeReload } from '../config/reload.ts'
import type { Config } from '../config/schema/schema.ts'
import { formatProblem, Invalid } from '../kernel/errors.ts'
import type { Log } from '../log/log.ts'
import { createWatchedDirectory } from '../stores/feed/watched-directory.ts'
import type { ConfigState } from './options.ts'

/** How long a change may go unnoticed on a file system that sends no events. */
const pollMs = 2000
/** A generated file with thousands of problems still makes one log line. */
const maxProblems = 100

/** The configuration file of a gateway, followed while it runs. */
export type ConfigFeed = ReturnType<typeof createConfigFeed>

/** `config` is the one that the gateway started with. */
export function createConfigFeed(source: ConfigSource, config: Config, log: Log) {
  const file = configFile(source)
  const path = resolve(source.cwd, file)
  const watched = createWatchedDirectory({
    directory: dirname(path),
    names: [basename(path)],
    readFiles: async () => [{ text: await textOf(path) }],
    part: 'configuration',
  })
  const status = createReloadStatus(() => {
    const { error, text } = status.failure() ?? { error: undefined, text: '' }
    const problems = error instanceof Invalid ? error.problems.map(formatProblem) : [text]
    log.warn(
      { file, revision, problems: problems.slice(0, maxProblems), count: problems.length },
      'configuration rejected; keeping the current one',
    )
  })
  let active = config
  let revision = configRevision(config)
  let since = new Date()
  let lastReload = since
  let needRestart: readonly string[] = []
  /** The checksum of the file when it was last applied. */
  let applied = ''
  let isForced = false
  let isClosed = false
  /** Unset until the gateway listens. */
  let apply: ((config: Config) => Promise<void>) | undefined

  async function take(): Promise<void> {
    const forced = isForced
    isForced = false
    const reading = await watched.read(forced ? '' : applied)
    if (reading === undefined) {
      if (status.succeeded()) log.info({ file, revision }, 'configuration file is valid again')
      return
    }
    if (isClosed) return
    const merged = mergeReload(active, loadConfig(source), file)
    const isSame = isDeepStrictEqual(merged.config, active)
    if (forced || !isSame) await apply?.(merged.config)
    applied = reading.checksum
    status.succeeded()
    report(merged, { forced, isSame })
  }

  function report(
    merged: ReturnType<typeof mergeReload>,
    { forced, isSame }: { readonly forced: boolean; readonly isSame: boolean },
  ): void {
    const previous = revision
    active = merged.config
    revision = configRevision(active)
    lastReload = new Date()
    if (!isSame) since = lastReload
    if (forced || !isSame) {
      status.loaded()
      log.info({ file, revision, previous }, 'configuration reloaded')
    }
    const isNews = !isDeepStrictEqual(merged.needRestart, needRestart)
    needRestart = merged.needRestart
    if (needRestart.length > 0 && (forced || isNews)) {
      log.warn({ file, settings: needRestart }, 'changed settings need a restart')
    }
  }

  const polling = createPolling(async () => {
    try {
      await take()
    } catch (error) {
      lastReload = new Date()
      status.failed(error)
    }
    await watched.check()
  }, pollMs)

  return {
    state: (): ConfigState => ({
      file,
      revision,
      since: since.toISOString(),
      lastReload: lastReload.toISOString(),
      lastError: status.failure()?.text,
      needRestart,
      reloads: status.counts(),
    }),
    /** Follows the file from now on, and has each valid change applied. */
    follow(applyConfig: (config: Config) => Promise<void>) {
      apply = applyConfig
      watched.watch(() => void polling.now())
      void polling.now()
    },
    /**
     * Reads the file now, and applies it even if it is the same: files that it names may have
     * changed.
     */
    reload() {
      isForced = true
      if (apply !== undefined) void polling.now()
    },
    async close() {
      isClosed = true
      await polling.close()
      await watched.close()
    },
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable'
    throw new Invalid([{ file: path, message: `configuration file cannot be read (${reason})` }])
  }
}
