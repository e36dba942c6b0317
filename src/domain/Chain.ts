// The environments, and the identifiers that appear on chains. networks.ts has the facts about each chain.
import { Schema } from "effect"

/** The environment of a key, payment or merchant setting; it decides the network. */
export const Env = Schema.Literals(["test", "live"])
export type Env = typeof Env.Type

const isHex = (text: string): text is `0x${string}` => text.startsWith("0x")

/** An address in its canonical EIP-55 spelling, so that two equal addresses are equal strings. */
export const Address = Schema.String.check(
  Schema.isPattern(/^0x[0-9a-fA-F]{40}$/u, { message: "an address: 0x and 40 hex digits" }).abort()
).pipe(Schema.refine(isHex), Schema.brand("Address"))
export type Address = typeof Address.Type

/** A transaction hash: 0x and 64 lower-case hex digits. */
export const TransactionHash = Schema.String.check(
  Schema.isPattern(/^0x[0-9a-f]{64}$/u, { message: "a transaction hash: 0x and 64 hex digits" }).abort()
).pipe(Schema.refine(isHex), Schema.brand("TransactionHash"))
export type TransactionHash = typeof TransactionHash.Type
