import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { treeOf } from '../run/processes.ts'
import { cpuSecondsOf } from './cpu.ts'
import { median, rounded } from './figures.ts'
import { taskCpuMs } from './tasks.ts'
import type { World } from './world.ts'

/** What a page took, compared with the empty page that was opened right before it. */
export interface PageFigures {
  readonly address: string
  /** Median of the rounds. */
  readonly ratio: number
  readonly milliseconds: number
  /** The first visit, when neither the browser nor the console had anything ready. */
  readonly firstMilliseconds: number
  /** The longest task of a visit: median of the rounds, and the worst round. */
  readonly longestTaskMs: number
  readonly worstTaskMs: number
  /** CPU time of browser and console, against the empty page: hardly depends on other programs. */
  readonly cpuRatio: number
  /** CPU time of the longest task of one visit. */
  readonly taskCpuMs: number
}

interface Visit {
  readonly paintedMs: number
  readonly longestTaskMs: number
  readonly cpuSeconds: number
}

/** An address that no page has: frame, session and a heading, and no question. */
const emptyPage = '#/none'

/**
 * Notes the first frame with the whole answer, and every long task. The editor is whole with its text: what
 * it then asks about the draft is work for the commands, on the draft of a person.
 */
const watcher = `
  globalThis.bench = { painted: undefined, longest: 0 }
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) bench.longest = Math.max(bench.longest, duration)
  }).observe({ type: 'longtask', buffered: true })
  const look = () => {
    const isReady = document.querySelector('main h1') !== null &&
      document.querySelector('.loading, [aria-busy=true]:not(.editor-side)') === null
    if (!isReady) bench.painted = undefined
    else if (bench.painted === undefined) {
      bench.painted = 0
      // After this frame.
      setTimeout(() => { if (bench.painted === 0) bench.painted = performance.now() })
    }
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
`

/** Questions that follow an answer come at once; then nothing changes for so long. */
export const settledMs = 300

export async function openBrowser(program: string, world: World) {
  const browser: Browser = await chromium.launch({
    executablePath: program,
    args: ['--no-sandbox'],
  })
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addCookies([{ ...world.cookie, url: world.address }])
  await context.addInitScript(watcher)
  return { context, close: () => browser.close() }
}

/** CPU time so far of the browser and of the console. */
function cpuSeconds(): number {
  return treeOf(process.pid).reduce((sum, pid) => {
    // Processes of a browser come and go.
    try {
      const [program = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      const isMeasured = program.includes('chrom') || args.includes('console')
      return isMeasured ? sum + cpuSecondsOf(pid) : sum
    } catch {
      return sum
    }
  }, 0)
}

/** Opens an address as a permalink does, and waits until its answer is painted. */
export async function visit(page: Page, address: string): Promise<Visit> {
  await page.goto('about:blank')
  const before = cpuSeconds()
  await page.goto(address)
  // Asked from outside: the Content-Security-Policy of the pages forbids `waitForFunction`.
  const isSettled = `bench.painted > 0 && performance.now() - bench.painted > ${settledMs}`
  while ((await page.evaluate(isSettled)) !== true) await pause(100)
  const { painted, longest } = (await page.evaluate('bench')) as Record<string, number>
  return {
    paintedMs: painted ?? Number.NaN,
    longestTaskMs: longest ?? 0,
    cpuSeconds: cpuSeconds() - before,
  }
}

/** The pages of the navigation, each with the query that gives it the most to show. */
export async function addressesIn(page: Page, { address, revisions }: World) {
  await visit(page, `${address}${emptyPage}`)
  const links = page.locator('.side nav a')
  const found = await links.evaluateAll((all) =>
    all.map((link) => (link as { hash?: string }).hash ?? ''),
  )
  const [before, live] = revisions
  const asked = [
    '#/can?role=role-000&method=GET&path=/api/v1/things-0/7',
    '#/can?role=role-000&method=DELETE&path=/api/v1/things-0/7',
    '#/who?method=GET&path=/api/v1/things-0/7',
    '#/role?role=role-000',
    '#/role?role=role-000&compare=role-001',
    `#/changes?from=${before}&to=${live}`,
    '#/people?name=admin',
    '#/roles?key=role-000',
  ]
  const isAsked = (hash: string) => ['#/can', '#/who', '#/role'].includes(hash)
  return [...found.filter((hash) => !isAsked(hash)), ...asked]
}

interface Compared {
  readonly ratio: number
  readonly cpuRatio: number
  readonly visit: Visit
}

interface PagesOptions {
  readonly rounds: number
  readonly isWanted: (hash: string) => boolean
  readonly tell: (text: string) => void
}

export async function measurePages(
  context: BrowserContext,
  world: World,
  { rounds, isWanted, tell }: PagesOptions,
): Promise<{ readonly emptyMs: number; readonly pages: readonly PageFigures[] }> {
  const page = await context.newPage()
  const addresses = (await addressesIn(page, world)).filter(isWanted)
  const visits = new Map<string, Compared[]>()
  const empties: number[] = []
  for (let round = 0; round <= rounds; round++) {
    for (const hash of addresses) {
      const empty = await visit(page, `${world.address}${emptyPage}`)
      const visited = await visit(page, `${world.address}${hash}`)
      if (round > 0) empties.push(empty.paintedMs)
      const ratio = visited.paintedMs / empty.paintedMs
      const cpuRatio = visited.cpuSeconds / empty.cpuSeconds
      visits.set(hash, [...(visits.get(hash) ?? []), { ratio, cpuRatio, visit: visited }])
    }
    tell(`pages: round ${round} of ${rounds}`)
  }
  const tasks = new Map<string, number>()
  for (const hash of addresses) {
    const work = () => visit(page, `${world.address}${hash}`)
    tasks.set(hash, rounded(await taskCpuMs(page, work), 0))
  }
  await page.close()
  return {
    emptyMs: rounded(median(empties)),
    pages: [...visits].map(([address, [first, ...all]]) => ({
      address,
      ratio: rounded(median(all.map(({ ratio }) => ratio))),
      milliseconds: rounded(median(all.map((each) => each.visit.paintedMs)), 0),
      firstMilliseconds: rounded(first?.visit.paintedMs ?? Number.NaN, 0),
      longestTaskMs: rounded(median(all.map((each) => each.visit.longestTaskMs)), 0),
      worstTaskMs: rounded(Math.max(...all.map((each) => each.visit.longestTaskMs)), 0),
      cpuRatio: rounded(median(all.map(({ cpuRatio }) => cpuRatio))),
      taskCpuMs: tasks.get(address) ?? 0,
    })),
  }
}
