/* Preloaded by tests: moves the clock of a process six minutes on with each signal. */
const stepMs = 360_000
const realNow = Date.now
let movedMs = 0
Date.now = () => realNow() + movedMs
process.on('SIGUSR2', () => {
  movedMs += stepMs
})
