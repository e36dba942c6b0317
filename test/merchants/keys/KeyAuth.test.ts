// The contract of KeyAuth on memory and Postgres.
import { describe } from "bun:test"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { KeyAuth } from "../../../src/merchants/keys/KeyAuth.ts"
import { testDatabase } from "../../support/database.ts"
import { keyAuthContract } from "./KeyAuth.contract.ts"

describe("KeyAuth in memory", () => {
  keyAuthContract(KeyAuth.layerMemory.pipe(Layer.provideMerge(SecureRandom.layerWebCrypto)))
})

describe("KeyAuth on Postgres", () => {
  const database = testDatabase
  keyAuthContract(
    KeyAuth.layer.pipe(Layer.provide(database.layer), Layer.provideMerge(SecureRandom.layerWebCrypto))
  )
})
