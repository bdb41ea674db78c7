import fc from 'fast-check'
import { afterAll, beforeAll, test } from 'vitest'
import { startBoth } from '../support/pipeline-framing.ts'
import { cutAt, cuts, pipeline } from '../support/pipelines.ts'
import { plainRequests } from '../support/plain-requests.ts'

let both: Awaited<ReturnType<typeof startBoth>>
beforeAll(async () => {
  both = await startBoth(plainRequests)
})
afterAll(() => both.close())

test('thousands of pipelines, good, odd and broken, are read as Node alone reads them', async () => {
  await fc.assert(
    fc.asyncProperty(pipeline, cuts, (bytes, places) => both.compare(bytes, cutAt(bytes, places))),
    { numRuns: 20_000, interruptAfterTimeLimit: 60_000 },
  )
})
