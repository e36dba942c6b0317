// Seeds that have found something, and what. The suite runs each of them.
export const kept: ReadonlyArray<{ readonly seed: string; readonly found: string }> = [
  {
    seed: "341",
    found:
      "a transfer that a reorganisation had put below its announcement, read while no node said who had sent it, was given to a person for good"
  }
]
