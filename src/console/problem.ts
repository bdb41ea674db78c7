/** A request that the console does not serve, with its status and a text for its sender. */
export class Problem extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'Problem'
    this.status = status
  }
}

/** The client has closed the connection before its answer was there. */
export class ClientGone extends Error {}
