// An authenticator's signature counter is an unsigned 32-bit number (WebAuthn, 6.1.1), and may use the full range.
import { expect } from "bun:test"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { PasskeyRepo } from "../../../../src/merchants/accounts/Passkeys/PasskeyRepo.ts"
import { testDatabase } from "../../../support/database.ts"
import { liveEffect } from "../../../support/run.ts"

liveEffect("a passkey whose counter is beyond 31 bits can sign in", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const repo = yield* PasskeyRepo
    const [id, userId, at] = [crypto.randomUUID(), crypto.randomUUID(), new Date("2026-05-01T12:00:00.000Z")]
    yield* sql`
      INSERT INTO users (id, email, password_hash, operator, created_at)
      VALUES (${userId}, ${`${userId}@example.com`}, 'x', false, ${at})`
    const last = 2 ** 32 - 1
    const passkey = {
      ...{ id, userId, credentialId: "AA", publicKey: new Uint8Array([1]), counter: last - 1 },
      ...{ transports: ["usb"], name: "Key", createdAt: at, lastUsedAt: null }
    }
    expect(yield* repo.insert(passkey, 10)).toBeTrue()
    expect(yield* repo.ofUser(userId)).toMatchObject([{ id, counter: last - 1 }])
    expect(yield* repo.recordUse(id, last, at)).toBeTrue()
    expect(yield* repo.recordUse(id, last, at)).toBeFalse()
    expect(Option.getOrThrow(yield* repo.byCredential("AA"))).toMatchObject({ id, counter: last })
  }).pipe(Effect.provide(PasskeyRepo.layer.pipe(Layer.provideMerge(testDatabase.layer))))
)
