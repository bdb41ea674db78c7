/**
 * What every peer on Node is started with, as the image starts Postern: V8 collects with one thread
 * beside the one that serves (of its four, on two cores, each waits for the others), and has half
 * the room for what is new, which costs nobody anything.
 */
export const nodeFlags = ['--v8-pool-size=1', '--max-semi-space-size=32'] as const

/** The same for a gateway that is started by its environment. */
export const nodeFlagsEnv = { NODE_OPTIONS: nodeFlags.join(' ') }
