import { afterAll, afterEach, beforeEach } from 'vitest'
import { golden } from './golden.ts'

if (golden !== undefined) {
  const { begin, end, write } = golden
  beforeEach(({ task }) => begin(task.id))
  afterEach(end)
  afterAll(write)
}
