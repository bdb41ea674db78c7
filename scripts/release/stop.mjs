/** Ends the command with one line that says what to do. */
export function stop(message) {
  console.error(`release: ${message}`)
  process.exit(1)
}
