import type { Page } from 'playwright-core'

/** An event of a trace of Chromium; times in microseconds. */
interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Of the thread's own CPU time. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

/**
 * CPU time of the longest task of the page's main thread while `work` runs. Unlike the time that passes,
 * it hardly depends on what else the machine does.
 */
export async function taskCpuMs(page: Page, work: () => Promise<unknown>): Promise<number> {
  const browser = page.context().browser()
  if (browser === null) throw new Error('the page has no browser')
  await browser.startTracing(page, { categories: ['toplevel'] })
  await work()
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse(
    (await browser.stopTracing()).toString(),
  )
  const main = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const tasks = traceEvents.filter(
    ({ name, pid, tid }) => name.endsWith('RunTask') && main.has(`${pid} ${tid}`),
  )
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur)) / 1000
}
