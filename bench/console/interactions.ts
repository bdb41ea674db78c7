import type { BrowserContext, Page } from 'playwright-core'
import { rounded } from './figures.ts'
import { settledMs, visit } from './pages.ts'
import { taskCpuMs } from './tasks.ts'
import type { World } from './world.ts'

/** The longest task of something that a reader does: the time that passed, and its CPU time. */
export interface Interaction {
  readonly longestTaskMs: number
  readonly taskCpuMs: number
}

/** Scrolling through the whole matrix, and typing a path. */
export async function measureInteractions(context: BrowserContext, { address }: World) {
  const page = await context.newPage()

  async function during(work: () => Promise<void>): Promise<Interaction> {
    await page.evaluate('bench.longest = 0')
    const cpuMs = await taskCpuMs(page, async () => {
      await work()
      await page.waitForTimeout(settledMs)
    })
    const longest = Number(await page.evaluate('bench.longest'))
    return { longestTaskMs: rounded(longest, 0), taskCpuMs: rounded(cpuMs, 0) }
  }

  await visit(page, `${address}#/matrix`)
  const scrolling = await during(() => scroll(page))
  await visit(page, `${address}#/can`)
  const path = page.getByRole('combobox', { name: 'Path' })
  const typing = await during(() => path.pressSequentially('/api/v1/things-1999', { delay: 30 }))
  await page.close()
  return { scrolling, typing }
}

async function scroll(page: Page): Promise<void> {
  const box = await page.getByRole('grid').boundingBox()
  await page.mouse.move((box?.x ?? 0) + 400, (box?.y ?? 0) + 200)
  for (let step = 0; step < 60; step++) await page.mouse.wheel(step % 3 === 0 ? 200 : 0, 800)
}
