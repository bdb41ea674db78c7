import { getHeapSpaceStatistics } from 'node:v8'

/* Preloaded by tests: says how much room V8 has for what is new when told to. */
process.on('SIGUSR2', () => {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  process.stdout.write(`${JSON.stringify({ msg: 'memory', room: space?.space_size })}\n`)
})
