import { describe, test } from 'vitest'
import { largePages, startLargeConsole } from '../support/console-large.ts'
import { expectAccessible, hasNoBrowser, walkConsole } from '../support/console-walk.ts'

describe.skipIf(hasNoBrowser)('axe finds nothing at 1280 pixels', () => {
  const walk = walkConsole(startLargeConsole)

  test.each(['light', 'dark'] as const)('%s', async (colorScheme) => {
    await expectAccessible(walk, { colorScheme, width: 1280 }, Object.values(largePages))
  })
})
