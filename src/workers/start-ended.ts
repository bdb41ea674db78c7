/**
 * A worker exited before all of them listened. It has logged the reason itself; what remains is the exit
 * code: its own, or 0 after a signal.
 */
export class StartEnded extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super('workers exited during startup')
    this.name = 'StartEnded'
    this.exitCode = exitCode
  }
}
