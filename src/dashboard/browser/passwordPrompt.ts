// The password again, where a change wants it: whoever asks waits until it was given or refused.
type Ask = () => Promise<boolean>

let ask: Ask = () => Promise.resolve(false)

/** True once the session has been confirmed; false where the person went away. */
export const confirmedByPassword: Ask = () => ask()

/** The page that can ask. */
export const setPasswordPrompt = (next: Ask): void => {
  ask = next
}
