/** A finding of `doctor`, with its remedy. */
export interface Finding {
  readonly about: string
  readonly level: "ok" | "warning" | "failure"
  readonly message: string
}

export const ok = (about: string, message: string): Finding => ({ about, level: "ok", message })
export const warning = (about: string, message: string): Finding => ({ about, level: "warning", message })
export const failure = (about: string, message: string): Finding => ({ about, level: "failure", message })
