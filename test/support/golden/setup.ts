import { afterAll, afterEach, beforeEach } from 'vitest'
import { golden } from './golden.ts'

if (golden !== undefined) {
  beforeEach(golden.begin)
  afterEach(golden.end)
  afterAll(golden.write)
}
