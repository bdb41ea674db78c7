import { join } from 'node:path'
import { createGolden, type Golden, type GoldenMode } from './recorder.ts'

const modes: readonly GoldenMode[] = ['record', 'mark', 'compare']

/** By `POSTERN_GOLDEN`; `undefined` without it. */
export const golden = openGolden(process.env['POSTERN_GOLDEN'])

function openGolden(given: string | undefined): Golden | undefined {
  if (given === undefined || given === '') return undefined
  const mode = modes.find((each) => each === given)
  if (mode === undefined) {
    throw new Error(`POSTERN_GOLDEN: "${given}" is not valid: use ${modes.join(', ')}`)
  }
  return createGolden({ mode, directory: join(import.meta.dirname, '..', '..', 'golden') })
}
