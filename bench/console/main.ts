import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { findChromium } from '../../test/support/browser.ts'
import { measureCpu } from './cpu.ts'
import { rounded } from './figures.ts'
import { measureInteractions } from './interactions.ts'
import { measurePages, openBrowser } from './pages.ts'
import { startWorld } from './world.ts'

/*
 * The console with 10,000 rules, 200 roles and 20 replicas. In Chromium: how long each page takes until its
 * answer is painted, against the console's frame without a page in the same run, and its longest task. At
 * the gateway: CPU per proxied request while a reader has the live pages open, against the same gateway
 * without. One replica is a gateway; the others report themselves with a gateway's code and serve nothing.
 * With --check, the exit code says whether all is within the limits.
 */
const { values } = parseArgs({
  options: {
    replicas: { type: 'string', default: '20' },
    /** Visits of each page that count. */
    rounds: { type: 'string', default: '7' },
    /** Of load with open live pages, each between two without. */
    phases: { type: 'string', default: '20' },
    /** Of each phase. */
    seconds: { type: 'string', default: '8' },
    only: { type: 'string' },
    /** Pages whose address has one of these texts, separated by commas. */
    pages: { type: 'string', default: '#' },
    check: { type: 'boolean', default: false },
  },
})
const limits = { ratio: 2, longestTaskMs: 200, cpuRatio: 1.03 }
const isWanted = (part: 'pages' | 'cpu') => (values.only ?? part) === part
/** A run takes minutes: what it is doing goes to standard error. */
const tell = (text: string) =>
  console.error(`${Math.round(performance.now() / 100) / 10} s: ${text}`)

const program = findChromium()
if (program === undefined && isWanted('pages')) {
  console.error('Chromium not found: install it, set POSTERN_TEST_CHROMIUM, or run --only cpu')
  process.exit(1)
}

tell('starting Redis, gateway, console and replicas')
const world = await startWorld(Number(values.replicas))
try {
  const pages = program !== undefined && isWanted('pages') ? await inBrowser(program) : undefined
  const cpu = isWanted('cpu')
    ? await measureCpu(world, {
        phases: Number(values.phases),
        seconds: Number(values.seconds),
        tell,
      })
    : undefined
  const about = { cpus: availableParallelism(), load: rounded(loadavg()[0] ?? 0, 1) }
  console.log(JSON.stringify({ benchmark: 'console', ...about, ...pages, cpu }))
  const missed = [
    ...(pages?.pages ?? []).flatMap(({ address, ratio, longestTaskMs }) => [
      ...(ratio > limits.ratio ? [`${address}: ${ratio} times the empty page`] : []),
      ...(longestTaskMs > limits.longestTaskMs
        ? [`${address}: a task of ${longestTaskMs} ms`]
        : []),
    ]),
    ...Object.entries(pages?.interactions ?? {}).flatMap(([name, { longestTaskMs }]) =>
      longestTaskMs > limits.longestTaskMs ? [`${name}: a task of ${longestTaskMs} ms`] : [],
    ),
    ...(cpu === undefined ? [] : cpuMissed(cpu)),
  ]
  for (const each of missed) console.error(`missed: ${each}`)
  if (values.check && missed.length > 0) process.exitCode = 1
} finally {
  await world.stop()
}

async function inBrowser(chromium: string) {
  const { context, close } = await openBrowser(chromium, world)
  try {
    const measured = await measurePages(context, world, {
      rounds: Number(values.rounds),
      isWanted: (hash) => values.pages.split(',').some((text) => hash.includes(text)),
      tell,
    })
    for (const { address, ratio, longestTaskMs } of measured.pages) {
      tell(`${address}: ${ratio} times the empty page, longest task ${longestTaskMs} ms`)
    }
    return { ...measured, interactions: await measureInteractions(context, world) }
  } finally {
    await close()
  }
}

/** An interval around the limit shows nothing: then the profile decides. */
function cpuMissed({ ratio, interval, profile }: Awaited<ReturnType<typeof measureCpu>>) {
  const [low = 0, high = 0] = interval
  const { share } = profile.watched
  tell(`cpu: ${ratio} times, 95 % within ${low} and ${high}; profile: ${rounded(share * 100)} %`)
  return [
    ...(low > limits.cpuRatio ? [`CPU per request: ${low} to ${high} times`] : []),
    ...(1 + share > limits.cpuRatio
      ? [`live pages have ${rounded(share * 100)} % of the gateway's CPU`]
      : []),
  ]
}
