/** The reason why a command could not be done, in one sentence for whoever typed it. */
export class CommandRefused extends Error {
  override readonly name = "CommandRefused"
  /** 1: it could not be done. 2: it is not a command. */
  readonly exitCode: 1 | 2
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
