import { expect, spyOn, test } from "bun:test"
import { Effect } from "effect"
import { Passwords } from "../../../../src/merchants/accounts/Accounts/Passwords.ts"

const run = <A, E>(effect: Effect.Effect<A, E, Passwords>) =>
  Effect.runPromise(Effect.provide(effect, Passwords.layer))

test("hashing a password takes 64 MiB and two passes, also for an unknown account", async () => {
  const hash = spyOn(Bun.password, "hash").mockResolvedValue("hash")
  const verify = spyOn(Bun.password, "verify").mockResolvedValue(true)
  try {
    await run(Passwords.use((passwords) => passwords.hash("a long password")))
    expect(hash.mock.calls[0]?.[1]).toEqual({ algorithm: "argon2id", memoryCost: 65_536, timeCost: 2 })
    expect(await run(Passwords.use((passwords) => passwords.verify("a long password", null)))).toBe(false)
    expect(verify.mock.calls[0]?.[1]).toStartWith("$argon2id$v=19$m=65536,t=2,p=1$")
  } finally {
    hash.mockRestore()
    verify.mockRestore()
  }
})

test("a password is the same however a keyboard composes its letters", async () => {
  const [composed, decomposed] = ["\u00fcber den Wolken", "u\u0308ber den Wolken"]
  const same = Effect.gen(function* () {
    const passwords = yield* Passwords
    return yield* passwords.verify(decomposed, yield* passwords.hash(composed))
  })
  expect(await run(same)).toBe(true)
})
