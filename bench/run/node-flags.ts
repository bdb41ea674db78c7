/** V8 collects with one thread beside the one that serves: of its four, on two cores, each waits for the others. */
const oneHelper = '--v8-pool-size=1'

/** What every peer on Node is started with: half the room for what is new costs none of them anything. */
export const nodeFlags = [oneHelper, '--max-semi-space-size=32'] as const

/** What the image starts Postern with, which needs less of it. */
export const posternFlags = [oneHelper, '--max-semi-space-size=16'] as const

/** The same for a gateway that is started by its environment. */
export const posternFlagsEnv = { NODE_OPTIONS: posternFlags.join(' ') }
