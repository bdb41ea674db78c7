// Loaded before a command: writes what the process cost as the last line of stderr.
import { writeSync } from 'node:fs'

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6
  writeSync(2, `\n${JSON.stringify({ cpuSeconds, megabytes: maxRSS / 1024 })}\n`)
})
