/**
 * The workers ended before they were all there. Whoever ended has said why; what is left to say is
 * the exit code: its own, or 0 when it was told to.
 */
export class StartEnded extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super('workers exited during startup')
    this.name = 'StartEnded'
    this.exitCode = exitCode
  }
}
