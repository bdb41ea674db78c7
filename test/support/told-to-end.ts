/*
 * Loaded into a gateway's process before the gateway: tells it to end as soon as it listens to that,
 * which is before it has opened anything.
 */
process.on('newListener', (name) => {
  if (name === 'SIGTERM') setImmediate(() => process.kill(process.pid, 'SIGTERM'))
})
