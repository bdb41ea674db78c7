import { resolve } from 'node:path'
import { listenersOf } from '../../config/checks/listeners.ts'
import { type ConfigReading, configFile, readConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema/schema.ts'
import { formatProblem } from '../../kernel/errors.ts'
import { summaryOf, warningsOf } from '../../operations/config/check.ts'
import { readWithoutSecret } from '../../operations/policy-settings.ts'
import type { Run } from '../command.ts'
import { count, formatTable, json } from '../format.ts'
import type { Io } from '../io.ts'
import { type ClockSamples, createClockSamples } from './clock.ts'
import { checkCollector } from './collector.ts'
import { checkDatabase } from './database.ts'
import { type Finding, ok, warning } from './finding.ts'
import { checkNamedFiles, storageChecks } from './local-files.ts'
import { checkDescriptors, checkNode } from './machine.ts'
import { checkDirectory, checkPublished } from './policy.ts'
import { checkPorts } from './ports.ts'
import { providerChecks } from './providers.ts'
import { checkRedis } from './redis.ts'
import { type Check, runChecks } from './run-checks.ts'
import type { doctorSpec } from './specs.ts'
import { checkUpstream } from './targets.ts'

/** Reports whether a gateway would start and work here, and how to fix what keeps it from that. */
export const doctor: Run<typeof doctorSpec> = async ({ options, arguments: [file] }, io) => {
  const source = { file, env: io.env, cwd: io.cwd }
  const reading = readConfig(source)
  // A missing secret is one problem: it must not hide all others.
  const { config, written } = reading.config === undefined ? readWithoutSecret(source) : reading
  const clock = createClockSamples()
  const findings = [checkNode(), ...configFindings(configFile(source), reading)]
  if (config === undefined) {
    findings.push(
      warning(
        'stores',
        'Redis, database, upstreams and providers were not checked',
        'correct the settings that the problems above name, then run "postern doctor" again',
      ),
    )
  } else findings.push(checkDescriptors(config))

  const checks: Check[] = []
  const path = resolve(io.cwd, configFile(source))
  if (written !== undefined) {
    checks.push(
      { name: 'files', run: () => checkNamedFiles(written, io.cwd) },
      { name: 'ports', run: () => checkPorts(listenersOf(written.draft), path) },
    )
  }
  if (config !== undefined) checks.push(...(await checksOf(config, { file, io, clock })))
  findings.push(...(await runChecks(checks, options.timeout * 1000)))
  const ofClock = config && clock.finding(config.jwt.clockSkewSeconds)
  if (ofClock !== undefined) findings.push(ofClock)

  const numberOf = (status: Finding['status']) =>
    findings.filter((each) => each.status === status).length
  const [problems, warnings] = [numberOf('problem'), numberOf('warning')]
  if (options.output === 'json') {
    io.out(
      json({ file: configFile(source), ok: problems === 0, problems, warnings, checks: findings }),
    )
  } else {
    io.out(format(findings))
    const verdict =
      problems === 0
        ? '"postern serve" would start and work'
        : 'fix the problems, then run "postern serve"'
    io.out(`\n${count(problems, 'problem')}, ${count(warnings, 'warning')}: ${verdict}\n`)
  }
  return problems === 0 ? 0 : 1
}

function configFindings(file: string, { config, problems }: ConfigReading): readonly Finding[] {
  if (config === undefined) {
    // Their messages say what to do.
    return problems.map((each) => {
      return { check: 'configuration', status: 'problem', message: formatProblem(each) }
    })
  }
  return [
    ok('configuration', `${file} (${summaryOf(config)})`),
    ...warningsOf(config).map((message) =>
      warning('configuration', message, 'change the setting unless this is intended'),
    ),
  ]
}

interface CheckParts {
  /** Of the configuration. */
  readonly file: string | undefined
  readonly io: Io
  readonly clock: ClockSamples
}

async function checksOf(
  config: Config,
  { file, io, clock }: CheckParts,
): Promise<readonly Check[]> {
  const { cwd } = io
  const { redis, policy, tracing } = config
  const { url } = redis
  const { otlp } = tracing
  return [
    ...storageChecks(config, cwd),
    ...(url === undefined
      ? []
      : [{ name: 'redis', run: () => checkRedis({ ...redis, url }, clock) }]),
    { name: 'database', run: () => checkDatabase(config, cwd, clock) },
    {
      name: 'policy',
      run: () =>
        policy.source === 'redis' ? checkPublished(config, file, io) : checkDirectory(file, io),
    },
    ...Object.entries(config.upstreams).map(([name, upstream]) => ({
      name: `upstreams.${name}`,
      run: () => checkUpstream(name, upstream, cwd),
    })),
    ...(await providerChecks(config, cwd, clock)),
    ...(otlp === undefined ? [] : [{ name: 'tracing.otlp', run: () => checkCollector(otlp) }]),
  ]
}

/** Of the words for a status. */
const longest = 'warning'.length

/** One line for each finding, and what to do about it below. */
function format(findings: readonly Finding[]): string {
  const lines = formatTable(
    findings.map(({ status, check, message }) => [status.padEnd(longest), check, message]),
  ).split('\n')
  const indent = ' '.repeat(longest + 2)
  return findings
    .map(({ fix }, at) => `${lines[at]}\n${fix === undefined ? '' : `${indent}fix: ${fix}\n`}`)
    .join('')
}
