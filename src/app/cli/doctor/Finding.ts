/** What `doctor` has seen of one thing, and what to do about it. */
export interface Finding {
  readonly about: string
  readonly level: "ok" | "warning" | "failure"
  readonly told: string
}

export const ok = (about: string, told: string): Finding => ({ about, level: "ok", told })
export const warning = (about: string, told: string): Finding => ({ about, level: "warning", told })
export const failure = (about: string, told: string): Finding => ({ about, level: "failure", told })
