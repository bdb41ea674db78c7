import { resolve } from 'node:path'
import { listenersOf } from '../../config/checks/listeners.ts'
import { type ConfigReading, configFile, readConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema/schema.ts'
import { formatProblem } from '../../kernel/errors.ts'
import { summaryOf, warningsOf } from '../config/check.ts'
import type { Context } from '../context.ts'
import type { RunOf } from '../operation.ts'
import { readWithoutSecret } from '../policy-settings.ts'
import { type ClockSamples, createClockSamples } from './clock.ts'
import { checkCollector } from './collector.ts'
import { checkDatabase } from './database.ts'
import type { doctor } from './descriptions.ts'
import { checkNamedFiles, storageChecks } from './local-files.ts'
import { checkDescriptors, checkNode } from './machine.ts'
import { checkDirectory, checkPublished } from './policy.ts'
import { checkPorts } from './ports.ts'
import { providerChecks } from './providers.ts'
import { checkRedis } from './redis.ts'
import { type Check, type Finding, type Report, runChecks } from './run-checks.ts'
import { checkUpstream } from './targets.ts'

/** Reports whether a gateway would start and work here, and how to fix what keeps it from that. */
export const run: RunOf<typeof doctor> = async ({ file, timeout }, context) => {
  const { env, cwd } = context
  const source = { file, env, cwd }
  const named = configFile(source)
  const reading = readConfig(source)
  // A missing secret is one problem: it must not hide all others.
  const { config, written } = reading.config === undefined ? readWithoutSecret(source) : reading
  const clock = createClockSamples()
  const checks: Check[] = [
    { name: 'node', run: checkNode },
    { name: 'configuration', run: (report) => checkConfiguration(report, named, reading) },
    config === undefined
      ? { name: 'stores', run: reportUnchecked }
      : { name: 'descriptors', run: (report) => checkDescriptors(report, config) },
  ]
  if (written !== undefined) {
    const listeners = listenersOf(written.draft)
    checks.push(
      { name: 'files', run: (report) => checkNamedFiles(report, written, cwd) },
      { name: 'ports', run: (report) => checkPorts(report, listeners, resolve(cwd, named)) },
    )
  }
  if (config !== undefined)
    checks.push(...(await checksOf(config, { ...context, configFile: file }, clock)))
  const found = [...(await runChecks(checks, timeout * 1000))]
  if (config !== undefined) {
    const compare = (report: Report) => clock.report(report, config.jwt.clockSkewSeconds)
    found.push(...(await runChecks([{ name: 'clock', run: compare }], timeout * 1000)))
  }

  const numberOf = (status: Finding['status']) =>
    found.filter((each) => each.status === status).length
  const [problems, warnings] = [numberOf('problem'), numberOf('warning')]
  const ok = problems === 0
  return {
    document: { file: named, ok, problems, warnings, checks: found },
    outcome: ok ? 'done' : 'no',
  }
}

function checkConfiguration(report: Report, file: string, reading: ConfigReading): void {
  const { config, problems } = reading
  if (config === undefined) {
    // Their messages say what to do.
    for (const each of problems) report.problem(formatProblem(each))
    return
  }
  report.ok(`${file} (${summaryOf(config)})`)
  for (const message of warningsOf(config)) {
    report.warning(message, 'change the setting unless this is intended')
  }
}

function reportUnchecked(report: Report): void {
  report.warning(
    'Redis, database, upstreams and providers were not checked',
    'correct the settings that the problems above name, then run "postern doctor" again',
  )
}

async function checksOf(
  config: Config,
  context: Context,
  clock: ClockSamples,
): Promise<readonly Check[]> {
  const { cwd } = context
  const { redis, policy, tracing } = config
  const { url } = redis
  const { otlp } = tracing
  const checks: Check[] = [...storageChecks(config, cwd)]
  if (url !== undefined) {
    checks.push({ name: 'redis', run: (report) => checkRedis(report, { ...redis, url }, clock) })
  }
  checks.push(
    { name: 'database', run: (report) => checkDatabase(report, config, cwd, clock) },
    {
      name: 'policy',
      run: (report) =>
        policy.source === 'redis'
          ? checkPublished(report, config, context)
          : checkDirectory(report, context),
    },
  )
  for (const [key, upstream] of Object.entries(config.upstreams)) {
    const name = `upstreams.${key}`
    checks.push({ name, run: (report) => checkUpstream(report, name, upstream, cwd) })
  }
  checks.push(...(await providerChecks(config, cwd, clock)))
  if (otlp !== undefined) {
    checks.push({ name: 'tracing.otlp', run: (report) => checkCollector(report, otlp) })
  }
  return checks
}
