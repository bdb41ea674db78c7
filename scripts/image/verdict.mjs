/** The exit code where a machine cannot do it. */
const notPossible = 77

export function skip(reason) {
  console.error(`image check skipped: ${reason}`)
  process.exit(notPossible)
}

export function fail(reason) {
  console.error(`image check failed: ${reason}`)
  process.exit(1)
}

export function passed(what) {
  console.log(`ok: ${what}`)
}

export function expectThat(holds, what) {
  if (!holds) fail(what)
  passed(what)
}
