// Passkeys (WebAuthn): after checking its user, a device signs a fresh challenge for this site only.
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { PasskeyFailed } from "../../domain/Errors.ts"
import type { PasskeyAssertion, PasskeyRegistration } from "../../domain/PasskeyResponse.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import { type PasskeyPurpose, PasskeyRepo, type StoredPasskey } from "./Passkeys/PasskeyRepo.ts"

const challengeMillis = 5 * 60_000
const maxPasskeys = 20

const Transport = Schema.Literals(["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"])
const isTransport = Schema.is(Transport)

/** The site that passkeys belong to. */
export interface Site {
  readonly origin: string
  /** The site's host name. */
  readonly id: string
}

/** Loaded with the first passkey: it would be a tenth of all code loaded at start-up. */
const webAuthn = Effect.promise(() => import("@simplewebauthn/server"))

/** Removes values that JSON cannot represent. */
const plain = (options: object): unknown => JSON.parse(JSON.stringify(options))

const ClientData = Schema.fromJsonString(Schema.Struct({ challenge: Schema.String }))
const decodeClientData = Schema.decodeUnknownOption(ClientData)
const challengeIn = (clientDataJSON: string) =>
  decodeClientData(Buffer.from(clientDataJSON, "base64url").toString())

export class Passkeys extends Context.Service<
  Passkeys,
  {
    readonly list: (userId: string) => Effect.Effect<ReadonlyArray<StoredPasskey>>
    /** Returns the options from which the browser creates a passkey. */
    readonly beginAdding: (
      site: Site,
      user: { readonly id: string; readonly email: string }
    ) => Effect.Effect<unknown>
    readonly add: (
      site: Site,
      userId: string,
      name: string,
      registration: PasskeyRegistration
    ) => Effect.Effect<void, PasskeyFailed>
    readonly remove: (userId: string, id: string) => Effect.Effect<Option.Option<string>>
    /** Returns the challenge that the browser signs, for any user or for the signed-in user. */
    readonly begin: (site: Site, userId: Option.Option<string>) => Effect.Effect<unknown>
    /** The passkey that signed; if a user is specified, it must be theirs. */
    readonly verify: (
      site: Site,
      userId: Option.Option<string>,
      assertion: PasskeyAssertion
    ) => Effect.Effect<Pick<StoredPasskey, "id" | "userId">, PasskeyFailed>
  }
>()("quittance/merchants/Passkeys") {
  static readonly layer: Layer.Layer<Passkeys, never, SqlClient.SqlClient | SecureRandom.SecureRandom> =
    Layer.effect(
      Passkeys,
      Effect.gen(function* () {
        const repo = yield* PasskeyRepo
        const random = yield* SecureRandom.SecureRandom

        const newChallenge = Effect.fnUntraced(function* (purpose: PasskeyPurpose, userId: string | null) {
          const bytes = yield* random.randomBytes(32)
          const at = yield* DateTime.nowAsDate
          const challenge = Buffer.from(bytes).toString("base64url")
          yield* repo.insertChallenge(challenge, purpose, userId, at, plusMillis(at, challengeMillis))
          return new Uint8Array(bytes)
        })

        /** Consumes the challenge that the browser answered. */
        const consumeChallenge = Effect.fnUntraced(function* (
          purpose: PasskeyPurpose,
          userId: string | null,
          clientDataJSON: string
        ) {
          const clientData = challengeIn(clientDataJSON)
          if (Option.isNone(clientData)) return yield* new PasskeyFailed()
          const { challenge } = clientData.value
          const stored = yield* repo.takeChallenge(challenge, purpose, yield* DateTime.nowAsDate)
          if (Option.isNone(stored) || stored.value.userId !== userId) return yield* new PasskeyFailed()
          return challenge
        })

        const credentialOf = ({ credentialId, transports }: StoredPasskey) => ({
          id: credentialId,
          transports: transports.filter(isTransport)
        })

        return Passkeys.of({
          list: repo.ofUser,
          beginAdding: Effect.fn("Passkeys.beginAdding")(function* (site, user) {
            const challenge = yield* newChallenge("add", user.id)
            const passkeys = yield* repo.ofUser(user.id)
            const { generateRegistrationOptions } = yield* webAuthn
            const options = yield* Effect.promise(() =>
              generateRegistrationOptions({
                rpName: "Quittance",
                rpID: site.id,
                userName: user.email,
                userID: new Uint8Array(Buffer.from(user.id.replaceAll("-", ""), "hex")),
                challenge,
                excludeCredentials: passkeys.map(credentialOf),
                authenticatorSelection: { residentKey: "required", userVerification: "required" }
              })
            )
            return plain(options)
          }),
          add: Effect.fn("Passkeys.add")(function* (site, userId, name, registration) {
            const { attestationObject, clientDataJSON, id, transports } = registration
            const challenge = yield* consumeChallenge("add", userId, clientDataJSON)
            const { verifyRegistrationResponse } = yield* webAuthn
            const { registrationInfo, verified } = yield* Effect.tryPromise({
              try: () =>
                verifyRegistrationResponse({
                  response: {
                    id,
                    rawId: id,
                    type: "public-key",
                    response: { clientDataJSON, attestationObject },
                    clientExtensionResults: {}
                  },
                  expectedChallenge: challenge,
                  expectedOrigin: site.origin,
                  expectedRPID: site.id,
                  requireUserVerification: true
                }),
              catch: () => new PasskeyFailed()
            })
            if (!verified) return yield* new PasskeyFailed()
            const { credential } = registrationInfo
            const stored = yield* repo.insert(
              {
                id: yield* random.uuidV7(),
                userId,
                credentialId: credential.id,
                publicKey: credential.publicKey,
                counter: credential.counter,
                transports: transports.filter(isTransport),
                name,
                createdAt: yield* DateTime.nowAsDate,
                lastUsedAt: null
              },
              maxPasskeys
            )
            if (!stored) return yield* new PasskeyFailed()
          }),
          remove: repo.remove,
          begin: Effect.fn("Passkeys.begin")(function* (site, userId) {
            const id = Option.getOrNull(userId)
            const challenge = yield* newChallenge(id === null ? "sign_in" : "confirm", id)
            const passkeys = id === null ? [] : yield* repo.ofUser(id)
            const { generateAuthenticationOptions } = yield* webAuthn
            const options = yield* Effect.promise(() =>
              generateAuthenticationOptions({
                rpID: site.id,
                challenge,
                userVerification: "required",
                allowCredentials: passkeys.map(credentialOf)
              })
            )
            return plain(options)
          }),
          verify: Effect.fn("Passkeys.verify")(function* (site, userId, assertion) {
            const { authenticatorData, clientDataJSON, id, signature } = assertion
            const person = Option.getOrNull(userId)
            const challenge = yield* consumeChallenge(
              person === null ? "sign_in" : "confirm",
              person,
              clientDataJSON
            )
            const stored = yield* repo.byCredential(id)
            if (Option.isNone(stored)) return yield* new PasskeyFailed()
            const passkey = stored.value
            if (person !== null && passkey.userId !== person) return yield* new PasskeyFailed()
            const { verifyAuthenticationResponse } = yield* webAuthn
            const { authenticationInfo, verified } = yield* Effect.tryPromise({
              try: () =>
                verifyAuthenticationResponse({
                  response: {
                    id,
                    rawId: id,
                    type: "public-key",
                    response: { clientDataJSON, authenticatorData, signature },
                    clientExtensionResults: {}
                  },
                  expectedChallenge: challenge,
                  expectedOrigin: site.origin,
                  expectedRPID: site.id,
                  requireUserVerification: true,
                  credential: {
                    id: passkey.credentialId,
                    publicKey: new Uint8Array(passkey.publicKey),
                    counter: passkey.counter
                  }
                }),
              catch: () => new PasskeyFailed()
            })
            if (!verified) return yield* new PasskeyFailed()
            const at = yield* DateTime.nowAsDate
            if (!(yield* repo.recordUse(passkey.id, authenticationInfo.newCounter, at)))
              return yield* new PasskeyFailed()
            return passkey
          })
        })
      })
    ).pipe(Layer.provide(PasskeyRepo.layer))
}
